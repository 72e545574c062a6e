// @ts-check
// One question and its answer.

import { el, icon } from "../dom.js";
import { effect, list } from "../reactive.js";
import { changeOf, changes, fieldsOf, open, titleOf } from "../store.js";
import { isRehearsal, modelLabel } from "../turn.js";
import { total, usageWords } from "../spending.js";
import { inOurs, moment, t } from "../words.js";
import { cardView } from "./card.js";
import { howView } from "./how.js";
import { proseView } from "./prose.js";
import { resultView } from "./result.js";
import { copy } from "./share.js";
import { namesRows } from "./named.js";

/** turnView draws a turn. host is {ask(question), edit(question)}. @param {import("../turn.js").Turn} turn @param {{ ask: (text: string) => void, edit: (text: string) => void }} host */
export function turnView(turn, host) {
  const body = el("div", { class: "answer-body", "data-answer": true });
  list(body, () => turn.parts.value, (part) => part.key, (part) => partView(part(), turn, host));
  const thinking = el("p", { class: "thinking", "data-thinking": true, hidden: () => !turn.thinking.value }, el("span", { class: "dots", "aria-hidden": "true" }), el("span", {}, () => turn.thinking.value));
  const shown = () => turn.state.value === "running" || turn.parts.value.length > 0;
  const answer = el("div", { class: "answer", hidden: () => !shown() }, headOf(turn), body, thinking, footOf(turn, body));
  return el("article", { class: "turn", "data-turn": () => turn.state.value, "aria-label": turn.question ? t("Question and answer") : t("Answer") }, turn.question ? questionOf(turn, host) : null, answer);
}

function questionOf(turn, host) {
  const words = el("div", { class: "question", "data-question": true }, el("span", { class: "visually-hidden" }, t("You asked:") + " "), turn.question);
  const edit = el("button", { type: "button", class: "link", "data-edit": true, onclick: () => host.edit(turn.question) }, t("Edit and ask again"));
  const copied = el("button", { type: "button", class: "link", onclick: () => copy(turn.question, t("The question was copied.")) }, t("Copy"));
  return el("div", { class: "asked" }, words, el("div", { class: "turn-tools hint" }, turn.at ? el("time", { datetime: new Date(turn.at).toISOString() }, moment(turn.at)) : null, edit, copied));
}

function headOf(turn) {
  const label = el("span", { class: () => (isRehearsal(turn.model.value) ? "model rehearsal" : "model"), "data-model": () => turn.model.value, hidden: () => !turn.model.value }, () => modelLabel(turn.model.value));
  return el("div", { class: "answer-head" }, el("span", { class: "who" }, "Countersign"), label);
}

function footOf(turn, body) {
  const done = () => turn.state.value === "done";
  const copied = el("button", { type: "button", class: "link", "data-copy-answer": true, onclick: () => copy(textOf(turn, body), t("The answer was copied.")) }, t("Copy"));
  return el("div", { class: "answer-foot", hidden: () => !done() },
    () => (turn.calls.length && done() ? howView(turn) : null),
    el("div", { class: "turn-tools hint" }, () => (done() && turn.ended ? el("time", { datetime: new Date(turn.ended).toISOString() }, moment(turn.ended)) : null), copied, usageOf(turn)));
}

const textOf = (turn, body) => (turn.words ? turn.copied : body.innerText);

function usageOf(turn) {
  return el("span", { "data-usage": true, hidden: () => !total(turn.usage.value) }, () => usageWords(turn.usage.value));
}

// ---- parts

function partView(part, turn, host) {
  const draw = { text: () => proseView(part, () => turn.calls), call: () => callView(part, turn), change: () => cardView(changeOf(part.id)), notice: () => noticeView(part), note: () => noteView(part), error: () => errorView(part, turn, host), outcome: () => outcomeView(part, turn) };
  return draw[part.kind]();
}

function noticeView(part) {
  return el("p", { class: "notice", "data-notice": () => part.type.value, "data-tool": part.tool || null, hidden: () => part.type.value === "continued" }, icon("warn"), el("span", {}, () => part.words.value));
}

// What the gateway corrects must not look like the model's words.
function noteView(part) {
  return el("div", { class: "notice added", role: "note", "data-note": part.type, "data-text": "gateway" }, icon("warn"),
    el("div", {}, el("p", { class: "added-by" }, t("Countersign adds:")), el("p", {}, inOurs(`note.${part.type}`, part.text))));
}

function errorView(part, turn, host) {
  const retry = turn.question ? el("button", { type: "button", class: "small", "data-retry": true, disabled: () => open.value.running.value, onclick: () => host.ask(turn.question) }, t("Try again")) : null;
  return el("div", { class: "notice error", role: "alert", "data-error": part.code }, icon("warn"), el("span", {}, part.words), retry);
}

// An outcome is shown once: by its card where there is one.
function outcomeView(part, turn) {
  const own = () => turn.parts.value.filter((one) => one.kind === "change").map((one) => changes.value.get(one.id));
  const onCard = () => own().some((change) => change && (change.note.value, change.sentence === part.text || (change.state.value === "denied" && /cancelled/i.test(part.text))));
  return el("p", { class: "outcome", "data-outcome": true, hidden: onCard }, part.text);
}

// ---- calls

function callView(part, turn) {
  const mark = el("span", { class: "tool-mark", "aria-hidden": "true" });
  const head = el("span", { class: "tool-head" }, mark, el("span", { class: "tool-words" }, () => part.words.value), part.server ? el("span", { class: "server" }, part.server) : null);
  const node = el("div", { class: "tool", "data-tool": part.tool, "data-tool-server": part.server ?? null, "data-tool-state": () => part.state.value });
  node.append(el("div", {}, () => contentOf(part, head, turn)));
  return node;
}

function contentOf(part, head, turn) {
  const envelope = part.envelope.value;
  if (!envelope) return head;
  if (part.state.value === "refused") return [head, refusal(part, envelope, turn)];
  if (part.continues?.table) return head; // its rows are there
  const view = resultView(part, titleOf(part.tool), fieldsOf(part.tool));
  if (!view) return head;
  const open = part.table?.rows.peek().length > 1 || Boolean(view.querySelector(part.table ? ".code" : ".tree, .grid, .code")); // the words say one record, but no code
  const unsaid = el("span", { class: "hint", "data-unsaid": true, hidden: true }, t("read for this answer, which names none of them"));
  const node = el("details", { class: "tool-result", open }, el("summary", {}, head, unsaid, icon("chevron")), view);
  effect(() => part.table?.arrived.value && (node.open = true)); // a row of it is pointed at
  effect(() => {
    if (turn.state.value !== "done" || !part.table || namesRows(turn.words, part.table)) return;
    [node.open, unsaid.hidden] = [false, false];
  });
  return node;
}

// What the answer says in the same words is said once, and a guess that a later call of
// the same tool made good is none of a reader's business.
function refusal(part, envelope, turn) {
  const { code = "", message, suggestedAction } = envelope.error ?? envelope;
  const untold = (sentence) => sentence && !(turn.state.value === "done" && turn.words.includes(sentence));
  const after = () => turn.parts.value.slice(turn.parts.value.indexOf(part) + 1);
  const mended = () => after().some((later) => later.kind === "call" && later.tool === part.tool && later.state.value === "complete");
  const words = () => mended() ? "" : inOurs(code, [message, suggestedAction].filter(untold).join(" ")).trim();
  return el("p", { class: "hint", "data-refusal": code, hidden: () => !words() }, words);
}
