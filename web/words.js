// @ts-check
// The page's own words in the reader's language. The English sentence is the key, so
// that a sentence without a translation is still one.

const LANGUAGE = "countersign.language";

/** language is "en" or "de": the reader's choice, or the browser's. */
export const language = chosen() || (navigator.language.startsWith("de") ? "de" : "en");

/** locale writes numbers and dates. */
export const locale = language === "de" ? "de-DE" : "en-US";

/** @type {Record<string, string>} */
let dictionary = {};

function chosen() {
  const kept = localStorage.getItem(LANGUAGE);
  return kept === "de" || kept === "en" ? kept : "";
}

/** learnWords loads the dictionary of the language; English needs none. */
export async function learnWords() {
  document.documentElement.lang = language;
  if (language !== "de") return;
  dictionary = (await import("./de.js")).words;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.textContent ?? "");
}

/** speak chooses a language for this browser and draws the page again. @param {"en" | "de"} next */
export function speak(next) {
  localStorage.setItem(LANGUAGE, next);
  location.reload();
}

/**
 * t("{n} waiting", {n: 3}) is a sentence in the reader's language.
 * @param {string} sentence
 * @param {Record<string, unknown>} values
 */
export function t(sentence, values = {}) {
  return (dictionary[sentence] ?? sentence).replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}

/** number(1234) is "1,234", or "1.234". @param {number} value @param {Intl.NumberFormatOptions} [options] */
export const number = (value, options) => value.toLocaleString(locale, options);

/** rowsOf(3) is "3 rows". @param {number} count */
export const rowsOf = (count) => (count === 1 ? t("1 row") : t("{n} rows", { n: number(count) }));

/** moment writes a time of a day, with the day when it is another than today. @param {string | number | Date} at */
export function moment(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return "";
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(locale, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}
