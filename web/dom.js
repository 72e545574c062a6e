// @ts-check
// The one way this page makes elements. Content is only ever a node or text, so
// nothing that a server, a model or a row says can become markup. A function in the
// place of an attribute or a child is drawn again when what it reads has changed.

import { effect } from "./reactive.js";

const SVG = "http://www.w3.org/2000/svg";

/** at("send") is the element of the page's own markup. @param {string} id @returns {any} */
export const at = (id) => document.getElementById(id);

/**
 * el("p", {class: "hint", onclick}, "text", node, () => text) makes an element.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...any} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** svgEl is el for the elements of drawings. @param {string} tag @param {Record<string, any>} attributes @param {...any} children @returns {any} */
export function svgEl(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) bind(node, name, value);
  for (const child of children.flat()) add(node, child);
  return node;
}

/** bind sets an attribute, or keeps it in step with what a function reads. @param {any} node @param {string} name @param {any} value */
export function bind(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (typeof value === "function") effect(() => set(node, name, value()));
  else set(node, name, value);
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return node.removeAttribute(name);
  const text = value === true ? "" : String(value);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/** add appends a child: text, a node, or a function that gives them. @param {any} parent @param {any} child */
export function add(parent, child) {
  if (child === null || child === undefined || child === false) return;
  if (typeof child === "function") dynamic(parent, child);
  else parent.append(child);
}

// What a function gives lies before a mark of its own.
function dynamic(parent, give) {
  const mark = document.createTextNode("");
  parent.append(mark);
  let now = [];
  effect(() => {
    const next = [give()].flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
    if (next.length === 1 && now.length === 1 && typeof next[0] === "string" && now[0] instanceof Text) {
      if (now[0].data !== next[0]) now[0].data = next[0];
      return;
    }
    const nodes = next.map((one) => (one instanceof Node ? one : document.createTextNode(String(one))));
    for (const node of now) if (!nodes.includes(node) && node.parentNode === mark.parentNode) node.remove(); // it may be a part of the new ones
    for (const node of nodes) mark.parentNode?.insertBefore(node, mark);
    now = nodes;
  });
}

const PATHS = {
  check: "M4 10.5l4 4 8-9",
  cross: "M5.5 5.5l9 9m0-9l-9 9",
  pen: "M4 16.5l.8-3.6 8.6-8.6 2.8 2.8-8.6 8.6zM11.6 6.1l2.8 2.8M12 16.5h4.5",
  lock: "M5.5 9.5h9v6h-9zM7.5 9.5V7a2.5 2.5 0 015 0v2.5",
  trash: "M4.5 6h11M8 6V4.5h4V6M6 6l.7 9.5h6.6L14 6M8.6 8.7v4.2m2.8-4.2v4.2",
  warn: "M10 4l6.8 11.5H3.2zM10 8.2v3.3m0 2v.1",
  chevron: "M7.5 5.5L12 10l-4.5 4.5",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  bell: "M5.5 14h9l-1.2-1.8V9a3.3 3.3 0 00-6.6 0v3.2zM8.7 16.2a1.4 1.4 0 002.6 0",
  stamp: "M10 3.2l6 2.4v4.2c0 3.5-2.6 6-6 7-3.4-1-6-3.5-6-7V5.6zM7.2 9.8l2 2 3.6-3.8",
  search: "M9 4a5 5 0 110 10A5 5 0 019 4zm3.7 8.7L17 17",
  sort: "M6.5 8L10 4.5 13.5 8M6.5 12l3.5 3.5 3.5-3.5",
};

/** icon("check") makes a decorative icon; the words beside it carry the meaning. @param {keyof typeof PATHS} name */
export function icon(name) {
  return svgEl("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, svgEl("path", { d: PATHS[name] }));
}

/** show(node, false) hides an element. @param {any} node @param {boolean} visible */
export function show(node, visible = true) {
  node.hidden = !visible;
}

// Characters that change how others look, or that are not seen: the controls, the
// direction marks, the joiners, the tags.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * data shows a text that others wrote: isolated from the direction of what is around
 * it, with characters that cannot be seen drawn as their code.
 * @param {unknown} text
 * @returns {any}
 */
export function data(text) {
  const whole = String(text);
  const node = el("bdi");
  let from = 0;
  for (const match of whole.matchAll(UNSEEN)) {
    if (match.index > from) node.append(...softly(whole.slice(from, match.index)));
    node.append(el("span", { class: "unseen", title: codeOf(match[0]) }, codeOf(match[0])));
    from = match.index + match[0].length;
  }
  node.append(...softly(whole.slice(from)));
  return node;
}

// An address goes on in the next line after its @, before it is broken anywhere.
const softly = (text) => text.split(/(?<=\S@)(?=\S)/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
