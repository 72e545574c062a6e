// The approval card: exactly what will happen, and the two answers. A card shows
// its outcome once, wherever that comes from first: the answer to its own
// button, or the conversation's event stream.

import { gatewayNow, get, post } from "./api.js";
import { digestOf } from "./digest.js";
import { el, icon, show } from "./dom.js";
import { isEmpty, isObject, label } from "./format.js";
import { descriptionList } from "./rows.js";

const THINKING_MS = 300_000; // how long a person may think, when the card does not say
const TICK_MS = 250;

// What names the request rather than the change, and the ids of our own rows; they
// are shown under "Details". The name of a field decides, never its text: its
// author could hide it otherwise.
const TECHNICAL = new Set(["action", "mcpServer", "userId", "username", "timestamp", "expiresAt", "confirmationId", "approvalUrl", "conversationId", "digest", "message", "summary", "warning", "quotes", "origin",
  "employeeId", "invoiceId", "budgetId", "dealId", "customerId"]);

// Where a change was asked for, by the surface of its origin.
const ASKED = new Map([
  ["chat", "Asked for in the chat"],
  ["terminal", "Asked for in a chat of a terminal or another program"],
  ["api", "Asked for by a direct call of the API"],
  ["mcp", "Asked for by an MCP client"],
  ["server", "Asked for at the server itself, not through the gateway"],
]);

// The states of a card, and what is said when nothing better is known.
const ENDINGS = {
  approved: "Approved and done.",
  answered: "This request was answered elsewhere.",
  denied: "Denied. Nothing was changed.",
  failed: "Nothing was changed.",
  expired: "Time is up: there was no answer within five minutes, so nothing was changed. Ask again if you still want this.",
  gone: "This request is no longer waiting: it expired or was withdrawn. This answer changed nothing.",
  foreign: "This request belongs to someone else. You can only approve your own; nothing was changed.",
};

const STALE = "What waits is not what is shown here. Nothing was changed. Load the page again to see the request as it is.";
const UNPROVEN = "This page came over plain http from another machine, where a browser cannot prove what it shows. Open it over https to answer; nothing was changed.";

const BADGES = { approved: "Approved", answered: "Answered", denied: "Denied", expired: "Expired", failed: "Not done" };

/** makeCard draws one pending confirmation. title names its tool. */
export function makeCard(envelope, { title, onSettled }) {
  return new Card(envelope, title, onSettled);
}

class Card {
  #onSettled;
  #deadline;
  #digest; // of what is drawn; a promise
  #timer;
  #held = false; // a button of ours had the focus when it was pressed
  #received = ""; // the outcome from the event stream

  constructor(envelope, title, onSettled) {
    this.id = envelope.confirmationId;
    this.state = "waiting";
    this.receipt = ""; // the gateway's own words, by which its echo is known
    this.#onSettled = onSettled;
    this.#deadline = deadlineOf(envelope);
    this.node = this.#draw(envelope, title);
    this.#digest = digestOf(envelope);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  get ended() {
    return this.state in ENDINGS;
  }

  /** dispose stops the clock of a card that left the page. */
  dispose() {
    clearInterval(this.#timer);
  }

  /** tell gives the card an outcome that arrived on the event stream. */
  tell(message) {
    if (this.receipt || this.ended) return;
    this.#received = message;
    if (this.state !== "sending") this.#end("answered", message); // else its own answer is on the way
  }

  // ---- drawing

  #draw(envelope, title) {
    const data = envelope.confirmationData ?? {};
    const quotes = quotesOf(data);
    const facts = factsOf(data, quotes);
    const heading = `card-${this.id}`;
    this.badge = el("span", { class: "card-badge" }, "Waiting for you");
    this.clock = el("span", { class: "card-clock", role: "timer", "data-countdown": true });
    this.bar = el("progress", { class: "card-bar", max: THINKING_MS, "aria-hidden": "true" });
    this.note = el("p", { class: "card-note", role: "status", "data-card-note": true, hidden: true });
    return el(
      "section",
      { class: "card", role: "group", "aria-labelledby": heading, tabindex: "-1", "data-card": this.id, "data-card-state": "waiting" },
      el("header", {}, icon("pen"), el("h3", { id: heading }, title), this.badge),
      el("p", { class: "card-message", "data-card-message": true }, envelope.message ?? ""),
      ASKED.has(data.origin?.surface) ? el("p", { class: "card-note", "data-card-origin": true }, ASKED.get(data.origin.surface)) : null,
      readBefore(data.origin),
      facts.flat.length ? descriptionList(facts.flat, data) : null,
      facts.nested.map(whole),
      quotes.map(quotation),
      data.warning ? el("p", { class: "notice", "data-card-warning": true }, icon("warn"), el("span", {}, data.warning)) : null,
      technical(envelope),
      this.#controls(),
      this.note,
    );
  }

