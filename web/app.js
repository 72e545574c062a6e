// Wires the page: who is signed in, which conversation is open, what the keys do.

import { get, session } from "./api.js";
import { makeComposer } from "./composer.js";
import { makeConversations } from "./conversations.js";
import { show } from "./dom.js";
import { label } from "./format.js";
import { makeModels } from "./models.js";
import { drawSuggestions } from "./suggestions.js";
import { listOf, makeThread } from "./thread.js";
import { isRehearsal, modelLabel } from "./turn.js";

const at = (id) => document.getElementById(id);
const catalogue = new Map(); // tool name → the tool

const thread = makeThread(
  { view: at("view"), log: at("log"), waiting: at("waiting-cards"), waitingArea: at("waiting") },
  {
    titleOf: (tool) => catalogue.get(tool)?.title || label(tool || "this change"),
    fieldsOf: (tool) => catalogue.get(tool)?.fields?.output ?? {},
    serverOf: (tool) => catalogue.get(tool)?.server,
    chosenModel: () => models.chosen(),
    onStart: started,
    onModel: showModel,
    onRunning: (now) => running(now),
    onLine: showLine,
  },
);
const composer = makeComposer(
  { form: at("composer"), field: at("question"), send: at("send"), stop: at("stop"), counter: at("counter") },
  { ask: (text) => ask(text), stop: () => thread.stop() },
);
const models = makeModels({ place: at("model-choice"), select: at("model-select") });
const conversations = makeConversations(at("conversations"), at("conversations-note"), { removed });

// ---- signing in

async function begin() {
  try {
    const user = await get("/api/user");
    signedIn(user);
  } catch (fault) {
    if (fault.status === 401) return signedOut();
    unreachable(fault);
  }
}

// Signing in leads over the issuer's page, where the place in ours and the
// question are lost.
const PLACE = "countersign.place";
const QUESTION = "countersign.question";

function keepPlace() {
  sessionStorage.setItem(PLACE, location.hash);
  sessionStorage.setItem(QUESTION, composer.text());
}

function backToPlace() {
  const place = takeKept(PLACE);
  if (place && !location.hash) history.replaceState(null, "", place);
  const question = takeKept(QUESTION);
  if (question) composer.fill(question);
}

function takeKept(name) {
  const kept = sessionStorage.getItem(name);
  sessionStorage.removeItem(name);
  return kept;
}

// A question that was refused because the session has ended is asked again by hand.
function sessionEnded() {
  show(at("session-ended"));
  if (asking && !composer.text()) composer.fill(asking);
}

function signedIn(user) {
  show(at("starting"), false);
  show(at("app"));
  backToPlace();
  show(at("account"));
  at("user-name").textContent = user.name || user.username;
  at("user-name").title = [user.username, ...(user.roles ?? [])].join(" · ");
  at("greeting").textContent = user.name ? `Hello, ${user.name.split(" ")[0]}.` : "Hello.";
  session.addEventListener("signed-out", sessionEnded);
  window.addEventListener("hashchange", route);
  Promise.allSettled([learnTools(), learnModels()]).then(route); // titles first: cards and tables are named by them
  conversations.refresh();
}

function signedOut() {
  show(at("starting"), false);
  show(at("signed-out"));
  at("sign-in").focus();
}

function unreachable(fault) {
  at("starting-words").textContent = fault.message;
  at("starting").dataset.state = "failed";
  show(at("starting-retry"));
}

async function learnTools() {
  try {
    const body = await get("/api/tools");
    const tools = listOf(body, "tools");
    for (const tool of tools) catalogue.set(tool.name, tool);
    if (body.model) showModel(body.model); // before any answer is shown
    drawSuggestions({ few: at("suggestions"), all: at("all-tools") }, tools, { ask: (text) => ask(text), fill: composer.fill });
    warnOfServers(listOf(body, "servers"));
    show(at("no-tools"), tools.length === 0);
    show(at("everything"), tools.length > 0);
  } catch (fault) {
    at("no-tools").textContent = `What you can ask could not be listed. ${fault.message}`;
    show(at("no-tools"));
  }
}

