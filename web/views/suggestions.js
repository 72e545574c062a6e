// @ts-check
// "What can I ask?", answered from the tools that this person may call.

import { at, el, show } from "../dom.js";
import { effect } from "../reactive.js";
import { needsEnglish, question, tools, toolsProblem } from "../store.js";
import { t } from "../words.js";

const FIRST_FEW = 6;

/**
 * suggestionsView fills the empty state: first the questions that tools declare,
 * which need nothing more, then everything that can be asked. host is {ask, fill}.
 * @param {{ ask: (text: string) => void, fill: (text: string) => void }} host
 */
export function suggestionsView(host) {
  effect(() => {
    const open = [...tools.value.values()].filter((tool) => tool.title);
    at("suggestions").replaceChildren(...pick(open).map((tool) => el("li", {}, suggestion(tool, host))));
    at("all-tools").replaceChildren(...groups(open).map(([server, group]) => groupView(server, group, host)));
    show(at("everything"), open.length > 0);
    show(at("suggest"), pick(open).length > 0);
    show(at("english"), needsEnglish());
  });
  effect(() => {
    at("no-tools").textContent = toolsProblem.value;
    show(at("no-tools"), Boolean(toolsProblem.value));
  });
}

/** words are what a tool is asked for in, to be asked or to be completed. */
function words(tool) {
  if (asks(tool)) return question(asks(tool));
  return tool.inputSchema?.required?.length ? `${question(tool.title)} ` : question(tool.title);
}

const asks = (tool) => (isWrite(tool) ? "" : (tool.fields?.ask ?? ""));

/** pick chooses the first suggestions: lists before single records, and every server gets its turn. @param {any[]} tools */
export function pick(tools) {
  const asked = tools.filter(asks);
  const [lists, others] = [true, false].map((list) => inTurn(asked.filter((tool) => (tool.kind === "list") === list)));
  return [...lists, ...others].slice(0, FIRST_FEW);
}

function inTurn(tools) {
  const place = new Map(groups(tools).flatMap(([, group]) => group.map((tool, round) => [tool, round])));
  return [...tools].sort((a, b) => place.get(a) - place.get(b));
}

function groups(tools) {
  const byServer = new Map();
  for (const tool of tools) byServer.set(tool.server ?? "", [...(byServer.get(tool.server ?? "") ?? []), tool]);
  return [...byServer];
}

const isWrite = (tool) => tool.kind === "write";

/** firstSentence of a description is what a reader needs. */
function firstSentence(text) {
  const end = (text ?? "").indexOf(". ");
  return end < 0 ? (text ?? "") : text.slice(0, end + 1);
}

function suggestion(tool, host) {
  const attributes = { type: "button", class: "suggestion", "data-suggestion": tool.name, onclick: () => host.ask(question(asks(tool))) };
  return el("button", attributes, el("span", { class: "suggestion-title", lang: needsEnglish() ? "en" : null }, question(asks(tool))));
}

function groupView(server, group, host) {
  const lines = group.map((tool) => {
    const name = el("button", { type: "button", class: "link", onclick: () => host.fill(words(tool)) }, t(tool.title));
    const tag = isWrite(tool) ? el("span", { class: "tag" }, t("asks for your approval")) : null;
    return el("li", {}, name, el("span", { class: "hint" }, ` ${t(firstSentence(tool.description))} `), tag);
  });
  return el("section", {}, el("h3", {}, server), el("ul", {}, lines));
}