  #controls() {
    this.approve = el("button", { type: "button", class: "primary", "data-approve": true, onclick: () => this.#answer(true) }, icon("check"), "Approve");
    this.deny = el("button", { type: "button", "data-deny": true, onclick: () => this.#answer(false) }, icon("cross"), "Deny");
    this.again = el("button", { type: "button", "data-check-again": true, hidden: true, onclick: () => this.#check() }, "Check again");
    this.controls = el("div", { class: "card-controls" }, this.approve, this.deny, this.again, this.clock);
    return (this.foot = el("div", {}, this.bar, this.controls));
  }

  // ---- the clock

  #tick() {
    const left = Math.min(THINKING_MS, Math.max(0, this.#deadline - gatewayNow())); // clocks agree to a second only
    const seconds = Math.ceil(left / 1000);
    this.clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
    this.bar.value = left;
    this.node.toggleAttribute("data-urgent", left < 60_000);
    if (left === 0 && this.state === "waiting") this.#end("expired");
  }

  // ---- answering

  async #answer(approved) {
    if (this.state === "sending" || this.ended) return; // a second click says nothing new
    this.#held = this.controls.contains(document.activeElement);
    this.#become("sending", approved ? "Approving…" : "Denying…");
    try {
      const digest = await this.#digest;
      if (!digest) return this.#reopen(UNPROVEN);
      this.#settle(await post(`/api/confirm/${encodeURIComponent(this.id)}`, { approved, digest }));
    } catch (fault) {
      this.#refused(fault);
    }
  }

  #settle(envelope) {
    const { message, suggestion } = wordsOf(envelope);
    const endings = { success: "approved", cancelled: "denied", error: "failed" };
    const ending = endings[envelope?.status] ?? "failed";
    if (this.ended) return; // the event stream was faster
    this.receipt = message;
    if (ending === "approved") this.#end(ending, message || ENDINGS.approved);
    if (ending === "denied") this.#end(ending);
    if (ending === "failed") this.#end(ending, [message, ENDINGS.failed, suggestion].filter(Boolean).join(" "));
  }

  #refused(fault) {
    if (this.ended) return;
    if (this.#received) return this.#end("answered", this.#received);
    switch (fault.status) {
      case 403: return this.#end("foreign");
      case 404: return this.#end("gone");
      case 409: return this.#conflict(fault);
      case 401: return this.#reopen("Your session has ended, so your answer was not taken. Sign in again: the request is still waiting.");
      case 503: return this.#reopen("The service that keeps approvals cannot be reached just now. Nothing is lost: try again in a moment.");
      case 0: return this.#reopen("The answer did not arrive. Trying again is safe: a change is never made twice.");
      default: return this.#reopen([fault.message, fault.suggestion].filter(Boolean).join(" "));
    }
  }

  #conflict(fault) {
    if (fault.code === "CONFIRMATION_DENIED") return this.#end("denied", "This request was denied before. Nothing was changed.");
    if (fault.code === "CONFIRMATION_STALE") return this.#end("failed", STALE);
    if (fault.code === "CONFIRMATION_IN_PROGRESS") return this.#wait();
    this.#end("failed", [fault.message, fault.suggestion].filter(Boolean).join(" "));
  }

  // Another answer is being carried out; only the gateway knows how it ends.
  #wait() {
    this.#become("busy", "Another answer to this request is being carried out right now.");
    show(this.approve, false);
    show(this.deny, false);
    show(this.again);
  }

  async #check() {
    this.again.disabled = true;
    try {
      this.#learn(await get(`/api/confirmations/${encodeURIComponent(this.id)}`));
    } catch (fault) {
      this.#refused(fault);
    } finally {
      this.again.disabled = false;
    }
  }

  #learn(record) {
    const answer = record.receipt ?? record.answer;
    if (answer) return this.#settle(answer);
    if (record.state === "denied") return this.#end("denied");
    if (record.state === "pending") return this.#reopen("The other answer did not go through. The request is waiting again.");
    this.#say("It is still being carried out.");
  }

  // ---- changing state

