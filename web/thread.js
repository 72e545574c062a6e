// The open conversation: its stored messages, the running turn, the event stream
// that tells what happens beside it, and the cards that wait.

import { announce } from "./announce.js";
import { ask, DONE, Fault, follow, get, post } from "./api.js";
import { makeCard } from "./card.js";
import { el, show } from "./dom.js";
import { incompleteHint } from "./rows.js";
import { makeTurn } from "./turn.js";

/**
 * makeThread draws into log and waiting. host gives it {titleOf(tool), fieldsOf(tool),
 * serverOf(tool), chosenModel(), onStart(conversationId), onModel(model), onRunning(bool), onLine(state)}.
 */
export function makeThread(places, host) {
  return new Thread(places, host);
}

class Thread {
  #places;
  #host;
  #turn = null; // the running turn
  #latest = null; // the turn that was drawn last
  #asking = null; // ends the request that the running turn reads
  #following = null; // ends the event stream
  #last = ""; // id of the last event seen
  #cards = new Map();
  #unclaimed = []; // outcomes received while a card is still being answered
  #opening = Promise.resolve(); // ends when what is stored is drawn, or cannot be

  constructor(places, host) {
    this.id = "";
    this.#places = places;
    this.#host = host;
    document.addEventListener("visibilitychange", () => this.#sleepOrWake());
  }

  get running() {
    return Boolean(this.#turn?.running);
  }

  get empty() {
    return this.#places.log.childElementCount === 0;
  }

  // ---- opening

  /** open shows a stored conversation, or a new one for an empty id. */
  open(id) {
    const opening = this.#open(id);
    this.#opening = opening.catch(() => {}); // the caller says why
    return opening;
  }

  async #open(id) {
    this.#leave();
    this.id = id;
    const [conversation, pending] = await Promise.all([id ? get(`/api/conversations/${encodeURIComponent(id)}`) : null, get("/api/confirmations")]);
    if (this.id !== id) return; // another one was opened meanwhile
    const waiting = listOf(pending, "confirmations").map(readPending);
    this.#history(conversation, waiting);
    this.#showWaiting(waiting, pending?.unavailable ?? []);
    this.#last = conversation?.lastEventId ?? "";
    if (id) this.#follow();
    this.#scrollToEnd(true);
  }

  #leave() {
    this.#asking?.abort();
    this.#following?.abort();
    for (const card of this.#cards.values()) card.dispose();
    this.#cards.clear();
    this.#unclaimed = [];
    this.#latest = null;
    this.#setTurn(null);
    this.#last = "";
    this.#places.log.replaceChildren();
    this.#places.waiting.replaceChildren();
    show(this.#places.waitingArea, false);
    this.#host.onLine("open");
  }

  #history(conversation, waiting) {
    let turn = null;
    for (const message of conversation?.messages ?? []) {
      if (message.role === "system") {
        this.#line(message.content);
        turn = null; // what follows is below the outcome
        continue;
      }
      if (message.role === "user" || !turn) turn = this.#addTurn(message.role === "user" ? message.content : "");
      this.#replay(turn, message, waiting);
    }
    if (conversation?.model) this.#host.onModel(conversation.model);
  }

  // A stored message becomes the event that it once was.
  #replay(turn, message, waiting) {
    if (message.role === "assistant") turn.take({ type: "text", text: String(message.content ?? "") });
    if (message.model) turn.take({ type: "start", model: message.model });
    if (message.role !== "tool") return;
    const event = storedCall(message, this.#host.serverOf(message.tool));
    const live = waiting.find((pending) => pending.confirmationId === event.data?.confirmationId);
    turn.take(live ?? settled(event));
    const hint = event.data && incompleteHint(event.data);
    if (hint) turn.take({ type: "truncation", tool: event.tool, hint });
  }

  // Pending requests that the messages do not show are drawn on their own.
  // Those that their server cannot show are named.
  #showWaiting(waiting, unshown) {
    const missing = waiting.filter((envelope) => !this.#cards.has(envelope.confirmationId));
    this.#places.waiting.replaceChildren(...missing.map((envelope) => this.#elsewhere(envelope)), ...unshown.map(namedOnly));
    show(this.#places.waitingArea, missing.length + unshown.length > 0);
  }

  // A request of another conversation leads to where it was asked for.
  #elsewhere(envelope) {
    const id = envelope.conversationId;
    const way = id && id !== this.id ? el("a", { class: "hint", href: `#/c/${encodeURIComponent(id)}`, "data-asked-in": id }, "See the conversation it was asked in") : null;
    return el("div", { class: "elsewhere" }, this.#card(envelope), way);
  }

  #addTurn(question) {
    const turn = makeTurn(question, {
      titleOf: this.#host.titleOf,
      fieldsOf: this.#host.fieldsOf,
      card: (envelope) => this.#card(envelope),
      retry: (text) => this.ask(text),
    });
    this.#places.log.append(turn.node);
    this.#latest = turn;
    return turn;
  }

  // ---- asking

  /**
   * ask sends a question and draws its answer until it is whole, below what the
   * conversation has already. A question whose conversation is left before that
   * is there is not sent.
   */
  async ask(question) {
    if (this.running) return;
    const { id } = this;
    this.#host.onRunning(true);
    await this.#opening;
    if (this.running || this.id !== id) return;
    this.#following?.abort();
    const turn = this.#addTurn(question);
    turn.begin();
    this.#setTurn(turn);
    this.#scrollToEnd(true);
    await this.#read(question, turn);
  }

  async #read(question, turn) {
    const asking = (this.#asking = new AbortController());
    try {
      for await (const event of ask({ query: question, conversationId: this.id, model: this.#host.chosenModel() }, asking.signal)) {
        if (asking.signal.aborted) return;
        if (isBreak(event)) break;
        this.#deliver(event);
      }
      if (turn.running) throw new Fault("The answer ended early.", { code: "UNREACHABLE" });
    } catch (cause) {
      if (asking.signal.aborted) return;
      this.#lost(turn, cause);
    } finally {
      if (this.#turn === turn && !turn.running) this.#setTurn(null);
    }
    if (this.id && !asking.signal.aborted) this.#follow();
  }

  // A refusal ends the turn. A stream that broke is resumed where it stopped.
  #lost(turn, cause) {
    const refused = cause.status > 0;
    if (refused || !this.id || !this.#last) return turn.fail(cause instanceof Fault ? cause : new Fault("The connection was lost."));
    turn.interrupted();
  }

  /**
   * stop asks for the end of the running turn, which comes as its last event.
   * Asking twice is not waiting for it.
   */
  async stop() {
    const turn = this.#turn;
    if (!turn?.running) return;
    if (!this.id || turn.stopping) return this.#dropTurn(turn);
    turn.stop();
    try {
      const answer = await post(`/api/conversations/${encodeURIComponent(this.id)}/cancel`, {});
      if (answer?.cancelled === false) this.#dropTurn(turn); // nothing runs there
    } catch (fault) {
      announce.say(fault.message);
    }
  }

  #dropTurn(turn) {
    if (this.#turn !== turn) return;
    this.#asking?.abort();
    turn.stopped();
    this.#setTurn(null);
    this.#follow();
  }

  #setTurn(turn) {
    this.#turn = turn;
    this.#host.onRunning(this.running);
  }

  // ---- events

  #deliver({ id, data }) {
    if (id) this.#last = id;
    if (data === DONE) return this.#endTurn();
    if (data.type === "message") return this.#message(data);
    if (data.type === "start") this.#started(data);
    (this.#turn ?? this.#resumedTurn()).take(data);
    this.#scrollToEnd(false);
  }

  #started(event) {
    if (event.model) this.#host.onModel(event.model);
    if (!event.conversationId || event.conversationId === this.id) return;
    this.id = event.conversationId;
    this.#host.onStart(this.id);
  }

  // A turn that this window did not ask for: it was asked in another one, or in
  // this one before it was loaded again.
  #resumedTurn() {
    const turn = this.#latest && !this.#latest.answered ? this.#latest : this.#addTurn("");
    turn.begin();
    this.#setTurn(turn);
    return turn;
  }

  #endTurn() {
    this.#turn?.finish();
    this.#setTurn(null);
    this.#scrollToEnd(false);
  }

