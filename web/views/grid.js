// @ts-check
// A table of rows: sort, filter, all columns, the details of a row, copy, a file,
// the next page in its place.

import { announce } from "../announce.js";
import { bind, el, icon } from "../dom.js";
import { isTime } from "../format.js";
import { effect, list } from "../reactive.js";
import { toast } from "../store.js";
import { t } from "../words.js";
import { boardOf } from "./board.js";
import { chartOf } from "./chart.js";
import { codeOf } from "./code.js";
import { descriptionList } from "./facts.js";
import { copy, save } from "./share.js";

const FILTER_FROM = 8; // rows from which a filter is worth its place

/** gridView draws a table. @param {import("../table.js").Table} table @param {string} title */
export function gridView(table, title) {
  const views = viewsOf(table, title);
  const node = el("div", { class: "result", "data-result": table.tool, "data-wide": () => table.wide.value, "aria-busy": () => String(table.busy.value) });
  node.append(
    toolbar(table, title, views),
    el("div", { class: "view-place", hidden: () => table.view.value === "table" }, () => views[table.view.value]?.() ?? null),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("{title}, table", { title }), hidden: () => table.view.value !== "table" }, tableOf(table, title)),
    foot(table),
    el("p", { class: "problem", role: "alert", hidden: () => !table.problem.value }, () => table.problem.value),
  );
  return node;
}

const NAMES = { table: "Table", chart: "Chart", board: "Board", code: "Code" };

// What the rows can be drawn as besides a table, each as a function. Code is read as
// code first.
function viewsOf(table, title) {
  const all = Object.entries({ code: codeOf(table), board: boardOf(table), chart: chartOf(table, title) });
  const views = Object.fromEntries(all.filter(([, draw]) => draw));
  if (views.code) table.view.value = "code";
  return views;
}

function switches(table, views) {
  const names = ["table", ...Object.keys(views)];
  if (names.length === 1) return null;
  const button = (name) => el("button", { type: "button", class: "link", "data-view": name, "aria-pressed": () => String(table.view.value === name), onclick: () => (table.view.value = name) }, t(NAMES[name]));
  return el("span", { role: "group", class: "views", "aria-label": t("Show as") }, names.map(button));
}

function tableOf(table, title) {
  const body = el("tbody");
  const keys = new Map(); // a row is known by its place in the answer
  effect(() => table.rows.value.forEach((row, i) => keys.set(row, i)));
  const drawn = () => table.shown.value.flatMap((row) => (table.opened.value === row ? [{ row }, { row, details: true }] : [{ row }]));
  list(body, drawn, ({ row, details }) => `${keys.get(row)}${details ? " details" : ""}`, (item) => {
    const { row, details } = item();
    return details ? detailsRow(table, row) : tableRow(table, row);
  });
  effect(() => show(body, table, table.arrived.value));
  const head = el("tr", {}, () => table.columns.value.map((column) => headOf(table, column)));
  return el("table", { class: () => (table.wide.value ? "grid all-columns" : "grid") }, el("caption", { class: "visually-hidden" }, title), el("thead", {}, head), body);
}

// The reader goes on where the new rows begin.
function show(body, table, row) {
  if (!row) return;
  const node = [...body.children].find((one) => one.row === row) ?? body.closest(".scroll"); // a filter may leave it out
  node?.scrollIntoView({ block: "nearest" });
  node?.focus({ preventScroll: true });
}

function headOf(table, column) {
  const sorted = () => (table.sort.value.key === column.key ? (table.sort.value.up ? "ascending" : "descending") : null);
  const button = el("button", { type: "button", class: "sort", "data-sort": column.key, onclick: () => table.sortBy(column.key) }, column.label, icon("sort"));
  return el("th", { scope: "col", class: column.numeric ? "number" : null, "data-extra": column.extra, "aria-sort": sorted }, button);
}

function tableRow(table, row) {
  const cells = table.columns.peek().map((column, i) => {
    const attributes = { class: column.numeric ? "number" : null, "data-extra": column.extra, "data-field": column.key };
    return i === 0 ? el("th", { scope: "row", ...attributes }, opener(table, row), el("span", {}, column.show(row))) : el("td", attributes, column.show(row));
  });
  const node = el("tr", { tabindex: "-1" }, cells);
  node.row = row;
  return node;
}

