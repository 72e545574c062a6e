// @ts-check
// A conversation as the page knows it: its turns, the answer that is being written,
// and how it is followed when it was asked for elsewhere or its line broke. What is
// stored and what happens now are read by the same code.

import { announce } from "./announce.js";
import { ask, DONE, Fault, follow, isBreak, post, whole } from "./api.js";
import { changeOf, see } from "./change.js";
import { signal } from "./reactive.js";
import { total } from "./spending.js";
import { incompleteHint } from "./table.js";
import { serverOf } from "./tools.js";
import { Turn } from "./turn.js";
import { t } from "./words.js";

const READ_MS = 15_000;
// Notes of these kinds were texts of the gateway in the stream.
const AS_TEXT = ["incomplete", "added"];

export class Conversation {
  #asking = /** @type {AbortController | null} */ (null); // ends the request that the running turn reads
  #following = /** @type {AbortController | null} */ (null); // ends the stream of a turn that was asked for elsewhere
  #last = ""; // id of the last event seen
  #refreshing = /** @type {Promise<void> | null} */ (null);

  /** @param {string} id @param {(conversation: Conversation) => void} named is called when it gets its id with the first answer */
  constructor(id, named) {
    this.named = named;
    this.id = signal(id);
    this.turns = signal(/** @type {Turn[]} */ ([]));
    this.running = signal(false);
    this.model = signal("");
    this.title = signal("");
    this.unsent = signal(""); // a question that did not arrive: it goes back to its field
    this.stored = signal(!id); // its messages are known
    this.addressed = Boolean(id); // the page's address names it
  }

  /** used is what its answers used, one by one. */
  get used() {
    return this.turns.value.map((turn) => turn.usage.value).filter((usage) => total(usage) > 0);
  }

  get path() {
    return `/api/conversations/${encodeURIComponent(this.id.peek())}`;
  }

  // ---- what is stored

  /** refresh reads the messages, and follows a turn that runs. */
  refresh() {
    this.#refreshing ??= this.#read().finally(() => (this.#refreshing = null));
    return this.#refreshing;
  }

  async #read() {
    if (this.running.peek() && this.#asking) return; // it is being written here
    const view = await whole(this.path, () => ({ signal: AbortSignal.timeout(READ_MS) })); // what is asked meanwhile waits for it
    if (this.running.peek() && this.#asking) return;
    this.title.value = view.title ?? "";
    if (view.model) this.model.value = view.model;
    this.#take(this.#history(view.messages ?? []), Boolean(view.running));
    this.stored.value = true;
    this.#last = view.lastEventId ?? this.#last;
    if (view.running && !this.#following) this.#follow();
  }

  // Turns that are drawn already stay: what they hold is at least as much.
  #take(stored, running) {
    const known = this.turns.peek();
    const same = (turn, i) => known[i] && known[i].question === turn.question && known[i].done && known[i].answered && !(running && i === stored.length - 1);
    this.turns.value = stored.map((turn, i) => (same(turn, i) ? this.#completed(known[i], turn) : turn));
  }

  // Outcomes are added to a turn after its end.
  #completed(known, stored) {
    const outcomes = (turn) => turn.parts.peek().filter((part) => part.kind === "outcome");
    for (const part of outcomes(stored).slice(outcomes(known).length)) known.add(part);
    return known;
  }

  #history(messages) {
    /** @type {Turn[]} */
    const turns = [];
    const begin = (question, at) => {
      const turn = new Turn(question, at);
      turns.push(turn);
      return turn;
    };
    for (const message of messages) {
      if (message.role === "user") begin(message.content, message.at);
      else this.#replay(turns.at(-1) ?? begin("", message.at), message);
    }
    for (const turn of turns) turn.close();
    return turns;
  }

  // A stored message becomes the event that it once was.
  #replay(turn, message) {
    if (message.role === "system") return turn.add({ kind: "outcome", text: String(message.content), at: message.at });
    if (message.role === "assistant") turn.take({ type: "text", text: String(message.content ?? "") });
    for (const note of message.notes ?? []) this.#replayNote(turn, note);
    if (message.usage) turn.usage.value = message.usage;
    if (message.model) turn.model.value = message.model;
    if (message.at) turn.ended = message.at;
    if (message.role !== "tool") return;
    const data = envelopeIn(message);
    if (data?.status === "pending_confirmation") return this.#asked(turn, data);
    const words = !data && typeof message.content === "string" ? message.content : "";
    turn.take({ type: "tool", state: "complete", tool: message.tool, server: message.server ?? serverOf(message.tool), message: words, args: message.args ?? null, data });
    const hint = data && incompleteHint(data);
    if (hint) turn.take({ type: "truncation", tool: message.tool, hint });
  }

