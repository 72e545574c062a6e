// @ts-check
// What the page knows: who is signed in and their conversations, and, of the modules
// below, the tools they may call and the changes that wait or were answered. Every view
// is drawn from here, and only what happens in here changes a view.

import { Fault, get, listOf, patch, remove } from "./api.js";
import { changeOf, learnChanges, outcomes } from "./change.js";
import { Conversation } from "./conversation.js";
import { personEvents } from "./events.js";
import { signal } from "./reactive.js";
import { choice, defaultModel, servers } from "./tools.js";
import { isRehearsal } from "./turn.js";
import { language, t } from "./words.js";

export * from "./tools.js";
export { changeOf, changes, changesProblem, learnChanges, see, unshown, waiting } from "./change.js";

/** @typedef {{ userId: string, issuer?: string, username: string, name?: string, email?: string, roles?: string[] }} Person */

/** me is who is signed in; null before that is known. */
export const me = signal(/** @type {Person | null} */ (null));
/** isAuditor: the record and the overview are open to this person. */
export const isAuditor = () => Boolean(me.peek()?.roles?.includes("auditor"));
/** frozen says why nothing can be done here any more: "other" person, or session "ended". */
export const frozen = signal(/** @type {"" | "other" | "ended"} */ (""));
/** lineLost: the person's stream is interrupted. */
export const lineLost = signal(false);
export const offline = signal(!navigator.onLine);
/** conversations are those of the list, newest first; null before they are known. */
export const conversations = signal(/** @type {any[] | null} */ (null));
export const conversationsProblem = signal("");
/** running are the ids of the conversations in which a question is being answered. */
export const running = signal(/** @type {Set<string>} */ (new Set()));
/** removed are the ids of conversations whose deletion can still be undone. */
export const removed = signal(/** @type {Set<string>} */ (new Set()));
/** open is the conversation that is shown. */
export const open = signal(new Conversation("", named));
export const opening = signal(Promise.resolve());
export const problem = signal("");
/** toast is a short message with something to do. */
export const toast = signal(/** @type {null | { words: string, action?: string, run?: () => void }} */ (null));

// ---- conversations

/** @type {Map<string, Conversation>} */
const loaded = new Map(); // conversations that were open here: one that still answers goes on
const MOST_LOADED = 12;

export async function learnConversations() {
  try {
    conversations.value = listOf(await get("/api/conversations"), "conversations");
    conversationsProblem.value = "";
  } catch (fault) {
    conversationsProblem.value = t("Your conversations could not be listed. {why}", { why: fault.message });
  }
}

/** openConversation shows a conversation; an empty id is a new one. @param {string} id */
export function openConversation(id) {
  if (id && id === open.peek().id.peek() && loaded.has(id)) return opening.peek(); // one that could not be opened is opened again
  const known = id ? loaded.get(id) : undefined;
  const conversation = known ?? new Conversation(id, named);
  if (id) loaded.set(id, conversation);
  for (const [old, one] of loaded) if (loaded.size > MOST_LOADED && !one.running.peek() && one !== conversation) loaded.delete(old);
  problem.value = "";
  open.value = conversation;
  const ready = (id ? conversation.refresh() : Promise.resolve()).catch((fault) => {
    loaded.delete(id);
    if (open.peek() === conversation) problem.value = fault.status === 404 ? t("This does not exist any more, or is not yours.") : t("It could not be opened. {why}", { why: fault.message });
  });
  opening.value = ready;
  return ready;
}

/** named keeps a conversation that got its id with the first answer. @param {Conversation} conversation */
function named(conversation) {
  loaded.set(conversation.id.peek(), conversation);
  learnConversations();
}

export async function renameConversation(id, title) {
  await patch(`/api/conversations/${encodeURIComponent(id)}`, { title });
  conversations.update((all) => all?.map((one) => (one.id === id ? { ...one, title } : one)) ?? null);
}

/** needsEnglish: the model that answers reads no other language, and the reader has another. */
export const needsEnglish = () => language !== "en" && isRehearsal(choice.value || open.value.model.value || defaultModel.value);

