// @ts-check
// The card of a change: exactly what will happen, the two answers, and afterwards the
// receipt. Its truth is in the store; this draws it. Approving is possible only while
// all of the card is in view.

import { digestOf } from "../digest.js";
import { data, el, icon } from "../dom.js";
import { isEmpty, isObject, label, moneyText } from "../format.js";
import { effect, signal } from "../reactive.js";
import { me, previewOf, titleOf } from "../store.js";
import { language, moment, t } from "../words.js";
import { descriptionList } from "./facts.js";
import { openSheet, sightOf } from "./sight.js";

const THINKING_MS = 300_000;
const LONGEST_ACT = 80; // characters of a button; longer acts are not cut, the tool's title is named instead

// What names the request rather than the change is shown under "Details", and so is what
// its tool declares as a detail, such as ids of rows. The field decides, never its text:
// its author could hide it otherwise.
const TECHNICAL = new Set(["action", "mcpServer", "userId", "username", "timestamp", "expiresAt", "confirmationId", "approvalUrl", "conversationId", "digest", "message", "summary", "warning", "quotes", "origin"]);

// Where a change was asked for, by the surface of its origin.
const ASKED = () => new Map([
  ["chat", t("Asked for in the chat")],
  ["terminal", t("Asked for in a chat of a terminal or another program")],
  ["api", t("Asked for by a direct call of the API")],
  ["mcp", t("Asked for by an MCP client")],
  ["server", t("Asked for at the server itself, not through the gateway")],
]);

const BADGES = () => ({ approved: t("Approved"), denied: t("Denied"), expired: t("Expired"), failed: t("Not done"), unknown: t("Outcome unknown"), waiting: t("Waiting for you"), sending: t("Waiting for you"), busy: t("Being carried out"), loading: t("Being looked up") });

/** cardView draws a change. @param {import("../change.js").Change} change */
export function cardView(change) {
  const node = el("section", {
    class: () => (deletes(change) ? "card deletes" : "card"), role: "group", tabindex: "-1", "aria-labelledby": `card-${change.id}`, "data-card": change.id, "data-card-state": () => change.state.value, "data-waits": () => change.waits.value,
    "aria-busy": () => String(change.state.value === "sending"), "data-urgent": () => change.waits.value && change.left.value < 60_000,
  });
  const foot = controls(change, sightOf(node, () => change.envelope.value), node);
  node.append(
    el("header", {}, () => icon(deletes(change) ? "trash" : "pen"), el("h3", { id: `card-${change.id}` }, () => titleOf(change.tool.value, change.server.value)), el("span", { class: "card-badge" }, () => BADGES()[change.state.value] ?? t("Closed"))),
    el("div", { class: "card-body" }, () => (change.envelope.value ? bodyOf(change.envelope.value) : el("p", { class: "hint" }, t("What was asked for is no longer kept.")))),
    foot,
    el("p", { class: "card-note", role: "status", "data-card-note": true, hidden: () => !change.note.value }, () => change.note.value),
    el("p", { class: "card-receipt hint", "data-card-receipt": true, hidden: () => !receiptOf(change) }, () => receiptOf(change)),
  );
  return el("div", { class: "card-place" }, node);
}

// Who, when, and by which id an auditor finds it.
function receiptOf(change) {
  if (!["approved", "denied", "failed", "unknown", "expired"].includes(change.state.value)) return null;
  const person = me.value;
  const answered = change.state.value !== "expired";
  const when = answered ? change.answered.value : change.deadline.value;
  const name = person?.name ? `${person.name} (${person.username})` : person?.username;
  const line = [name ? data(answered ? name : t("It waited for {name}", { name })) : null, when ? el("time", { datetime: new Date(when).toISOString() }, moment(when)) : null].filter(Boolean);
  return [...line.flatMap((one) => [one, " · "]), t("Audit id"), " ", el("code", {}, change.id)];
}

// ---- what is drawn

