// One question and everything that happened until its answer was whole. Live
// events and stored messages are drawn by the same code.

import { announce } from "./announce.js";
import { el, icon, show } from "./dom.js";
import { renderMarkdown } from "./markdown.js";
import { isLongAnswer, resultView } from "./rows.js";

/** isRehearsal says that no AI model answered. */
export const isRehearsal = (model) => /^rehearsal\b/i.test(model ?? "");

/** modelLabel names a model, and says plainly when it is none. */
export function modelLabel(model) {
  return isRehearsal(model) ? "Rehearsal, not an AI model" : model;
}

/**
 * makeTurn draws a question. host gives it {titleOf(tool), fieldsOf(tool), card(envelope),
 * retry(question)}.
 */
export function makeTurn(question, host) {
  return new Turn(question, host);
}

class Turn {
  #host;
  #question;
  #text = null; // the paragraph block that deltas go to: {node, source, text}
  #tools = []; // calls that have not completed: {event, node}
  #frame = 0;

  constructor(question, host) {
    this.#question = question;
    this.#host = host;
    this.running = false;
    this.stopping = false;
    this.label = el("span", { class: "model", "data-model": "", hidden: true });
    this.status = el("p", { class: "thinking", "data-thinking": true, hidden: true }, el("span", { class: "dots", "aria-hidden": "true" }), el("span", {}, "Thinking…"));
    this.body = el("div", { class: "answer-body", "data-answer": true });
    this.answer = el("div", { class: "answer", hidden: true }, el("div", { class: "answer-head" }, el("span", { class: "who" }, "Countersign"), this.label), this.body, this.status);
    const asked = question ? el("div", { class: "question", "data-question": true }, el("span", { class: "visually-hidden" }, "You asked: "), question) : null;
    this.node = el("article", { class: "turn", "data-turn": "idle" }, asked, this.answer);
  }

  /** begin shows that the answer is on its way. */
  begin() {
    this.running = true;
    this.node.dataset.turn = "running";
    show(this.answer);
    this.#think("Thinking…");
  }

  /** take draws one event. */
  take(event) {
    show(this.answer);
    if (event.status === "pending_confirmation") return this.#pending(event);
    const draw = {
      start: () => this.#started(event),
      text: () => this.#write(event.text ?? "", event.source ?? ""),
      tool: () => this.#tool(event),
      truncation: () => this.#truncated(event),
      service_unavailable: () => this.#unavailable(event),
      error: () => this.#failed(event.error ?? event.message, event.code),
      shutdown: () => this.#notice("interrupted", event.message ?? "The gateway is restarting."),
      stop: () => this.#ended(event),
    }[event.type];
    draw?.();
  }

  /** stop says that the person wants the turn to end. */
  stop() {
    this.stopping = true;
    this.#think("Stopping…");
  }

  /** finish closes the turn. */
  finish() {
    if (!this.running) return;
    this.running = false;
    if (this.stopping) this.#notice("stopped", "Stopped. What you see may be incomplete.");
    this.#closeText();
    this.node.dataset.turn = "done";
    show(this.status, false);
    for (const call of this.#tools) this.#mark(call.node, "unknown", "did not finish");
    this.#tools = [];
    announce.end();
  }

  /** stopped closes the turn without waiting for its end. */
  stopped() {
    this.stopping = true;
    this.finish();
  }

  /** fail closes the turn with a fault and offers to ask again. */
  fail(fault) {
    this.#failed([fault.message, fault.suggestion].filter(Boolean).join(" "), fault.code);
    this.finish();
  }

  /** answered says that something of an answer is drawn. */
  get answered() {
    return this.body.childElementCount > 0;
  }

  /** interrupted says that the stream was lost and is being resumed. */
  interrupted() {
    this.#think("Connection lost. Picking up where it stopped…");
  }

  // ---- events

  #started(event) {
    if (!event.model) return;
    this.label.textContent = modelLabel(event.model);
    this.label.dataset.model = event.model;
    this.label.classList.toggle("rehearsal", isRehearsal(event.model));
    show(this.label);
  }

  #write(text, source) {
    if (!text) return;
    if (!this.#text || this.#text.source !== source) this.#openText(source);
    this.#text.text += text;
    show(this.status, false);
    announce.stream(text);
    this.#frame ||= requestAnimationFrame(() => this.#flush());
  }

