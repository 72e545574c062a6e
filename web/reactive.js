// @ts-check
// The reactive core: values, values derived from them, and effects that run again
// when what they read has changed, once per frame. Everything that the page draws
// is an effect over the store.

/** @typedef {{ readers: Set<Reader> }} Source @typedef {{ stale: () => void, sources: Set<Source> }} Reader */

/** @type {Reader | null} */
let reading = null; // the computation that runs now
/** @type {(() => void)[] | null} */
let owned = null; // the disposers of the scope that is being built

/** @param {Source} source */
function track(source) {
  if (!reading) return;
  source.readers.add(reading);
  reading.sources.add(source);
}

/** @param {Reader} reader */
function forget(reader) {
  for (const source of reader.sources) source.readers.delete(reader);
  reader.sources.clear();
}

/**
 * signal holds a value. Reading `.value` inside of an effect or a computed value
 * makes it depend on the signal; `peek()` does not.
 * @template T
 * @param {T} value
 */
export function signal(value) {
  /** @type {Source} */
  const source = { readers: new Set() };
  return {
    get value() {
      track(source);
      return value;
    },
    set value(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const reader of [...source.readers]) reader.stale();
    },
    peek: () => value, /** update sets the value to what `change` makes of it. @param {(value: T) => T} change */
    update(change) {
      this.value = change(value);
    },
  };
}

/**
 * computed is a value that is derived from others. It is computed when it is read
 * for the first time after a change, and not before.
 * @template T
 * @param {() => T} derive
 */
export function computed(derive) {
  /** @type {T} */
  let value;
  let fresh = false;
  /** @type {Source} */
  const source = { readers: new Set() };
  /** @type {Reader} */
  const reader = {
    sources: new Set(),
    stale() {
      if (!fresh) return;
      fresh = false;
      for (const next of [...source.readers]) next.stale();
    },
  };
  const refresh = () => {
    if (fresh) return;
    forget(reader);
    value = within(reader, null, derive);
    fresh = true;
  };
  return {
    get value() {
      refresh();
      track(source);
      return value;
    },
    peek() {
      refresh();
      return value;
    },
  };
}

// within runs a function as a reader, with a list for the disposers of what it makes.
/** @template T @param {Reader | null} reader @param {(() => void)[] | null} disposers @param {() => T} run */
function within(reader, disposers, run) {
  const before = { reading, owned };
  reading = reader;
  owned = disposers;
  try {
    return run();
  } finally {
    ({ reading, owned } = before);
  }
}

/** untracked reads without becoming dependent. @template T @param {() => T} read @returns {T} */
export const untracked = (read) => within(null, owned, read);

/**
 * scope runs a function and collects the effects that it makes.
 * @template T
 * @param {() => T} build
 * @returns {{ value: T, dispose: () => void }}
 */
export function scope(build) {
  /** @type {(() => void)[]} */
  const disposers = [];
  const value = within(null, disposers, build);
  return { value, dispose: () => disposeAll(disposers) };
}

/** @param {(() => void)[]} disposers */
function disposeAll(disposers) {
  for (const dispose of disposers.splice(0)) dispose();
}

/** onDispose runs a function when the scope, or the run of the effect, ends in which it is called. @param {() => void} end */
export function onDispose(end) {
  owned?.push(end);
}

// ---- effects, once per frame

let made = 0;
/** @type {Map<number, () => void>} */
const waiting = new Map(); // effects that are stale, by the order in which they were made
const ROUNDS = 100; // of one flush; more is a cycle
const LONGEST_FRAME_MS = 100; // a hidden window gets no frames

/**
 * effect runs a function now, and again in the next frame after something that it
 * read has changed. What it made in the run before is disposed of first.
 * @param {() => void} run
 * @returns {() => void} dispose
 */
export function effect(run) {
  const order = ++made;
  /** @type {(() => void)[]} */
  const disposers = [];
  let ended = false;
  /** @type {Reader} */
  const reader = { sources: new Set(), stale: () => schedule(order, again) };
  const again = () => {
    if (ended) return;
    forget(reader);
    disposeAll(disposers);
    within(reader, disposers, run);
  };
  const dispose = () => {
    ended = true;
    waiting.delete(order);
    forget(reader);
    disposeAll(disposers);
  };
  onDispose(dispose);
  again();
  return dispose;
}

let planned = false;

/** @param {number} order @param {() => void} run */
function schedule(order, run) {
  waiting.set(order, run);
  if (planned) return;
  planned = true;
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    flush();
  };
  requestAnimationFrame(once);
  setTimeout(once, LONGEST_FRAME_MS);
}

/** flush runs what waits for the next frame now. */
export function flush() {
  for (let round = 0; waiting.size > 0; round++) {
    if (round === ROUNDS) {
      waiting.clear();
      planned = false;
      throw new Error("an effect changes what it reads");
    }
    const runs = [...waiting].sort(([a], [b]) => a - b); // outer effects dispose of inner ones
    waiting.clear();
    for (const [, run] of runs) attempt(run);
  }
  planned = false;
}

// One effect that fails must not keep the others from running.
/** @param {() => void} run */
function attempt(run) {
  try {
    run();
  } catch (cause) {
    reportError(cause);
  }
}

/**
 * list keeps the children of a node in step with a list. Each item is made once per
 * key, and moved or removed with its item; `make` gets a function that reads the
 * newest item of the key.
 * @template T
 * @param {Node} parent
 * @param {() => Iterable<T>} items
 * @param {(item: T) => unknown} key
 * @param {(item: () => T) => Node} make
 */
export function list(parent, items, key, make) {
  /** @type {Map<unknown, { node: Node, item: { value: T }, dispose: () => void }>} */
  const shown = new Map();
  onDispose(() => shown.forEach(({ dispose }) => dispose()));
  effect(() => {
    const wanted = new Map([...items()].map((item) => [key(item), item]));
    const held = /** @type {any} */ (parent.contains(document.activeElement) ? document.activeElement : null);
    for (const [name, old] of shown) {
      if (wanted.has(name)) continue;
      old.dispose();
      old.node.parentNode?.removeChild(old.node);
      shown.delete(name);
    }
    let place = parent.firstChild;
    for (const [name, item] of wanted) {
      const entry = shown.get(name) ?? begin(item);
      shown.set(name, entry);
      entry.item.value = item;
      if (entry.node === place) place = place.nextSibling;
      else parent.insertBefore(entry.node, place);
    }
    if (held?.isConnected && held !== document.activeElement) held.focus({ preventScroll: true }); // what moves loses the focus
  });
  /** @param {T} first */
  function begin(first) {
    const item = signal(first);
    const made = scope(() => make(() => item.value));
    return { node: made.value, item, dispose: made.dispose };
  }
}
