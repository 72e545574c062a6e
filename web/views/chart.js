// @ts-check
// Charts of the rows of a table, from their typed values and never from a model's
// numbers. Each is a drawing with a description, and the table is one switch away.

import { el, svgEl } from "../dom.js";
import { isHidden, isNumeric, snake, valueNode } from "../format.js";
import { number, t } from "../words.js";

const MOST_BARS = 16;
const MOST_GROUPS = 8; // values that make a field a category
const WIDTH = 640; // of the drawing, in its own units
const ROW = 26;
const LABEL = 180;

const STAGE = /(^|_)stage$/;
const CATEGORY = /(^|_)(stage|status|priority|department|category|type|region|severity)$/;
const ORDERS = [["lead", "qualified", "discovery", "proposal", "negotiation", "closed won", "closed lost"], ["critical", "urgent", "high", "medium", "normal", "low"]];

/** @typedef {{ name: string, values: { label: string, value: number, text: string }[] }} Line */

/** chartOf gives a function that draws rows as a chart; null when they have no shape for one. @param {import("../table.js").Table} table @param {string} title @returns {null | (() => any)} */
export function chartOf(table, title) {
  const pick = shapeOf(table.rows.peek(), table.columns.peek());
  if (!pick) return null;
  return () => {
    const shape = shapeOf(table.rows.value, table.columns.value);
    if (!shape) return null;
    const note = table.more.value ? el("p", { class: "hint", "data-chart-incomplete": true }, t("Drawn from {extent}.", { extent: table.extent })) : null;
    return el("figure", { class: "chart", "data-chart": shape.kind }, el("figcaption", {}, shape.caption), drawings[shape.kind](shape, title), note);
  };
}

/** shapeOf decides what rows can be drawn as. @param {any[]} rows @param {import("../columns.js").Column[]} columns @returns {any} */
export function shapeOf(rows, columns) {
  if (rows.length < 2) return null;
  const numbers = columns.filter((column) => isAmount(column, rows));
  return overTime(rows, columns, numbers) ?? pairs(rows, columns, numbers) ?? groups(rows, columns, numbers) ?? single(rows, columns, numbers);
}

function isAmount(column, rows) {
  if (!column.numeric || column.about?.show === "year" || /(^|_)(year|id|level)$/.test(snake(column.key))) return false;
  return rows.every((row) => column.value(row) === null || column.value(row) === undefined || isNumeric(column.value(row)) || isHidden(column.value(row)));
}

// Budget against actual: two amounts of the same unit for each row.
function pairs(rows, columns, numbers) {
  const named = (pattern) => numbers.find((column) => pattern.test(snake(column.key)));
  const [plan, actual] = [named(/budget|allocated|target|planned|entitlement/), named(/actual|spent|spend|used|closed_won/)];
  const name = nameColumn(rows, columns);
  if (!plan || !actual || !name || rows.length > MOST_BARS) return null;
  const lines = [plan, actual].map((column) => ({ name: column.label, values: rows.map((row) => entry(name.text(row), column, row)) }));
  return { kind: "bars", lines, caption: t("{first} and {second} by {name}", { first: plan.label, second: actual.label, name: name.label }) };
}

// Any list with one category: how many rows, and how much, each of its values has.
function groups(rows, columns, numbers) {
  const category = columns.find((column) => CATEGORY.test(snake(column.key)) && distinct(rows, column) > 1 && distinct(rows, column) <= MOST_GROUPS);
  if (!category || rows.length <= distinct(rows, category)) return null;
  const amount = STAGE.test(snake(category.key)) ? numbers.find((column) => column.about?.amount || /amount|value/.test(column.key)) : null;
  const totals = new Map();
  for (const row of rows) totals.set(category.text(row), (totals.get(category.text(row)) ?? 0) + (amount ? (isNumeric(amount.value(row)) ? amount.value(row) : 0) : 1));
  const values = [...totals].sort(([a], [b]) => rank(a) - rank(b)).map(([label, value]) => ({ label, value, text: amount ? textOf(amount, value, rows[0]) : number(value) }));
  const kind = STAGE.test(snake(category.key)) ? "funnel" : "bars";
  return { kind, lines: [{ name: amount?.label ?? t("Rows"), values }], caption: amount ? t("{amount} by {name}", { amount: amount.label, name: category.label }) : t("Rows by {name}", { name: category.label }) };
}

// One number for each name.
function single(rows, columns, numbers) {
  const name = nameColumn(rows, columns);
  const amount = numbers.find((column) => column.about?.amount) ?? (numbers.length === 1 ? numbers[0] : null);
  if (!name || !amount || rows.length > MOST_BARS) return null;
  return { kind: "bars", lines: [{ name: amount.label, values: rows.map((row) => entry(name.text(row), amount, row)) }], caption: t("{amount} by {name}", { amount: amount.label, name: name.label }) };
}

