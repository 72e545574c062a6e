// @ts-check
// A board: rows in columns by their state of work, where the tool declares one.

import { el } from "../dom.js";
import { snake, stateText } from "../format.js";
import { nameOf } from "../columns.js";
import { number, t } from "../words.js";

const ORDER = ["backlog", "todo", "open", "ready", "in_progress", "waiting", "blocked", "review", "done", "resolved", "closed", "cancelled", "to_be_deleted"];
const MOST_FACTS = 3; // of a row besides its name

/** boardOf gives a function that draws rows as a board; null when they have no states. @param {import("../table.js").Table} table @returns {null | (() => any)} */
export function boardOf(table) {
  if (table.rows.peek().length < 2 || !stateOf(table)) return null;
  return () => {
    const state = stateOf(table);
    const lanes = [...Map.groupBy(table.shown.value, (row) => String(row[state.key] ?? ""))].sort(([a], [b]) => rank(a) - rank(b));
    const note = table.partial ? el("p", { class: "hint", "data-board-incomplete": true }, t("Drawn from {extent}.", { extent: table.extent })) : null;
    return [el("div", { class: "board", "data-board": state.key, tabindex: "0", role: "region", "aria-label": t("Board by {name}", { name: state.label }) }, lanes.map(([value, rows]) => laneView(table, state, value, rows))), note];
  };
}

const stateOf = (table) => table.columns.peek().find((column) => column.about?.show === "state");

function laneView(table, state, value, rows) {
  const facts = table.columns.peek().filter((column) => column !== state && !column.extra && column.about?.show !== "code");
  const name = value ? stateText(value) : "–";
  return el("section", { class: "lane", "data-lane": value, "aria-label": name }, el("h4", {}, `${name} (${number(rows.length)})`), el("ul", {}, rows.map((row) => el("li", {}, cardView(table, facts, row)))));
}

// A card leads to its row, which has all fields.
function cardView(table, facts, row) {
  const name = String(nameOf(row) || facts[0]?.text(row) || "–");
  const shown = facts.filter((column) => column.text(row) !== name && !empty(column.value(row))).slice(0, MOST_FACTS);
  return [el("button", { type: "button", class: "link", "data-card-row": true, onclick: () => table.point(row) }, el("bdi", {}, name)),
    el("dl", {}, shown.map((column) => el("div", {}, el("dt", {}, column.label), el("dd", {}, column.show(row)))))];
}

const empty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length);

function rank(value) {
  const at = ORDER.indexOf(snake(value).replaceAll(" ", "_"));
  return at < 0 ? ORDER.length : at;
}
