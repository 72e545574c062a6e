// @ts-check
// Which columns a list of rows has, in which order, and what their cells say. A
// tool's declaration decides where it says something; names and values do elsewhere.

import { el } from "./dom.js";
import { isEmpty, isIdentifier, isNumeric, isObject, label, snake, valueNode } from "./format.js";
import { t } from "./words.js";

const SHOWN_COLUMNS = 7;
const MOST_COLUMNS = 40;
const EXTRA = 8; // columns of this weight and more show only when asked for

// Fields that never help a reader.
export const INNER = /^(_|created_at$|updated_at$|version$)/;

const WEIGHTS = /** @type {[RegExp, number][]} */ ([
  [/^(name|(full|employee|deal|friendly|vendor)_name|title|subject|company|vendor)$/, 0],
  [/_number$|^key$|^(type|leave|customer)_name$|^blocked_because$/, 1],
  [/status|stage|salary|amount|value|department|job_title|priority|rating|due|score|year$/, 2],
  [/date|_at$|location|owner|quarter|period/, 3],
  [/email|phone/, 5],
]);

// Fields with the ids of other rows of the same kind, which a reader asks for.
const OTHERS = /^blocked_by$/;

/** @typedef {{ key: string, label: string, numeric: boolean, extra: boolean, about: any, show: (row: any) => any, text: (row: any) => string, value: (row: any) => any }} Column */

/** columnsOf picks the columns of rows. @param {any[]} rows @param {Record<string, any>} fields @returns {Column[]} */
export function columnsOf(rows, fields) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
  const columns = withFullName(keys, rows, fields).map((column) => ({ ...column, weight: weight(column.key, rows, fields[column.key]) }));
  columns.sort((a, b) => a.weight - b.weight); // stable: the server's order within a weight
  const words = columns.findIndex((column) => !column.numeric && column.weight < EXTRA);
  if (words > 0) columns.unshift(...columns.splice(words, 1)); // a row begins with words
  return columns.map((column, i) => ({ ...column, extra: i > 0 && (i >= SHOWN_COLUMNS || column.weight >= EXTRA) }));
}

// A first and a last name are one name.
function withFullName(keys, rows, fields) {
  const both = keys.includes("first_name") && keys.includes("last_name");
  const plain = keys.filter((key) => !both || (key !== "first_name" && key !== "last_name"));
  const columns = plain.map((key) => fieldColumn(key, rows, fields));
  if (both) columns.unshift({ key: "name", label: t("Name"), numeric: false, about: undefined, show: (row) => nameOf(row), text: nameOf, value: nameOf });
  return columns;
}

function fieldColumn(key, rows, fields) {
  const numeric = rows.some((row) => isNumeric(row[key]));
  const show = (row) => (OTHERS.test(snake(key)) && Array.isArray(row[key]) && row[key].length ? othersIn(row[key], rows) : cellView(key, row[key], row, fields));
  const text = (row) => el("span", {}, show(row)).textContent;
  return { key, label: label(key, fields[key]), numeric, about: fields[key], show, text, value: (row) => row[key] };
}

// othersIn names other rows by their ids, with their names where they are loaded.
function othersIn(ids, rows) {
  return ids.map((id) => [id, nameOf(rows.find((row) => row.id === id) ?? {})].filter((part) => part !== "").join(" ")).join(", ");
}

/** cellView shows one value of a row. @param {string} key @param {any} value @param {any} row @param {Record<string, any>} fields */
export function cellView(key, value, row, fields) {
  if (Array.isArray(value) && value.some(isObject)) return value.length === 1 ? t("1 item") : t("{n} items", { n: value.length });
  if (Array.isArray(value)) return value.length ? value.join(", ") : valueNode(key, null);
  if (isObject(value)) return Object.entries(value).filter(([, inner]) => !isObject(inner)).map(([name, inner]) => `${label(name, fields[name])}: ${inner}`).join(", ");
  return valueNode(key, value, row, fields[key]);
}

// Texts come before numbers of the same weight, so that a row begins with words.
function weight(key, rows, about) {
  const base = baseWeight(key, rows, about);
  return base < EXTRA && rows.some((row) => isNumeric(row[key])) ? base + 0.5 : base;
}

function baseWeight(key, rows, about) {
  const name = snake(key);
  const values = rows.map((row) => row[key]).filter((value) => !isEmpty(value));
  if (key !== "name" && !values.length) return EXTRA + 1;
  if (OTHERS.test(name) && values.some((value) => value.length)) return 1;
  if (INNER.test(name) || values.some((value) => isObject(value) || Array.isArray(value))) return EXTRA;
  if (values.every((value) => isIdentifier(key, value)) && values.length) return EXTRA;
  if (values.length > 1 && values.every((value) => value === true)) return EXTRA; // "active" on a list of the active
  if (about?.show === "detail" || about?.show === "code") return EXTRA;
  if (about?.amount) return 2;
  if (name.endsWith("_id") && key === Object.keys(rows[0])[0]) return 1; // the row's own
  return WEIGHTS.find(([pattern]) => pattern.test(name))?.[1] ?? 4;
}

/** nameOf finds what people call a row. @param {any} row @returns {string} */
export function nameOf(row) {
  const full = [row.first_name, row.last_name].filter(Boolean).join(" ");
  return full || row.name || row.deal_name || row.title || row.subject || row.company || "";
}

/** treeKey is the field under which a thing holds a list of such things; null where there is none. @param {any[]} rows */
export function treeKey(rows) {
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      if (Array.isArray(value) && value.some((child) => isObject(child) && key in child)) return key;
    }
  }
  return null;
}
