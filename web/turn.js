// @ts-check
// One question and everything that happened until its answer was whole: parts in the
// order in which they came. Nothing here draws.

import { announce } from "./announce.js";
import { signal } from "./reactive.js";
import { pageIn, Table } from "./table.js";
import { titleOf } from "./tools.js";
import { inOurs, language, number, rowsOf, t } from "./words.js";

/** isRehearsal says that no AI model answered. @param {string} model */
export const isRehearsal = (model) => /^rehearsal\b/i.test(model ?? "");

/** modelLabel names a model, and says plainly when it is none. @param {string} model */
export function modelLabel(model) {
  return isRehearsal(model) ? t("Rehearsal, not an AI model") : model;
}

export class Turn {
  #text = /** @type {any} */ (null); // the block that deltas go to

  /** @param {string} question @param {string | number} [at] */
  constructor(question, at) {
    this.question = question;
    this.at = at;
    this.ended = /** @type {string | number | undefined} */ (undefined);
    this.state = signal(/** @type {"idle" | "running" | "done"} */ ("idle"));
    this.parts = signal(/** @type {any[]} */ ([]));
    this.model = signal("");
    this.usage = signal(/** @type {any} */ (null));
    this.thinking = signal("");
    this.stopping = false;
    this.started = false; // the gateway has it
  }

  get done() {
    return this.state.peek() === "done";
  }

  get answered() {
    return this.parts.peek().length > 0;
  }

  /** words are all texts of the answer. */
  get words() {
    return this.parts.peek().filter((part) => part.kind === "text").map((part) => part.text.peek()).join("\n\n");
  }

  /** copied is the answer as it is copied: its texts, and what says that they are wrong or not all. */
  get copied() {
    const words = { text: (part) => part.text.peek(), note: (part) => `${t("Countersign adds:")} ${inOurs(`note.${part.type}`, part.text)}`, notice: (part) => (part.type.peek() === "continued" ? "" : part.words.peek()), error: (part) => part.words };
    return this.parts.peek().map((part) => words[part.kind]?.(part)).filter(Boolean).join("\n\n");
  }

  /** calls are the calls of tools, in their order. */
  get calls() {
    return this.parts.value.filter((part) => part.kind === "call");
  }

  /** begin shows that the answer is on its way. */
  begin() {
    this.state.value = "running";
    this.thinking.value = t("Thinking…");
  }

  /** stop closes the answer for what may still come. */
  stop() {
    this.stopping = true;
    this.thinking.value = t("Stopping…");
  }

  /** finish ends the turn. */
  finish() {
    if (this.done) return;
    this.ended ??= Date.now();
    if (this.stopping) this.cut();
    this.close();
    announce.end();
  }

  /** lacks says that a server was not asked. @param {string} words */
  lacks(words) {
    this.#notice("unavailable", words);
  }

  /** cut says that the person stopped the answer. */
  cut() {
    this.#notice("stopped", t("Stopped. What you see may be incomplete."));
  }

  /** close ends a turn without a word. */
  close() {
    this.#closeText();
    for (const call of this.parts.peek().filter((part) => part.kind === "call" && part.state.peek() === "processing")) {
      call.state.value = "unfinished";
      call.words.value = `${call.words.peek()} (${t("did not finish")})`;
    }
    this.thinking.value = "";
    this.state.value = "done";
  }

  /** fail ends the turn with a fault. @param {{ message: string, suggestion?: string, code?: string }} fault */
  fail(fault) {
    this.#failed([fault.message, fault.suggestion].filter(Boolean).join(" "), fault.code);
    this.finish();
  }

  /** interrupted says that the stream was lost and is being resumed. */
  interrupted() {
    this.thinking.value = t("Connection lost. Picking up where it stopped…");
  }

  /** add appends a part. @param {any} part */
  add(part) {
    if (part.kind === "change" && this.parts.peek().some((one) => one.kind === "change" && one.id === part.id)) return part;
    this.#closeText();
    part.key = this.parts.peek().length;
    this.parts.update((parts) => [...parts, part]);
    return part;
  }

  /** take reads one event. What comes after Stop is not shown, but for the end. @param {any} event */
  take(event) {
    if (this.stopping && event.type !== "stop") return;
    const read = {
      start: () => event.model && (this.model.value = event.model),
      text: () => this.#write(event.text ?? "", event.source ?? ""),
      note: () => this.#note(event),
      tool: () => this.#tool(event),
      truncation: () => this.#notice("truncation", this.#hint(event), event.tool),
      service_unavailable: () => this.#unavailable(event),
      error: () => this.#failed(inOurs(event.code ?? "", event.error ?? event.message ?? ""), event.code),
      shutdown: () => this.#notice("interrupted", event.message ?? t("The gateway is restarting.")),
      stop: () => this.#stopped(event),
    }[event.type];
    read?.();
  }

  // ---- events

