// What a tool answered, as a table, a description or a tree, and the next page
// of a list.

import { post } from "./api.js";
import { counted, el, show } from "./dom.js";
import { isEmpty, isHidden, isIdentifier, isNumeric, isObject, label, snake, valueNode } from "./format.js";

const SHOWN_COLUMNS = 7;
const MOST_COLUMNS = 40;
const DEEPEST = 6;

// Fields that never help a reader.
const INNER = /^(_|created_at$|updated_at$|version$)/;

/**
 * resultView draws the envelope of a finished call and offers the next page,
 * which is the same call with the cursor: without args (null) or server there is
 * none. Returns null when there is nothing to
 * draw. The element fires "rows-complete" when the last page was added.
 */
export function resultView({ server, tool, title, envelope, args, fields = {} }) {
  const answer = readAnswer(envelope);
  if (answer.rows) return answer.rows.length ? listView({ server, tool, title, args, answer, fields }) : nothing(title);
  if (!isObject(answer.data)) return answer.hint ? el("p", { class: "hint" }, answer.hint) : null;
  return el("div", { class: "result", "data-result": tool }, valueView(tool, answer.data, fields, 0));
}

/** isLongAnswer says that the rows are shown without a click. */
export function isLongAnswer(envelope) {
  return (readAnswer(envelope).rows?.length ?? 0) > 1;
}

/** incompleteHint is what to say of a list that goes on after these rows; null of any other answer. */
export function incompleteHint(envelope) {
  const { rows, next } = readAnswer(envelope);
  const metadata = envelope.metadata ?? {};
  if (!rows || !(next || metadata.hasMore)) return null;
  return metadata.hint || metadata.warning || `Showing ${counted(rows.length, "row")}. Results are incomplete.`;
}

function nothing(title) {
  return el("p", { class: "hint", "data-empty": true }, `${title}: no rows that you may see.`);
}

// Both dialects of a page: data with metadata, and items with limit and offset.
function readAnswer(envelope) {
  if (Array.isArray(envelope.items)) {
    const after = (envelope.offset ?? 0) + envelope.items.length;
    const more = after < envelope.total_count;
    return { rows: envelope.items.filter(isObject), more, next: more ? { offset: after } : null };
  }
  const metadata = envelope.metadata ?? {};
  if (!Array.isArray(envelope.data)) return { data: envelope.data, hint: metadata.hint };
  const next = metadata.hasMore && metadata.nextCursor ? { cursor: metadata.nextCursor } : null;
  return { rows: envelope.data.filter(isObject), more: Boolean(metadata.hasMore || metadata.truncated), next };
}

// ---- lists

function listView({ server, tool, title, args, answer, fields }) {
  if (treeKey(answer.rows)) return el("div", { class: "result", "data-result": tool }, treeView(answer.rows, treeKey(answer.rows), 0));
  const grid = gridView(answer.rows, title, fields);
  const status = el("p", { class: "row-count", role: "status", "data-row-count": true });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const button = el("button", { type: "button", class: "small", "data-next-page": true }, "Next page");
  const view = el("div", { class: "result", "data-result": tool }, grid.node, el("div", { class: "row-foot" }, status, grid.toggle, button), problem);
  const next = args && server ? answer.next : null;
  const list = { server, tool, args, view, grid, status, problem, button, next, more: answer.more };
  button.addEventListener("click", () => nextPage(list));
  tellCount(list);
  return view;
}

function tellCount({ grid, status, button, next, more }) {
  const rows = counted(grid.size(), "row");
  status.textContent = !more ? `${rows}, complete` : next ? `${rows} shown, more follow` : `${rows} shown of more; ask again to see the rest`;
  show(button, Boolean(next));
}

async function nextPage(list) {
  busy(list, true);
  try {
    const path = `/api/mcp/${encodeURIComponent(list.server)}/${encodeURIComponent(list.tool)}`;
    take(list, await post(path, { ...list.args, ...list.next }));
  } catch (fault) {
    complain(list, fault.message);
  } finally {
    busy(list, false);
  }
}