  #openText(source) {
    this.#closeText();
    const node = el("div", { class: source === "gateway" ? "prose notice" : "prose", "data-text": source || "model" });
    this.#text = { node, source, text: "" };
    this.body.append(node);
  }

  // Drawing at most once a frame keeps a fast stream cheap.
  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.#text) return;
    this.#text.node.replaceChildren(renderMarkdown(this.#text.text));
    if (this.#text.node.querySelector("table")) this.#foldRows();
  }

  // Rows that the answer itself shows as a table need not be shown twice. A
  // list that goes on stays open: there the reader goes on, too.
  #foldRows() {
    for (const result of this.body.querySelectorAll(".tool-result[open]:not([data-kept])")) {
      const next = result.querySelector("[data-next-page]");
      result.dataset.kept = ""; // once; then it is the reader's
      result.open = Boolean(next && !next.hidden);
    }
  }

  #closeText() {
    this.#flush();
    this.#text = null;
  }

  #append(node) {
    this.#closeText();
    this.body.append(node);
    return node;
  }

  #pending(envelope) {
    const card = this.#host.card(envelope);
    this.#append(card);
    announce.say(`Your approval is needed. ${envelope.message ?? ""}`);
  }

  #truncated(event) {
    const node = this.#notice("truncation", event.hint ?? "These results are incomplete.");
    node.dataset.tool = event.tool ?? "";
  }

  #unavailable(event) {
    for (const warning of event.warnings ?? []) {
      const words = warning.message || "It could not be asked, so this answer may be incomplete.";
      this.#notice("unavailable", `${warning.server}: ${words}`);
    }
  }

  #failed(message, code) {
    const retry = this.#question ? el("button", { type: "button", class: "small", "data-retry": true, onclick: () => this.#host.retry(this.#question) }, "Try again") : null;
    const node = el("div", { class: "notice error", role: "alert", "data-error": code || "error" }, icon("warn"), el("span", {}, message || "Something went wrong."), retry);
    this.#append(node);
    show(this.status, false);
  }

  // The person may have stopped the turn on another device.
  #ended({ reason, usage }) {
    this.stopping ||= reason === "cancelled";
    this.#used(usage);
  }

  #used(usage) {
    const total = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
    if (!total) return;
    const words = `${usage.input_tokens.toLocaleString("en-US")} tokens in, ${usage.output_tokens.toLocaleString("en-US")} out`;
    const price = usage.price ? ` · ${usage.price.amount.toLocaleString("en-US", { maximumSignificantDigits: 3 })} ${usage.price.currency}` : "";
    this.answer.append(el("p", { class: "hint", "data-usage": true }, words + price));
    if (usage.model) this.#started({ model: usage.model }); // it answered instead of the one that was asked
  }

  #notice(kind, words) {
    const node = el("p", { class: "notice", "data-notice": kind }, icon("warn"), el("span", {}, words));
    announce.say(words);
    return this.#append(node);
  }

  #think(words) {
    this.status.lastChild.textContent = words;
    show(this.status);
  }

  // ---- tools

  #tool(event) {
    if (event.state === "processing") return this.#toolBegan(event);
    const at = this.#tools.findIndex((call) => sameCall(call.event, event));
    const call = at < 0 ? { event, node: this.#toolLine(event) } : this.#tools.splice(at, 1)[0];
    this.#toolEnded(call, event);
    if (this.running && !this.#tools.length) this.#think("Reading the results…");
  }

  #toolBegan(event) {
    const running = this.#tools.find((call) => event.callId && call.event.callId === event.callId);
    if (running) return this.#mark(running.node, "processing", this.#words(event)); // its progress
    this.#tools.push({ event, node: this.#toolLine(event) });
    show(this.status, false);
  }

  #toolLine(event) {
    const head = el("span", { class: "tool-head" }, el("span", { class: "tool-mark", "aria-hidden": "true" }), el("span", { class: "tool-words" }), event.server ? el("span", { class: "server" }, event.server) : null);
    const node = el("div", { class: "tool", "data-tool": event.tool, "data-tool-server": event.server }, head);
    this.#mark(node, "processing", this.#words(event));
    return this.#append(node);
  }

  // People know a tool by its title.
  #words(event) {
    const title = this.#host.titleOf(event.tool);
    return event.message ? event.message.replaceAll(event.tool, title) : title;
  }

  #mark(node, state, words) {
    node.dataset.toolState = state;
    const place = node.querySelector(".tool-words");
    place.textContent = state === "unknown" ? `${place.textContent} (${words})` : words;
  }

  #toolEnded(call, event) {
    const envelope = event.data;
    if (envelope?.code === "CANCELLED") return this.#mark(call.node, "unknown", "was stopped");
    const refused = envelope?.status === "error" || Boolean(envelope?.error);
    this.#mark(call.node, refused ? "refused" : "complete", refused ? this.#host.titleOf(event.tool) : this.#words(event));
    if (!envelope) return;
    if (refused) return call.node.append(refusal(envelope));
    const view = resultView({ server: event.server, tool: event.tool, title: this.#host.titleOf(event.tool), fields: this.#host.fieldsOf(event.tool), envelope, args: argumentsOf(event, call.event) });
    if (view) call.node.append(folded(call.node.firstChild, view, isLongAnswer(envelope)));
    view?.addEventListener("rows-complete", ({ detail }) => this.#completed(event.tool, detail.count));
  }

  // The answer was written from the first page, and stays so.
  #completed(tool, count) {
    const notice = [...this.body.querySelectorAll('[data-notice="truncation"]')].find((node) => node.dataset.tool === tool);
    if (!notice) return;
    notice.dataset.notice = "completed";
    notice.lastChild.textContent = `All ${count.toLocaleString("en-US")} rows are loaded in the table now. The answer itself was written from the first page.`;
  }
}

function sameCall(began, ended) {
  if (began.callId && ended.callId) return began.callId === ended.callId;
  return began.tool === ended.tool && began.server === ended.server;
}

// The next page is the same call with the cursor, so it needs its arguments.
function argumentsOf(ended, began) {
  const args = ended.args ?? began.args ?? ended.data?.metadata?.arguments;
  return args ?? (ended.args === null ? null : {});
}

function refusal(envelope) {
  const error = envelope.error ?? envelope;
  return el("p", { class: "hint", "data-refusal": error.code ?? "" }, [error.message, error.suggestedAction].filter(Boolean).join(" "));
}

function folded(head, view, open) {
  return el("details", { class: "tool-result", open }, el("summary", {}, head, icon("chevron")), view);
}
