// @ts-check
// What can be asked next, below the last answer: what other tools know of the thing that
// it shows first, then the questions that tools of the same servers declare, and none
// that this conversation has asked already.

import { el } from "../dom.js";
import { isIdentifier, isObject } from "../format.js";
import { needsEnglish, open, question, tools } from "../store.js";
import { t } from "../words.js";

const MOST = 3;
const MOST_OF_A_THING = 2;

/** followUps draws them. @param {{ ask: (text: string) => void }} host */
export function followUps(host) {
  const shown = () => (open.value.running.value ? [] : suggested(open.value.turns.value, [...tools.value.values()]));
  const button = (words) => el("li", {}, el("button", { type: "button", class: "small", lang: needsEnglish() ? "en" : null, "data-follow-up": true, onclick: () => host.ask(words) }, words));
  return el("div", { class: "follow-ups", hidden: () => shown().length === 0 }, el("p", { class: "hint", id: "follow-ups-title" }, t("Ask next")), el("ul", { "aria-labelledby": "follow-ups-title" }, () => shown().map(button)));
}

/**
 * suggested are the questions for the end of these turns.
 * @param {any[]} turns
 * @param {any[]} tools
 * @returns {string[]}
 */
export function suggested(turns, tools) {
  const last = turns.at(-1);
  if (!last || last.state.value !== "done" || last.parts.value.some((part) => ["change", "error"].includes(part.kind))) return []; // an answer comes first
  const called = new Set(turns.flatMap((turn) => turn.calls.map((call) => call.tool)));
  const asked = new Set(turns.map((turn) => turn.question.trim().toLocaleLowerCase()));
  const near = new Set(last.calls.map((call) => call.server));
  const declared = tools.filter((tool) => tool.kind !== "write" && tool.fields?.ask && !called.has(tool.name));
  declared.sort((a, b) => Number(near.has(b.server)) - Number(near.has(a.server)));
  const all = [...ofTheThing(last, tools), ...declared.map((tool) => question(tool.fields.ask))];
  return all.filter((words) => !asked.has(words.toLocaleLowerCase())).slice(0, MOST);
}

// Questions about the thing that the last answer shows first, of tools that declare one and need nothing but its id.
function ofTheThing(turn, tools) {
  const call = turn.calls.findLast((one) => one.table || isObject(one.envelope.value?.data));
  const thing = call?.table ? call.table.rows.value[0] : call?.envelope.value.data;
  if (!thing) return [];
  const source = tools.find((tool) => tool.name === call.tool);
  const theirs = new Set(source ? (source.untrusted ?? []) : ["*"]);
  return tools.filter((tool) => ["read", "list"].includes(tool.kind) && tool.fields?.askOf && tool.name !== call.tool).flatMap((tool) => {
    const [key, ...more] = tool.inputSchema?.required ?? [];
    const name = key && !more.length ? calling(thing, key, theirs) : "";
    return name ? [question(tool.fields.askOf).replace("%s", () => name)] : [];
  }).slice(0, MOST_OF_A_THING);
}

// Names become a part of a question, so what others wrote is none, and neither is what
// is more than a name.
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} .'’-]{1,39}$/u;

// What people call the thing whose id is in a row: the name beside it, the row's own name,
// or an id that they can read.
function calling(row, key, theirs) {
  if (!/_id$/.test(key) || !row[key] || theirs.has("*")) return "";
  const beside = key.replace(/_id$/, "_name");
  const own = Object.keys(row).find((one) => /_id$/.test(one)) === key ? ["first_name", "last_name"] : [];
  const fields = !isIdentifier(key, row[key]) ? [key] : row[beside] ? [beside] : own;
  const name = fields.some((field) => theirs.has(field)) ? "" : fields.map((field) => row[field]).filter(Boolean).join(" ");
  return NAME.test(name) ? name : "";
}
