// @ts-check
// One change that waits for its person, or was answered: its truth is here, whatever
// cards are drawn of it, and wherever the answer was given.

import { gatewayNow, get, listOf, post } from "./api.js";
import { computed, signal } from "./reactive.js";
import { t } from "./words.js";

const THINKING_MS = 300_000; // how long a person may think, when the card does not say

/** @typedef {"loading" | "waiting" | "sending" | "busy" | "approved" | "denied" | "failed" | "unknown" | "expired" | "gone" | "foreign"} State */

/** The ways in which a change ends, and what is said when nothing better is known. */
const ENDINGS = () => ({
  approved: t("Approved and done."),
  denied: t("Denied. Nothing was changed."),
  failed: t("Nothing was changed."),
  unknown: t("It was sent, and its answer was lost: it may have happened, or not. It is not sent again. Look at the other system before you ask again."),
  expired: t("Time is up: no answer went through within five minutes, so nothing was changed. Ask again if you still want this."),
  gone: t("This request is no longer waiting: it expired or was withdrawn. This answer changed nothing."),
  foreign: t("This request belongs to someone else. You can only approve your own; nothing was changed."),
});

// What is said while only the clock is known: an approval may have gone through before.
const TIME_IS_UP = () => t("Time is up: this can no longer be approved.");

// The states of a stored confirmation.
const STATES = new Map([["applied", "approved"], ["failed", "failed"], ["denied", "denied"], ["unknown", "unknown"], ["expired", "expired"]]);

// Errors of another system's tool: it ran, or may have, so it cannot be said that nothing was changed.
const RAN = new Set(["OUTCOME_UNKNOWN", "TOOL_FAILED"]);

const UNCHANGED = /\s*Nothing was changed\.$/; // a server may say so itself, and the page says it in the reader's language

/** outcomes tells of each change that was answered, with the id of its conversation. */
export const outcomes = new EventTarget();

/** now is the gateway's time in milliseconds, while something waits. */
export const now = signal(gatewayNow());
let clocks = 0;
let ticking;

