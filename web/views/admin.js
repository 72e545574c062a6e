// @ts-check
// What those who run it read: servers, tools with their roles and pins, who may do
// what, what was used, requests that expired; and the way to end a person's sign-ins.

import { get, post } from "../api.js";
import { data, el } from "../dom.js";
import { coverageOf } from "./coverage.js";
import { isReader, nameIn, personView } from "./person.js";
import { stateText } from "../format.js";
import { signal } from "../reactive.js";
import { usageWords } from "../spending.js";
import { moment, number, t } from "../words.js";

/** pageView draws the overview. */
export function pageView() {
  const report = signal(/** @type {any} */ (null));
  const problem = signal("");
  get("/api/admin").then((body) => (report.value = body), (fault) => (problem.value = fault.message));
  return el("section", { class: "page-view wide", "aria-labelledby": "page-title" }, el("h1", { id: "page-title", tabindex: "-1" }, t("Administration")),
    el("p", { class: "notice error", role: "alert", hidden: () => !problem.value }, () => problem.value),
    () => (report.value ? [serversOf(report.value), rightsOf(report.value), peopleOf(report.value.people), expiredOf(report.value.expired), coverageOf(report.value)] : null));
}

// ---- servers and tools

function serversOf({ servers, held }) {
  const rows = servers.map((one) => [el("span", { "data-server": one.name }, data(one.name)), one.healthy ? t("answers") : t("does not answer"), number(one.calls), number(one.failures), one.calls ? t("{n} ms", { n: number(Math.round(one.averageMs)) }) : "–"]);
  const waiting = held.map((one) => el("li", { "data-held": one.tool }, data(`${one.server}.${one.tool}: ${one.why}`)));
  return el("div", {}, el("h2", {}, t("Servers")), grid(t("Servers"), [t("Server"), t("State"), t("Calls"), t("Failures"), t("Average")], rows),
    waiting.length ? [el("h3", {}, t("Held back until their definitions are accepted")), el("ul", {}, waiting)] : null);
}

// Any of a tool's roles opens it: with roles chosen, or a person with theirs, what they open is shown.
function rightsOf({ tools, people }) {
  const known = people.filter((one) => one.roles?.length);
  const roles = [...new Set([...tools, ...known].flatMap((one) => one.roles))].sort();
  const start = signal(/** @type {string[]} */ ([])); // what the boxes begin with: a person's roles
  const chosen = signal(/** @type {Set<string>} */ (new Set()));
  const choose = (role, on) => {
    picker.value = ""; // they are not this person's any more
    chosen.update((now) => new Set([...now].filter((one) => one !== role).concat(on ? [role] : [])));
  };
  const person = (at) => (chosen.value = new Set((start.value = [...(known[at]?.roles ?? [])]))); // anew: the boxes may have been changed since
  const boxes = () => roles.map((role) => el("label", { class: "role" }, el("input", { type: "checkbox", "data-role": role, checked: start.value.includes(role), onchange: (event) => choose(role, event.target.checked) }), " ", data(role)));
  const open = (tool) => chosen.value.size === 0 || tool.roles.some((role) => chosen.value.has(role));
  const rows = () => tools.filter(open).map((tool) => [el("span", { "data-tool-name": tool.name }, data(t(tool.title ?? "") || tool.name)), data(tool.server), data(stateText(tool.kind)), data(tool.roles.join(", ") || t("no role")), tool.pin ? el("code", {}, tool.pin) : "–"]);
  const picker = el("select", { "data-rights-of": true, onchange: (event) => person(event.target.value) }, el("option", { value: "" }, t("The roles below")), known.map((one, i) => el("option", { value: i }, nameIn(one, people))));
  return el("div", {}, el("h2", {}, t("What can this person do?")), el("p", { class: "hint" }, t("Choose a person, or the roles that one has: below are the tools which these open, with no role chosen all of them. A person's roles are those of the last sign-in with a browser. Which rows and fields a tool shows is decided for each call.")),
    known.length ? el("p", {}, el("label", {}, t("Person"), " ", picker)) : null,
    el("fieldset", { class: "roles" }, el("legend", { class: "visually-hidden" }, t("Roles")), boxes),
    el("p", { class: "hint", role: "status", "data-open-tools": true }, () => t("{n} of {all} tools", { n: rows().length, all: tools.length })),
    () => grid(t("Tools"), [t("Tool"), t("Server"), t("Kind"), t("Roles"), t("Pin")], rows()),
    el("p", { class: "hint" }, t("A pin is the fingerprint of the accepted definition of a connected server's tool. The tools of this program's own servers have none.")));
}

// ---- people

function peopleOf(people) {
  const rows = people.map((one) => [personView(one, () => people), moment(one.seen), one.usage ? usageWords({ ...one.usage, model: "" }) : "–", revokeOf(one, nameIn(one, people))]);
  return el("div", {}, el("h2", {}, t("People, and what they used in 31 days")), grid(t("People"), [t("Person"), t("Last seen"), t("Used"), ""], rows), el("p", { class: "hint" }, t("Only answers of an AI model use tokens; rehearsal uses none.")));
}

// Ending somebody's work is asked twice, and never one's own by mistake.
function revokeOf(one, name) {
  if (!one.issuer || isReader(one)) return "";
  const state = signal("");
  const asked = signal(false);
  const end = async () => {
    if (!asked.peek()) return (asked.value = true);
    try {
      await post("/api/revoke", { issuer: one.issuer, sub: one.sub });
      state.value = t("All sign-ins, tokens and running questions of {name} have been ended.", { name });
    } catch (fault) {
      state.value = fault.message;
    }
  };
  return el("span", {}, el("button", { type: "button", class: () => (asked.value ? "small primary deletes" : "small"), "data-revoke": one.sub, hidden: () => Boolean(state.value), onclick: end }, () => (asked.value ? t("End all sign-ins of {name}", { name }) : t("End sign-ins"))), el("span", { role: "status", "data-revoked": one.sub }, () => state.value));
}

function expiredOf(expired) {
  const rows = expired.map((one) => [moment(one.opened), personView(one, () => expired), data([one.server, one.tool].filter(Boolean).join(" · ")), one.taintedBy ? data(one.taintedBy) : "", el("a", { href: `#/audit/${encodeURIComponent(one.confirmation)}`, "data-expired": one.confirmation }, t("Its course"))]);
  return el("div", {}, el("h2", {}, t("Requests that expired in the last week")), rows.length ? grid(t("Requests that expired"), [t("Time"), t("Person"), t("What"), t("Followed"), ""], rows) : el("p", { class: "hint" }, t("None. A request that gets no answer within five minutes is listed here.")));
}

function grid(title, heads, rows) {
  const head = heads.map((words) => el("th", { scope: "col" }, words || el("span", { class: "visually-hidden" }, t("Action"))));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell, i) => (i ? el("td", {}, cell) : el("th", { scope: "row" }, cell)))));
  return el("div", { class: "result scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}