// A number at each date, for one thing only.
function overTime(rows, columns, numbers) {
  const date = columns.find((column) => rows.every((row) => /^\d{4}-\d{2}(-\d{2})?/.test(String(column.value(row) ?? ""))));
  const named = nameColumn(rows, columns.filter((column) => column !== date));
  const [amount] = numbers;
  if (!date || !amount || rows.length < 3 || distinct(rows, date) !== rows.length || (named && distinct(rows, named) > 1)) return null;
  const sorted = [...rows].sort((a, b) => String(date.value(a)).localeCompare(String(date.value(b))));
  return { kind: "line", lines: [{ name: amount.label, values: sorted.map((row) => entry(date.text(row), amount, row)) }], caption: t("{amount} over time", { amount: amount.label }) };
}

const nameColumn = (rows, columns) => columns.find((column) => !column.numeric && !column.extra && distinct(rows, column) > 1);
const distinct = (rows, column) => new Set(rows.map((row) => column.text(row))).size;
const entry = (label, column, row) => ({ label, value: isNumeric(column.value(row)) ? column.value(row) : 0, text: column.text(row) });

function textOf(column, value, row) {
  return el("span", {}, valueNode(column.key, value, row, column.about)).textContent;
}

function rank(label) {
  const word = label.toLowerCase().replaceAll("_", " ");
  for (const order of ORDERS) if (order.includes(word)) return order.indexOf(word);
  return 50;
}

// ---- drawing

function frame(height, shape, title, children) {
  const spoken = shape.lines.map((line) => `${line.name}: ${line.values.map((one) => `${one.label} ${one.text}`).join(", ")}`).join(". ");
  return svgEl("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${title}. ${shape.caption}. ${spoken}` }, children);
}

const largest = (shape) => Math.max(1e-9, ...shape.lines.flatMap((line) => line.values.map((one) => Math.abs(one.value))));

const drawings = {
  bars(shape, title) {
    const count = shape.lines.length;
    const scale = (WIDTH - LABEL - 110) / largest(shape);
    const height = shape.lines[0].values.length * ROW * count + (count > 1 ? 30 : 6);
    const marks = shape.lines.flatMap((line, l) => line.values.map((one, i) => bar(one, (i * count + l) * ROW, Math.abs(one.value) * scale, l, l === 0)));
    return frame(height, shape, title, [...marks, ...(count > 1 ? legend(shape, height - 20) : [])]);
  },
  funnel(shape, title) {
    const [{ values }] = shape.lines;
    const scale = (WIDTH - LABEL - 110) / largest(shape);
    return frame(values.length * ROW + 6, shape, title, values.map((one, i) => {
      const width = Math.abs(one.value) * scale;
      return bar(one, i * ROW, width, 0, true, (WIDTH - LABEL - 110 - width) / 2);
    }));
  },
  line(shape, title) {
    const [{ values }] = shape.lines;
    const top = largest(shape);
    const x = (i) => 40 + (i * (WIDTH - 80)) / Math.max(1, values.length - 1);
    const y = (value) => 150 - (value / top) * 120;
    const points = values.map((one, i) => `${x(i)},${y(one.value)}`).join(" ");
    const ends = [0, values.length - 1].map((i) => svgEl("text", { x: x(i), y: 185, "text-anchor": i ? "end" : "start" }, values[i].label));
    const dots = values.map((one, i) => svgEl("circle", { cx: x(i), cy: y(one.value), r: 3.5, class: "mark-0" }, svgEl("title", {}, `${one.label}: ${one.text}`)));
    return frame(195, shape, title, [svgEl("polyline", { points, class: "stroke-0" }), ...dots, ...ends, svgEl("text", { x: 40, y: 18 }, values.reduce((a, b) => (b.value > a.value ? b : a)).text)]);
  },
};

function bar(one, y, width, tone, labelled, shift = 0) {
  const label = labelled ? svgEl("text", { x: LABEL - 8, y: y + ROW / 2 + 4, "text-anchor": "end" }, one.label.length > 26 ? `${one.label.slice(0, 25)}…` : one.label) : null;
  return svgEl("g", {}, svgEl("title", {}, `${one.label}: ${one.text}`), label, svgEl("rect", { x: LABEL + shift, y: y + 3, width: Math.max(1, width), height: ROW - 7, rx: 3, class: `mark-${tone}` }), svgEl("text", { x: LABEL + shift + width + 6, y: y + ROW / 2 + 4, class: "amount" }, one.text));
}

function legend(shape, y) {
  return shape.lines.map((line, i) => svgEl("g", {}, svgEl("rect", { x: LABEL + i * 160, y, width: 12, height: 12, rx: 2, class: `mark-${i}` }), svgEl("text", { x: LABEL + i * 160 + 18, y: y + 11 }, line.name)));
}