export class Change {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.envelope = signal(/** @type {any} */ (null));
    this.state = signal(/** @type {State} */ ("loading"));
    this.note = signal("");
    this.answered = signal(""); // when, as the server says
    this.conversation = signal("");
    this.server = signal("");
    this.tool = signal("");
    this.unread = signal(false); // time is up, and its server did not say whether it was done before
    this.deadline = signal(0);
    this.sentence = ""; // the outcome in the tool's own words, as the conversation has it
    this.waits = computed(() => ["waiting", "sending", "busy"].includes(this.state.value));
    this.ended = computed(() => this.state.value in ENDINGS());
    this.left = computed(() => Math.min(THINKING_MS, Math.max(0, this.deadline.value - now.value))); // clocks agree to a second only
  }

  /** show takes the change as its server shows it: {message, confirmationData, …}. @param {any} item */
  show(item) {
    if (item.conversationId) this.conversation.value = item.conversationId;
    const data = item.confirmationData ?? {};
    this.server.value ||= item.mcpServer ?? data.mcpServer ?? "";
    this.tool.value ||= item.action ?? data.action ?? "";
    const envelope = { confirmationId: this.id, message: item.message ?? item.summary ?? "", confirmationData: data };
    const before = this.envelope.peek();
    if (item.confirmationData && (!before || (!this.ended.peek() && digestOf(before) !== digestOf(envelope)))) this.envelope.value = envelope;
    if (!this.deadline.peek()) this.deadline.value = deadlineOf(item);
    if (this.state.peek() === "loading" && (item.state ?? "pending") === "pending") this.#become("waiting", "");
  }

  // Whatever has not ended has its clock: what is carried out now may wait again.
  #become(state, words) {
    this.state.value = state;
    this.note.value = words;
    this.#watch ??= this.#beginWatch();
    this.#expire();
  }

  #beginWatch() {
    if (clocks++ === 0) ticking = setInterval(() => (now.value = gatewayNow()), 250);
    now.value = gatewayNow();
    return setInterval(() => this.#expire(), 250);
  }

  #watch;

  #expire() {
    if (this.state.peek() === "waiting" && this.deadline.peek() <= gatewayNow()) this.#timeUp();
  }

  async #timeUp() {
    this.#end("expired", TIME_IS_UP());
    try {
      await this.learn();
    } catch {
      this.unread.value = true;
      this.note.value = t("Time is up: this can no longer be approved. Whether an answer went through before could not be read.");
    }
  }

  /** receive takes what the person's stream says of it. @param {any} event */
  receive(event) {
    this.server.value ||= event.server ?? "";
    this.tool.value ||= event.tool ?? "";
    if (this.#isKnown()) return;
    if (event.state === "pending" && this.state.peek() !== "loading") return;
    if (!this.deadline.peek()) this.deadline.value = Date.parse(event.expires) || 0;
    if (event.state === "pending") {
      if (Date.parse(event.expires) > gatewayNow()) this.learn().catch(() => {});
      else this.#end("expired", TIME_IS_UP());
      return;
    }
    if (this.state.peek() === "sending") return; // its own answer is on the way
    if (this.envelope.peek()) this.learn().catch(() => {});
    else this.#glimpse(event.state);
  }

  // That time is up is read from the clock; an answer that its server knows of is the truth.
  #isKnown() {
    return this.ended.peek() && this.state.peek() !== "expired";
  }

  // A change that was answered before the page was opened: its card is read when it is looked at.
  #glimpse(state) {
    if (STATES.has(state)) this.#end(/** @type {State} */ (STATES.get(state)), "");
  }

  /** learn asks the server that owns it. */
  async learn() {
    try {
      this.take(await get(`/api/confirmations/${encodeURIComponent(this.id)}`));
    } catch (fault) {
      if (fault.status !== 404) throw fault;
      const late = this.deadline.peek() && this.deadline.peek() < gatewayNow();
      if (!this.ended.peek()) this.#end(late ? "expired" : "gone", late ? TIME_IS_UP() : undefined);
    }
    this.unread.value = false;
  }

  /** take reads a confirmation's record. @param {any} record */
  take(record) {
    this.show({ ...record, state: record.state ?? "pending" });
    if (record.answered) this.answered.value = record.answered;
    const answer = record.receipt ?? record.answer;
    const state = record.state;
    if (state === "unknown" && !answer) return this.#end("unknown");
    if (answer) return this.#settle(answer, state);
    if (STATES.has(state)) return this.#end(/** @type {State} */ (STATES.get(state)));
    if (state === "applying" && this.state.peek() !== "sending") return this.#become("busy", t("It is still being carried out."));
    if (state === "pending" && this.state.peek() === "busy") this.#become("waiting", t("The other answer did not go through. The request is waiting again."));
  }

  // ---- answering

  /** answer sends the person's answer with the digest of what they were shown. @param {boolean} approved @param {Promise<string>} digest */
  async answer(approved, digest) {
    if (this.state.peek() !== "waiting") return; // a second click says nothing new
    this.#become("sending", approved ? t("Approving…") : t("Denying…"));
    try {
      const drawn = await digest;
      if (!drawn) return this.#become("waiting", t("This page came over plain http from another machine, where a browser cannot prove what it shows. Open it over https to answer; nothing was changed."));
      this.answered.value = new Date(gatewayNow()).toISOString();
      this.#settle(await post(`/api/confirm/${encodeURIComponent(this.id)}`, { approved, digest: drawn }));
    } catch (fault) {
      this.#refused(fault);
    }
  }

  #settle(answer, state = "") {
    if (this.state.peek() !== "sending" && this.#isKnown() && this.note.peek()) return;
    const message = String(answer?.data?.message ?? answer?.message ?? "");
    const suggestion = answer?.suggestedAction ?? "";
    this.sentence = message;
    if (state === "denied" || answer?.status === "cancelled") return this.#end("denied");
    if (answer?.status === "success") return this.#end("approved", message || ENDINGS().approved);
    if (RAN.has(answer?.code)) return this.#end("unknown", [message, suggestion].filter(Boolean).join(" ") || ENDINGS().unknown);
    this.#end("failed", [message.replace(UNCHANGED, ""), ENDINGS().failed, suggestion].filter(Boolean).join(" "));
  }

  #refused(fault) {
    switch (fault.status) {
      case 403: return this.#end("foreign");
      case 404: return this.#end("gone");
      case 409: return this.#conflict(fault);
      case 401: return this.#become("waiting", t("Your session has ended, so your answer was not taken. Sign in again: the request is still waiting."));
      case 503: return this.#become("waiting", t("The service that keeps approvals cannot be reached just now. Nothing is lost: try again in a moment."));
      case 0: return this.#become("waiting", t("The answer did not arrive. Trying again is safe: a change is never made twice."));
      default: return this.#become("waiting", [fault.message, fault.suggestion].filter(Boolean).join(" "));
    }
  }

  #conflict(fault) {
    const words = [fault.message, fault.suggestion].filter(Boolean).join(" ");
    if (fault.code === "PERSON_CHANGED") return this.#become("waiting", words);
    if (fault.code === "CONFIRMATION_DENIED") return this.#end("denied", t("This request was denied before. Nothing was changed."));
    if (fault.code === "CONFIRMATION_STALE") return this.#drawAgain();
    if (fault.code === "CONFIRMATION_IN_PROGRESS") return this.#become("busy", t("Another answer to this request is being carried out right now."));
    this.#end("failed", words);
  }

  // What was shown is not what waits: the answer was not taken, and it still waits.
  async #drawAgain() {
    this.#become("waiting", "");
    const told = await this.learn().then(() => true, () => false);
    if (this.state.peek() !== "waiting") return;
    this.note.value = told
      ? t("What waits is not what was shown here, so nothing was changed. Here it is as it is now: read it again before you answer.")
      : t("What waits is not what is shown here. Nothing was changed. Load the page again to see the request as it is.");
  }

  /** @param {State} state @param {string} [words] */
  #end(state, words = ENDINGS()[state]) {
    clearInterval(this.#watch);
    if (this.#watch && --clocks === 0) clearInterval(ticking);
    this.#watch = undefined;
    this.state.value = state;
    this.note.value = words;
    if (this.conversation.peek()) outcomes.dispatchEvent(new CustomEvent("outcome", { detail: this.conversation.peek() }));
  }
}

