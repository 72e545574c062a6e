// @ts-check
// The count of what waits, where it is seen from everywhere: in the header, in the
// tab's title, and as a notification where the reader asked for one.

import { at, show } from "../dom.js";
import { effect } from "../reactive.js";
import { titleOf, unshown, waiting } from "../store.js";
import { number, t } from "../words.js";
import { elsewhere } from "./thread.js";

const known = new Set();
let first = true;

/** countView keeps the counts in step. */
export function countView() {
  effect(() => {
    const count = waiting.value.length + unshown.value.length;
    at("inbox-count").textContent = number(count);
    show(at("inbox-count"), count > 0);
    at("inbox").setAttribute("aria-label", count === 1 ? t("Approvals, 1 waiting") : t("Approvals, {n} waiting", { n: number(count) }));
    document.title = count ? `(${count}) Countersign` : "Countersign";
  });
  effect(() => {
    const count = elsewhere().length + unshown.value.length;
    const here = location.hash.startsWith("#/approv");
    at("strip-words").textContent = count === 1 ? t("1 request waits for your approval") : t("{n} requests wait for your approval", { n: number(count) });
    show(at("strip"), count > 0 && !here);
  });
  effect(() => {
    const fresh = waiting.value.filter((change) => !known.has(change.id));
    for (const change of fresh) known.add(change.id);
    if (!first) fresh.forEach(notify);
  });
  addEventListener("hashchange", () => show(at("strip"), elsewhere().length + unshown.peek().length > 0 && !location.hash.startsWith("#/approv")));
  return { begin: () => (first = false) };
}

// What waits is not written in a notification: others may see the screen.
function notify(change) {
  if (document.visibilityState === "visible" || typeof Notification !== "function") return;
  if (Notification.permission !== "granted" || localStorage.getItem("countersign.notify") !== "on") return;
  const shown = new Notification(t("A change waits for your approval"), { body: titleOf(change.tool.peek(), change.server.peek()), tag: change.id });
  shown.onclick = () => {
    window.focus();
    location.hash = `#/approve/${encodeURIComponent(change.id)}`;
  };
}
