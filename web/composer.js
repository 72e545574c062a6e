// The question's form: Enter sends, Shift+Enter breaks the line, and what is too
// long is said before it is refused.

import { show } from "./dom.js";

/** MOST is how many characters a question may have, on every surface. */
export const MOST = 2048;

const COUNT_FROM = 1600; // characters from which the counter is worth a look

/** makeComposer wires the form. host gives it {ask(text), stop()}. */
export function makeComposer({ form, field, send, stop, counter }, host) {
  const length = () => [...field.value.trim()].length; // characters, as the gateway counts, not UTF-16 units

  const refresh = () => {
    const count = length();
    counter.textContent = `${count.toLocaleString("en-US")} / ${MOST.toLocaleString("en-US")}`;
    counter.dataset.over = String(count > MOST);
    show(counter, count >= COUNT_FROM);
    send.disabled = count === 0 || count > MOST;
    field.setAttribute("aria-invalid", String(count > MOST));
    grow(field);
  };

  const submit = () => {
    if (send.disabled || form.dataset.running === "true") return;
    const text = field.value.trim();
    field.value = "";
    refresh();
    host.ask(text);
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // Asking the line break rather than the key leaves input methods alone, and
  // works with screen keyboards, which do not name their keys.
  let shifted = false;
  field.addEventListener("keydown", (event) => (shifted = event.shiftKey));
  field.addEventListener("beforeinput", (event) => {
    if (shifted || !["insertLineBreak", "insertParagraph"].includes(event.inputType)) return;
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", refresh);
  stop.addEventListener("click", () => host.stop());
  refresh();

  return {
    focus: () => field.focus(),
    text: () => field.value.trim(),
    fill(text) {
      field.value = text;
      refresh();
      field.focus();
      field.setSelectionRange(text.length, text.length);
    },
    running(now) {
      const held = document.activeElement === send || document.activeElement === stop;
      form.dataset.running = String(now);
      show(send, !now);
      show(stop, now);
      if (held) field.focus(); // the button that had the focus is gone
    },
  };
}

function grow(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}
