// @ts-check
// One field that leads everywhere: to a conversation, a page, a question, a text.

import { get, listOf } from "../api.js";
import { announce } from "../announce.js";
import { data, el } from "../dom.js";
import { computed, effect, list, scope, signal } from "../reactive.js";
import { conversations, isAuditor, question, tools } from "../store.js";
import { t } from "../words.js";

const MOST = 12;

/**
 * openPalette shows the field with what was typed already. host is {ask(question)}.
 * @param {{ ask: (text: string) => void }} host @param {string} typed
 */
export function openPalette(host, typed) {
  const before = /** @type {any} */ (document.activeElement);
  const { value: dialog, dispose } = scope(() => draw(host));
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dispose();
    dialog.remove();
    if (document.activeElement === document.body) before?.focus();
  });
  dialog.showModal();
  const field = dialog.querySelector("input");
  field.focus();
  field.value = typed;
  field.dispatchEvent(new Event("input"));
}

/** The texts that connected servers offer. @type {{ value: any[] }} */
const texts = signal([]);

/** write puts a server's text into the question box, where its reader decides whether to ask it. */
async function write(host, { server, name }, values) {
  try {
    host.ask((await get(`/api/prompts/${encodeURIComponent(server)}/${encodeURIComponent(name)}?${values}`)).text);
  } catch {
    announce.say(t("The text could not be read."));
  }
}

// A text with blanks asks for them in a form of our own, in place of the list.
function fill(host, text, dialog) {
  const blanks = text.arguments ?? [];
  const title = el("h2", { id: "blanks-title" }, data(text.title || text.name));
  const lines = blanks.map((blank, i) => el("p", { class: "blank" }, el("label", { for: `blank-${i}` }, data(blank.title || blank.name)),
    el("input", { id: `blank-${i}`, name: blank.name, type: "text", autocomplete: "off", required: Boolean(blank.required), "aria-describedby": blank.description ? `about-${i}` : null }),
    blank.description ? el("span", { id: `about-${i}`, class: "hint" }, data(blank.description)) : null));
  const form = el("form", {
    "data-blanks": true, "aria-labelledby": "blanks-title",
    onsubmit: (event) => {
      event.preventDefault();
      const values = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "").map(([key, value]) => [key, String(value)]));
      dialog.close();
      write(host, text, values);
    },
  }, title, lines, el("p", { class: "blank-buttons" }, el("button", { type: "submit", class: "primary" }, t("Write it into the question")), el("button", { type: "button", onclick: () => dialog.close() }, t("Cancel"))));
  dialog.replaceChildren(form);
  form.querySelector("input")?.focus();
}

/** @param {{ ask: (text: string) => void }} host */
function places(host) {
  const go = (hash) => () => (location.hash = hash);
  return [
    { words: t("New conversation"), run: go("#/") }, { words: t("Waiting for your approval"), run: go("#/approvals") }, { words: t("Your use"), run: go("#/usage") },
    ...(isAuditor() ? [{ words: t("Audit"), run: go("#/audit") }, { words: t("Administration"), run: go("#/admin") }] : []),
    ...(conversations.value ?? []).map((one) => ({ words: one.title || t("Untitled conversation"), run: go(`#/c/${encodeURIComponent(one.id)}`) })),
    ...[...tools.value.values()].filter((tool) => tool.kind !== "write" && tool.fields?.ask).map((tool) => ({ words: question(tool.fields.ask), run: () => host.ask(question(tool.fields.ask)) })),
    ...texts.value.map((one) => ({ words: t("Text of {server}: {name}", { server: one.server, name: one.title || one.name }), text: one, run: () => void write(host, one, "") })),
  ];
}

function draw(host) {
  get("/api/prompts").then((body) => (texts.value = listOf(body, "prompts")), () => {}); // without them the rest is there
  const words = signal("");
  const at = signal(0);
  const found = computed(() => places(host).filter((one) => one.words.toLocaleLowerCase().includes(words.value.trim().toLocaleLowerCase())).slice(0, MOST));
  const options = el("ul", { id: "palette-options", role: "listbox", "aria-label": t("Places and questions") });
  const dialog = el("dialog", { id: "palette", "aria-label": t("Go to") });
  const choose = (one) => {
    if (one?.text?.arguments?.length) return fill(host, one.text, dialog);
    dialog.close();
    one?.run();
  };
  list(options, () => found.value.map((one, i) => ({ one, i })), ({ one, i }) => `${i} ${one.words}`, (item) => {
    const { one, i } = item();
    return el("li", { id: `palette-${i}`, role: "option", "aria-selected": () => String(at.value === i), onclick: () => choose(one) }, data(one.words));
  });
  const field = el("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-options", "aria-activedescendant": () => `palette-${at.value}`, "aria-label": t("Go to"), placeholder: t("Go to a conversation, a page or a question"),
    oninput: (event) => ((words.value = event.target.value), (at.value = 0)),
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) at.value = Math.max(0, Math.min(found.peek().length - 1, at.peek() + step));
      if (event.key === "Enter") choose(found.peek()[at.peek()]);
      if (step || event.key === "Enter") event.preventDefault();
    },
  });
  effect(() => options.querySelector(`#palette-${at.value}`)?.scrollIntoView({ block: "nearest" }));
  dialog.append(field, options, el("p", { class: "hint", hidden: () => found.value.length > 0 }, t("Nothing has that in its name.")));
  return dialog;
}
