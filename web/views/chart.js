// @ts-check
// Charts of the rows of a table, from their typed values and never from a model's
// numbers. Each is a drawing with a description, and the table is one switch away.

import { INNER } from "../columns.js";
import { el, svgEl } from "../dom.js";
import { isHidden, isMoney, isNumeric, snake, valueNode } from "../format.js";
import { signal } from "../reactive.js";
import { number, t } from "../words.js";

const MOST_BARS = 40;
const MOST_GROUPS = 16; // values that make a field a category
const ROW = 26; // of the drawing, in its own units
const AMOUNT = 110;

// A drawing is as wide as the window lets it be, so that its texts stay readable on a phone.
const space = () => (innerWidth < 640 ? { width: 350, label: 118, longest: 14 } : { width: 640, label: 190, longest: 28 }); // longest: characters of a label

const STAGE = /(^|_)stage$/;
const CATEGORY = /(^|_)(stage|status|priority|department|category|type|region|severity)$/;
const FIRST = /(^|_)(stage|priority)$/; // categories that say most
const PERIOD = /(^|_)(year|quarter|period)$/;
const ORDERS = [["prospecting", "lead", "discovery", "qualification", "qualified", "proposal", "negotiation", "closed won", "closed lost"], ["critical", "urgent", "high", "medium", "normal", "low"]];

/** @typedef {{ name: string, values: { label: string, value: number, text: string }[] }} Line */

/** chartOf gives a function that draws rows as a chart; null when they have no shape for one. @param {import("../table.js").Table} table @param {string} title @returns {null | (() => any)} */
export function chartOf(table, title) {
  if (!shapesOf(table.rows.peek(), table.columns.peek()).length) return null;
  const chosen = signal(0);
  return () => {
    const shapes = shapesOf(table.shown.value, table.columns.value);
    const shape = shapes[chosen.value] ?? shapes[0];
    const note = table.partial || table.filtered ? el("p", { class: "hint", "data-chart-incomplete": true }, t("Drawn from {extent}.", { extent: table.extent })) : null;
    if (!shape) return el("p", { class: "hint" }, t("These rows make no chart."));
    return el("figure", { class: "chart", "data-chart": shape.kind }, captionOf(shapes, shape, chosen), drawings[shape.kind](shape, title), note);
  };
}

// Rows that can be drawn in several ways have a choice of them.
function captionOf(shapes, shape, chosen) {
  if (shapes.length < 2) return el("figcaption", {}, shape.caption);
  const options = shapes.map((one, i) => el("option", { value: String(i), selected: one === shape }, one.caption));
  return el("figcaption", {}, el("select", { "data-chart-choice": true, "aria-label": t("What is drawn"), onchange: (event) => (chosen.value = Number(event.target.value)) }, options));
}

/** shapesOf are the ways in which rows can be drawn, the best first. @param {any[]} rows @param {import("../columns.js").Column[]} columns @returns {any[]} */
export function shapesOf(rows, columns) {
  if (rows.length < 2) return [];
  const numbers = columns.filter((column) => isAmount(column, rows));
  return [overTime(rows, columns, numbers), pairs(rows, columns, numbers), ...groups(rows, columns, numbers), single(rows, columns, numbers)].filter(Boolean);
}

function isAmount(column, rows) {
  if (!column.numeric || INNER.test(snake(column.key)) || column.about?.show === "year" || /(^|_)(year|id|level)$/.test(snake(column.key))) return false;
  if (isMoneyColumn(column) && new Set(rows.map((row) => row.currency).filter(Boolean)).size > 1) return false; // amounts of several currencies are not compared
  return rows.every((row) => column.value(row) === null || column.value(row) === undefined || isNumeric(column.value(row)) || isHidden(column.value(row)));
}

const isMoneyColumn = (column) => /^[A-Z]{3}$/.test(column.about?.unit ?? "") || isMoney(snake(column.key));

// Budget against actual: two amounts of the same unit for each row.
function pairs(rows, columns, numbers) {
  const named = (pattern) => numbers.find((column) => pattern.test(snake(column.key)));
  const [plan, actual] = [named(/budget|allocated|target|planned|entitlement/), named(/actual|spent|spend|used|closed_won/)];
  const name = nameColumn(rows, columns);
  if (!plan || !actual || !name || rows.length > MOST_BARS) return null;
  const lines = [plan, actual].map((column) => ({ name: column.label, values: rows.map((row) => entry(name.text(row), column, row)) }));
  return { kind: "bars", lines, caption: t("{first} and {second} by {name}", { first: plan.label, second: actual.label, name: name.label }) };
}

