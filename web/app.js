// @ts-check
// Wires the page: who is signed in, which view is open, what the keys do.

import { actAs, ahead, get, given, late, session } from "./api.js";
import { at, bind, el, show } from "./dom.js";
import { keepFocus } from "./focus.js";
import { effect, scope } from "./reactive.js";
import * as store from "./store.js";
import { isRehearsal, modelLabel } from "./turn.js";
import { composerView } from "./views/composer.js";
import { modelsView } from "./views/models.js";
import { countView } from "./views/notify.js";
import { sidebarView } from "./views/sidebar.js";
import { suggestionsView } from "./views/suggestions.js";
import { threadView } from "./views/thread.js";
import { language, learnWords, speak, t } from "./words.js";

/** @type {any} */ let composer;
/** @type {any} */ let thread;
/** @type {any} */ let models;

// ---- signing in

async function begin() {
  const own = await given();
  if (own) sessionStorage.setItem(PERSON, own);
  const user = get("/api/user");
  user.catch(() => {}); // it is read below
  askAhead();
  await learnWords();
  try {
    signedIn(await user);
  } catch (fault) {
    if (fault.status === 401) return signedOut();
    unreachable(fault);
  }
}

const PERSON = "countersign.person";

// A reload most often shows the same to the same person.
function askAhead() {
  const known = sessionStorage.getItem(PERSON);
  const { view, id } = place();
  if (known) ahead(known, ["/api/tools", "/api/models", "/api/confirmations", "/api/conversations", ...(view === "c" && id ? [`/api/conversations/${encodeURIComponent(id)}`] : [])]);
}

// Signing in leads over the issuer's page, where the place in ours is lost. What was
// written there is a draft of its conversation.
const PLACE = "countersign.place";

const keepPlace = () => sessionStorage.setItem(PLACE, JSON.stringify([store.me.peek()?.userId, location.hash]));

function backToPlace(user) {
  const [whose, place] = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
  sessionStorage.removeItem(PLACE);
  if (place && !location.hash && (!whose || whose === user.userId)) history.replaceState(null, "", place);
}

async function signedIn(user) {
  if (sessionStorage.getItem(PERSON) !== user.userId) late();
  sessionStorage.setItem(PERSON, user.userId);
  actAs(user.userId);
  store.me.value = user;
  document.body.dataset.state = "in";
  show(at("starting"), false);
  show(at("app"));
  show(at("account"));
  backToPlace(user);
  drawPerson(user);
  drawViews();
  watchPerson(user);
  addEventListener("hashchange", () => route());
  document.addEventListener("visibilitychange", () => document.hidden || keepConversation());
  // Titles and what waits first: cards and tables are named by them.
  const routed = Promise.allSettled([store.learnTools(), store.learnModels(), store.learnChanges()]).then(route);
  store.opening.value = routed;
  await routed;
  store.learnConversations();
  late();
  const counted = countView();
  counted.begin();
  store.listen();
}

function drawPerson(user) {
  at("user-name").textContent = user.name || user.username;
  at("user-role").textContent = roleOf(user);
  at("account-who").title = [user.username, ...(user.roles ?? [])].join(" · ");
  for (const one of document.querySelectorAll("[data-for=auditor]")) show(one, store.isAuditor());
  at("greeting").textContent = user.name ? t("Hello, {name}.", { name: user.name.split(" ")[0] }) : t("Hello.");
}

// The role with the widest rights is the one to know of: the gateway lists it first.
function roleOf({ roles = [] }) {
  const [widest] = roles;
  return roles.length > 1 ? t("{role} and {n} more", { role: widest, n: roles.length - 1 }) : (widest ?? t("no role"));
}

function drawViews() {
  composer = composerView({ ask });
  const host = { ask, edit: composer.fill };
  thread = threadView(host);
  models = modelsView();
  sidebarView();
  suggestionsView({ ask, fill: composer.fill });
  effect(drawModel);
  effect(drawBanners);
  effect(drawToast);
  effect(() => {
    at("problem").textContent = store.problem.value;
    show(at("problem"), Boolean(store.problem.value));
  });
  effect(keepAddress);
}

function signedOut() {
  sessionStorage.removeItem(PERSON);
  document.body.dataset.state = "out";
  show(at("starting"), false);
  show(at("signed-out"));
  at("sign-in").focus();
}

function unreachable(fault) {
  at("starting-words").textContent = fault.message;
  at("starting").dataset.state = "failed";
  show(at("starting-retry"));
}

// ---- I am who it says

