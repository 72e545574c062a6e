// @ts-check
// Every request that the page makes. A refusal is a Fault, whatever shape the
// gateway gave it. It runs in the page and in the worker that the tabs share.

import { parseEvents } from "./sse.js";
import { inOurs, learned, t } from "./words.js";

/** DONE is the event that closes a turn, always last. */
export const DONE = Symbol("done");

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Fault is a refused or failed request, in words for people. */
export class Fault extends Error {
  /** @param {string} message @param {{ status?: number, code?: string, suggestion?: string, retryAfter?: number }} more */
  constructor(message, { status = 0, code = "", suggestion = "", retryAfter = 0 } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.suggestion = suggestion;
    this.retryAfter = retryAfter;
  }
}

/**
 * session tells, by the events "signed-out" and "other-person", that the gateway knows
 * us no more, or that this browser is signed in as someone else by now.
 */
export const session = new EventTarget();

let person = ""; // the id of whom the page shows; the gateway refuses requests in another's session
let skew = 0; // the gateway's clock minus ours, in milliseconds

/** actAs names the person whose page this is in every request from now on. @param {string} id */
export function actAs(id) {
  person = id;
}

/** @type {Map<string, Promise<any>>} */
const early = new Map(); // answers that were asked for before they are wanted, each for one use

/**
 * ahead asks for all that a page of this person will want, before it is known who is
 * signed in: a reload waits for one round trip and not for one after the other.
 * @param {string} known @param {string[]} paths
 */
export function ahead(known, paths) {
  person = known;
  for (const path of paths) if (!early.has(path)) early.set(path, request("GET", path));
  for (const asked of early.values()) asked.catch(() => {}); // it is asked for again when it is wanted
  person = "";
}

/**
 * given takes the answers that came with the page itself, and returns the id of whom
 * they are for; nothing where there are none.
 */
export function given() {
  for (const block of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("script[data-given]"))) {
    skew = Number(block.dataset.now) - Date.now();
    early.set(block.dataset.given ?? "", Promise.resolve(JSON.parse(block.textContent ?? "")));
    block.remove(); // it is read once, and shown nowhere
  }
  return early.get("/api/user")?.then((user) => String(user.userId));
}

/** late forgets what was asked for ahead and not wanted. */
export const late = () => early.clear();

/** gatewayNow is the gateway's time: a card must not expire by the reader's wrong clock. */
export function gatewayNow() {
  return Date.now() + skew;
}

/** @typedef {{ signal?: AbortSignal, headers?: Record<string, string>, keepalive?: boolean }} RequestOptions */

/** @param {string} path @param {RequestOptions} [options] @returns {Promise<any>} */
export function get(path, options) {
  const asked = early.get(path);
  early.delete(path);
  const anew = () => request("GET", path, undefined, options);
  return asked ? Promise.race([asked.catch(anew), end(options?.signal)]) : anew();
}

// What was asked for ahead has no signal: its wait ends as that of a request does.
const end = (signal) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(unreached(signal.reason))));
const unreached = (cause) => (cause.name === "AbortError" ? cause : new Fault(t("The gateway could not be reached."), { code: "UNREACHABLE" }));

/** @param {string} path @param {unknown} body @param {RequestOptions} [options] @returns {Promise<any>} */
export const post = (path, body, options) => request("POST", path, body, options);
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const patch = (path, body) => request("PATCH", path, body);
/** @param {string} path @param {RequestOptions} [options] @returns {Promise<any>} */
export const remove = (path, options) => request("DELETE", path, undefined, options);

/**
 * whole reads a conversation with all its messages, page by page. Each page is paid for
 * as so many requests: the next one waits as long as the gateway asks for.
 * @param {string} path @param {() => RequestOptions} [options] of each request
 */
export async function whole(path, options = () => ({})) {
  const view = await get(path, options());
  for (let next = view?.next; next; ) {
    try {
      const page = await get(`${path}?after=${encodeURIComponent(next)}`, options());
      view.messages.push(...page.messages);
      next = page.next;
    } catch (fault) {
      if (!fault.retryAfter) throw fault;
      await new Promise((resolve) => setTimeout(resolve, fault.retryAfter * 1000));
    }
  }
  return view;
}

/** listOf reads {name: [...]} or a bare list. @param {any} body @param {string} name @returns {any[]} */
export function listOf(body, name) {
  if (Array.isArray(body)) return body;
  return Array.isArray(body?.[name]) ? body[name] : [];
}

async function request(method, path, body, options) {
  const response = await send(method, path, body, options);
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault(t("The gateway's answer could not be read."), { status: response.status });
  }
}

