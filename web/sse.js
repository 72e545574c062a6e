// @ts-check
// Reads a server-sent event stream from a fetch body. The browser's own
// EventSource can neither POST a question nor say why it failed.

/** The silence after which a stream counts as lost: three missed heartbeats. */
export const SILENCE_MS = 45_000;

/**
 * Yields {id, event, data} for each event of a ReadableStream of bytes, as the
 * HTML standard parses them: any line end, comments ignored, data lines joined,
 * an unfinished event at the end dropped. Unlike there, the id is the event's
 * own: one without an id is in no log, and nothing can be resumed behind it.
 */
export async function* parseEvents(stream, silence = SILENCE_MS) {
  const feed = new Feed();
  for await (const text of decoded(stream, silence)) yield* feed.push(text);
}

async function* decoded(stream, silence) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), silence);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {}); // the stream may have failed already
  }
}

async function unlessSilent(read, silence) {
  let timer;
  const silent = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the stream fell silent")), silence);
  });
  try {
    return await Promise.race([read, silent]);
  } finally {
    clearTimeout(timer);
  }
}

class Feed {
  #rest = "";
  #first = true;
  #id = "";
  #event = "";
  #data = [];

  *push(text) {
    this.#rest += text;
    for (let line = this.#line(); line !== null; line = this.#line()) {
      const event = this.#take(line);
      if (event) yield event;
    }
  }

  // A carriage return at the very end may be half of a CRLF: it waits.
  #line() {
    const end = this.#rest.search(/\r\n|\n|\r(?!$)/);
    if (end < 0) return null;
    const length = this.#rest.startsWith("\r\n", end) ? 2 : 1;
    let line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + length);
    if (this.#first && line.startsWith("\uFEFF")) line = line.slice(1);
    this.#first = false;
    return line;
  }

  #take(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    if (field === "event") this.#event = value;
    if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch() {
    const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const empty = this.#data.length === 0;
    this.#data = [];
    this.#event = this.#id = "";
    return empty ? null : event;
  }
}