/** @param {any} item */
function deadlineOf(item) {
  const data = item.confirmationData ?? {};
  const { expires } = item;
  if (Number.isFinite(data.expiresAt)) return data.expiresAt;
  const declared = Date.parse(expires ?? "");
  if (Number.isFinite(declared)) return declared;
  return (Number.isFinite(data.timestamp) ? data.timestamp : gatewayNow()) + THINKING_MS;
}

// What the digest covers, as one text: cheap enough to compare cards with.
/** @param {any} envelope */
function digestOf({ message, confirmationData }) {
  const { digest, expiresAt, approvalUrl, ...drawn } = confirmationData;
  return JSON.stringify([message, Object.entries(drawn).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

// ---- all of them

/** changes are all that the page knows of, by id, in the order in which they came. */
export const changes = signal(/** @type {Map<string, Change>} */ (new Map()));
/** unshown are requests that their server cannot show. */
export const unshown = signal(/** @type {any[]} */ ([]));
export const waiting = computed(() => [...changes.value.values()].filter((change) => change.waits.value));

/** changeOf returns the change of an id, and makes it when it is new. @param {string} id */
export function changeOf(id) {
  const known = changes.peek().get(id);
  if (known) return known;
  const made = new Change(id);
  changes.value = new Map(changes.peek()).set(id, made);
  return made;
}

/** see takes a pending change as its server shows it. @param {any} envelope */
export function see(envelope) {
  const change = changeOf(envelope.confirmationId);
  change.show(envelope);
  return change;
}

/** changesProblem says why what waits could not be read. */
export const changesProblem = signal("");

/** learnChanges reads all that waits for this person, or says that it could not. */
export async function learnChanges() {
  try {
    const body = await get("/api/confirmations");
    for (const item of listOf(body, "confirmations")) changeOf(item.confirmationId).take(item);
    unshown.value = body?.unavailable ?? [];
    changesProblem.value = "";
  } catch (fault) {
    changesProblem.value = t("What waits for your approval could not be read. {why}", { why: fault.message });
  }
}
