// What a screen reader hears. The answer itself is redrawn while it streams, so
// it is spoken from a place of its own, a sentence at a time.

import { el } from "./dom.js";

const MOST = 60; // spoken lines that are kept

let waiting = "";

function speak(text) {
  const place = document.getElementById("announcer");
  if (!place || !text.trim()) return;
  place.append(el("p", {}, text.trim()));
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
    const end = Math.max(waiting.lastIndexOf(". "), waiting.lastIndexOf("\n"), waiting.lastIndexOf("? "));
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
