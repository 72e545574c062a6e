// The one way this page makes elements. Content is only ever a node or text, so
// nothing that a server, a model or a row says can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** el("p", {class: "hint", onclick}, "text", node) makes an element. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else node.setAttribute(name, value === true ? "" : String(value));
}

const PATHS = {
  check: "M4 10.5l4 4 8-9",
  cross: "M5.5 5.5l9 9m0-9l-9 9",
  pen: "M4 16.5l.8-3.6 8.6-8.6 2.8 2.8-8.6 8.6zM11.6 6.1l2.8 2.8M12 16.5h4.5",
  lock: "M5.5 9.5h9v6h-9zM7.5 9.5V7a2.5 2.5 0 015 0v2.5",
  trash: "M4.5 6h11M8 6V4.5h4V6M6 6l.7 9.5h6.6L14 6M8.6 8.7v4.2m2.8-4.2v4.2",
  warn: "M10 4l6.8 11.5H3.2zM10 8.2v3.3m0 2v.1",
  chevron: "M7.5 5.5L12 10l-4.5 4.5",
};

/** icon("check") makes a decorative icon; the words beside it carry the meaning. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of [["viewBox", "0 0 20 20"], ["class", "icon"], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** show(node, false) hides an element. */
export function show(node, visible = true) {
  node.hidden = !visible;
}

/** counted(3, "row") says "3 rows". */
export function counted(count, noun) {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
