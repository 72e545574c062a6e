// @ts-check
// The open conversation: its turns, and the view that follows what is being written
// while the reader is at its end.

import { at, bind, el, show } from "../dom.js";
import { effect, list, scope } from "../reactive.js";
import { sum, usageWords } from "../spending.js";
import { changes, open } from "../store.js";
import { t } from "../words.js";
import { turnView } from "./answer.js";
import { followUps } from "./followups.js";
import { reveal } from "./sight.js";

const NEAR_PX = 160; // from the end: the reader follows

/** threadView keeps the log in step with the open conversation. @param {{ ask: (text: string) => void, edit: (text: string) => void }} host */
export function threadView(host) {
  const [view, log] = [at("view"), at("log")];
  let following = true;
  // A browser scrolls by itself when sizes change: that is no wish of the reader's.
  let size = "";
  const sizeNow = () => `${view.scrollHeight} ${view.clientHeight}`;
  const atEnd = () => view.scrollHeight - view.scrollTop - view.clientHeight < NEAR_PX;
  const offerEnd = () => show(at("to-end"), !atEnd() && !at("talk").hidden && open.peek().turns.peek().length > 0);
  view.addEventListener("scroll", () => {
    if (sizeNow() === size) following = atEnd();
    offerEnd();
  }, { passive: true });
  let dispose = () => {};
  effect(() => {
    const conversation = open.value;
    dispose();
    log.replaceChildren();
    following = true;
    const drawn = scope(() => {
      const node = el("div", { class: "turns" });
      list(node, () => conversation.turns.value, (turn) => turn, (turn) => turnView(turn(), host));
      const used = el("p", { class: "hint", "data-conversation-usage": true, hidden: () => conversation.used.length < 2 }, () => t("This conversation: {used}", { used: usageWords(sum(conversation.used)) }));
      return [node, used, followUps(host)];
    });
    dispose = drawn.dispose;
    log.append(...drawn.value);
  });
  effect(() => {
    log.setAttribute("aria-busy", String(open.value.running.value));
    show(at("empty"), open.value.turns.value.length === 0 && open.value.stored.value);
  });
  const resized = new ResizeObserver(() => {
    if (following && !at("talk").hidden) toEnd(view, log); // other pages begin at their beginning
    size = sizeNow();
    offerEnd();
  });
  for (const one of [at("column"), view]) resized.observe(one);
  const follow = () => ((following = true), toEnd(view, log));
  bind(at("to-end"), "onclick", () => (follow(), at("question").focus({ preventScroll: true })));
  return { follow };
}

// The end of the answer is in view; a request that waits at the end is so as a whole.
function toEnd(view, log) {
  view.scrollTop = view.scrollHeight;
  const card = [...log.querySelectorAll('[data-card-state="waiting"]')].at(-1);
  if (card && card.getBoundingClientRect().top < view.getBoundingClientRect().top) reveal(card);
}

/** cardIn finds the card of a change in the log. @param {string} id */
export const cardIn = (id) => [...at("log").querySelectorAll("[data-card]")].find((card) => card.dataset.card === id);

/** elsewhere are the changes that wait and are not of the open conversation. */
export function elsewhere() {
  const own = new Set(open.value.changeIds);
  return [...changes.value.values()].filter((change) => change.waits.value && !own.has(change.id));
}
