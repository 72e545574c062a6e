// @ts-check
// The focus never falls to the page: when its element is gone, hidden or disabled, it
// goes to the nearest thing around it that takes it, or to the question.

import { at } from "./dom.js";

/** @type {any[]} */
let path = []; // the element that had the focus last, and what was around it
let planned = 0;

const usable = (node) => node.isConnected && node.checkVisibility() && !node.disabled;

/** keepFocus watches over the focus from now on. */
export function keepFocus() {
  document.addEventListener("focusin", ({ target }) => {
    path = [];
    for (let node = /** @type {any} */ (target); node && node !== document.body; node = node.parentElement) path.push(node);
  });
  const watch = new MutationObserver(() => (planned ||= requestAnimationFrame(restore)));
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["hidden", "disabled", "class", "open"] });
}

// Who clicks beside everything leaves an element that could still have the focus: that is their wish.
function restore() {
  planned = 0;
  const now = document.activeElement;
  const lost = path[0] && !usable(path[0]) && (now === document.body || now === path[0]);
  if (lost && !document.querySelector("dialog[open]")) place()?.focus({ preventScroll: true });
}

function place() {
  const around = path.find((node) => node.hasAttribute("tabindex") && node.id !== "view" && usable(node));
  const id = path.find((node) => node.dataset.card)?.dataset.card;
  const card = id && document.querySelector(`[data-card="${CSS.escape(id)}"]`); // it was drawn in another place
  return [around, card, question(), at("page-title"), at("view")].find((node) => node && usable(node));
}

// On a phone the keyboard would cover what is read.
const question = () => (window.matchMedia("(pointer: coarse)").matches ? null : at("question"));