/** question is a declared one as it is shown and asked: in a language that reader and model share. @param {string} declared */
export const question = (declared) => (needsEnglish() ? declared : t(declared));

const UNDO_MS = 6000;
const LEAVE_MS = 3000; // that a deletion may take before the person signs out
/** @type {Map<string, () => void>} */
const deletions = new Map(); // those that can still be undone, with what makes them at once

/** deleteConversation hides a conversation, and deletes it when there was time to undo that. @param {string} id @param {string} title */
export function deleteConversation(id, title) {
  removed.update((all) => new Set(all).add(id));
  const commit = (options = {}) => {
    clearTimeout(timer);
    deletions.delete(id);
    if (toast.peek() === undo) toast.value = null;
    loaded.delete(id);
    return remove(`/api/conversations/${encodeURIComponent(id)}`, options).catch((fault) => {
      if (fault.status === 404) return;
      removed.update((all) => new Set([...all].filter((one) => one !== id)));
      conversationsProblem.value = t("It could not be deleted. {why}", { why: fault.message });
    });
  };
  const undo = { words: t("Deleted: {title}", { title }), action: t("Undo"), run: () => keep(id, timer) };
  const timer = setTimeout(commit, UNDO_MS);
  deletions.set(id, () => commit({ keepalive: true }));
  toast.value = undo;
}

function keep(id, timer) {
  clearTimeout(timer);
  deletions.delete(id);
  removed.update((all) => new Set([...all].filter((one) => one !== id)));
  toast.value = null;
}

addEventListener("pagehide", () => deletions.forEach((commit) => commit()));

// ---- what happens elsewhere

let endStream = () => {};

/** leave forgets what is the person's here when they sign out, and ends the stream. What can still be undone is deleted before the form is sent: with the session ended it could not be. @param {any} event */
export function leave(event) {
  sessionStorage.clear();
  planned.clear();
  endStream();
  if (!deletions.size) return;
  event.preventDefault();
  const deleted = Promise.allSettled([...deletions.values()].map((commit) => commit()));
  Promise.race([deleted, new Promise((ends) => setTimeout(ends, LEAVE_MS))]).then(() => event.target.submit());
}

/** listen follows what happens to the person's conversations and changes. */
export function listen() {
  endStream = personEvents(/** @type {Person} */ (me.peek()).userId, {
    onEvent: ({ data }) => receive(data),
    onState: (state, status) => {
      lineLost.value = state === "waiting";
      if (state === "gone" && status === 401) frozen.value = "ended";
      if (state === "gone" && status === 409) frozen.value = "other";
    },
  });
}

function receive(event) {
  if (event.type === "server") servers.update((known) => new Map(known).set(event.server, event.healthy));
  if (event.type === "change") changeOf(event.confirmationId).receive(event);
  if (event.type === "conversation" && !conversations.peek()?.some((one) => one.id === event.conversationId)) soon("list", learnConversations);
  if (event.type === "turn") receiveTurn(event);
}

function receiveTurn({ conversationId: id, state }) {
  running.update((ids) => new Set([...ids].filter((one) => one !== id).concat(state === "running" ? [id] : [])));
  const conversation = loaded.get(id);
  if (conversation && !conversation.running.peek()) soon(id, () => conversation.refresh().catch(() => {}));
}

// Many events at once ask for the same thing once.
/** @type {Map<string, () => unknown>} */
const planned = new Map();
function soon(name, run) {
  if (planned.size === 0) setTimeout(() => [...planned].forEach(([key, one]) => (planned.delete(key), one())), 60);
  planned.set(name, run);
}

// A conversation of which a change was answered has a new message.
outcomes.addEventListener("outcome", (event) => {
  const id = /** @type {CustomEvent} */ (event).detail;
  const conversation = loaded.get(id);
  if (conversation && !conversation.running.peek()) soon(id, () => conversation.refresh().catch(() => {}));
});

/** catchUp reads again what may have been missed while the line was lost. */
export function catchUp() {
  learnChanges();
  learnConversations();
  const now = open.peek();
  if (now.id.peek() && !now.running.peek()) now.refresh().catch(() => {});
}

export { Fault };
