// @ts-check
// Which logs the pages of auditors have read, and which they have not: what is not said
// here looks as if it had not happened.

import { data, el } from "../dom.js";
import { number, t } from "../words.js";

const labelOf = ({ name, file }) => (file && file !== name ? `${name} (${file})` : name);

/** coverageOf draws it. @param {any} report with logs and unread */
export function coverageOf({ logs = [], unread = [] }) {
  const read = logs.filter((one) => !one.problem).map((one) => t("{log}, {n} events", { log: labelOf(one), n: number(one.events) }));
  const wrong = logs.filter((one) => one.problem).map((one) => el("p", { class: "notice error", "data-unreadable": one.name }, data(t("Not all of the log of {log} could be read: {problem}", { log: labelOf(one), problem: one.problem }))));
  const others = unread.map((one) => t("{log}, {n} events", { log: one.name, n: number(one.events) }));
  return el("div", { "data-coverage": true }, read.length ? el("p", { class: "hint" }, data(t("Read here are the logs of these processes: {logs}.", { logs: read.join("; ") }))) : null, wrong,
    others.length ? el("p", { class: "notice", "data-unread": true }, data(t("Not read here are the logs of: {logs}. What these processes did is in them alone: name their files in audit.others, or read them where they are.", { logs: others.join("; ") }))) : null);
}
