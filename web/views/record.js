// @ts-check
// What auditors read: the record of who asked for, read and changed what, the course
// of one request, and whether the chain is whole.

import { get } from "../api.js";
import { data, el } from "../dom.js";
import { coverageOf } from "./coverage.js";
import { personView } from "./person.js";
import { label } from "../format.js";
import { list, signal } from "../reactive.js";
import { titleOf } from "../store.js";
import { moment, number, t } from "../words.js";

const FILTERS = { person: () => t("Person"), tool: () => t("Tool or server"), row: () => t("Row id"), outcome: () => t("Outcome"), confirmation: () => t("Request") };

// What only an event's fingerprints say about the row that is searched for.
const SIGHT = { yes: () => t("showed this row, by the fingerprint of its id"), perhaps: () => t("perhaps showed this row: it showed more than the record keeps fingerprints of") };

/** pageView draws the record; an id is the request whose course is shown. @param {string} id */
export function pageView(id) {
  const found = signal(/** @type {any[]} */ ([]));
  const course = signal(/** @type {any[]} */ ([]));
  const next = signal("");
  const covered = signal(/** @type {any} */ (null));
  const problem = signal("");
  const busy = signal(false);
  const fields = Object.fromEntries(Object.keys(FILTERS).map((name) => [name, el("input", { type: "search", name, "data-filter": name, autocomplete: "off", maxlength: "200", value: name === "confirmation" ? id : null })]));
  let asked = 0;
  let query = new URLSearchParams(); // of the search that is shown
  const search = async (before = "") => {
    const mine = ++asked; // the answer to an earlier search may come after this one's
    if (before) query.set("before", before);
    else query = new URLSearchParams(Object.entries(fields).map(([name, field]) => [name, field.value.trim()]).filter(([, value]) => value));
    busy.value = true;
    problem.value = "";
    try {
      const page = await get(`/api/audit?${query}`);
      if (id && mine === 1) course.value = page.events.map(known); // nothing but the request is asked for then
      if (mine !== asked) return;
      covered.value = page;
      found.value = [...(before ? found.peek() : []), ...page.events.map(known)];
      next.value = page.next ?? "";
    } catch (fault) {
      if (mine !== asked) return;
      problem.value = fault.message;
    }
    busy.value = false;
  };
  search();
  return el("section", { class: "page-view wide", "aria-labelledby": "page-title" }, el("h1", { id: "page-title", tabindex: "-1" }, t("Audit")),
    chain(), searchForm(fields, () => search()),
    el("p", { class: "notice error", role: "alert", hidden: () => !problem.value }, () => problem.value),
    () => (covered.value ? coverageOf(covered.value) : null),
    courseOf(course), eventsOf(found, covered),
    el("p", { class: "hint", role: "status" }, () => (busy.value ? t("Reading…") : problem.value ? "" : count(found.value.length, next.value))),
    el("button", { type: "button", class: "small", "data-more-events": true, hidden: () => !next.value, onclick: () => search(next.peek()) }, t("Older events")));
}

// A line of the record names the issuer as a token does.
const known = (event) => ({ ...event, issuer: event.iss });

function count(found, more) {
  if (found) return t("{n} events, the newest first.", { n: number(found) });
  return more ? t("No event of those that were read fits all of these conditions. There are older ones.") : t("No event fits all of these conditions.");
}

function searchForm(fields, search) {
  const labelled = Object.entries(fields).map(([name, field]) => el("label", {}, el("span", {}, FILTERS[name]()), field));
  return el("form", { class: "filters", role: "search", "data-audit-search": true, onsubmit: (event) => (event.preventDefault(), search()) }, labelled,
    el("button", { type: "submit", class: "small primary" }, t("Search")),
    el("p", { class: "hint" }, t("A row is found by its id where a call named it, also one that was refused, where an answer showed it, and in notes. Of the rows of answers the record keeps fingerprints, of other arguments one digest.")));
}

// ---- the chain

