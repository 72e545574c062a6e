// @ts-check
// What leaves the page by the reader's wish: to the clipboard, or as a file.

import { announce } from "../announce.js";
import { el } from "../dom.js";
import { toast } from "../store.js";
import { t } from "../words.js";

/** copy puts a text on the clipboard and says so. @param {string} text @param {string} done */
export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast.value = { words: done };
    announce.say(done);
  } catch {
    toast.value = { words: t("This browser does not allow copying here.") };
  }
}

/** save offers a text as a file. @param {string} name @param {string} text */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  el("a", { href: address, download: name.replace(/[\\/:*?"<>|]/g, "_") }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
