// @ts-check
// All that waits for this person, wherever it was asked for, and what was answered.

import { el } from "../dom.js";
import { list, signal, untracked } from "../reactive.js";
import { changeOf, changes, changesProblem, unshown, waiting } from "../store.js";
import { moment, t } from "../words.js";
import { cardView } from "./card.js";
import { reveal } from "./sight.js";

const MOST_RECEIPTS = 50;

/** pageView draws the inbox; with an id, the one request that an address leads to. @param {string} id */
export function pageView(id) {
  return id ? oneView(id) : inboxView();
}

function inboxView() {
  const cards = el("div", { class: "cards", "data-inbox": true });
  list(cards, () => waiting.value, (change) => change.id, (change) => placed(change()));
  const receipts = el("div", { class: "cards", "data-receipts": true });
  const ended = () => [...changes.value.values()].filter((change) => change.ended.value && change.state.value !== "gone").reverse().slice(0, MOST_RECEIPTS);
  list(receipts, ended, (change) => change.id, (change) => {
    if (!change().envelope.peek()) change().learn().catch(() => {});
    return placed(change());
  });
  return el("section", { class: "page-view", "aria-labelledby": "page-title" },
    el("h1", { id: "page-title", tabindex: "-1" }, t("Waiting for your approval")),
    notifyChoice(),
    el("p", { class: "notice error", role: "alert", "data-changes-problem": true, hidden: () => !changesProblem.value }, () => changesProblem.value),
    el("p", { class: "lead", hidden: () => waiting.value.length + unshown.value.length > 0 || Boolean(changesProblem.value) }, t("Nothing waits for you. A change that you, a program or an agent asks for in your name comes here, and waits five minutes for your answer.")),
    () => unshown.value.map(namedOnly), cards,
    el("h2", { hidden: () => ended().length === 0 }, t("Answered or expired in the last day")), receipts);
}

// A request that its server cannot show now.
function namedOnly({ confirmationId, mcpServer, expires, message }) {
  const until = moment(expires);
  const words = until ? t("A request of {server} waits for you until {time} and cannot be shown. {why}", { server: mcpServer, time: until, why: message }) : t("A request of {server} waits for you and cannot be shown. {why}", { server: mcpServer, why: message });
  return el("p", { class: "notice", "data-unshown": confirmationId }, words);
}

function placed(change) {
  const way = el("a", { class: "hint", href: () => `#/c/${encodeURIComponent(change.conversation.value)}`, "data-asked-in": () => change.conversation.value, hidden: () => !change.conversation.value }, t("See the conversation it was asked in"));
  return el("div", { class: "elsewhere" }, cardView(change), way);
}

function oneView(id) {
  const change = untracked(() => changeOf(id));
  const refused = signal("");
  const node = el("section", { class: "page-view", "aria-labelledby": "page-title" },
    el("h1", { id: "page-title", tabindex: "-1" }, t("A request for your approval")),
    el("p", { class: "notice error", role: "alert", "data-refused": true, hidden: () => !refused.value }, () => refused.value),
    el("div", { hidden: () => Boolean(refused.value) && change.state.value === "loading" }, placed(change)), // of what may not be seen there is nothing to draw
    el("p", {}, el("a", { href: "#/approvals" }, t("All that waits for you"))));
  change.learn().then(() => requestAnimationFrame(() => focusOn(node.querySelector("[data-card]"))), (fault) => (refused.value = fault.message));
  return node;
}

function focusOn(card) {
  reveal(card);
  card.focus({ preventScroll: true });
}

// ---- notifications, when the reader wants them

const NOTIFY = "countersign.notify";

function notifyChoice() {
  if (typeof Notification !== "function") return null;
  const on = () => Notification.permission === "granted" && localStorage.getItem(NOTIFY) === "on";
  const button = el("button", { type: "button", class: "small", "data-notify": true, "aria-pressed": String(on()), onclick: async () => {
    if (on()) localStorage.removeItem(NOTIFY);
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(NOTIFY, "on");
    label();
  } });
  const label = () => {
    button.textContent = on() ? t("Notifications are on") : t("Notify me when something waits");
    button.setAttribute("aria-pressed", String(on()));
  };
  label();
  return el("p", {}, button);
}
