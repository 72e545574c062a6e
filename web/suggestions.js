// "What can I ask?", answered from the tools that this person may call.

import { el } from "./dom.js";

const FIRST_FEW = 6;

/**
 * drawSuggestions fills the empty state: first the questions that tools declare,
 * which need nothing more, then everything that can be asked.
 */
export function drawSuggestions({ few, all }, tools, host) {
  const open = tools.filter((tool) => tool.title);
  few.replaceChildren(...pick(open).map((tool) => el("li", {}, suggestion(tool, host))));
  all.replaceChildren(...groups(open).map(([server, group]) => groupView(server, group, host)));
}

/** question is what a tool is asked for in words, to be asked or to be completed. */
function question(tool) {
  if (asks(tool)) return asks(tool);
  return tool.inputSchema?.required?.length ? `${tool.title} ` : tool.title;
}

const asks = (tool) => (isWrite(tool) ? "" : (tool.fields?.ask ?? ""));

// Lists before single records, and every server gets its turn.
function pick(tools) {
  const asked = tools.filter(asks).sort((a, b) => (a.kind === "list" ? 0 : 1) - (b.kind === "list" ? 0 : 1));
  const queues = groups(asked).map(([, group]) => group);
  const picked = [];
  for (let round = 0; picked.length < Math.min(FIRST_FEW, asked.length); round++) {
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
  const attributes = { type: "button", class: "suggestion", "data-suggestion": tool.name, onclick: () => host.ask(asks(tool)) };
  return el("button", attributes, el("span", { class: "suggestion-title" }, asks(tool)));
}

function groupView(server, group, host) {
  const lines = group.map((tool) => {
    const name = el("button", { type: "button", class: "link", onclick: () => host.fill(question(tool)) }, tool.title);
    const tag = isWrite(tool) ? el("span", { class: "tag" }, "asks for your approval") : null;
    return el("li", {}, name, el("span", { class: "hint" }, ` ${firstSentence(tool.description)} `), tag);
  });
  return el("section", {}, el("h3", {}, server), el("ul", {}, lines));
}