  #become(state, words) {
    this.state = state;
    this.node.dataset.cardState = state;
    this.node.setAttribute("aria-busy", String(state === "sending"));
    this.approve.disabled = this.deny.disabled = state !== "waiting";
    this.#say(words);
  }

  #reopen(words) {
    this.#become("waiting", words);
    show(this.approve);
    show(this.deny);
    show(this.again, false);
    this.#giveFocus(this.approve);
    this.#tick();
  }

  #end(state, words = ENDINGS[state]) {
    this.#held ||= this.controls.contains(document.activeElement);
    this.dispose();
    this.#become(state, words);
    this.badge.textContent = BADGES[state] ?? "Closed";
    show(this.foot, false);
    this.#giveFocus(this.node);
    this.#onSettled?.(this);
  }

  // A disabled or hidden button drops the focus; a reader who moved on keeps theirs.
  #giveFocus(node) {
    if (this.#held && document.activeElement === document.body) node.focus();
    this.#held = false;
  }

  #say(words) {
    this.note.textContent = words;
    show(this.note, Boolean(words));
  }
}

function deadlineOf({ confirmationData: data = {}, expires }) {
  if (Number.isFinite(data.expiresAt)) return data.expiresAt;
  const declared = Date.parse(expires ?? "");
  if (Number.isFinite(declared)) return declared;
  return (Number.isFinite(data.timestamp) ? data.timestamp : gatewayNow()) + THINKING_MS;
}

// What others wrote and the assistant had read: the wish may be theirs.
function readBefore(origin) {
  const texts = Array.isArray(origin?.tainted_by) ? origin.tainted_by.filter((text) => typeof text === "string") : [];
  if (!texts.length) return null;
  return el("p", { class: "notice", "data-card-taint": true }, icon("warn"), el("span", {}, `The assistant had read ${texts.join(", ")} before it asked for this.`));
}

// A JSON object of the gateway's has its keys by the alphabet; people want to
// know whom first, then from what to what, and why last.
const ORDER = [/name$|^title|number$/i, /^(current|old|from|previous)/i, /^(new|to$|next|requested)/i, /change|percent/i];
const LAST = /reason|note|comment/i;

function factsOf(data, quotes) {
  const place = (key) => {
    const found = ORDER.findIndex((pattern) => pattern.test(key));
    return LAST.test(key) ? ORDER.length + 1 : found < 0 ? ORDER.length : found;
  };
  const quoted = new Set(quotes.map(({ field }) => field));
  const facts = Object.entries(data).filter(([key, value]) => isFact(key, value) && !quoted.has(key));
  facts.sort(([a], [b]) => place(a) - place(b));
  const nested = ([, value]) => isObject(value) || (Array.isArray(value) && value.some((item) => typeof item === "object"));
  return { flat: facts.filter((fact) => !nested(fact)), nested: facts.filter(nested) };
}

function isFact(key, value) {
  return !TECHNICAL.has(key) && !isEmpty(value);
}

// A fact with parts, such as the arguments of another server's tool: all of it.
function whole([key, value]) {
  return el("figure", { class: "card-quote", "data-field": key }, el("figcaption", {}, `${label(key)}:`), el("pre", {}, JSON.stringify(value, null, 2)));
}

// The free texts of a card, each with its author: [{field, author, text}].
function quotesOf(data) {
  const quotes = Array.isArray(data.quotes) ? data.quotes : [];
  return quotes.filter((quote) => quote && [quote.field, quote.author, quote.text].every((part) => typeof part === "string"));
}

// A quotation is never a part of our own words: who wrote it is said first, and
// the text has a place of its own, in its own direction.
function quotation({ field, author, text }) {
  return el(
    "figure",
    { class: "card-quote", "data-quote": field },
    el("figcaption", {}, `${label(field)}, ${author}:`),
    el("blockquote", { dir: "auto" }, text),
  );
}

// Everything that the request holds, unchanged, for readers who want to check.
function technical(envelope) {
  const data = envelope.confirmationData ?? {};
  const rest = Object.entries(data).filter(([key, value]) => !isFact(key, value) && !isEmpty(value) && key !== "warning" && key !== "quotes");
  const entries = [["confirmationId", envelope.confirmationId], ...rest.filter(([key]) => key !== "confirmationId")];
  const pairs = entries.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, el("code", {}, typeof value === "string" ? value : JSON.stringify(value)))));
  return el("details", { class: "technical" }, el("summary", {}, "Details"), el("dl", { class: "facts" }, pairs));
}

function wordsOf(envelope) {
  const message = envelope?.data?.message ?? envelope?.message ?? "";
  return { message: String(message), suggestion: envelope?.suggestedAction ?? "" };
}