  #message(event) {
    if (event.role !== "system" || this.#claimed(event)) return;
    this.#line(event.content);
    announce.say(event.content);
    this.#scrollToEnd(false);
  }

  // An outcome is shown once: by its card when there is one.
  #claimed({ content, confirmationId }) {
    const named = this.#cards.get(confirmationId);
    if (named) {
      named.tell(content);
      return true;
    }
    const cards = [...this.#cards.values()];
    if (cards.some((card) => card.receipt === content)) return true;
    const sending = cards.some((card) => card.state === "sending");
    if (sending) this.#unclaimed.push({ content });
    return sending;
  }

  #line(content) {
    this.#places.log.append(el("p", { class: "outcome", "data-outcome": true }, String(content)));
  }

  // ---- cards

  #card(envelope) {
    this.#cards.get(envelope.confirmationId)?.dispose();
    const title = this.#host.titleOf(envelope.confirmationData?.action ?? "");
    const card = makeCard(envelope, { title, onSettled: () => this.#settled() });
    this.#cards.set(card.id, card);
    return card.node;
  }

  #settled() {
    const received = this.#unclaimed.splice(0);
    for (const event of received) this.#message({ ...event, role: "system" });
  }

  /**
   * showRequest leads to one request that waits, and says what became of it when
   * it waits no more.
   */
  async showRequest(id) {
    const card = this.#cards.get(id);
    if (!card) return this.#line(endOf(await get(`/api/confirmations/${encodeURIComponent(id)}`)));
    card.node.scrollIntoView({ block: "center" });
    card.node.focus({ preventScroll: true });
  }

  // ---- the event stream

  #follow() {
    this.#following?.abort();
    if (document.hidden || !this.id) return;
    const following = (this.#following = new AbortController());
    follow(this.id, {
      after: this.#last,
      signal: following.signal,
      onEvent: (event) => isBreak(event) || this.#deliver(event),
      onState: (state, cause) => this.#lineState(state, cause),
    });
  }

  #lineState(state, cause) {
    if (state === "gone" && this.#turn?.running) this.#turn.fail(cause);
    if (state === "gone") this.#setTurn(null);
    this.#host.onLine(state);
  }

  // A hidden window holds no connection; it resumes after the last event seen.
  #sleepOrWake() {
    if (!this.id || this.running) return;
    if (document.hidden) this.#following?.abort();
    else this.#follow();
  }

  // ---- the view

  // A reader who scrolled up is left where they are.
  #scrollToEnd(always) {
    const view = this.#places.view;
    const distance = view.scrollHeight - view.scrollTop - view.clientHeight;
    if (always || distance < 160) requestAnimationFrame(() => (view.scrollTop = view.scrollHeight));
  }
}

