// @ts-check
// A worker that all tabs of one person share: one event stream for them, because a
// browser opens six connections to a host of HTTP/1.1 and no more. A tab that comes
// later first gets what the others have seen.

import { actAs, follow } from "./api.js";

const MOST = 1000; // events that are kept for tabs that come later

const ports = new Set();
/** @type {any[]} */
const past = [];
let state = { state: "opening" }; // which is no line that was lost
/** @type {AbortController | null} */
let following = null;

/** @param {any} message */
function send(message) {
  for (const port of ports) port.postMessage(message);
}

/** @param {string} person */
function start(person) {
  if (following) return;
  const now = (following = new AbortController());
  actAs(person);
  follow("/api/events", {
    after: "0-0", // all that is kept: who looks at what waits wants to see what was answered, too
    signal: now.signal,
    onEvent: ({ id, data }) => {
      past.push({ id, data });
      if (past.length > MOST) past.shift();
      send({ id, data });
    },
    onState: (name, cause) => {
      state = { state: name, ...(cause ? { status: cause.status, code: cause.code } : {}) };
      if (name === "gone") following = null; // the next tab tries again
      send(state);
    },
  });
}

// The person signs out: what was seen is not kept for another sign-in.
function stop() {
  following?.abort();
  following = null;
  past.length = 0;
}

/** @param {MessagePort} port */
function join(port) {
  port.onmessage = ({ data }) => {
    if (data.leave) return ports.delete(port);
    if (data.stop) return stop();
    ports.add(port);
    for (const event of past) port.postMessage(event);
    if (!following) state = { state: "opening" }; // how the one before ended is no news of this tab's sign-in
    port.postMessage(state);
    start(data.person);
  };
}

/** @type {any} */ (globalThis).onconnect = (event) => join(event.ports[0]);
