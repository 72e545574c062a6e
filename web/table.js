// @ts-check
// The rows of one answer: what was loaded, whether that is all, how the reader has
// sorted and filtered them, and the next page.

import { post } from "./api.js";
import { columnsOf, treeKey } from "./columns.js";
import { isObject, isNumeric } from "./format.js";
import { computed, signal } from "./reactive.js";
import { fieldsOf } from "./tools.js";
import { locale, rowsOf, t, number } from "./words.js";

/** readAnswer reads both dialects of a page: data with metadata, and items with limit and offset. @param {any} envelope */
export function readAnswer(envelope) {
  if (Array.isArray(envelope.items)) {
    const after = (envelope.offset ?? 0) + envelope.items.length;
    const more = after < envelope.total_count;
    return { rows: envelope.items.filter(isObject), more, next: more ? { offset: after } : null, total: envelope.total_count };
  }
  const metadata = envelope.metadata ?? {};
  if (!Array.isArray(envelope.data)) return { data: envelope.data, hint: metadata.hint };
  return { rows: envelope.data.filter(isObject), more: Boolean(metadata.hasMore || metadata.truncated), next: nextIn(metadata), total: exact(metadata.totalCount ?? metadata.totalEstimate) };
}

/** pageIn reads a page of a list; what is no list has no rows. @param {any} envelope */
export function pageIn(envelope) {
  const { rows = [], next = null, more = false } = readAnswer(envelope);
  return { rows, next, more };
}

function nextIn({ hasMore, nextCursor, nextOffset }) {
  if (!hasMore || !(nextCursor || nextOffset)) return null;
  return nextCursor ? { cursor: nextCursor } : { offset: nextOffset };
}

// "50+" only says that there are more.
const exact = (total) => (/^\d+$/.test(String(total ?? "")) ? Number(total) : undefined);

/** incompleteHint is what to say of a list that goes on after these rows; null of any other answer. @param {any} envelope */
export function incompleteHint(envelope) {
  const { rows, next } = readAnswer(envelope);
  const metadata = envelope.metadata ?? {};
  if (!rows || !(next || metadata.hasMore)) return null;
  return metadata.hint || metadata.warning || t("Showing {rows}. Results are incomplete.", { rows: rowsOf(rows.length) });
}

const PAGES_AHEAD = 10; // that are read to count rows

/** Table is a list of rows that is drawn as a grid. */
export class Table {
  #next;
  #ahead = /** @type {any[]} */ ([]); // pages that were read to count their rows, and are not shown yet
  #counted;

  /** of makes the table of a finished call; null when its answer is no list, or a tree. @param {any} call @param {() => void} counted called when it is known how many rows there are */
  static of(call, counted) {
    const answer = readAnswer(call.envelope.peek());
    if (!answer.rows?.length || treeKey(answer.rows)) return null;
    return new Table({ ...call, fields: fieldsOf(call.tool), answer }, counted);
  }

