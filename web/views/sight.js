// @ts-check
// Whether a card is whole in view: only then can it be approved. One that is higher than
// its place in the page is read and answered on a sheet as large as the window.

import { at, el, icon } from "../dom.js";
import { effect, onDispose, signal } from "../reactive.js";
import { t } from "../words.js";

/**
 * sightOf gives seen, which is true while all of a card is in view. Of a card that is
 * higher than even its sheet it is true when every part was in view since the layout
 * changed last: by the window, by zoom, by its text. toUnseen leads to what was not in
 * view. drawn reads what the card shows. A card with data-high does not fit into its place,
 * and one with data-long not into its sheet.
 * @param {any} card @param {() => unknown} drawn
 */
export function sightOf(card, drawn) {
  const seen = signal(false);
  let parts = /** @type {number[][]} */ ([]); // intervals of the card's height that were in view
  let layout = "";
  const look = () => {
    if (!card.isConnected || !card.offsetHeight) return;
    const frame = frameOf(card).getBoundingClientRect();
    if (layout !== layoutOf(card, frame)) {
      parts = [];
      measure(card, frame);
      layout = layoutOf(card, frame);
    }
    const box = card.getBoundingClientRect();
    parts.push([Math.max(frame.top, box.top) - box.top, Math.min(frame.bottom, box.bottom) - box.top]);
    seen.value = card.closest(".sheet") ? covered(parts) >= box.height - 2 : box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
  };
  const watch = new IntersectionObserver(look, { threshold: [0, 0.25, 0.5, 0.75, 0.9, 1] });
  const size = new ResizeObserver(look);
  const ending = new AbortController();
  watch.observe(card);
  for (const one of [card, at("view")]) size.observe(one);
  document.addEventListener("scroll", look, { capture: true, passive: true, signal: ending.signal });
  addEventListener("resize", look, { signal: ending.signal });
  effect(() => {
    drawn();
    [layout, seen.value] = ["", false];
    requestAnimationFrame(look);
  });
  onDispose(() => (watch.disconnect(), size.disconnect(), ending.abort()));
  const toUnseen = () => {
    if (card.closest(".sheet")) frameOf(card).scrollTop = covered(parts) - OVERLAP_PX;
    else reveal(card);
    card.focus({ preventScroll: true });
  };
  return { seen, toUnseen };
}

const OVERLAP_PX = 40; // of what was read, so that the reader finds the line again

const frameOf = (card) => card.closest(".sheet-view") ?? at("view");

// What a person reads again when it changes. What is said below a card in its place can
// make it too high for that; on its sheet it is read where it comes.
function layoutOf(card, frame) {
  const body = card.querySelector(".card-body");
  const note = card.closest(".sheet") ? 0 : card.querySelector("[data-card-note]").offsetHeight;
  return [body.scrollWidth, body.scrollHeight, note, Math.round(frame.width), Math.round(frame.height)].join();
}

function measure(card, frame) {
  for (const mark of ["data-high", "data-long"]) card.removeAttribute(mark);
  if (card.offsetHeight > Math.ceil(frame.height)) card.toggleAttribute(card.closest(".sheet") ? "data-long" : "data-high", true);
}

// covered is to where everything from the beginning was in view.
function covered(parts) {
  let to = 0;
  for (const [top, bottom] of [...parts].sort(([a], [b]) => a - b)) if (top <= to + 2) to = Math.max(to, bottom);
  return to;
}

/** reveal brings a card into view, whole where it fits, from its beginning where not. @param {any} card */
export function reveal(card) {
  card.scrollIntoView({ block: card.offsetHeight > frameOf(card).clientHeight ? "start" : "nearest" });
}

/**
 * openSheet shows a card on a sheet over the whole window until it is answered, or the
 * reader goes back. Then it is in its place again.
 * @param {any} card @param {() => boolean} waits
 */
export function openSheet(card, waits) {
  const place = card.parentElement;
  const close = el("button", { type: "button", class: "small", "data-sheet-close": true, onclick: () => sheet.close() }, icon("cross"), t("Back"));
  const who = el("p", {}, el("bdi", {}, at("user-name").textContent), " ", el("span", { class: "hint" }, at("user-role").textContent));
  const sheet = el("dialog", { class: "sheet", "aria-labelledby": card.getAttribute("aria-labelledby") }, el("div", { class: "sheet-top" }, who, close), el("div", { class: "sheet-view" }, card));
  const back = () => {
    stop();
    if (!sheet.isConnected) return;
    place.replaceChildren(card);
    card.focus({ preventScroll: true });
  };
  sheet.addEventListener("close", back);
  place.style.minHeight = `${place.offsetHeight}px`; // what is around it stays where it is
  place.append(sheet);
  sheet.showModal();
  card.focus({ preventScroll: true });
  const stop = effect(() => {
    if (!waits()) back();
  });
}