// The gateway ends a stream early (a restart, a store that is gone) with events
// that are in no log and so have no id: the turn goes on, and is picked up.
function isBreak({ id, data }) {
  return !id && (data === DONE || data.type === "error");
}

/** listOf reads {name: [...]} or a bare list. */
export function listOf(body, name) {
  if (Array.isArray(body)) return body;
  return Array.isArray(body?.[name]) ? body[name] : [];
}

function endOf(record) {
  const answer = record?.receipt ?? record?.answer;
  const words = answer?.data?.message ?? answer?.message;
  if (words) return words;
  return record?.state === "denied" ? "This request was denied. Nothing was changed." : "This request no longer waits for an answer.";
}

function readPending(item) {
  return {
    ...item,
    status: "pending_confirmation",
    confirmationId: item.confirmationId ?? item.id,
    message: item.message ?? item.summary ?? "",
    confirmationData: item.confirmationData ?? {},
  };
}

// The arguments of a stored call may be unknown; then its next page is, too.
function storedCall(message, server) {
  const data = envelopeIn(message);
  const words = !data && typeof message.content === "string" ? message.content : "";
  return { type: "tool", state: "complete", tool: message.tool, server: message.server ?? server, message: words, args: message.args ?? null, data };
}

// A request whose server cannot show it now.
function namedOnly({ confirmationId, mcpServer, expires, message }) {
  const until = new Date(expires);
  const time = Number.isNaN(until.getTime()) ? "" : ` until ${until.toLocaleTimeString()}`;
  return el("p", { class: "notice", "data-unshown": confirmationId }, `A request of ${mcpServer} waits for you${time} and cannot be shown. ${message}`);
}

// A request that waits no more is a line of text, not a card.
function settled(event) {
  if (event.data?.status !== "pending_confirmation") return event;
  const [question] = String(event.data.message ?? "").split("\n"); // the rest stood on the card
  return { ...event, message: `Asked for your approval: ${question}`, data: null };
}

function envelopeIn(message) {
  if (message.data) return message.data;
  if (typeof message.content === "object") return message.content;
  try {
    const value = JSON.parse(message.content);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
