// @ts-check
// People as auditors read them: each issuer chooses its user names, so that a name alone
// may be that of several people.

import { data, el } from "../dom.js";
import { me } from "../store.js";

/** @typedef {{ username?: string, issuer?: string, sub?: string }} Known */

/** isReader: it is the person who reads this. @param {Known} one */
export const isReader = (one) => one.sub === me.peek()?.userId && one.issuer === me.peek()?.issuer;

/** nameIn is a person's name, with its origin where others could have the name. @param {Known} one @param {Known[]} shown */
export function nameIn(one, shown) {
  const origin = originIn(one, shown);
  return `${nameOf(one)}${origin && ` (${origin})`}`;
}

/** personView is the same, with the origin in a quiet way. @param {Known} one @param {() => Known[]} shown */
export function personView(one, shown) {
  const origin = () => originIn(one, shown());
  return [data(nameOf(one)), " ", el("span", { class: "hint", "data-origin": true, hidden: () => !origin() }, () => data(origin()))];
}

const nameOf = (one) => one.username || one.sub || "";

// The whole issuer: one host may have several.
function originIn(one, shown) {
  const namesake = (other) => other.username === one.username && other.issuer && (other.issuer !== one.issuer || other.sub !== one.sub);
  if (!one.issuer || (one.issuer === me.peek()?.issuer && !shown.some(namesake))) return "";
  return [one.issuer.replace(/^https:\/\//, ""), one.sub].filter(Boolean).join(" · ");
}