/** @param {string} method @param {string} path @param {unknown} body @param {RequestOptions} [options] */
async function send(method, path, body, { signal, headers = {}, keepalive = false } = {}) {
  /** @type {RequestInit & { headers: Record<string, string> }} */
  const init = { method, signal, keepalive, headers: { ...headers }, credentials: "same-origin", cache: "no-store" };
  if (person) init.headers["Countersign-Person"] = person;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers["Content-Type"] = "application/json";
  }
  const sender = person;
  const response = await reach(path, init);
  noteClock(response);
  if (!response.ok) throw await faultOf(response, sender);
  return response;
}

async function reach(path, init) {
  try {
    return await fetch(path, init);
  } catch (cause) {
    if (cause.name !== "AbortError") await learned();
    throw unreached(cause);
  }
}

// The Date header counts whole seconds; half of one is the best guess.
function noteClock(response) {
  const serverTime = Date.parse(response.headers.get("Date") ?? "");
  if (!Number.isNaN(serverTime)) skew = serverTime + 500 - Date.now();
}

// Faults come as {error, message}, as an envelope, or as {error: {code, message}}.
async function faultOf(response, sender) {
  const [body] = await Promise.all([response.json().catch(() => null), learned()]);
  const nested = typeof body?.error === "object" ? body.error : null;
  const message = body?.message ?? nested?.message ?? (nested ? null : body?.error) ?? t("The gateway answered {status}.", { status: response.status });
  const code = String(body?.code ?? nested?.code ?? "");
  const ended = response.status === 401 && sender; // what the gateway says of it is for programs
  const fault = new Fault(ended ? t("Your session has ended.") : inOurs(code, String(message)), {
    status: response.status,
    code,
    suggestion: ended ? "" : (body?.suggestedAction ?? ""),
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
  if (response.status === 401) session.dispatchEvent(new Event("signed-out"));
  if (fault.code === "PERSON_CHANGED" && sender === person) session.dispatchEvent(new Event("other-person"));
  return fault;
}

// ---- streams

/**
 * ask sends one question and yields {id, data} for each event of its turn.
 * @param {{ query: string, conversationId?: string, model?: string }} question
 * @param {AbortSignal} signal
 */
export async function* ask({ query, conversationId, model }, signal) {
  const body = { query, conversationId: conversationId || undefined, model: model || undefined };
  const response = await send("POST", "/api/query", body, { signal, headers: { Accept: "text/event-stream" } });
  yield* payloads(response);
}

async function* payloads(response) {
  for await (const event of parseEvents(response.body)) {
    const data = payload(event.data);
    if (data !== null) yield { id: event.id, data };
  }
}

function payload(text) {
  if (text === "[DONE]") return DONE;
  try {
    return JSON.parse(text);
  } catch {
    return null; // an event of a kind that this page does not know
  }
}

/** isBreak: a gateway ends a stream early with events that are in no log and have no id. @param {{ id: string, data: any }} event */
export function isBreak({ id, data }) {
  return !id && (data === DONE || data.type === "error");
}

/**
 * follow keeps an event stream open until the signal ends it, or until onEvent
 * returns true, resuming after the last event seen. onState hears "open", "waiting"
 * and, when there is no way back, "gone" with the reason.
 * @param {string} path
 * @param {{ after?: string, signal: AbortSignal, onEvent: (event: { id: string, data: any }) => unknown, onState: (state: string, cause?: Fault) => void }} options
 */
export async function follow(path, { after = "", onEvent, onState, signal }) {
  const line = { last: after, wait: FIRST_WAIT_MS };
  while (!signal.aborted) {
    try {
      if (await listen(path, line, { onEvent, onState, signal })) return;
    } catch (cause) {
      if (signal.aborted) return;
      if ([401, 403, 404, 409].includes(cause.status)) return onState("gone", cause);
    }
    if (signal.aborted) return;
    onState("waiting");
    await pause(line.wait * (0.75 + Math.random() / 2), signal);
    line.wait = Math.min(line.wait * 2, LONGEST_WAIT_MS);
  }
}

async function listen(path, line, { onEvent, onState, signal }) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "text/event-stream" };
  if (line.last) headers["Last-Event-ID"] = line.last;
  const response = await send("GET", path, undefined, { signal, headers });
  onState("open");
  for await (const event of payloads(response)) {
    if (signal.aborted) return true;
    line.wait = FIRST_WAIT_MS;
    if (isBreak(event)) return false; // the stream is opened again where it stopped
    if (event.id) line.last = event.id;
    if (onEvent(event)) return true;
  }
  return false;
}

// A returning network ends the pause early.
function pause(ms, signal) {
  return new Promise((resolve) => {
    const woken = new AbortController();
    const wake = () => {
      clearTimeout(timer);
      woken.abort();
      resolve(undefined);
    };
    const timer = setTimeout(wake, ms);
    globalThis.addEventListener("online", wake, { signal: woken.signal });
    signal.addEventListener("abort", wake, { signal: woken.signal });
  });
}
