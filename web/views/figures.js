// @ts-check
// Figures in an answer's words that are in exactly one of its rows lead to that row. Words
// and rows may be of two languages: "1,234.5" and "1.234,5" are one figure.

import { el } from "../dom.js";
import { snake } from "../format.js";
import { language, t } from "../words.js";

const FIGURE = /(?:[$€£]\s?)?\d(?:[\d.,]*\d)?(?:\s?[%$€£])?/g;
const WRITTEN = /** @type {Record<string, RegExp>} */ ({ en: /^(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$/, de: /^(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/ });
const NAMES_OR_COUNTS = /(^|_)(ids?|number|no|key|count)$/; // of a row, and of what it has: neither is what an answer measured
const MOST_ROWS = 500; // more rows are not searched

/**
 * pointOut makes the figures of a text lead to their rows.
 * @param {Node} node
 * @param {import("../table.js").Table[]} tables
 */
export function pointOut(node, tables) {
  const places = placesOf(tables);
  if (!places.size) return;
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text; (text = texts.nextNode()); ) if (!text.parentElement?.closest("a, button, code, .scroll")) found.push(text);
  const written = writtenIn(node.textContent ?? "");
  for (const text of found) replace(/** @type {Text} */ (text), places, written);
}

// ---- one figure, however it is written

/** keyOf("$1,234.50", "en") is "$1234.5"; "" for what is no figure. @param {string} text @param {string} written */
export function keyOf(text, written) {
  const unit = text.match(/[$€£%]/)?.[0] ?? "";
  const digits = text.replace(/[$€£%\s]/g, "");
  const readings = Object.keys(WRITTEN).filter((name) => WRITTEN[name].test(digits));
  if (!readings.length || (digits.length < 2 && !unit)) return "";
  return unit + valueOf(digits, readings.length === 1 ? readings[0] : readingOf(digits, unit, written));
}

// "1,234" is a thousand, or one and a bit. Money has no three decimals; elsewhere the
// language decides.
function readingOf(digits, unit, written) {
  if (unit && unit !== "%") return digits.includes(",") ? "en" : "de";
  return written;
}

const valueOf = (digits, written) => Number(written === "de" ? digits.replaceAll(".", "").replace(",", ".") : digits.replaceAll(",", ""));

// writtenIn tells by the figures that can be read in one way only; else it is the reader's language.
function writtenIn(text) {
  const seen = new Set();
  for (const [figure] of text.matchAll(FIGURE)) {
    const digits = figure.replace(/[$€£%\s]/g, "");
    const readings = Object.keys(WRITTEN).filter((name) => WRITTEN[name].test(digits));
    if (readings.length === 1) seen.add(readings[0]);
    else if (/[$€£]/.test(figure) && /[.,]/.test(digits)) seen.add(readingOf(digits, "$", ""));
  }
  return seen.size === 1 ? [...seen][0] : language;
}

// ---- where they lead

// A figure that is in several rows says nothing of one of them, and one that is as many as
// the rows counts them.
function placesOf(tables) {
  const places = new Map();
  for (const table of tables) {
    for (const row of table.rows.peek().slice(0, MOST_ROWS)) {
      for (const column of table.columns.peek().filter((one) => one.numeric && !NAMES_OR_COUNTS.test(snake(one.key)))) {
        const text = column.text(row);
        if (text.match(FIGURE)?.[0] !== text) continue;
        const key = keyOf(text, language);
        if (!key) continue;
        places.set(key, places.has(key) && places.get(key).row !== row ? { row: null } : { table, row });
      }
    }
  }
  for (const { rows, total } of tables) for (const count of [rows.peek().length, total.peek()]) places.delete(String(count));
  return places;
}

function replace(text, places, written) {
  const whole = text.data;
  const nodes = [];
  let from = 0;
  for (const match of whole.matchAll(FIGURE)) {
    const place = places.get(keyOf(match[0], written));
    if (!place?.row) continue;
    nodes.push(whole.slice(from, match.index), el("button", { type: "button", class: "link figure", "data-figure": match[0], title: t("Show the row that this is from"), onclick: () => place.table.point(place.row) }, match[0]));
    from = match.index + match[0].length;
  }
  if (nodes.length) text.replaceWith(...nodes, whole.slice(from));
}
