// @ts-check
// The answer of a call: a table, a tree, code, or one thing as terms and values.

import { treeKey } from "../columns.js";
import { el } from "../dom.js";
import { isObject, label } from "../format.js";
import { readAnswer, Table } from "../table.js";
import { t } from "../words.js";
import { shapesOf } from "./chart.js";
import { codeKey, placeView } from "./code.js";
import { treeView, valueView } from "./facts.js";
import { gridView } from "./grid.js";

/** resultView draws the answer of a finished call; null when there is nothing to draw. @param {any} call @param {string} title @param {Record<string, any>} fields */
export function resultView(call, title, fields) {
  if (call.table) return gridView(call.table, title);
  const answer = readAnswer(call.envelope.peek());
  if (answer.rows && !answer.rows.length) return el("p", { class: "hint", "data-empty": true }, t("{title}: no rows that you may see.", { title }));
  if (answer.rows) return el("div", { class: "result", "data-result": call.tool }, treeView(answer.rows, treeKey(answer.rows), 0));
  if (!isObject(answer.data)) return answer.hint ? el("p", { class: "hint" }, answer.hint) : null;
  const code = codeKey(answer.data, fields);
  return el("div", { class: "result", "data-result": call.tool }, code ? el("div", { class: "places" }, placeView(answer.data, code)) : valueView(call.tool, answer.data, fields, 0, partOf));
}

// A list inside of an answer is a table like any other; the stages of a pipeline are a
// funnel first.
function partOf(key, rows, fields) {
  const table = new Table({ tool: key, server: "", fields, answer: { rows, more: false, next: null } });
  if (shapesOf(rows, table.columns.peek())[0]?.kind === "funnel") table.view.value = "chart";
  return gridView(table, label(key, fields[key]));
}