// Another sign-in in another tab of this browser makes this page another person's, and a
// sign-out that of no one: it is frozen at once, and the gateway refuses what it would
// still send.
function watchPerson(user) {
  session.addEventListener("signed-out", () => (store.frozen.value ||= "ended"));
  session.addEventListener("other-person", () => (store.frozen.value = "other"));
  const tabs = new BroadcastChannel("countersign");
  tabs.onmessage = ({ data }) => data.person !== user.userId && (store.frozen.value = data.person ? "other" : "ended");
  tabs.postMessage({ person: user.userId });
  at("sign-out").form.addEventListener("submit", () => tabs.postMessage({ person: "" }));
  addEventListener("pageshow", (event) => event.persisted && askWho(user));
  document.addEventListener("visibilitychange", () => document.hidden || askWho(user));
  effect(() => store.frozen.value === "other" && freeze(user));
}

async function askWho(user) {
  if (store.frozen.peek()) return;
  const now = await get("/api/user").catch(() => null); // a fault says so by itself
  if (now && now.userId !== user.userId) store.frozen.value = "other";
}

function freeze(user) {
  at("frozen-words").textContent = t("This page shows the data of {name}. This browser is signed in as someone else by now, so nothing can be asked or approved here any more.", { name: user.name || user.username });
  if (!at("frozen").open) at("frozen").showModal();
}

// ---- views

const PAGES = {
  approvals: () => import("./views/approvals.js"),
  approve: () => import("./views/approvals.js"),
  usage: () => import("./views/usage.js"),
  audit: () => import("./views/record.js"),
  admin: () => import("./views/admin.js"),
};

// The gateway decides who reads what: for others there is no such page.
const mayOpen = (view) => !["audit", "admin"].includes(view) || store.isAuditor();

// "#/c/ID" is a conversation, "#/approve/ID" a request that waits.
function place() {
  const [, view = "", raw = ""] = location.hash.split("/");
  try {
    return { view, id: decodeURIComponent(raw) };
  } catch {
    return { view: "?", id: "" }; // the address has a stray per cent sign
  }
}

let drawn = { dispose: () => {} };

// A browser keeps the place in an address to itself. The gateway must know it to send
// the conversation along with the page; of several tabs that one which is seen.
function keepConversation() {
  const { view, id } = place();
  const known = view === "c" && /^[\w-]+$/.test(id);
  document.cookie = `countersign-place=${known ? id : ""}; path=/; samesite=strict${known ? "" : "; max-age=0"}`;
}

async function route() {
  const { view, id } = place();
  keepConversation();
  closeSidebar();
  drawn.dispose();
  drawn = { dispose: () => {} };
  at("page").replaceChildren();
  const talk = view === "" || view === "c";
  show(at("talk"), talk);
  show(at("composer"), talk);
  show(at("page"), !talk);
  if (talk) return openTalk(id);
  await openPage(view, id);
}

async function openTalk(id) {
  models.select("");
  await store.openConversation(id);
  thread.follow();
  if (!hasTouch()) composer.focus();
}

async function openPage(view, id) {
  const load = PAGES[view];
  if (!load || !mayOpen(view)) return notFound();
  const { pageView } = await load().catch(() => ({ pageView: outdated })); // of a version that is no longer served
  if (place().view !== view || place().id !== id) return;
  const made = scope(() => pageView(id));
  drawn = made;
  at("page").replaceChildren(made.value);
  at("view").scrollTop = 0;
  at("page-title")?.focus({ preventScroll: true });
}

function outdated() {
  const again = el("button", { type: "button", class: "primary", onclick: () => location.reload() }, t("Load it again"));
  return el("section", { class: "page-view", "data-outdated": true }, el("h1", { id: "page-title", tabindex: "-1" }, t("This view could not be loaded.")), el("p", {}, t("The page was updated meanwhile, or the connection is lost.")), el("p", {}, again));
}

function notFound() {
  at("page").replaceChildren(el("section", { class: "page-view", "data-not-found": true }, el("h1", { id: "page-title", tabindex: "-1" }, t("There is no such page.")), el("p", {}, el("a", { href: "#/" }, t("Ask a question instead")))));
  at("page-title").focus();
}

// On a phone the keyboard would cover what was opened.
const hasTouch = () => window.matchMedia("(pointer: coarse)").matches;

// A new conversation gets its address with its id.
function keepAddress() {
  const conversation = store.open.value;
  const id = conversation.id.value;
  if (!id || conversation.addressed || place().view !== "") return;
  conversation.addressed = true;
  history.replaceState(null, "", `#/c/${encodeURIComponent(id)}`);
  keepConversation();
}

// ---- asking

async function ask(text) {
  store.problem.value = "";
  if (store.open.peek().running.peek()) return;
  const here = location.hash;
  waitToAsk(true);
  await store.opening.peek(); // below what the conversation has already
  if (location.hash !== here) return waitToAsk(false), composer.fill(text, false);
  store.open.peek().ask(text, models.chosen()).finally(() => store.learnConversations());
  thread.follow();
}

function waitToAsk(now) {
  show(at("send"), !now);
  show(at("stop"), now);
}

function newConversation() {
  closeSidebar();
  if (place().view) location.hash = "#/";
  else {
    store.openConversation("");
    models.select("");
    composer.focus();
  }
}

