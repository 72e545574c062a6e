// @ts-check
// How a value of a row or a card is shown. A tool's declaration may say what a
// field is (`about`: label, unit, show, amount); without that its name and its
// value decide, so that any server's rows are readable.

import { el, icon } from "./dom.js";
import { locale, t } from "./words.js";

const HIDDEN = /^\*{3} \(Hidden\)$|^\[MASKED[A-Z_ ]*\]$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/; // to the end: a date's parser ignores what is in brackets
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// What a name says of a field; internal/result reads the same table of names in its tests.
const MONEY = /(^|_)(salary|amount|price|cost|revenue|value|spend|spent|allocated)$/;
const PERCENT = /(^|_)(percent|percentage|pct)$/;
const CHANGE = /(^|_)(change|difference)(_|$)/;
const YEAR = /(^|_)year$/;
const STATE = /(^|_)(stage|status|state|priority|severity)$/;

const ACRONYMS = { id: "ID", ssn: "SSN", pto: "PTO", url: "URL", pct: "%", mcp: "MCP" };

/** stateText("CLOSED_WON") is "Closed won", in the reader's language. A text that is no such name stays as it is. */
export function stateText(value) {
  if (!/^\p{L}+([_ -]\p{L}+)*$/u.test(value)) return value;
  const words = value.replace(/[_-]/g, " ").toLowerCase();
  return t(words.charAt(0).toUpperCase() + words.slice(1));
}

/** snake("newSalary") is "new_salary": one spelling for both of the contract's. */
export function snake(key) {
  return key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

/** label("hire_date") is "Hire date", unless the declaration has a label. */
export function label(key, about) {
  if (about?.label) return t(about.label);
  const words = snake(key).split(/[_\s]+/).filter(Boolean).map((word) => ACRONYMS[word] ?? word).join(" ");
  return t(words.charAt(0).toUpperCase() + words.slice(1));
}

export const isHidden = (value) => typeof value === "string" && HIDDEN.test(value);
export const isEmpty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** isTime says that a text is a day or a moment, as programs write them. @param {any} value */
export const isTime = (value) => typeof value === "string" && (DATE.test(value) || MOMENT.test(value));

/** isIdentifier says that a field tells people nothing: an id beside a name. */
export function isIdentifier(key, value) {
  return UUID.test(value) || (/(^|_)id$/.test(snake(key)) && /^[0-9a-f-]{12,}$/i.test(value));
}

/** isNumeric says that a column reads better aligned to the right. */
export function isNumeric(value) {
  return typeof value === "number";
}

/** valueNode(key, value, row, about) shows one scalar; row has the currency. */
export function valueNode(key, value, row = {}, about = undefined) {
  if (isEmpty(value)) return el("span", { class: "none" }, "–");
  if (isHidden(value)) return hiddenNode();
  if (typeof value === "boolean") return value ? t("Yes") : t("No");
  if (typeof value === "number") return declaredNumber(value, row, about) ?? numberText(snake(key), value, row);
  if (typeof value === "string") return textNode(key, value, about);
  return el("code", {}, JSON.stringify(value));
}

function hiddenNode() {
  return el("span", { class: "hidden-value", "data-hidden": true, title: t("You may not see this value") }, icon("lock"), t("Hidden"));
}

// A number as its declaration wants it; undefined when it says nothing.
function declaredNumber(value, row, about) {
  if (about?.show === "year") return String(value);
  const signDisplay = about?.show === "change" ? "exceptZero" : "auto";
  const unit = about?.unit;
  if (!unit) return undefined;
  if (/^[A-Z]{3}$/.test(unit)) return moneyText(value, row.currency ?? unit, signDisplay);
  const digits = value.toLocaleString(locale, { maximumFractionDigits: 2, signDisplay });
  return unit === "percent" ? `${digits}%` : `${digits} ${t(value === 1 ? unit.replace(/s$/, "") : unit)}`;
}

function numberText(key, value, row) {
  if (YEAR.test(key)) return String(value);
  const signDisplay = CHANGE.test(key) ? "exceptZero" : "auto";
  if (PERCENT.test(key)) return `${value.toLocaleString(locale, { maximumFractionDigits: 1, signDisplay })}%`;
  // A change is in the unit of the fields beside it.
  if (isMoney(key) || (CHANGE.test(key) && Object.keys(row).map(snake).some(isMoney))) return moneyText(value, row.currency, signDisplay);
  return value.toLocaleString(locale, { maximumFractionDigits: 4, signDisplay });
}

/** isMoney says that a number of this name, in snake case, is money. @param {string} key */
export const isMoney = (key) => MONEY.test(key);

/** moneyText(420000) is "$420,000"; cents are shown when there are any. */
export function moneyText(value, currency, signDisplay = "auto") {
  const code = /^[A-Z]{3}$/.test(currency ?? "") ? currency : "USD";
  const digits = Number.isInteger(value) ? 0 : 2;
  return value.toLocaleString(locale, { style: "currency", currency: code, signDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function textNode(key, value, about) {
  if (DATE.test(value)) return timeNode(value, { dateStyle: "medium", timeZone: "UTC" });
  if (MOMENT.test(value)) return timeNode(value, { dateStyle: "medium", timeStyle: "short" });
  if (isIdentifier(key, value)) return el("code", {}, value);
  return about?.show === "state" || STATE.test(snake(key)) ? stateText(value) : value;
}

function timeNode(value, style) {
  const moment = new Date(value);
  if (Number.isNaN(moment.getTime())) return value;
  return el("time", { datetime: value, title: value }, moment.toLocaleString(locale, style));
}
