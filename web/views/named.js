// @ts-check
// Rows that an answer does not name are not its answer: "I found no employees" above a
// table of all that were read contradicts itself.

const MOST_ROWS = 500; // more rows are not searched
const DENIAL = /^[^.:;!?]*(?<!\p{L})(no|no one|none|nobody|nothing|can['’]t|cannot|couldn['’]t|could not|unable|kein(e[mnrs]?)?|niemand(e[mn])?|nichts|k(ann|onnte)( \p{L}+)* nicht)(?!\p{L})/iu;
const NUMBER = /(?<![\p{L}\d.,$€£-])\d+(?![\p{L}\d%€]|[.,-]\d)/gu;
const YEAR = /^(19|20)\d\d$/;
const COMMON = /^[\p{Ll}\s_-]*$|^\P{L}*$/u; // values that name no row: states and kinds

/**
 * namesRows is false when a text names none of a table's rows, and says that there are
 * none, or how many of something else there are.
 * @param {string} text @param {import("../table.js").Table} table
 */
export function namesRows(text, table) {
  const rows = table.rows.peek();
  const counts = [...text.matchAll(NUMBER)].filter(([figure]) => !YEAR.test(figure)).map(([figure]) => Number(figure));
  if (!DENIAL.test(text.trim()) && (!counts.length || [rows.length, table.total.peek()].some((n) => counts.includes(n)))) return true;
  return table.columns.peek().some((column) => naming(column, rows.slice(0, MOST_ROWS)).some((value) => holds(text, value)));
}

// What only one of the rows has in a column names it.
function naming(column, rows) {
  const times = new Map();
  for (const row of rows) {
    const value = column.text(row);
    times.set(value, (times.get(value) ?? 0) + 1);
  }
  return [...times].filter(([value, n]) => n === 1 && (column.numeric ? /\D/.test(value) : !COMMON.test(value))).map(([value]) => value);
}

// holds: the text has the value as words of its own.
function holds(text, value) {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
    if (!/[\p{L}\d]$/u.test(text.slice(0, at)) && !/^[\p{L}\d]/u.test(text.slice(at + value.length))) return true;
  }
  return false;
}
