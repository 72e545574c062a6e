// @ts-check
// What happens to a person's conversations and changes, wherever it happens: one
// stream for all tabs where the browser can share a worker, else one of this tab.

import { follow } from "./api.js";

// The worker's script is the only address that may become one.
const scripts = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("countersign", { createScriptURL: () => new URL("hub.js", import.meta.url).href });

/**
 * personEvents opens the stream of a person. onEvent gets {id, data}, the past ones
 * of a day first; onState what follow has, with the status where it is "gone".
 * Returns what ends it, before a sign-out.
 * @param {string} person
 * @param {{ onEvent: (event: { id: string, data: any }) => void, onState: (state: string, status?: number) => void }} host
 */
export function personEvents(person, { onEvent, onState }) {
  if (typeof SharedWorker !== "function") {
    const ending = new AbortController();
    follow("/api/events", { after: "0-0", signal: ending.signal, onEvent: (event) => void onEvent(event), onState: (state, cause) => onState(state, cause?.status) });
    return () => ending.abort();
  }
  const address = scripts ? scripts.createScriptURL("") : new URL("hub.js", import.meta.url).href;
  const { port } = new SharedWorker(address, { type: "module", name: `countersign ${person}` });
  port.onmessage = ({ data }) => {
    if (data.state) onState(data.state, data.status);
    else onEvent(data);
  };
  port.postMessage({ person });
  addEventListener("pagehide", () => port.postMessage({ leave: true }));
  addEventListener("pageshow", (event) => event.persisted && port.postMessage({ person }));
  return () => port.postMessage({ stop: true });
}
