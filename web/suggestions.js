// "What can I ask?", answered from the tools that this person may call.

import { el } from "./dom.js";

const FIRST_FEW = 6;

/**
 * drawSuggestions fills the empty state. Tools that need no argument can be
 * asked at once; the others are begun, for the reader to complete.
 */
export function drawSuggestions({ few, all }, tools, host) {
  const open = tools.filter((tool) => tool.title);
  few.replaceChildren(...pick(open).map((tool) => el("li", {}, suggestion(tool, host))));
  all.replaceChildren(...groups(open).map(([server, group]) => groupView(server, group, host)));
}

/** question is what a tool is asked for in words: its title. */
function question(tool) {
  return needed(tool).length ? `${tool.title} ` : tool.title;
}

function needed(tool) {
  return tool.inputSchema?.required ?? [];
}

// Reads before writes, ready ones before those that need a word more, and every
// server gets its turn.
function pick(tools) {
  const order = (tool) => (isWrite(tool) ? 4 : 0) + (needed(tool).length ? 2 : 0) + (tool.kind === "list" ? 0 : 1);
  const queues = groups([...tools].sort((a, b) => order(a) - order(b))).map(([, group]) => group);
  const picked = [];
  for (let round = 0; picked.length < Math.min(FIRST_FEW, tools.length); round++) {
    picked.push(...queues.map((queue) => queue[round]).filter(Boolean));
  }
  return picked.slice(0, FIRST_FEW);
}

function groups(tools) {
  return [...Map.groupBy(tools, (tool) => tool.server ?? "")];
}

const isWrite = (tool) => tool.kind === "write";

/** firstSentence of a description is what a reader needs. */
function firstSentence(text) {
  const end = (text ?? "").indexOf(". ");
  return end < 0 ? (text ?? "") : text.slice(0, end + 1);
}

function suggestion(tool, host) {
  const use = () => (needed(tool).length ? host.fill(question(tool)) : host.ask(question(tool)));
  return el(
    "button",
    { type: "button", class: "suggestion", "data-suggestion": tool.name, onclick: use },
    el("span", { class: "suggestion-title" }, needed(tool).length ? `${tool.title}…` : tool.title),
    el("span", { class: "suggestion-hint" }, firstSentence(tool.description)),
    isWrite(tool) ? el("span", { class: "tag" }, "asks for your approval") : null,
  );
}

function groupView(server, group, host) {
  const lines = group.map((tool) => {
    const name = el("button", { type: "button", class: "link", onclick: () => host.fill(question(tool)) }, tool.title);
    const tag = isWrite(tool) ? el("span", { class: "tag" }, "asks for your approval") : null;
    return el("li", {}, name, el("span", { class: "hint" }, ` ${firstSentence(tool.description)} `), tag);
  });
  return el("section", {}, el("h3", {}, server), el("ul", {}, lines));
}