function chain() {
  const found = signal(/** @type {any} */ (null));
  const words = signal("");
  const verify = async () => {
    words.value = t("Reading…");
    found.value = null;
    try {
      found.value = await get("/api/audit/verify");
      words.value = "";
    } catch (fault) {
      words.value = fault.message;
    }
  };
  return el("div", { class: "chain" }, el("button", { type: "button", class: "small", "data-verify": true, onclick: verify }, t("Verify the chain")),
    el("div", { role: "status", "data-chain": () => (found.value ? String(found.value.whole) : null) }, () => (found.value ? found.value.logs.map((one) => verdictOf(one, found.value.logs.length > 1)) : el("p", { class: "hint" }, words.value))),
    () => (found.value ? coverageOf({ unread: found.value.unread }) : null));
}

function verdictOf(log, several) {
  const words = verdict(log);
  return el("p", { class: log.whole ? "hint" : "notice error", "data-chain-of": log.name }, data(several ? `${log.name}: ${words}` : words));
}

function verdict({ whole, status, events, last, broken, remarks = [] }) {
  const read = t("{n} events were read, the last of {time}.", { n: number(events), time: moment(last) });
  return [whole ? t("The chain is whole.") : t("The chain is not whole: {status}.", { status }), broken, read, ...remarks].filter(Boolean).join(" ");
}

// ---- events

function eventsOf(found, covered) {
  const body = el("tbody");
  const several = () => covered.peek()?.logs?.length > 1;
  list(body, () => found.value, (event) => `${event.from} ${event.seq} ${event.shown ?? ""} ${event.expired ?? ""}`, (event) => rowOf(event(), several(), () => found.value));
  const head = [t("Time"), t("Person"), t("What"), t("Outcome"), t("Rows"), t("Request")].map((words) => el("th", { scope: "col" }, words));
  return el("div", { class: "result scroll", tabindex: "0", role: "region", "aria-label": t("Events"), hidden: () => found.value.length === 0 }, el("table", { class: "grid", "data-events": true }, el("thead", {}, el("tr", {}, head)), body));
}

function rowOf(event, several, shown) {
  const request = event.confirmation ? el("a", { href: `#/audit/${encodeURIComponent(event.confirmation)}` }, data(event.confirmation.slice(0, 8))) : "";
  return el("tr", { "data-event": event.seq }, el("th", { scope: "row" }, el("time", { datetime: event.time }, moment(event.time))), el("td", {}, personView(event, shown)),
    el("td", {}, whatOf(event), event.shown ? el("div", { class: "hint", "data-shown": event.shown }, SIGHT[event.shown]()) : null,
      several ? el("div", { class: "hint", "data-from": event.from }, data(t("in the log of {log}, event {n}", { log: event.from, n: number(event.seq) }))) : null,
      event.note || event.taintedBy ? el("div", { class: "hint" }, data([event.note, event.taintedBy && t("after {source}", { source: event.taintedBy })].filter(Boolean).join(" · "))) : null),
    el("td", {}, label(event.outcome ?? ""), event.expired ? el("div", { class: "hint", "data-expired": true }, t("expired at {time}, which is derived", { time: moment(event.expired) })) : null), el("td", { class: "number" }, event.rows ? number(event.rows) : ""), el("td", {}, request));
}

function whatOf(event) {
  const what = [event.server, event.tool && titleOf(event.tool, event.server), event.step].filter(Boolean).map(String);
  return data([label(event.kind), ...what].join(" · "));
}

// The course of one request, from its opening to its end. Nothing is written when its time
// is over: that end is derived, and says so.
function courseOf(course) {
  return el("section", { "aria-labelledby": "course-title", hidden: () => course.value.length === 0 }, el("h2", { id: "course-title" }, t("The course of this request")),
    () => el("ol", { class: "course", "data-course": true }, [...course.value].reverse().flatMap((event, _, all) => [stepOf(event, all), event.expired ? expiryOf(event) : null])));
}

function stepOf(event, all) {
  return el("li", {}, el("time", { datetime: event.time }, moment(event.time)), " ", el("strong", {}, label(event.step || event.kind)), " ", personView(event, () => all), event.outcome ? ` · ${label(event.outcome)}` : "");
}

function expiryOf({ expired }) {
  return el("li", { "data-derived": true }, el("time", { datetime: expired }, moment(expired)), " ", el("strong", {}, t("Expired")),
    el("div", { class: "hint" }, t("Derived, not a line of the record: its time was over by then, and the logs that are read hold no answer to it.")));
}