  #write(text, source) {
    if (!text) return;
    if (!this.#text || this.#text.source !== source) {
      this.#closeText();
      const block = { kind: "text", source, text: signal(""), open: signal(true) };
      this.add(block);
      this.#text = block;
    }
    this.#text.text.value += text;
    this.thinking.value = "";
    if (this.state.peek() === "running") announce.stream(text);
  }

  #closeText() {
    if (this.#text) this.#text.open.value = false;
    this.#text = null;
  }

  // The gateway corrects the model, or adds what it left out.
  #note({ kind, spans, text }) {
    this.add({ kind: "note", type: kind ?? "note", spans: Array.isArray(spans) ? spans : [], text: String(text ?? "") });
    if (this.state.peek() === "running") announce.say(String(text ?? ""));
  }

  #unavailable(event) {
    for (const warning of event.warnings ?? []) {
      this.#notice("unavailable", `${warning.server}: ${warning.message || t("It could not be asked, so this answer may be incomplete.")}`);
    }
  }

  #failed(message, code) {
    this.add({ kind: "error", code: code || "error", words: message || t("Something went wrong.") });
    this.thinking.value = "";
  }

  // The person may have stopped the turn on another device.
  #stopped({ reason, usage }) {
    this.stopping ||= reason === "cancelled";
    if (usage) this.usage.value = usage;
    if (usage?.model) this.model.value = usage.model; // it answered instead of the one that was asked
  }

  // A server's hint is English; elsewhere the page counts the rows itself.
  #hint({ tool, hint }) {
    if (language === "en" && hint) return hint;
    const rows = this.parts.peek().findLast((part) => part.kind === "call" && part.tool === tool)?.table?.rows.peek().length;
    return rows ? t("Showing {rows}. Results are incomplete.", { rows: rowsOf(rows) }) : t("These results are incomplete.");
  }

  #notice(type, words, tool = "") {
    if (this.state.peek() === "running") announce.say(words);
    return this.add({ kind: "notice", type: signal(type), words: signal(words), tool });
  }

  // ---- tools

  #tool(event) {
    if (event.state === "processing") return this.#began(event);
    const call = this.parts.peek().find((part) => part.kind === "call" && part.state.peek() === "processing" && sameCall(part, event)) ?? this.#newCall(event);
    this.#ended(call, event);
    const busy = this.parts.peek().some((part) => part.kind === "call" && part.state.peek() === "processing");
    if (this.state.peek() === "running" && !busy) this.thinking.value = t("Reading the results…");
  }

  #began(event) {
    const known = this.parts.peek().find((part) => part.kind === "call" && event.callId && part.callId === event.callId);
    if (known) return (known.words.value = wordsOf(event)); // its progress
    this.#newCall(event);
    this.thinking.value = "";
  }

  #newCall(event) {
    return this.add({
      kind: "call", tool: event.tool, server: event.server, callId: event.callId, args: event.args, began: this.state.peek() === "running" ? Date.now() : 0, took: signal(0),
      state: signal("processing"), words: signal(wordsOf(event)), envelope: signal(null), table: null,
    });
  }

  #ended(call, event) {
    const envelope = event.data;
    call.args = argumentsOf(event, call);
    call.server ||= event.server;
    if (call.began) call.took.value = Date.now() - call.began;
    if (envelope?.code === "CANCELLED") {
      call.words.value = `${call.words.peek()} (${t("was stopped")})`;
      call.state.value = "unfinished";
      return;
    }
    const refused = envelope?.status === "error" || Boolean(envelope?.error);
    call.words.value = refused ? titleOf(event.tool) : wordsOf(event);
    call.envelope.value = envelope ?? null;
    if (envelope && !refused && !this.#continued(call)) call.table = Table.of(call, () => this.#counted(call));
    call.state.value = refused ? "refused" : "complete";
  }

  // One list is one table: the page after one that this answer has goes on there. The
  // list is then not incomplete for that page.
  #continued(call) {
    const before = this.#before(call);
    if (!before) return false;
    call.continues = before.continues ?? before;
    call.continues.table?.append(pageIn(call.envelope.peek()));
    for (const part of this.parts.peek()) {
      if (part.kind === "notice" && part.tool === call.tool && part.type.peek() === "truncation") part.type.value = "continued";
    }
    return true;
  }

  #before(call) {
    return this.parts.peek().find((part) => part.kind === "call" && part.tool === call.tool && part.envelope.peek() && follows(call.args ?? {}, part));
  }

  // How many rows there are is known by now. The answer was written from the first page,
  // and stays so.
  #counted({ tool, table }) {
    const notice = this.parts.peek().find((part) => part.kind === "notice" && part.type.peek() === "truncation" && part.tool === tool);
    if (!notice) return;
    const [n, all] = [table.rows.peek().length, table.total.peek()].map((count) => number(count ?? 0));
    if (table.more.peek()) return (notice.words.value = t("Showing {n} of {all} rows. Results are incomplete.", { n, all }));
    notice.type.value = "completed";
    notice.words.value = t("All {n} rows are loaded in the table now. The answer itself was written from the first page.", { n });
  }
}

// The gateway's line on a call has the tool's name and what came of it. People know a
// tool by its title; that a change waits, and no longer does, its card says.
const SUMMARY = /(?:: answered|: (?<rows>\d+) rows?| waits for your approval)$/;

function wordsOf(event) {
  const title = titleOf(event.tool);
  const message = String(event.message ?? "");
  const ended = SUMMARY.exec(message);
  if (ended) return ended.groups?.rows ? `${title}: ${rowsOf(Number(ended.groups.rows))}` : title;
  if (message.toLowerCase() === `${event.tool.replaceAll("_", " ")}…`) return `${title}…`;
  return message.replaceAll(event.tool, title) || title;
}

// A page follows another when it was asked for with that one's cursor, or with the same
// conditions and the offset of its end.
function follows(args, before) {
  const { cursor, offset } = /** @type {any} */ (pageIn(before.envelope.peek()).next ?? {});
  if (cursor) return args.cursor === cursor;
  const conditions = (all) => JSON.stringify(Object.entries(all ?? {}).filter(([key]) => key !== "offset").sort());
  return Boolean(offset) && args.offset === offset && conditions(args) === conditions(before.args);
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
