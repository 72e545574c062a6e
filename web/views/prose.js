// @ts-check
// A text of the answer while it is being written. Blocks that are finished are drawn
// once; only the last one, which still grows, is drawn again.

import { el } from "../dom.js";
import { renderMarkdown } from "../markdown.js";
import { effect, signal } from "../reactive.js";
import { t } from "../words.js";
import { pointOut } from "./figures.js";
import { folded, foldMissing } from "./repeats.js";

const SLICE = 1500; // characters that are drawn without a pause
const SHARE = 4; // a text that takes long to draw waits so many times as long before it is drawn again

/** proseView draws a text part. calls are those whose rows are shown beside it. @param {any} part @param {() => any[]} calls */
export function proseView(part, calls) {
  const gateway = part.source === "gateway";
  const node = el("div", { class: gateway ? "prose notice added" : "prose", "data-text": part.source || "model" });
  if (gateway) node.append(el("p", { class: "added-by" }, t("Countersign adds:")));
  const again = signal(0);
  let settled = 0; // characters that are drawn for good
  let tail = [];
  let [cost, last] = [0, 0];
  effect(() => {
    again.value;
    const text = gateway ? part.text.value.split("\n\n").map((line) => t(line)).join("\n\n") : part.text.value;
    const wait = part.open.value ? last + cost * SHARE - performance.now() : 0;
    if (wait > 1) return void setTimeout(() => again.update((n) => n + 1), wait);
    const began = performance.now();
    for (const old of tail) old.remove();
    const end = part.open.value ? lastBreak(text, settled) : text.length;
    const cut = sliceEnd(text, settled, end);
    node.append(...drawn(text.slice(settled, cut), calls()));
    settled = cut;
    tail = cut < end ? [] : drawn(text.slice(settled), calls());
    if (cut < end) return void setTimeout(() => again.update((n) => n + 1)); // the page answers in between
    node.append(...tail);
    if (!part.open.value) pointOut(node, calls().map((call) => call.table).filter(Boolean));
    last = performance.now();
    cost = last - began;
  });
  effect(() => {
    if (!part.open.value) foldMissing(node, calls());
  });
  return node;
}

// What is drawn at once ends between two blocks. A block that is longer is drawn whole.
function sliceEnd(text, from, end) {
  if (end - from <= SLICE) return end;
  const cut = lastBreak(text.slice(0, from + SLICE), from);
  return cut > from ? cut : end;
}

// After a blank line outside of a code fence nothing changes what is above it.
function lastBreak(text, from) {
  let [fence, cut, at] = ["", from, from];
  for (let end = text.indexOf("\n", at); end >= 0; end = text.indexOf("\n", at)) {
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) fence = line.trimStart().startsWith(fence) ? "" : fence;
    else if (mark) fence = mark;
    at = end + 1;
    if (!fence && line.trim() === "") cut = at;
  }
  return cut;
}

function drawn(text, calls) {
  return text.trim() ? folded([...renderMarkdown(text).childNodes], calls) : [];
}
