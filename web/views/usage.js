// @ts-check
// What this person has used: tokens and their price, by day and by conversation.

import { get } from "../api.js";
import { data, el } from "../dom.js";
import { signal } from "../reactive.js";
import { priceWords } from "../spending.js";
import { number, t } from "../words.js";

/** pageView draws the reader's own use. */
export function pageView() {
  const report = signal(/** @type {any} */ (null));
  const problem = signal("");
  get("/api/usage").then((body) => (report.value = body), (fault) => (problem.value = fault.message));
  return el("section", { class: "page-view", "aria-labelledby": "page-title" }, el("h1", { id: "page-title", tabindex: "-1" }, t("Your use")),
    el("p", { class: "notice error", role: "alert", hidden: () => !problem.value }, () => problem.value),
    () => (report.value ? [budgetOf(report.value.budget), nothingIn(report.value), tableOf(t("By day"), t("Day"), report.value.days, (day) => day.day), tableOf(t("By conversation"), t("Conversation"), report.value.conversations, (one) => el("a", { href: `#/c/${encodeURIComponent(one.id)}` }, data(one.title)))] : null));
}

function budgetOf(budget) {
  if (!budget) return null;
  const limit = [budget.tokens ? t("{n} tokens", { n: number(budget.tokens) }) : "", budget.price ? `${number(budget.price.amount)} ${budget.price.currency}` : ""].filter(Boolean).join(", ");
  return el("p", {}, t("Your budget of a day: {limit}.", { limit }));
}

function nothingIn({ days, conversations }) {
  if (days?.length || conversations?.length) return null;
  return el("p", { class: "hint", "data-usage-empty": true }, t("Nothing was counted yet. The tokens of an AI model's answers are listed here, by day and by conversation; rehearsal uses none."));
}

function tableOf(title, first, lines, name) {
  if (!lines?.length) return null;
  const head = [first, t("Tokens in"), t("Tokens out"), t("Price")].map((words, i) => el("th", { scope: "col", class: i ? "number" : null }, words));
  const rows = lines.map((line) => el("tr", {}, el("th", { scope: "row" }, name(line)), el("td", { class: "number" }, number(line.input_tokens ?? 0)), el("td", { class: "number" }, number(line.output_tokens ?? 0)), el("td", { class: "number" }, priceWords(line.price) || "–", line.estimated ? el("abbr", { "data-estimated": true, title: t("partly estimated") }, " ≈") : null)));
  return el("div", {}, el("h2", {}, title), el("div", { class: "result scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))));
}
