// @ts-check
// The list of the reader's own conversations: by date, searched, renamed, deleted.

import { at, el, show } from "../dom.js";
import { computed, effect, list, signal, untracked } from "../reactive.js";
import { conversations, conversationsProblem, deleteConversation, open, openConversation, removed, renameConversation, running, toast } from "../store.js";
import { t } from "../words.js";

const search = signal("");
const renaming = signal("");

const titleOf = (item) => item.title || item.question || t("Untitled conversation");

const shown = computed(() => {
  const words = search.value.trim().toLocaleLowerCase();
  return (conversations.value ?? []).filter((item) => !removed.value.has(item.id) && titleOf(item).toLocaleLowerCase().includes(words));
});

// Headings and items in one list.
const lines = computed(() => {
  let before = "";
  return shown.value.flatMap((item) => {
    const group = groupOf(item.updated ?? item.created);
    const heading = group && group !== before ? [{ id: `group ${group}`, group }] : [];
    before = group;
    return [...heading, item];
  });
});

const DAY_MS = 86_400_000;

function groupOf(time) {
  const at = new Date(time ?? NaN);
  if (Number.isNaN(at.getTime())) return "";
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at.getTime() >= midnight) return t("Today");
  if (at.getTime() >= midnight - DAY_MS) return t("Yesterday");
  if (at.getTime() >= midnight - 7 * DAY_MS) return t("The last 7 days");
  return at.getTime() >= midnight - 30 * DAY_MS ? t("The last 30 days") : t("Older");
}

/** sidebarView keeps the list in step. */
export function sidebarView() {
  at("search").addEventListener("input", (event) => (search.value = event.target.value));
  list(at("conversations"), () => lines.value, (line) => line.id, (line) => (line().group ? heading(line().group) : itemView(line)));
  effect(() => show(at("search-field"), (conversations.value?.length ?? 0) > 5 || Boolean(search.value)));
  effect(() => {
    const none = conversations.value && !shown.value.length ? (search.value ? t("No conversation has that in its title.") : t("Your conversations appear here.")) : "";
    at("conversations-note").textContent = conversationsProblem.value || none;
    show(at("conversations-note"), Boolean(conversationsProblem.value || none));
  });
}

const heading = (group) => el("li", { class: "group" }, el("h3", {}, group));

function itemView(item) {
  const { id } = item();
  return el("li", { "data-conversation": id }, () => (renaming.value === id ? untracked(() => nameField(item())) : untracked(() => lineOf(item)))); // a list that is read again keeps the field and the focus
}

function lineOf(item) {
  const { id } = item();
  const title = () => titleOf(item());
  return [
    el("a", { href: `#/c/${encodeURIComponent(id)}`, "data-open": true, title, onclick: () => open.peek().id.peek() === id && openConversation(id), "aria-current": () => (open.value.id.value === id ? "page" : null) },
      el("bdi", {}, () => titleOf(item())), el("span", { class: "busy-dot", hidden: () => !running.value.has(id), role: "img", "aria-label": t("is being answered") })),
    el("button", { type: "button", class: "quiet", "data-rename": true, "aria-label": () => t('Rename "{title}"', { title: title() }), title: t("Rename"), onclick: () => (renaming.value = id) }, "✎"),
    el("button", { type: "button", class: "quiet", "data-delete": true, "aria-label": () => t('Delete "{title}"', { title: title() }), title: t("Delete"), onclick: (event) => removeItem(id, title(), event.currentTarget) }, "×"),
  ];
}

// The focus goes to a neighbour, never to the page.
function removeItem(id, title, button) {
  const line = button.closest("li");
  const next = line.nextElementSibling?.querySelector("[data-delete]") ?? at("new");
  deleteConversation(id, title);
  if (open.peek().id.peek() === id) location.hash = "#/";
  next.focus();
}

function nameField(item) {
  const field = el("input", { type: "text", value: titleOf(item), maxlength: "120", "aria-label": t("New name"), "data-name-field": true });
  const leave = () => {
    renaming.value = "";
    requestAnimationFrame(() => [...at("conversations").children].find((line) => line.dataset.conversation === item.id)?.querySelector("[data-open]")?.focus());
  };
  const keep = async (event) => {
    event.preventDefault();
    const title = field.value.trim();
    leave();
    if (!title || title === titleOf(item)) return;
    await renameConversation(item.id, title).catch((fault) => (toast.value = { words: t("It could not be renamed. {why}", { why: fault.message }) }));
  };
  field.addEventListener("keydown", (event) => event.key === "Escape" && (event.stopPropagation(), leave()));
  requestAnimationFrame(() => (field.focus(), field.select()));
  return el("form", { class: "rename", onsubmit: keep }, field);
}
