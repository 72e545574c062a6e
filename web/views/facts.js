// @ts-check
// What is no list: one thing as terms and values, a tree as nested lists. A list inside of
// it is a small table, or what drawList makes of it.

import { cellView, columnsOf, INNER, nameOf, treeKey } from "../columns.js";
import { data, el } from "../dom.js";
import { isEmpty, isHidden, isIdentifier, isObject, label, snake, valueNode } from "../format.js";
import { t } from "../words.js";

const DEEPEST = 6;

/** @typedef {(key: string, rows: any[], fields: Record<string, any>) => any} DrawList */

/** valueView draws a value of any shape. @param {string} key @param {any} value @param {Record<string, any>} fields @param {number} depth @param {DrawList} [drawList] */
export function valueView(key, value, fields, depth, drawList) {
  if (depth >= DEEPEST) return el("code", {}, JSON.stringify(value).slice(0, 400));
  if (isObject(value)) return objectView(value, fields, depth, drawList);
  if (Array.isArray(value)) return arrayView(key, value, fields, depth, drawList);
  return valueNode(key, value, {}, fields[key]);
}

function objectView(object, fields, depth, drawList) {
  const branch = treeKey([object]);
  if (branch) return treeView([object], branch, 0);
  return descriptionList(Object.entries(object).filter(([key, value]) => isTold(key, value)), object, fields, depth, drawList);
}

function isTold(key, value) {
  return isHidden(value) || !(isEmpty(value) || INNER.test(snake(key)) || isIdentifier(key, value));
}

/** descriptionList draws entries as terms and their values. @param {[string, any][]} entries @param {any} row @param {Record<string, any>} fields @param {number} depth @param {DrawList} [drawList] */
export function descriptionList(entries, row = {}, fields = {}, depth = 0, drawList = undefined) {
  const flat = ([, value]) => !isObject(value) && !(Array.isArray(value) && value.some(isObject));
  const pairs = [...entries.filter(flat), ...entries.filter((entry) => !flat(entry))].map(([key, value]) => {
    const nested = !flat([key, value]);
    const shown = nested ? valueView(key, value, fields, depth + 1, drawList) : isolated(cellView(key, value, row, fields));
    return el("div", { class: nested ? "wide" : null, "data-field": key }, el("dt", {}, label(key, fields[key])), el("dd", {}, shown));
  });
  return el("dl", { class: "facts" }, pairs);
}

const isolated = (shown) => (typeof shown === "string" ? data(shown) : shown);

function arrayView(key, values, fields, depth, drawList) {
  const objects = values.filter(isObject);
  if (!objects.length) return cellView(key, values, {}, fields);
  if (treeKey(objects)) return treeView(objects, treeKey(objects), depth);
  return !drawList || depth > 1 || objects.length < 2 ? smallTable(objects, label(key, fields[key]), fields) : drawList(key, objects, fields);
}

function smallTable(rows, title, fields) {
  const columns = columnsOf(rows, fields).filter((column) => !column.extra);
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.numeric ? "number" : null }, column.label)));
  const body = rows.map((row) => el("tr", {}, columns.map((column) => el("td", { class: column.numeric ? "number" : null, "data-field": column.key }, column.show(row)))));
  const table = el("table", { class: "grid" }, el("caption", { class: "visually-hidden" }, title), el("thead", {}, head), el("tbody", {}, body));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("{title}, table", { title }) }, table);
}

// ---- trees

/** treeView draws rows with rows under a key. @param {any[]} rows @param {string} key @param {number} depth */
export function treeView(rows, key, depth) {
  return el("ul", { class: "tree" }, rows.map((row) => el("li", {}, branchView(row, key, depth))));
}

function branchView(row, key, depth) {
  const role = [row.job_title, row.department].filter(Boolean).join(" · ");
  const line = [el("strong", {}, data(nameOf(row) || "–")), role ? el("span", { class: "hint" }, ` ${role}`) : null];
  const children = (row[key] ?? []).filter(isObject);
  if (!children.length || depth > 40) return el("span", {}, line);
  return el("details", { open: depth < 2 }, el("summary", {}, line, el("span", { class: "hint" }, ` (${children.length})`)), treeView(children, key, depth + 1));
}
