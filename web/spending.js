// @ts-check
// What answers used, in words: tokens, and their price where it is known.

import { number, t } from "./words.js";

/** total is all tokens of a use. @param {any} usage */
export const total = (usage) => (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);

/** priceWords is a price with its currency. @param {any} price */
export const priceWords = (price) => (price ? `${number(price.amount, { maximumSignificantDigits: 3 })} ${price.currency}` : "");

/** usageWords says what was used, and when that is partly an estimate. @param {any} usage */
export function usageWords(usage) {
  if (!total(usage)) return "";
  const cached = usage.cached_tokens ? t("{n} of them cached", { n: number(usage.cached_tokens) }) : "";
  const words = t("{in} tokens in, {out} out", { in: number(usage.input_tokens), out: number(usage.output_tokens) }) + (cached && ` (${cached})`);
  return [words, priceWords(usage.price), usage.estimated ? t("partly estimated") : ""].filter(Boolean).join(" · ");
}

/** sum adds uses. Prices of several currencies have no sum. @param {any[]} uses */
export function sum(uses) {
  const all = /** @type {any} */ ({ input_tokens: 0, output_tokens: 0, cached_tokens: 0 });
  for (const usage of uses) {
    for (const key of ["input_tokens", "output_tokens", "cached_tokens"]) all[key] += usage[key] ?? 0;
    all.estimated ||= usage.estimated;
  }
  const prices = uses.map((usage) => usage.price).filter(Boolean);
  if (prices.length && prices.every((price) => price.currency === prices[0].currency)) all.price = { amount: prices.reduce((total, price) => total + price.amount, 0), currency: prices[0].currency };
  return all;
}