// Any list with categories: how many rows, and of stages how much, each value has.
function groups(rows, columns, numbers) {
  const categories = columns.filter((column) => CATEGORY.test(snake(column.key)) && distinct(rows, column) > 1 && distinct(rows, column) <= MOST_GROUPS && distinct(rows, column) < rows.length);
  categories.sort((a, b) => Number(FIRST.test(snake(b.key))) - Number(FIRST.test(snake(a.key))));
  return categories.map((category) => grouped(rows, category, numbers.filter((column) => rows.every((row) => isNumeric(column.value(row)))))); // what is hidden has no sum
}

function grouped(rows, category, numbers) {
  const stages = STAGE.test(snake(category.key));
  const amount = stages ? numbers.find((column) => column.about?.amount || /amount|value/.test(column.key)) : null;
  const totals = new Map();
  for (const row of rows) totals.set(category.text(row), { rank: rank(category.value(row)), value: (totals.get(category.text(row))?.value ?? 0) + (amount ? amount.value(row) : 1) });
  const values = [...totals].sort(([, a], [, b]) => a.rank - b.rank).map(([label, { value }]) => ({ label, value, text: amount ? textOf(amount, value, rows[0]) : number(value) }));
  return { kind: stages ? "funnel" : "bars", lines: [{ name: amount?.label ?? t("Rows"), values }], caption: amount ? t("{amount} by {name}", { amount: amount.label, name: category.label }) : t("Rows by {name}", { name: category.label }) };
}

// One number for each name; of each stage it is a funnel.
function single(rows, columns, numbers) {
  const name = nameColumn(rows, columns);
  const amount = numbers.find((column) => column.about?.amount) ?? (numbers.length === 1 ? numbers[0] : null);
  if (!name || !amount || rows.length > MOST_BARS) return null;
  const stages = STAGE.test(snake(name.key));
  const sorted = stages ? [...rows].sort((a, b) => rank(name.value(a)) - rank(name.value(b))) : rows;
  return { kind: stages ? "funnel" : "bars", lines: [{ name: amount.label, values: sorted.map((row) => entry(name.text(row), amount, row)) }], caption: t("{amount} by {name}", { amount: amount.label, name: name.label }) };
}

// A number at each date, for one thing only.
function overTime(rows, columns, numbers) {
  const date = columns.find((column) => rows.every((row) => /^\d{4}-\d{2}(-\d{2})?/.test(String(column.value(row) ?? ""))));
  const named = nameColumn(rows, columns.filter((column) => column !== date));
  const amount = numbers.find((column) => rows.every((row) => isNumeric(column.value(row)))); // a hidden point is none at zero
  if (!date || !amount || rows.length < 3 || distinct(rows, date) !== rows.length || (named && distinct(rows, named) > 1)) return null;
  const sorted = [...rows].sort((a, b) => String(date.value(a)).localeCompare(String(date.value(b))));
  return { kind: "line", lines: [{ name: amount.label, values: sorted.map((row) => entry(date.text(row), amount, row)) }], caption: t("{amount} over time", { amount: amount.label }) };
}

// The column that names rows: with the year or the quarter where names come again, or
// else another one that has a name for each.
function nameColumn(rows, columns) {
  const names = columns.filter((column) => !column.numeric && !column.extra && distinct(rows, column) > 1);
  const [first] = names;
  if (!first || isUnique(rows, first)) return first;
  const period = columns.find((column) => PERIOD.test(snake(column.key)) && distinct(rows, column) > 1);
  const dated = period && { ...first, text: (row) => `${first.text(row)} ${period.text(row)}` };
  if (dated && isUnique(rows, dated)) return dated;
  return names.find((column) => isUnique(rows, column)) ?? dated ?? first;
}

const isUnique = (rows, column) => distinct(rows, column) === rows.length;
const distinct = (rows, column) => new Set(rows.map((row) => column.text(row))).size;
const entry = (label, column, row) => ({ label, value: isNumeric(column.value(row)) ? column.value(row) : 0, text: column.text(row) });