// Without the list, the gateway's default answers.
async function learnModels() {
  models.offer(listOf(await get("/api/models"), "models"));
}

function warnOfServers(servers) {
  const down = servers.filter((server) => server.healthy === false).map((server) => server.name);
  at("servers-down").textContent = down.length ? `Not answering just now: ${down.join(", ")}.` : "";
  show(at("servers-down"), down.length > 0);
}

// ---- conversations

// "#/c/ID" is a conversation, "#/approve/ID" a request that waits.
function inAddress(kind) {
  const [, found, id] = location.hash.split("/");
  if (found !== kind || !id) return "";
  try {
    return decodeURIComponent(id);
  } catch {
    return ""; // the address has a stray per cent sign
  }
}

async function route() {
  const [id, request] = [inAddress("c"), inAddress("approve")];
  if (id && id === thread.id) return;
  closeSidebar();
  models.select("");
  try {
    await thread.open(id);
    showProblem("");
    if (request) await thread.showRequest(request);
  } catch (fault) {
    showProblem(fault.status === 404 ? "This does not exist any more, or is not yours." : `It could not be opened. ${fault.message}`);
  }
  conversations.select(id);
  show(at("empty"), thread.empty && !request);
  if (!hasTouch() && !request) composer.focus();
}

function showProblem(words) {
  at("problem").textContent = words;
  show(at("problem"), Boolean(words));
}

// On a phone the keyboard would cover what was opened.
function hasTouch() {
  return window.matchMedia("(pointer: coarse)").matches;
}

let asking = ""; // the question whose answer is awaited

function ask(text) {
  showProblem("");
  asking = text;
  thread.ask(text).finally(() => {
    asking = "";
    conversations.refresh();
  });
}

function started(id) {
  history.replaceState(null, "", `#/c/${encodeURIComponent(id)}`);
  conversations.refresh().then(() => conversations.select(id));
}

function removed(id) {
  if (id === thread.id) newConversation();
}

function newConversation() {
  closeSidebar();
  if (inAddress("c") || inAddress("approve")) location.hash = "#/";
  else route();
}

// ---- what the page says of itself

function running(now) {
  if (now) show(at("empty"), false);
  composer.running(now);
  at("log").setAttribute("aria-busy", String(now));
}

function showModel(model) {
  const badge = at("model");
  badge.textContent = modelLabel(model);
  badge.dataset.model = model;
  badge.classList.toggle("rehearsal", isRehearsal(model));
  badge.title = isRehearsal(model) ? "A small planner answers by rules. It is no AI model." : "The model that answers";
  show(badge);
  models.select(model);
}

function showLine(state) {
  const words = navigator.onLine ? "Connection lost. Reconnecting…" : "You are offline. The page will pick up where it stopped.";
  const lost = state === "waiting" || !navigator.onLine;
  at("line").textContent = lost ? words : "";
  show(at("line"), lost);
}

// ---- keys, sidebar, sign-out

function closeSidebar() {
  at("sidebar").classList.remove("open");
  at("menu").setAttribute("aria-expanded", "false");
}

function toggleSidebar() {
  const open = at("sidebar").classList.toggle("open");
  at("menu").setAttribute("aria-expanded", String(open));
  if (open) at("new").focus();
}

// Escape stops what runs, closes what is open, and goes back to the question.
function escape(event) {
  if (event.key !== "Escape" || event.isComposing) return;
  if (at("sidebar").classList.contains("open")) {
    closeSidebar();
    return at("menu").focus();
  }
  if (thread.running) thread.stop();
  composer.focus();
}

for (const way of document.querySelectorAll('a[href="/login"]')) way.addEventListener("click", keepPlace);
at("menu").addEventListener("click", toggleSidebar);
at("new").addEventListener("click", newConversation);
at("starting-retry").addEventListener("click", () => location.reload());
document.addEventListener("keydown", escape);
window.addEventListener("offline", () => showLine("waiting"));
window.addEventListener("online", () => showLine("open"));

begin();
