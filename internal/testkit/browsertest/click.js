// Finds the first visible element that matches, and gives the point at which it
// receives a click once it rests, with a filter that keeps the events from all
// others; or says why it cannot be clicked yet.
async (selector) => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = () => Promise.race([new Promise(requestAnimationFrame), pause(250)]); // a window may get no frames
  const later = async (why) => pause(50).then(() => ({ why }));

  const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
  const target = [...document.querySelectorAll(selector)].find(shown);
  if (!target) return later("nothing visible matches");
  target.scrollIntoViewIfNeeded(); // some things can be clicked when they were seen
  if (target.matches(":disabled, [aria-disabled=true]")) return later("it is disabled");

  const box = () => target.getClientRects()[0]; // of a link over several lines, the first
  const place = () => JSON.stringify(box() ?? null);
  await frame();
  const before = place();
  await frame();
  if (!box() || place() !== before) return { why: "it moves" };

  const middle = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2;
  const x = middle(box().left, box().right, innerWidth);
  const y = middle(box().top, box().bottom, innerHeight);
  const receives = (node) => target.contains(node) || node?.closest?.("label")?.control === target;
  const hit = document.elementFromPoint(x, y);
  if (!receives(hit)) return later("it is covered by " + (hit?.cloneNode(false).outerHTML ?? "the edge of the window"));

  globalThis.clicked?.(); // an attempt whose answer was lost
  let landed = false;
  const filter = (event) => {
    if (receives(event.target)) {
      landed ||= event.type === "click";
      return;
    }
    event.preventDefault(); // what lies there by now must not change anything
    event.stopImmediatePropagation();
  };
  const events = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  for (const type of events) addEventListener(type, filter, true);
  globalThis.clicked = () => {
    for (const type of events) removeEventListener(type, filter, true);
    delete globalThis.clicked;
    return landed;
  };
  return { x, y, why: "" };
}