  // In the stream a text, a warning, an error, the end or a note.
  #replayNote(turn, note) {
    if (note.kind === "stopped") turn.cut();
    else if (note.kind === "unavailable") turn.lacks(note.text);
    else if (note.kind === "broken") turn.take({ type: "error", message: note.text, code: note.code });
    else turn.take(AS_TEXT.includes(note.kind) ? { type: "text", text: note.text, source: "gateway" } : { ...note, type: "note" });
  }

  // Whether it still waits, and how it was answered, its server knows.
  #asked(turn, envelope) {
    const change = changeOf(envelope.confirmationId);
    change.conversation.value = this.id.peek();
    change.show({ ...envelope, state: "stored" });
    if (!change.waits.peek() && !change.sentence) change.learn().catch(() => {});
    turn.add({ kind: "change", id: change.id });
  }

  // ---- asking

  /**
   * ask sends a question and reads its answer to the end.
   * @param {string} question
   * @param {string} model
   */
  async ask(question, model = "") {
    if (this.running.peek()) return;
    this.#following?.abort();
    this.#following = null;
    const turn = new Turn(question, Date.now());
    turn.begin();
    this.turns.update((turns) => [...turns, turn]);
    this.running.value = true;
    await this.#ask(question, model, turn);
  }

  async #ask(question, model, turn) {
    const asking = (this.#asking = new AbortController());
    try {
      for await (const event of ask({ query: question, conversationId: this.id.peek(), model }, asking.signal)) {
        if (asking.signal.aborted) return;
        if (isBreak(event)) break;
        this.#deliver(turn, event);
      }
      if (turn.done) return;
      throw new Fault(t("The answer ended early."), { code: "UNREACHABLE" });
    } catch (cause) {
      if (!asking.signal.aborted) this.#lost(turn, cause, question);
    } finally {
      if (this.#asking === asking) {
        this.#asking = null; // else the next question is on its way already
        if (turn.done) this.running.value = false;
      }
    }
  }

  // A refusal ends the turn; a question that nothing answered goes back to its field;
  // a stream that broke is resumed where it stopped.
  #lost(turn, cause, question) {
    if (cause.status > 0) {
      turn.fail(cause);
      if (cause.status === 401 || cause.code === "PERSON_CHANGED") this.unsent.value = question;
    } else if (!turn.started) {
      this.turns.update((turns) => turns.filter((one) => one !== turn));
      turn.close();
      this.running.value = false;
      this.unsent.value = question;
    } else {
      turn.interrupted();
      this.#asking = null;
      this.#follow(turn);
    }
  }

  /**
   * stop asks for the end of the running turn; nothing of it is drawn any more.
   * Asking twice is not waiting for the end.
   */
  stop() {
    const turn = this.turns.peek().at(-1);
    if (!turn || turn.done) return;
    if (turn.stopping) return this.#drop(turn);
    turn.stop();
    if (this.id.peek()) this.#cancel(turn); // else when it has an id: see #started
  }

  async #cancel(turn) {
    try {
      const answer = await post(`${this.path}/cancel`, {});
      if (answer?.cancelled === false) this.#drop(turn); // nothing runs there
    } catch (fault) {
      turn.thinking.value = t("Stopping did not work: {why} Press Stop again.", { why: fault.message });
      turn.stopping = false;
    }
  }

  #drop(turn) {
    if (turn.done) return;
    this.#asking?.abort();
    this.#following?.abort();
    this.#asking = this.#following = null;
    turn.finish();
    this.running.value = false;
  }

  // ---- events

  #deliver(turn, { id, data }) {
    if (id) this.#last = id;
    if (data === DONE) {
      turn.finish();
      this.running.value = false;
      return true;
    }
    if (data.type === "message") return void turn.add({ kind: "outcome", text: String(data.content), at: data.at });
    if (data.type === "start") this.#started(turn, data);
    if (data.status === "pending_confirmation") return this.#pending(turn, data);
    turn.take(data);
  }

  #started(turn, { conversationId, model }) {
    turn.started = true;
    if (model) this.model.value = model;
    if (conversationId && conversationId !== this.id.peek()) {
      this.id.value = conversationId;
      this.named(this);
    }
    if (turn.stopping) this.#cancel(turn);
  }

  #pending(turn, envelope) {
    see({ ...envelope, conversationId: this.id.peek() });
    turn.add({ kind: "change", id: envelope.confirmationId });
    announce.say(t("Your approval is needed. {what}", { what: envelope.message ?? "" }));
  }

  // A turn that this page does not read itself: it was asked for in another window,
  // or its line broke.
  #follow(turn = this.#resumed()) {
    const following = (this.#following = new AbortController());
    this.running.value = true;
    follow(`${this.path}/events`, {
      after: this.#last,
      signal: following.signal,
      onEvent: (event) => this.#deliver(turn, event),
      onState: (state, cause) => state === "gone" && turn.fail(cause ?? new Fault(t("The connection was lost."))),
    }).finally(() => {
      if (this.#following !== following) return;
      this.#following = null;
      this.running.value = false;
    });
  }

  #resumed() {
    let turn = this.turns.peek().at(-1);
    if (!turn || turn.answered) {
      turn = new Turn("", Date.now());
      this.turns.update((turns) => [...turns, /** @type {Turn} */ (turn)]);
    }
    turn.begin();
    turn.started = true;
    return turn;
  }

  /** changeIds are those of the requests that were made in here. */
  get changeIds() {
    return this.turns.value.flatMap((turn) => turn.parts.value.filter((part) => part.kind === "change").map((part) => part.id));
  }
}

function envelopeIn(message) {
  if (message.data) return message.data;
  if (message.content && typeof message.content === "object") return message.content;
  try {
    const value = JSON.parse(message.content);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