function bodyOf(envelope) {
  const card = envelope.confirmationData ?? {};
  const quotes = quotesOf(card);
  const facts = factsOf(card, quotes);
  return [
    el("p", { class: "card-message", "data-card-message": true }, data(envelope.message ?? "")),
    ASKED().has(card.origin?.surface) ? el("p", { class: "hint", "data-card-origin": true }, ASKED().get(card.origin.surface)) : null,
    readBefore(card.origin),
    facts.flat.length ? descriptionList(facts.flat, card) : null,
    facts.nested.map(whole),
    quotes.map(quotation),
    card.warning ? el("p", { class: "notice", "data-card-warning": true }, icon("warn"), el("span", {}, data(card.warning))) : null,
    technical(envelope),
  ];
}

// What others wrote and the assistant had read: the wish may be theirs.
function readBefore(origin) {
  const texts = Array.isArray(origin?.tainted_by) ? origin.tainted_by.map(nameOfSource) : [];
  if (!texts.length) return null;
  return el("p", { class: "notice", "data-card-taint": true }, icon("warn"), el("span", {}, data(t("The assistant had read {texts} before it asked for this.", { texts: texts.join(", ") }))));
}

/** nameOfSource names a text that was read: of a row, an answer of a tool, or so many more. @param {any} source */
export function nameOfSource(source) {
  if (typeof source === "string") return source; // of a request that was kept before sources were data
  if (source.more) return source.more === 1 ? t("1 more text") : t("{n} more texts", { n: source.more });
  if (source.name) return t("text of {kind} “{name}”", { kind: t(source.kind), name: source.name });
  if (source.about) return t("text of {kind} about “{name}”", { kind: t(source.kind), name: source.about });
  if (source.kind) return t("text of {kind} {id}", { kind: t(source.kind), id: source.id ?? "" });
  return t("an answer of “{title}”", { title: titleOf(source.tool ?? "") });
}

// A JSON object of the gateway's has its keys by the alphabet; people want to
// know whom first, then from what to what, and why last.
const ORDER = [/name$|^title|number$/i, /^(current|old|from|previous)/i, /^(new|to$|next|requested)/i, /change|percent/i];
const LAST = /reason|note|comment/i;

function factsOf(card, quotes) {
  const place = (key) => {
    const found = ORDER.findIndex((pattern) => pattern.test(key));
    return LAST.test(key) ? ORDER.length + 1 : found < 0 ? ORDER.length : found;
  };
  const quoted = new Set(quotes.map(({ field }) => field));
  const facts = Object.entries(card).filter(([key]) => isFact(card, key) && !quoted.has(key));
  facts.sort(([a], [b]) => place(a) - place(b));
  const nested = ([, value]) => isObject(value) || (Array.isArray(value) && value.some((item) => typeof item === "object"));
  return { flat: facts.filter((fact) => !nested(fact)), nested: facts.filter(nested) };
}

function isFact(card, key) {
  return !TECHNICAL.has(key) && !isEmpty(card[key]) && previewOf(card.action)[key]?.show !== "detail";
}

// A fact with parts, such as the arguments of another server's tool: all of it.
function whole([key, value]) {
  return el("figure", { class: "card-quote", "data-field": key }, el("figcaption", {}, `${label(key)}:`), el("pre", {}, data(JSON.stringify(value, null, 2))));
}

// The free texts of a card, each with its author: [{field, author, text}].
function quotesOf(card) {
  const quotes = Array.isArray(card.quotes) ? card.quotes : [];
  return quotes.filter((quote) => quote && [quote.field, quote.author, quote.text].every((part) => typeof part === "string"));
}

// A quotation is never a part of our own words: who wrote it is said first, and
// the text has a place of its own, in its own direction.
function quotation({ field, author, text }) {
  return el("figure", { class: "card-quote", "data-quote": field }, el("figcaption", {}, `${label(field)}, ${author}:`), el("blockquote", { dir: "auto" }, data(text)));
}

// Everything that the request holds, unchanged, for readers who want to check.
function technical(envelope) {
  const card = envelope.confirmationData ?? {};
  const rest = Object.entries(card).filter(([key, value]) => !isFact(card, key) && !isEmpty(value) && key !== "warning" && key !== "quotes");
  const entries = [["confirmationId", envelope.confirmationId], ...rest.filter(([key]) => key !== "confirmationId")];
  const pairs = entries.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, el("code", {}, data(typeof value === "string" ? value : JSON.stringify(value))))));
  return el("details", { class: "technical" }, el("summary", {}, t("Details")), el("dl", { class: "facts" }, pairs));
}

