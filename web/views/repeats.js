// @ts-check
// The typed rows are the answer; what a text repeats of them is folded away.

import { el } from "../dom.js";
import { isIdentifier, isObject } from "../format.js";
import { nameOf, treeKey } from "../columns.js";
import { readAnswer } from "../table.js";
import { t } from "../words.js";

const FEWEST = 3; // rows of more that are worth a fold; of two rows both are
const NAMES = 4; // texts of rows by one of which a text may call them

/**
 * folded are the blocks of a text, those that repeat rows in a fold. calls are what
 * the rows came from.
 * @param {Node[]} nodes
 * @param {any[]} calls
 */
export function folded(nodes, calls) {
  if (!calls.some((call) => call.envelope.value)) return nodes;
  const lists = calls.flatMap((call) => listsOf(call));
  const again = (node) => node instanceof Element && (lists.length > 0 && node.matches(".scroll") || (node.matches("ul, ol") && lists.some((rows) => repeats(node, rows))));
  return nodes.map((node) => (again(node) ? el("details", { class: "repeat" }, el("summary", {}, t("The same in the model's words")), node) : node));
}

// What says that rows are missing, in the words of models and of the gateway.
const MISSING = /\bincomplete\b|\bmore (rows|of them|follow|to see)\b|\bthere (are|is) more\b|\bnext page\b|unvollständig|weitere (Zeilen|folgen)|nächste Seite/i;

/**
 * foldMissing folds away what a text says of missing rows, once the lists that were
 * incomplete are read to their ends in the table.
 * @param {Element} node @param {any[]} calls
 */
export function foldMissing(node, calls) {
  const tables = calls.map((call) => call.table).filter(Boolean);
  if (!tables.some((table) => table.completed.value) || tables.some((table) => table.more.value)) return;
  for (const block of [...node.children]) {
    if (block.matches("p:not(.added-by)") && MISSING.test(block.textContent ?? "")) {
      const fold = el("details", { class: "repeat", "data-settled": true }, el("summary", {}, t("Said before all rows were loaded")));
      block.replaceWith(fold);
      fold.append(block);
    }
  }
}

// The rows of a call that are shown: its table, or the lists and branches of one answer.
function listsOf(call) {
  if (call.table) return [call.table.rows.peek()];
  const answer = readAnswer(call.envelope.value ?? {});
  const tops = answer.rows ?? (isObject(answer.data) ? [answer.data] : []);
  const branch = treeKey(tops);
  if (branch) return tops.map((top) => top[branch] ?? []);
  return Object.values(answer.data ?? {}).filter((value) => Array.isArray(value) && value.some(isObject));
}

// A list repeats rows when its items are the first of them, in their order; the last
// item may say how many more there are. A choice or another order is an answer of its own.
function repeats(list, rows) {
  const items = [...list.children].map((item) => plain(item.textContent ?? ""));
  const said = MORE.test(items.at(-1) ?? "") ? items.slice(0, -1) : items;
  const first = rows.slice(0, said.length).filter(isObject);
  if (said.length < Math.max(2, Math.min(FEWEST, rows.length)) || first.length < said.length) return false;
  return callings(first).some((names) => said.every((item, i) => item.includes(names[i])));
}

const MORE = /^\D{0,12}\d[\d,.]* [\p{L} ]+$/u;

// What rows may be called: their names, or one of their first texts where each has its own.
function callings(rows) {
  const texts = Object.keys(rows[0]).filter((key) => rows.every((row) => typeof row[key] === "string" && !isIdentifier(key, row[key]))).slice(0, NAMES);
  const all = [rows.map(nameOf), ...texts.map((key) => rows.map((row) => row[key]))].map((names) => names.map(plain));
  return all.filter((names) => names.every(Boolean) && new Set(names).size === names.length);
}

const plain = (text) => text.trim().toLowerCase().replaceAll("_", " ");