function textOf(column, value, row) {
  return el("span", {}, valueNode(column.key, value, row, column.about)).textContent;
}

function rank(value) {
  const word = String(value).toLowerCase().replaceAll("_", " ");
  for (const order of ORDERS) if (order.includes(word)) return order.indexOf(word);
  return 50;
}

// ---- drawing

function frame(height, shape, title, children) {
  const spoken = shape.lines.map((line) => `${line.name}: ${line.values.map((one) => `${one.label} ${one.text}`).join(", ")}`).join(". ");
  return svgEl("svg", { viewBox: `0 0 ${space().width} ${height}`, role: "img", "aria-label": `${title}. ${shape.caption}. ${spoken}` }, children);
}

const all = (shape) => shape.lines.flatMap((line) => line.values.map((one) => one.value));
const largest = (shape) => Math.max(1e-9, ...all(shape));
const lowest = (shape) => Math.min(0, ...all(shape)); // what is below zero goes the other way

const room = () => space().width - space().label - AMOUNT;

const drawings = {
  bars(shape, title) {
    const count = shape.lines.length;
    const scale = room() / (largest(shape) - lowest(shape));
    const zero = -lowest(shape) * scale;
    const top = count > 1 ? 28 : 0; // what the colours mean comes first
    const height = top + shape.lines[0].values.length * ROW * count + 6;
    const marks = shape.lines.flatMap((line, l) => line.values.map((one, i) => bar(one, top + (i * count + l) * ROW, Math.abs(one.value) * scale, l, l === 0, zero + Math.min(0, one.value) * scale)));
    return frame(height, shape, title, [...marks, ...(count > 1 ? legend(shape, 4) : [])]);
  },
  funnel(shape, title) {
    const [{ values }] = shape.lines;
    const scale = room() / largest(shape);
    return frame(values.length * ROW + 6, shape, title, values.map((one, i) => {
      const width = Math.max(0, one.value) * scale;
      return bar(one, i * ROW, width, 0, true, (room() - width) / 2);
    }));
  },
  line(shape, title) {
    const [{ values }] = shape.lines;
    const [top, low] = [largest(shape), lowest(shape)];
    const x = (i) => 40 + (i * (space().width - 80)) / Math.max(1, values.length - 1);
    const y = (value) => 150 - ((value - low) / (top - low)) * 120;
    const points = values.map((one, i) => `${x(i)},${y(one.value)}`).join(" ");
    const ends = [0, values.length - 1].map((i) => svgEl("text", { x: x(i), y: 185, "text-anchor": i ? "end" : "start" }, values[i].label));
    const dots = values.map((one, i) => svgEl("circle", { cx: x(i), cy: y(one.value), r: 3.5, class: "mark-0" }, svgEl("title", {}, `${one.label}: ${one.text}`)));
    return frame(195, shape, title, [svgEl("polyline", { points, class: "stroke-0" }), ...dots, ...ends, svgEl("text", { x: 40, y: 18 }, values.reduce((a, b) => (b.value > a.value ? b : a)).text)]);
  },
};

function bar(one, y, width, tone, labelled, shift = 0) {
  const { label: from, longest } = space();
  const label = labelled ? svgEl("text", { x: from - 8, y: y + ROW / 2 + 4, "text-anchor": "end" }, one.label.length > longest ? `${one.label.slice(0, longest - 1)}…` : one.label) : null;
  return svgEl("g", {}, svgEl("title", {}, `${one.label}: ${one.text}`), label, svgEl("rect", { x: from + shift, y: y + 3, width: Math.max(1, width), height: ROW - 7, rx: 3, class: `mark-${tone}` }), svgEl("text", { x: from + shift + width + 6, y: y + ROW / 2 + 4, class: "amount" }, one.text));
}

function legend(shape, y) {
  const start = space().longest < 20 ? 0 : space().label;
  const x = (i) => start + (i * (space().width - start)) / shape.lines.length;
  return shape.lines.map((line, i) => svgEl("g", {}, svgEl("rect", { x: x(i), y, width: 12, height: 12, rx: 2, class: `mark-${i}` }), svgEl("text", { x: x(i) + 18, y: y + 11 }, line.name)));
}