// ---- the two answers

const DELETES = /(^|[._])(delete|remove|purge|cleanup|drop|destroy|erase)(_|$)/;
const deletes = (change) => DELETES.test(change.tool.value);

/** actOf names what approving does: "Raise Marcus Johnson to $160,000", "Delete employee Frank Davis". @param {string} tool @param {any} envelope */
export function actOf(tool, envelope) {
  const card = envelope?.confirmationData ?? {};
  const named = Object.entries(card).find(([key, value]) => !TECHNICAL.has(key) && ORDER[0].test(key) && typeof value === "string" && value)?.[1];
  const title = titleOf(tool, card.mcpServer);
  const act = [DELETES.test(tool) ? null : changeOfNumber(card, named), named ? t("{act} {name}", { act: language === "en" ? title.replace(/\b(an?|the) /i, "") : title, name: named }) : null].find((one) => one && one.length <= LONGEST_ACT);
  return act ?? title;
}

// From one number to another: a raise, or the opposite.
function changeOfNumber(card, named) {
  const [key, next] = Object.entries(card).find(([name, value]) => /^new[A-Z_]/.test(name) && typeof value === "number") ?? ["", 0];
  if (!key || !named) return null;
  const stem = key.slice(3);
  const before = ["current", "old", "previous", "from"].map((word) => card[word + stem]).find((value) => typeof value === "number");
  const amount = /salary|amount|price|value|budget/i.test(stem) ? moneyText(next, card.currency) : String(next);
  if (before === undefined || before === next) return t("Set {name} to {amount}", { name: named, amount });
  return next > before ? t("Raise {name} to {amount}", { name: named, amount }) : t("Lower {name} to {amount}", { name: named, amount });
}

const unseenWords = () => t("Approving is possible when you have seen all of this request.");

function controls(change, { seen, toUnseen }, card) {
  const closed = () => change.state.value === "busy" || change.unread.value;
  const approve = el("button", {
    type: "button", "data-approve": true, disabled: () => change.state.value !== "waiting", hidden: closed, "aria-disabled": () => (seen.value ? null : "true"), title: () => (seen.value ? null : unseenWords()),
    class: () => (deletes(change) ? "primary deletes" : "primary"),
    onclick: () => (seen.peek() ? change.answer(true, digest.peek()) : toUnseen()),
  }, icon("check"), el("span", {}, () => data(actOf(change.tool.value, change.envelope.value))));
  const digest = signal(Promise.resolve(""));
  effect(() => {
    if (change.envelope.value) digest.value = digestOf(change.envelope.value);
  });
  const read = el("button", { type: "button", class: "primary", "data-read": true, disabled: () => change.state.value !== "waiting", hidden: () => change.unread.value, onclick: () => openSheet(card, () => change.waits.value) }, t("Read all of it and answer"));
  const deny = el("button", { type: "button", "data-deny": true, disabled: () => change.state.value !== "waiting", hidden: closed, onclick: () => change.answer(false, digest.peek()) }, icon("cross"), t("Deny"));
  const again = el("button", { type: "button", "data-check-again": true, hidden: () => !closed(), onclick: () => change.learn().catch((fault) => (change.note.value = fault.message)) }, t("Check again"));
  const clock = el("span", { class: "card-clock", role: "timer", "data-countdown": true, hidden: () => change.unread.value }, () => t("{time} left", { time: clockOf(change.left.value) }));
  const unseen = el("p", { class: "hint", "data-unseen": true, hidden: () => seen.value || change.state.value !== "waiting" }, unseenWords());
  return el("div", { hidden: () => !change.waits.value && !change.unread.value },
    el("progress", { class: "card-bar", hidden: () => change.unread.value, max: String(THINKING_MS), value: () => String(change.left.value), "aria-hidden": "true" }),
    unseen, el("div", { class: "card-controls" }, approve, read, deny, again, clock));
}

function clockOf(ms) {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
