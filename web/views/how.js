// @ts-check
// "How I got this": each call behind an answer with what it was asked, what came
// back, what was hidden, and how long it took.

import { data, el } from "../dom.js";
import { isHidden, isObject, label } from "../format.js";
import { me, serverOf, titleOf } from "../store.js";
import { readAnswer } from "../table.js";
import { number, rowsOf, t } from "../words.js";

/** howView draws the calls of a turn. @param {import("../turn.js").Turn} turn */
export function howView(turn) {
  return el("details", { class: "how", "data-how": true }, el("summary", {}, t("How I got this")), el("ol", {}, turn.calls.map((call) => el("li", {}, callOf(call)))));
}

function callOf(call) {
  const args = Object.entries(call.args ?? {});
  const envelope = call.envelope.peek();
  return [
    el("p", {}, el("strong", {}, titleOf(call.tool)), " ", el("code", {}, `${call.server ?? serverOf(call.tool) ?? ""} · ${call.tool}`)),
    el("p", { class: "hint" }, args.length ? args.flatMap(([key, value], i) => [i ? ", " : "", `${label(key)}: `, data(isObject(value) || Array.isArray(value) ? JSON.stringify(value) : value)]) : t("Without any condition.")),
    el("p", { class: "hint" }, cameBack(call, envelope)),
  ];
}

function cameBack(call, envelope) {
  const took = call.took.peek() ? t("{n} ms", { n: number(call.took.peek()) }) : "";
  if (!envelope) return [t("No answer was kept."), took].filter(Boolean).join(" ");
  if (call.state.peek() === "refused") return [t("It was refused."), took].filter(Boolean).join(" ");
  const { rows: read, more, total } = readAnswer(envelope);
  const rows = read ? rowsOf(read.length) : t("One answer");
  const before = !more && read && read.length < (total ?? 0); // the last page alone
  const scope = before ? t("of {all} that {name} may see", { all: rowsOf(total), name: whose() }) : more ? t("of the rows that {name} may see; more follow", { name: whose() }) : t("of the rows that {name} may see, all of them", { name: whose() });
  const hidden = hiddenIn(envelope.data ?? envelope.items);
  return [`${rows} ${scope}.`, hidden ? t("{n} values are hidden from you.", { n: number(hidden) }) : t("No value was hidden."), took].filter(Boolean).join(" ");
}

// Every call is made with the rights of the person who asks.
function whose() {
  const { name, username, roles = [] } = me.peek() ?? {};
  return `${name || username || ""} (${roles.join(", ") || t("no role")})`;
}

function hiddenIn(value) {
  if (isHidden(value)) return 1;
  if (value && typeof value === "object") return Object.values(value).reduce((sum, one) => sum + hiddenIn(one), 0);
  return 0;
}
