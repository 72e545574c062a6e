// @ts-check
// Source text with its line numbers, where the tool declares a field as code: each
// row is a place in a file, and more of the file is one step away.

import { post } from "../api.js";
import { data, el } from "../dom.js";
import { effect, signal } from "../reactive.js";
import { serverOf } from "../store.js";
import { t } from "../words.js";
import { tokensOf } from "../highlight.js";

const READER = "get_file_lines"; // the tool that reads more of a file
const AROUND = 40; // lines before and after a place

/** codeOf gives a function that draws rows as code; null when they have none. @param {import("../table.js").Table} table @returns {null | (() => any)} */
export function codeOf(table) {
  const key = codeKey(table.rows.peek()[0] ?? {}, table.fields);
  if (!key) return null;
  return () => el("div", { class: "places" }, table.shown.value.map((row) => placeView(row, key, table.server)));
}

/** codeKey is the field of a row that holds source text; undefined without one. @param {any} row @param {Record<string, any>} fields */
export const codeKey = (row, fields) => Object.keys(row).find((key) => fields[key]?.show === "code" && typeof row[key] === "string");

/** placeView draws one place: its file, its lines, and a way to more of them. @param {any} row @param {string} key @param {string} [server] */
export function placeView(row, key, server) {
  const place = signal({ text: row[key], first: row.snippet_line ?? row.start_line ?? 1, whole: false });
  const problem = signal("");
  const more = server && serverOf(READER) === server && row.file_path && key !== "text";
  const read = async (from) => (await post(`/api/mcp/${encodeURIComponent(String(server))}/${READER}`, { repository: row.repository, file_path: row.file_path, start_line: from, end_line: row.end_line + AROUND })).data;
  const open = async () => {
    try {
      let file = await read(Math.max(1, row.start_line - AROUND));
      if (file.end_line < row.end_line) file = await read(row.snippet_line ?? row.start_line); // the lines before it were too long
      place.value = { text: file.text, first: file.start_line, whole: true };
      problem.value = file.cut || file.end_line < row.end_line ? t("It goes on: its lines are longer than is shown.") : "";
    } catch (fault) {
      problem.value = fault.message;
    }
  };
  const button = more ? el("button", { type: "button", class: "link", "data-more-lines": true, hidden: () => place.value.whole, onclick: open }, t("More of the file")) : null;
  const figure = el("figure", { class: "code", "data-place": `${row.file_path ?? ""}:${row.start_line ?? 1}` },
    el("figcaption", {}, nameView(row), row.symbol ? el("code", {}, data(row.symbol)) : null, row.repository ? el("span", { class: "hint" }, data(row.repository)) : null, button, el("span", { class: "problem", role: "alert", hidden: () => !problem.value }, () => problem.value)),
    el("pre", { tabindex: "0", role: "region", "aria-label": t("Lines of {file}", { file: row.file_path ?? "" }) }, () => linesView(place.value, row)));
  effect(() => place.value.whole && figure.querySelector("[data-match]")?.scrollIntoView({ block: "center" })); // the lines before it have moved it down
  return figure;
}

// Only an address of the web is a link.
function nameView(row) {
  const name = data(`${row.file_path ?? ""}:${row.start_line ?? 1}${row.end_line ? `–${row.end_line}` : ""}`);
  const address = row.metadata?.github_url ?? row.metadata?.web_url;
  return /^https:\/\//.test(address ?? "") ? el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, name) : el("strong", {}, name);
}

function linesView({ text, first, whole }, row) {
  const lines = tokensOf(text, row.metadata?.language ?? "");
  const inside = (n) => n >= row.start_line && n <= row.end_line;
  return el("code", {}, lines.map((tokens, i) => el("span", { class: "line", "data-line": String(first + i), "data-match": whole && inside(first + i) }, tokens.map(([kind, part]) => (kind ? el("span", { class: kind }, part) : part)), "\n")));
}
