// The list of the reader's own conversations: open, delete, new.

import { get, remove } from "./api.js";
import { el, show } from "./dom.js";
import { listOf } from "./thread.js";

/** makeConversations draws into list. host gives it {open(id), removed(id)}. */
export function makeConversations(list, note, host) {
  return new Conversations(list, note, host);
}

class Conversations {
  #list;
  #note;
  #host;
  #current = "";

  constructor(list, note, host) {
    this.#list = list;
    this.#note = note;
    this.#host = host;
  }

  /** refresh reads the list again. */
  async refresh() {
    try {
      const items = listOf(await get("/api/conversations"), "conversations");
      this.#list.replaceChildren(...items.map((item) => this.#item(item)));
      this.#tell(items.length ? "" : "Your conversations appear here.");
      this.select(this.#current);
    } catch (fault) {
      this.#tell(`Your conversations could not be listed. ${fault.message}`);
    }
  }

  /** select marks the open one. */
  select(id) {
    this.#current = id;
    for (const item of this.#list.children) {
      const open = item.dataset.conversation === id;
      item.querySelector("[data-open]").toggleAttribute("aria-current", open);
      if (open) item.querySelector("[data-open]").setAttribute("aria-current", "page");
    }
  }

  #item(item) {
    const title = item.title || item.question || "Untitled conversation";
    const open = el("a", { href: `#/c/${encodeURIComponent(item.id)}`, "data-open": true, title }, title);
    const node = el("li", { "data-conversation": item.id }, open);
    node.append(this.#deletion(item.id, title, node));
    return node;
  }

  // Two steps, because a conversation does not come back.
  #deletion(id, title, node) {
    const ask = el("button", { type: "button", class: "quiet", "data-delete": true, "aria-label": `Delete "${title}"`, title: "Delete" }, "×");
    const yes = el("button", { type: "button", class: "small danger", "data-delete-yes": true, onclick: () => this.#delete(id, node) }, "Delete");
    const no = el("button", { type: "button", class: "small", "data-delete-no": true }, "Keep");
    const sure = el("span", { class: "sure", hidden: true }, yes, no);
    const turn = (asking) => {
      show(ask, !asking);
      show(sure, asking);
      (asking ? no : ask).focus();
    };
    ask.addEventListener("click", () => turn(true));
    no.addEventListener("click", () => turn(false));
    return el("span", { class: "deletion" }, ask, sure);
  }

  async #delete(id, node) {
    try {
      await remove(`/api/conversations/${encodeURIComponent(id)}`);
    } catch (fault) {
      if (fault.status !== 404) return this.#tell(`It could not be deleted. ${fault.message}`);
    }
    node.remove();
    this.#tell(this.#list.childElementCount ? "" : "Your conversations appear here.");
    this.#host.removed(id);
  }

  #tell(words) {
    this.#note.textContent = words;
    show(this.#note, Boolean(words));
  }
}
