// @ts-check
// The question's form: Enter sends, Shift+Enter breaks the line, what is too long is
// said before it is refused, and what was not sent is kept.

import { whole } from "../api.js";
import { at, show } from "../dom.js";
import { effect } from "../reactive.js";
import { conversations, frozen, me, open, toast } from "../store.js";
import { number, t } from "../words.js";

/** MOST is how many characters a question may have, on every surface. */
export const MOST = 2048;

const COUNT_FROM = 1600; // characters from which the counter is worth a look
const DRAFT = "countersign.draft ";

/** composerView wires the form. host is {ask(text)}. @param {{ ask: (text: string) => void }} host */
export function composerView(host) {
  const [form, field, send, stop] = [at("composer"), at("question"), at("send"), at("stop")];
  const length = () => [...field.value.trim()].length; // characters, as the gateway counts, not UTF-16 units
  const draftKey = (id = open.peek().id.peek()) => `${DRAFT}${me.peek()?.userId} ${id}`; // not found by another person who signs in here

  const refresh = () => {
    const count = length();
    at("counter").textContent = `${number(count)} / ${number(MOST)}`;
    at("counter").dataset.over = String(count > MOST);
    show(at("counter"), count >= COUNT_FROM);
    send.disabled = count === 0 || count > MOST || Boolean(frozen.peek());
    field.setAttribute("aria-invalid", String(count > MOST));
    grow(field);
  };
  const fill = (text, focus = true) => {
    field.value = text;
    keepDraft(draftKey(), text);
    refresh();
    if (!focus) return;
    field.focus();
    field.setSelectionRange(text.length, text.length);
  };
  const submit = () => {
    if (send.disabled || open.peek().running.peek()) return;
    const text = field.value.trim();
    fill("", false);
    host.ask(text);
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // Asking the line break rather than the key leaves input methods alone, and
  // works with screen keyboards, which do not name their keys.
  let shifted = false;
  field.addEventListener("keydown", (event) => {
    shifted = event.shiftKey;
    if (event.key === "ArrowUp" && !field.value) event.preventDefault(), recall(open.peek(), (text) => field.value || fill(text));
  });
  field.addEventListener("beforeinput", (event) => {
    if (shifted || !["insertLineBreak", "insertParagraph"].includes(event.inputType)) return;
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", () => (keepDraft(draftKey(), field.value), refresh()));
  stop.addEventListener("click", () => open.peek().stop());

  effect(() => {
    const now = open.value.running.value;
    const held = document.activeElement === send || document.activeElement === stop;
    form.dataset.running = String(now);
    show(send, !now);
    show(stop, now);
    if (held) field.focus(); // the button that had the focus is gone
  });
  effect(() => {
    frozen.value;
    refresh();
  });
  effect(() => {
    const unsent = open.value.unsent.value;
    if (!unsent) return;
    open.peek().unsent.value = "";
    if (!field.value) fill(unsent);
    toast.value = { words: t("Your question was not sent. It is kept in its field.") };
  });
  effect(() => {
    open.value;
    fill(sessionStorage.getItem(draftKey()) ?? "", false);
  });
  return { focus: () => field.focus(), fill, begin: (text) => keepDraft(draftKey(""), text) }; // a conversation that is opened has its draft
}

function keepDraft(key, text) {
  if (text) sessionStorage.setItem(key, text);
  else sessionStorage.removeItem(key);
}

// The last question comes back into the empty field; in a new conversation it is that of
// the one before.
async function recall(conversation, fill) {
  const own = conversation.turns.peek().findLast((turn) => turn.question)?.question;
  const before = own ? null : conversations.peek()?.find(({ id }) => id !== conversation.id.peek());
  const text = own ?? (before ? await lastQuestion(before.id) : "");
  if (text && conversation === open.peek()) fill(text);
}

async function lastQuestion(id) {
  const { messages = [] } = await whole(`/api/conversations/${encodeURIComponent(id)}`).catch(() => ({}));
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

function grow(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}