function busy({ view, button, problem }, working) {
  view.setAttribute("aria-busy", String(working));
  button.disabled = working;
  button.textContent = working ? "Loading…" : "Next page";
  if (working) show(problem, false);
}

function take(list, envelope) {
  if (envelope.status === "error" || envelope.error) {
    const error = envelope.error ?? envelope;
    return complain(list, error.message); // what a direct call suggests is for programs
  }
  const answer = readAnswer(envelope);
  const first = list.grid.add(answer.rows ?? []);
  list.next = answer.next;
  list.more = answer.more;
  tellCount(list);
  first?.focus({ preventScroll: true }); // the reader goes on where the new rows begin
  if (!list.more) list.view.dispatchEvent(new CustomEvent("rows-complete", { bubbles: true, detail: { count: list.grid.size() } }));
}

function complain({ problem, button }, message) {
  problem.textContent = message;
  show(problem);
  button.focus();
}

// ---- the table

function gridView(rows, title, fields) {
  const columns = columnsOf(rows, fields);
  const body = el("tbody", {}, rows.map((row) => tableRow(columns, row)));
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.numeric ? "number" : null, "data-extra": column.extra }, column.label)));
  const table = el("table", { class: "grid" }, el("caption", { class: "visually-hidden" }, title), el("thead", {}, head), body);
  const node = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, table` }, table);
  const add = (more) => {
    const made = more.map((row) => tableRow(columns, row));
    body.append(...made);
    return made[0];
  };
  return { node, add, size: () => body.rows.length, toggle: columnToggle(table, columns) };
}

function tableRow(columns, row) {
  const cells = columns.map((column, i) => {
    const attributes = { class: column.numeric ? "number" : null, "data-extra": column.extra, "data-field": column.key };
    return i === 0 ? el("th", { scope: "row", ...attributes }, column.show(row)) : el("td", attributes, column.show(row));
  });
  return el("tr", { tabindex: "-1" }, cells);
}

function columnToggle(table, columns) {
  if (!columns.some((column) => column.extra)) return null;
  const text = (all) => (all ? "Fewer columns" : `All ${columns.length} columns`);
  const button = el("button", { type: "button", class: "link", "aria-pressed": "false", "data-all-columns": true }, text(false));
  button.addEventListener("click", () => {
    const all = table.classList.toggle("all-columns");
    button.setAttribute("aria-pressed", String(all));
    button.textContent = text(all);
  });
  return button;
}

// ---- which columns

function columnsOf(rows, fields) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
  const columns = withFullName(keys, rows, fields).map((column) => ({ ...column, weight: weight(column.key, rows, fields[column.key]) }));
  columns.sort((a, b) => a.weight - b.weight); // stable: the server's order within a weight
  return columns.map((column, i) => ({ ...column, extra: i > 0 && (i >= SHOWN_COLUMNS || column.weight >= EXTRA) }));
}

// A first and a last name are one name.
function withFullName(keys, rows, fields) {
  const both = keys.includes("first_name") && keys.includes("last_name");
  const plain = keys.filter((key) => !both || (key !== "first_name" && key !== "last_name"));
  const columns = plain.map((key) => fieldColumn(key, rows, fields));
  if (both) columns.unshift({ key: "name", label: "Name", numeric: false, show: (row) => nameOf(row) });
  return columns;
}

function fieldColumn(key, rows, fields) {
  const numeric = rows.some((row) => isNumeric(row[key]));
  return { key, label: label(key, fields[key]), numeric, show: (row) => cellView(key, row[key], row, fields) };
}

function cellView(key, value, row, fields) {
  if (Array.isArray(value) && value.some(isObject)) return counted(value.length, "item");
  if (Array.isArray(value)) return value.length ? value.join(", ") : valueNode(key, null);
  if (isObject(value)) return Object.entries(value).filter(([, inner]) => !isObject(inner)).map(([name, inner]) => `${label(name, fields[name])}: ${inner}`).join(", ");
  return valueNode(key, value, row, fields[key]);
}

const EXTRA = 8; // columns of this weight and more show only when asked for
const WEIGHTS = [
  [/^(name|full_name|employee_name|title|subject|company|vendor)$/, 0],
  [/_number$|^ticket_id$|^key$|^(type|leave)_name$/, 1],
  [/status|stage|salary|amount|value|department|job_title|priority|rating|due|score/, 2],
  [/date|_at$|location|owner|quarter|period/, 3],
  [/email|phone/, 5],
];

// Texts come before numbers of the same weight, so that a row begins with words.
function weight(key, rows, about) {
  const base = baseWeight(key, rows, about);
  return base < EXTRA && rows.some((row) => isNumeric(row[key])) ? base + 0.5 : base;
}

function baseWeight(key, rows, about) {
  const name = snake(key);
  const values = rows.map((row) => row[key]).filter((value) => !isEmpty(value));
  if (key !== "name" && !values.length) return EXTRA + 1;
  if (INNER.test(name) || values.some((value) => isObject(value) || Array.isArray(value))) return EXTRA;
  if (values.every((value) => isIdentifier(key, value)) && values.length) return EXTRA;
  if (values.length > 1 && values.every((value) => value === true)) return EXTRA; // "active" on a list of the active
  if (about?.show === "detail") return EXTRA;
  if (about?.amount) return 2;
  return WEIGHTS.find(([pattern]) => pattern.test(name))?.[1] ?? 4;
}

/** nameOf finds what people call a row. */
function nameOf(row) {
  const full = [row.first_name, row.last_name].filter(Boolean).join(" ");
  return full || row.name || row.title || row.subject || row.company || "";
}

// ---- one thing

function valueView(key, value, fields, depth) {
  if (depth >= DEEPEST) return el("code", {}, JSON.stringify(value).slice(0, 400));
  if (isObject(value)) return objectView(value, fields, depth);
  if (Array.isArray(value)) return arrayView(key, value, fields, depth);
  return valueNode(key, value, {}, fields[key]);
}

function objectView(object, fields, depth) {
  const branch = treeKey([object]);
  if (branch) return treeView([object], branch, 0);
  return descriptionList(Object.entries(object).filter(([key, value]) => isTold(key, value)), object, fields, depth);
}

function isTold(key, value) {
  return isHidden(value) || !(isEmpty(value) || INNER.test(snake(key)) || isIdentifier(key, value));
}

/** descriptionList draws entries as terms and their values. */
export function descriptionList(entries, row = {}, fields = {}, depth = 0) {
  const flat = ([, value]) => !isObject(value) && !(Array.isArray(value) && value.some(isObject));
  const pairs = [...entries.filter(flat), ...entries.filter((entry) => !flat(entry))].map(([key, value]) => {
    const nested = !flat([key, value]);
    const shown = nested ? valueView(key, value, fields, depth + 1) : cellView(key, value, row, fields);
    return el("div", { class: nested ? "wide" : null, "data-field": key }, el("dt", {}, label(key, fields[key])), el("dd", {}, shown));
  });
  return el("dl", { class: "facts" }, pairs);
}

function arrayView(key, values, fields, depth) {
  const objects = values.filter(isObject);
  if (!objects.length) return cellView(key, values, {}, fields);
  if (treeKey(objects)) return treeView(objects, treeKey(objects), depth);
  const grid = gridView(objects, label(key, fields[key]), fields);
  return el("div", {}, grid.node, grid.toggle);
}

// ---- trees

// A list of things that hold a list of such things under the same name.
function treeKey(rows) {
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      if (Array.isArray(value) && value.some((child) => isObject(child) && key in child)) return key;
    }
  }
  return null;
}

function treeView(rows, key, depth) {
  return el("ul", { class: "tree" }, rows.map((row) => el("li", {}, branchView(row, key, depth))));
}

function branchView(row, key, depth) {
  const role = [row.job_title, row.department].filter(Boolean).join(" · ");
  const line = [el("strong", {}, nameOf(row) || "–"), role ? el("span", { class: "hint" }, ` ${role}`) : null];
  const children = (row[key] ?? []).filter(isObject);
  if (!children.length || depth > 40) return el("span", {}, line);
  return el("details", { open: depth < 2 }, el("summary", {}, line, el("span", { class: "hint" }, ` (${children.length})`)), treeView(children, key, depth + 1));
}
