// @ts-check
// A person in the pages of auditors. Any issuer can give anyone's user name, so the name of
// one who is of another issuer than the reader has that issuer beside it.

import { data, el } from "../dom.js";
import { me } from "../store.js";

/** @param {string} [issuer] */
function elsewhere(issuer) {
  const own = me.peek()?.issuer;
  return issuer && own && issuer !== own ? issuer.replace(/^https?:\/\//, "") : "";
}

/** nameOf is a person's name in a sentence. @param {string} name @param {string} [issuer] */
export const nameOf = (name, issuer) => (elsewhere(issuer) ? `${name} (${elsewhere(issuer)})` : name);

/** personView draws a person. @param {string} name @param {string} [issuer] */
export const personView = (name, issuer) => [data(name), elsewhere(issuer) ? el("div", { class: "hint", "data-issuer": issuer }, data(elsewhere(issuer))) : null];
