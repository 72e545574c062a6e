// @ts-check
// What can be asked next, below the last answer: questions that the tools of the same
// servers declare, then of others, and none that this conversation has asked already.

import { el } from "../dom.js";
import { open, tools } from "../store.js";
import { t } from "../words.js";

const MOST = 3;

/** followUps draws them. @param {{ ask: (text: string) => void }} host */
export function followUps(host) {
  const shown = () => (open.value.running.value ? [] : suggested(open.value.turns.value, [...tools.value.values()]));
  const button = (words) => el("li", {}, el("button", { type: "button", class: "small", "data-follow-up": true, onclick: () => host.ask(words) }, words));
  return el("div", { class: "follow-ups", hidden: () => shown().length === 0 }, el("p", { class: "hint", id: "follow-ups-title" }, t("Ask next")), el("ul", { "aria-labelledby": "follow-ups-title" }, () => shown().map(button)));
}

/**
 * suggested are the questions for the end of these turns.
 * @param {any[]} turns
 * @param {any[]} tools
 */
export function suggested(turns, tools) {
  const last = turns.at(-1);
  if (!last || last.state.value !== "done" || last.parts.value.some((part) => ["change", "error"].includes(part.kind))) return []; // an answer comes first
  const called = new Set(turns.flatMap((turn) => turn.calls.map((call) => call.tool)));
  const asked = new Set(turns.map((turn) => turn.question.trim().toLocaleLowerCase()));
  const near = new Set(last.calls.map((call) => call.server));
  const free = tools.filter((tool) => tool.kind !== "write" && tool.fields?.ask && !called.has(tool.name) && !asked.has(tool.fields.ask.toLocaleLowerCase()));
  return free.sort((a, b) => Number(near.has(b.server)) - Number(near.has(a.server))).slice(0, MOST).map((tool) => tool.fields.ask);
}
