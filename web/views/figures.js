// @ts-check
// Figures in an answer's words that are in exactly one of its rows lead to that row.

import { el } from "../dom.js";
import { t } from "../words.js";

const FIGURE = /[$€£]?\d[\d.,]*\d%?|\d+%/g;
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
  for (let text; (text = texts.nextNode()); ) if (!text.parentElement?.closest("a, button, code, details")) found.push(text);
  for (const text of found) replace(/** @type {Text} */ (text), places);
}

// A figure that is in several rows says nothing of one of them.
function placesOf(tables) {
  const places = new Map();
  for (const table of tables) {
    for (const row of table.rows.peek().slice(0, MOST_ROWS)) {
      for (const column of table.columns.peek().filter((one) => one.numeric)) {
        const text = column.text(row);
        places.set(text, places.has(text) && places.get(text).row !== row ? { row: null } : { table, row });
      }
    }
  }
  return places;
}

function replace(text, places) {
  const whole = text.data;
  const nodes = [];
  let from = 0;
  for (const match of whole.matchAll(FIGURE)) {
    const place = places.get(match[0]);
    if (!place?.row) continue;
    nodes.push(whole.slice(from, match.index), el("button", { type: "button", class: "link figure", "data-figure": match[0], title: t("Show the row that this is from"), onclick: () => place.table.point(place.row) }, match[0]));
    from = match.index + match[0].length;
  }
  if (nodes.length) text.replaceWith(...nodes, whole.slice(from));
}
