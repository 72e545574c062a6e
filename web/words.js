// @ts-check
// The page's own words in the reader's language. The English sentence is the key, so
// that a sentence without a translation is still one.

const LANGUAGE = "countersign.language";

/** language is "en" or "de": the reader's choice, or the browser's. */
export const language = chosen() || (navigator.language.startsWith("de") ? "de" : "en");

/** locale writes numbers and dates. */
export const locale = language === "de" ? "de-DE" : "en-US";

/** @type {Record<string, string>[]} */
let dictionaries = [];

function chosen() {
  const kept = globalThis.localStorage?.getItem(LANGUAGE); // a worker has none
  return kept === "de" || kept === "en" ? kept : "";
}

/** @type {Promise<void>} */
let learning = Promise.resolve();

/** learnWords loads the dictionary of the language; English needs none. */
export const learnWords = () => (learning = learn());

/** learned ends when the dictionary is there, or cannot be had: what is asked before may fail before. */
export const learned = () => learning.catch(() => {});

async function learn() {
  document.documentElement.lang = language;
  if (language !== "de") return;
  const [{ words }, ...data] = await Promise.all([import("./de.js"), import("./de-data.js"), import("./de-tools.js")]);
  dictionaries = [words, ...data.map(({ names }) => names)];
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.textContent ?? "");
  for (const name of ["aria-label", "placeholder", "title"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) node.setAttribute(name, t(node.getAttribute(name) ?? ""));
  }
}

/** speak chooses a language for this browser and draws the page again. @param {"en" | "de"} next */
export function speak(next) {
  localStorage.setItem(LANGUAGE, next);
  location.reload();
}

/**
 * t("{n} items", {n: 3}) is a sentence in the reader's language.
 * @param {string} sentence
 * @param {Record<string, unknown>} values
 */
export function t(sentence, values = {}) {
  const known = dictionaries.find((one) => typeof one[sentence] === "string"); // servers name things, too: "constructor" is a word
  const words = known ? known[sentence] : sentence;
  return words.replace(/\{(\w+)\}/g, (all, name) => (Object.hasOwn(values, name) ? String(values[name]) : all));
}

/**
 * inOurs is a refusal in the reader's language first, where its code has words there;
 * its own sentence, which names what it is about, follows.
 * @param {string} code @param {string} sentence
 */
export function inOurs(code, sentence) {
  const gist = t(code);
  return gist === code ? sentence : `${gist} ${sentence}`;
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