function opener(table, row) {
  const open = () => table.opened.value === row;
  const button = el("button", { type: "button", class: "row-open", "data-row-open": true, "aria-expanded": () => String(open()), "aria-label": t("All fields of this row") }, icon("chevron"));
  bind(button, "onclick", () => (table.opened.value = table.opened.peek() === row ? null : row));
  return button;
}

function detailsRow(table, row) {
  const width = Math.max(1, table.columns.peek().length);
  return el("tr", { class: "row-details", "data-row-details": true }, el("td", { colspan: String(width) }, descriptionList(Object.entries(row), row, table.fields, 1)));
}

// ---- around the table

function toolbar(table, title, views) {
  const extra = () => table.columns.value.some((column) => column.extra);
  const columns = el("button", { type: "button", class: "link", "aria-pressed": () => String(table.wide.value), "data-all-columns": true, hidden: () => !extra(), onclick: () => (table.wide.value = !table.wide.peek()) },
    () => (table.wide.value ? t("Fewer columns") : t("All {n} columns", { n: table.columns.value.length })));
  const filter = el("input", { type: "search", class: "filter", "data-filter": true, placeholder: t("Filter"), "aria-label": t("Filter the rows of {title}", { title }), hidden: () => table.rows.value.length < FILTER_FROM, oninput: (event) => (table.filter.value = event.target.value) });
  return el("div", { class: "row-tools" }, filter, el("span", { class: "hint", role: "status", "data-filtered": true }, () => matches(table)), switches(table, views), columns,
    el("button", { type: "button", class: "link", "data-copy-rows": true, onclick: () => copy(asText(table, "\t"), t("The rows were copied.")) }, t("Copy")),
    el("button", { type: "button", class: "link", "data-csv": true, onclick: () => saveCSV(table) }, t("CSV")));
}

function matches(table) {
  if (!table.filter.value.trim()) return "";
  return t("{n} of {all} loaded rows match", { n: table.shown.value.length, all: table.rows.value.length });
}

function foot(table) {
  const next = el("button", { type: "button", class: "small", "data-next-page": true, hidden: () => !table.hasNext, disabled: () => table.busy.value, onclick: () => table.loadNext() }, () => (table.busy.value ? t("Loading…") : t("Next page")));
  effect(() => table.problem.value && next.focus());
  return el("div", { class: "row-foot" }, el("p", { class: "row-count", role: "status", "data-row-count": true }, () => table.count), next);
}

/** saveCSV offers the rows that are shown as a file that says how complete it is. @param {import("../table.js").Table} table */
export async function saveCSV(table) {
  await table.measure();
  save(`${table.tool} (${table.extent}).csv`, csvOf(table));
  const words = t("The file has {extent}.", { extent: table.extent });
  toast.value = { words };
  announce.say(words);
}

/** csvOf writes the rows that are shown; where these are not all, the last line says so. @param {import("../table.js").Table} table */
export function csvOf(table) {
  return `\uFEFF${asText(table, ",")}${table.partial || table.filtered ? `\r\n${quoted(`# ${table.extent}`)}` : ""}\r\n`;
}

function asText(table, separator) {
  const columns = table.columns.peek();
  const write = separator === "," ? quoted : (text) => text.replace(/[\t\r\n]+/g, " ");
  const lines = [columns.map(headIn), ...table.shown.peek().map((row) => columns.map((column) => plain(column, row)))];
  return lines.map((cells) => cells.map((cell) => write(String(cell))).join(separator)).join("\r\n");
}

// A number has its unit in the head.
function headIn({ label, about }) {
  const unit = about?.unit === "percent" ? "%" : t(about?.unit ?? "");
  return unit ? `${label} (${unit})` : label;
}

// Numbers stay numbers and times as programs write them, so that spreadsheets read both;
// a text that a spreadsheet would run begins with a quote.
function plain(column, row) {
  const value = column.value(row);
  if (typeof value === "number" || isTime(value)) return value;
  const text = value === null || value === undefined ? "" : column.text(row);
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