// ---- what the page says of itself

function drawModel() {
  const name = store.open.value.model.value || store.defaultModel.value;
  const badge = at("model");
  badge.textContent = modelLabel(name);
  badge.dataset.model = name;
  badge.classList.toggle("rehearsal", isRehearsal(name));
  badge.title = isRehearsal(name) ? t("A small planner answers by rules. It is no AI model.") : t("The model that answers");
  show(badge, Boolean(name));
  show(at("welcome"), !isRehearsal(name)); // it says that an AI answers
  at("question").placeholder = store.needsEnglish() ? t("Ask a question, in English") : t("Ask a question");
}

function drawBanners() {
  const lost = store.lineLost.value || store.offline.value;
  at("line").textContent = !lost ? "" : store.offline.value ? t("You are offline. What you ask is kept until you are back.") : t("Connection lost. Reconnecting…");
  show(at("line"), Boolean(lost));
  const down = [...store.servers.value].filter(([, healthy]) => !healthy).map(([name]) => name);
  at("servers-down").textContent = down.length ? t("Not answering just now: {names}.", { names: down.join(", ") }) : "";
  show(at("servers-down"), down.length > 0);
  show(at("session-ended"), store.frozen.value === "ended");
}

let toastTimer;
function drawToast() {
  const now = store.toast.value;
  const action = now?.action ? el("button", { type: "button", class: "small", "data-undo": true, onclick: now.run }, now.action) : null;
  at("toast").replaceChildren(...(now ? [el("span", {}, now.words), action].filter(Boolean) : []));
  show(at("toast"), Boolean(now));
  clearTimeout(toastTimer);
  if (now) toastTimer = setTimeout(() => store.toast.peek() === now && (store.toast.value = null), 7000);
}

// ---- keys, sidebar

function closeSidebar() {
  at("sidebar").classList.remove("open");
  at("menu").setAttribute("aria-expanded", "false");
}

function toggleSidebar() {
  const open = at("sidebar").classList.toggle("open");
  at("menu").setAttribute("aria-expanded", String(open));
  if (open) at("new").focus();
}

// ⌘K, or Ctrl+K, leads everywhere.
async function palette(event) {
  if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || document.body.dataset.state !== "in") return;
  event.preventDefault();
  if (document.querySelector("dialog[open]")) return;
  const { result, typed } = await typedDuring(import("./views/palette.js"));
  result.openPalette({ ask: (text) => (composer.begin(text), newConversation()) }, typed);
}

// typedDuring is what was typed while a view loads: into a field of its own, so that it is not written where the focus was.
async function typedDuring(loading) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = el("input", { class: "visually-hidden", "aria-label": t("Go to") });
  document.body.append(field);
  field.focus();
  try {
    return { result: await loading, typed: field.value };
  } finally {
    field.remove();
    before?.focus();
  }
}

// Escape stops what runs, closes what is open, and goes back to the question.
function keys(event) {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]") || document.body.dataset.state !== "in") return;
  if (at("sidebar").classList.contains("open")) {
    closeSidebar();
    return at("menu").focus();
  }
  if (store.open.peek().running.peek()) store.open.peek().stop();
  if (!at("composer").hidden) composer.focus();
}

// ---- how it looks

const THEME = "countersign.theme";

function drawTheme() {
  const theme = localStorage.getItem(THEME) ?? "";
  document.documentElement.dataset.theme = theme;
  at("theme").value = theme;
}

bind(at("theme"), "onchange", () => {
  if (at("theme").value) localStorage.setItem(THEME, at("theme").value);
  else localStorage.removeItem(THEME);
  drawTheme();
});
at("language").value = language;
bind(at("language"), "onchange", () => speak(at("language").value));
drawTheme();

for (const way of document.querySelectorAll('a[href="/login"]')) way.addEventListener("click", keepPlace);
at("sign-out").form.addEventListener("submit", store.leave);
bind(at("skip"), "onclick", (event) => {
  event.preventDefault(); // its address is none of ours
  (at("composer").hidden ? at("page-title") : at("question"))?.focus();
});
bind(at("menu"), "onclick", toggleSidebar);
bind(at("new"), "onclick", newConversation);
bind(at("starting-retry"), "onclick", () => location.reload());
bind(at("frozen-reload"), "onclick", () => location.reload());
at("frozen").addEventListener("close", () => store.frozen.peek() === "other" && at("frozen").showModal()); // Escape closes any dialog
document.addEventListener("keydown", keys);
document.addEventListener("keydown", palette);
addEventListener("offline", () => (store.offline.value = true));
addEventListener("online", () => {
  store.offline.value = false;
  if (document.body.dataset.state === "in") store.catchUp();
});
addEventListener("beforeprint", () => document.querySelectorAll("details.tool-result").forEach((one) => one.setAttribute("open", "")));

keepFocus();
begin();
