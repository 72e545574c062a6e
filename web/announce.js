// @ts-check
// What a screen reader hears. The answer itself is redrawn while it streams, so
// it is spoken from a place of its own, a sentence at a time.

import { el } from "./dom.js";

const MOST = 60; // spoken lines that are kept

let waiting = "";

// A table is read in the answer itself, not announced cell by cell.
const isRow = (line) => line.trimStart().startsWith("|");

function speak(text) {
  const place = document.getElementById("announcer");
  const words = text.split("\n").filter((line) => !isRow(line)).join("\n").trim();
  if (!place || !words) return;
  place.append(el("p", {}, words));
  while (place.children.length > MOST) place.firstChild.remove();
}

export const announce = {
  /** say speaks a whole message. */
  say(text) {
    announce.end();
    speak(text);
  },
  /** stream speaks every sentence that the piece completes. */
  stream(piece) {
    waiting += piece;
    const line = waiting.lastIndexOf("\n");
    const end = isRow(waiting.slice(line + 1)) ? line : Math.max(waiting.lastIndexOf(". "), line, waiting.lastIndexOf("? "));
    if (end < 0) return;
    speak(waiting.slice(0, end + 1));
    waiting = waiting.slice(end + 1);
  },
  /** end speaks what is left. */
  end() {
    speak(waiting);
    waiting = "";
  },
};