  constructor({ tool, server, args = null, fields = {}, answer }, counted = () => {}) {
    this.tool = tool;
    this.server = server;
    this.args = args;
    this.fields = fields;
    this.rows = signal(answer.rows);
    this.total = signal(/** @type {number | undefined} */ (answer.total)); // undefined when it is not known
    this.#next = signal(args && server ? answer.next : null);
    this.#counted = counted;
    this.more = signal(answer.more);
    this.completed = computed(() => Boolean(answer.more) && !this.more.value); // in its place
    this.busy = signal(false);
    this.problem = signal("");
    this.sort = signal({ key: "", up: true });
    this.filter = signal("");
    this.wide = signal(false);
    this.view = signal("table"); // or "chart", "board", "code"
    this.opened = signal(/** @type {any} */ (null)); // the row whose details are shown
    this.arrived = signal(/** @type {any} */ (null)); // the first row of the page that came last
    this.columns = computed(() => columnsOf(this.rows.value, this.fields));
    this.shown = computed(() => this.#ordered(this.rows.value.filter((row) => this.#matches(row))));
  }

  get hasNext() {
    return Boolean(this.#next.value);
  }

  /** count says how many rows there are, and whether that is all. */
  get count() {
    const rows = rowsOf(this.rows.value.length);
    const isPart = this.rows.value.length < (this.total.value ?? 0); // the last page alone, too
    if (!this.more.value && !isPart) return t("{rows}, complete", { rows });
    if (isPart && (this.hasNext || !this.more.value)) return t("{n} of {rows} shown", { n: number(this.rows.value.length), rows: rowsOf(this.total.value) });
    return this.hasNext ? t("{rows} shown, more follow", { rows }) : t("{rows} shown of more; ask again to see the rest", { rows });
  }

  /** partial: there are rows that are not loaded, before or after these. */
  get partial() {
    return this.more.value || this.rows.value.length < (this.total.value ?? 0);
  }

  /** filtered: rows that are loaded are left out. */
  get filtered() {
    return this.shown.peek().length < this.rows.peek().length;
  }

  /** extent is the same for a file: "50 of 59, incomplete". */
  get extent() {
    const count = number(this.rows.peek().length);
    if (this.filtered) return t("{n} of {all} loaded rows", { n: number(this.shown.peek().length), all: count });
    const total = this.total.peek();
    if (!this.partial) return t("{n} rows, complete", { n: count });
    if (total) return t("{n} of {total}, incomplete", { n: count, total: number(total) });
    return t("{n} of more than {least}, incomplete", { n: count, least: number(this.#read) });
  }

  // ---- order and filter

  /** sortBy sorts by a column, then the other way round, then not at all. @param {string} key */
  sortBy(key) {
    const { key: now, up } = this.sort.peek();
    if (now !== key) this.sort.value = { key, up: true };
    else this.sort.value = up ? { key, up: false } : { key: "", up: true };
  }

  #ordered(rows) {
    const { key, up } = this.sort.value;
    const column = this.columns.value.find((one) => one.key === key);
    if (!column) return rows;
    return [...rows].sort((a, b) => compareValues(column.value(a), column.value(b), up ? 1 : -1));
  }

  #matches(row) {
    const words = this.filter.value.trim().toLocaleLowerCase(locale);
    return !words || this.columns.value.some((column) => column.text(row).toLocaleLowerCase(locale).includes(words));
  }

  /** point shows one row with all its fields. @param {any} row */
  point(row) {
    this.view.value = "table";
    this.filter.value = "";
    this.opened.value = row;
    this.arrived.value = null;
    setTimeout(() => (this.arrived.value = row)); // also when it was pointed at before
  }

  // ---- the next page

  /** loadNext appends the next page. */
  loadNext() {
    return this.#busily(async () => this.#take(this.#ahead.shift() ?? (await this.#ask(this.#next.peek()))));
  }

  /**
   * measure reads on until the end, or for some pages, so that it is known how many rows
   * there are. What was read is shown when the reader asks for the next page.
   */
  async measure() {
    if (this.total.peek() || this.filtered) return;
    await this.#busily(() => this.#readAhead().catch(() => {})); // then it is not known
  }

  async #readAhead() {
    let next = (this.#ahead.at(-1) ?? { next: this.#next.peek() }).next;
    while (next && this.#ahead.length < PAGES_AHEAD) {
      const answer = await this.#ask(next);
      this.#ahead.push(answer);
      next = answer.next;
    }
    if (this.#ahead.at(-1)?.more) return;
    this.total.value = this.#read;
    this.#counted();
  }

  get #read() {
    return this.#ahead.reduce((sum, { rows }) => sum + rows.length, this.rows.peek().length);
  }

  async #busily(run) {
    if (this.busy.peek() || !this.#next.peek()) return;
    this.busy.value = true;
    this.problem.value = "";
    try {
      await run();
    } catch (fault) {
      this.problem.value = fault.message;
    } finally {
      this.busy.value = false;
    }
  }

  // The next page is the same call with the cursor. What a direct call suggests is for programs.
  async #ask(next) {
    const path = `/api/mcp/${encodeURIComponent(this.server)}/${encodeURIComponent(this.tool)}`;
    const envelope = await post(path, { ...this.args, ...next });
    if (envelope.status === "error" || envelope.error) throw new Error((envelope.error ?? envelope).message);
    return pageIn(envelope);
  }

  #take(answer) {
    this.append(answer);
    this.arrived.value = answer.rows[0] ?? null; // the reader goes on where the new rows begin
    if (!this.more.peek()) this.#counted();
  }

  /** append adds the rows of the page that follows. @param {any} answer */
  append({ rows, next, more }) {
    this.rows.update((now) => [...now, ...rows]);
    this.#next.value = next;
    this.more.value = more;
  }
}

// What is empty comes last in either direction; numbers by size, texts as people sort them.
function compareValues(a, b, direction) {
  if (a === b) return 0;
  if (a === null || a === undefined || a === "") return 1;
  if (b === null || b === undefined || b === "") return -1;
  if (isNumeric(a) && isNumeric(b)) return direction * (a - b);
  return direction * String(a).localeCompare(String(b), locale, { numeric: true });
}
