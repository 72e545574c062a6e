// Every request that the page makes. A refusal is a Fault, whatever shape the
// gateway gave it.

import { parseEvents } from "./sse.js";

/** DONE is the event that closes a turn, always last. */
export const DONE = Symbol("done");

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Fault is a refused or failed request, in words for people. */
export class Fault extends Error {
  constructor(message, { status = 0, code = "", suggestion = "", retryAfter = 0 } = {}) {
    super(message);
    Object.assign(this, { status, code, suggestion, retryAfter });
  }
}

/** session tells, by the event "signed-out", that the gateway knows us no more. */
export const session = new EventTarget();

let skew = 0; // the gateway's clock minus ours, in milliseconds

/** gatewayNow is the gateway's time: a card must not expire by the reader's wrong clock. */
export function gatewayNow() {
  return Date.now() + skew;
}

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, body, options) => request("POST", path, body, options);
export const remove = (path, options) => request("DELETE", path, undefined, options);

async function request(method, path, body, options) {
  const response = await send(method, path, body, options);
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("The gateway's answer could not be read.", { status: response.status });
  }
}

async function send(method, path, body, { signal, headers = {} } = {}) {
  const init = { method, signal, headers: { ...headers }, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers["Content-Type"] = "application/json";
  }
  const response = await reach(path, init);
  noteClock(response);
  if (!response.ok) throw await faultOf(response);
  return response;
}

async function reach(path, init) {
  try {
    return await fetch(path, init);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Fault("The gateway could not be reached.", { code: "UNREACHABLE" });
  }
}

// The Date header counts whole seconds; half of one is the best guess.
function noteClock(response) {
  const serverTime = Date.parse(response.headers.get("Date") ?? "");
  if (!Number.isNaN(serverTime)) skew = serverTime + 500 - Date.now();
}

// Faults come as {error, message}, as an envelope, or as {error: {code, message}}.
async function faultOf(response) {
  const body = await response.json().catch(() => null);
  const nested = typeof body?.error === "object" ? body.error : null;
  const message = body?.message ?? nested?.message ?? (nested ? null : body?.error) ?? `The gateway answered ${response.status}.`;
  const fault = new Fault(String(message), {
    status: response.status,
    code: body?.code ?? nested?.code ?? "",
    suggestion: body?.suggestedAction ?? "",
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
  if (response.status === 401) session.dispatchEvent(new Event("signed-out"));
  return fault;
}

/** ask sends one question and yields {id, data} for each event of its turn. */
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

/**
 * follow keeps a conversation's event stream open until the signal ends it,
 * resuming after the last event seen. onState hears "open", "waiting" and, when
 * there is no way back, "gone".
 */
export async function follow(conversationId, { after = "", onEvent, onState, signal }) {
  const path = `/api/conversations/${encodeURIComponent(conversationId)}/events`;
  const line = { last: after, wait: FIRST_WAIT_MS };
  while (!signal.aborted) {
    try {
      await listen(path, line, { onEvent, onState, signal });
    } catch (cause) {
      if (signal.aborted) return;
      if ([401, 403, 404].includes(cause.status)) return onState("gone", cause);
    }
    if (signal.aborted) return;
    onState("waiting");
    await pause(line.wait * (0.75 + Math.random() / 2), signal);
    line.wait = Math.min(line.wait * 2, LONGEST_WAIT_MS);
  }
}

async function listen(path, line, { onEvent, onState, signal }) {
  const headers = { Accept: "text/event-stream" };
  if (line.last) headers["Last-Event-ID"] = line.last;
  const response = await send("GET", path, undefined, { signal, headers });
  onState("open");
  for await (const event of payloads(response)) {
    if (signal.aborted) return;
    line.wait = FIRST_WAIT_MS;
    if (event.id) line.last = event.id;
    onEvent(event);
  }
}

// A returning network ends the pause early.
function pause(ms, signal) {
  return new Promise((resolve) => {
    const woken = new AbortController();
    const wake = () => {
      clearTimeout(timer);
      woken.abort();
      resolve();
    };
    const timer = setTimeout(wake, ms);
    window.addEventListener("online", wake, { signal: woken.signal });
    signal.addEventListener("abort", wake, { signal: woken.signal });
  });
}
