// @ts-check
// A small markdown renderer for untrusted text. It makes DOM nodes
// and text, never markup from strings: paragraphs, headings as bold lines, bold,
// italics, code, lists, tables, and links to http, https and mailto. Everything
// else stays the text that it is. Every pattern reads its line once, so hostile
// text costs no more than its length.

import { el } from "./dom.js";
import { t } from "./words.js";

const LONGEST = 100_000; // characters; longer text is shown as it is
const DEEPEST_LIST = 5;
const WIDEST_TABLE = 24;

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}#{1,6} +(\S.*)$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)]) +(\S.*)$/;
const RULER_CELL = /^:?-+:?$/;
const SHORT_CELL = 24; // characters

/** renderMarkdown(text) returns a fragment. */
export function renderMarkdown(text) {
  const fragment = document.createDocumentFragment();
  if (text.length > LONGEST) {
    fragment.append(el("p", { class: "plain" }, text));
    return fragment;
  }
  const lines = text.split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; ) {
    const [node, next] = block(lines, at);
    if (node) fragment.append(node);
    at = next;
  }
  return fragment;
}

// Each reader returns [node, next line], or null when its block does not start here.
function block(lines, at) {
  if (lines[at].trim() === "") return [null, at + 1];
  return fence(lines, at) ?? heading(lines, at) ?? table(lines, at) ?? list(lines, at) ?? paragraph(lines, at);
}

function fence(lines, at) {
  const open = FENCE.exec(lines[at]);
  if (!open) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].trimStart().startsWith(open[1])) end++;
  const code = lines.slice(at + 1, end).join("\n");
  return [el("pre", { tabindex: "0" }, el("code", {}, code)), end + 1];
}

function heading(lines, at) {
  const found = HEADING.exec(lines[at]);
  if (!found) return null;
  return [el("p", { class: "heading" }, el("strong", {}, inline(found[1]))), at + 1];
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines, end)) end++;
  const node = el("p");
  lines.slice(at, end).forEach((line, i) => node.append(...(i ? [el("br")] : []), ...inline(line.trim())));
  return [node, end];
}

function startsBlock(lines, at) {
  const line = lines[at];
  return line.trim() === "" || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || isTable(lines, at);
}

// ---- tables

function isTable(lines, at) {
  if (at + 1 >= lines.length || !lines[at].includes("|")) return false;
  const ruler = cells(lines[at + 1]);
  return ruler.every((cell) => RULER_CELL.test(cell)) && ruler.length === cells(lines[at]).length;
}

function table(lines, at) {
  if (!isTable(lines, at)) return null;
  const head = cells(lines[at]);
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end++;
  const rows = lines.slice(at + 2, end).map((line) => row(head, cells(line)));
  const header = el("tr", {}, head.map((text) => el("th", { scope: "col" }, inline(text))));
  const node = el("table", {}, el("thead", {}, header), el("tbody", {}, rows));
  return [el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Table") }, node), end];
}

function row(head, texts) {
  return el("tr", {}, head.map((_, i) => cell(texts[i] ?? "")));
}

// A date or a name is not broken: the table scrolls instead.
function cell(text) {
  return el("td", { class: text.length > SHORT_CELL ? "long" : null }, inline(text));
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/, WIDEST_TABLE).map((text) => text.trim()); // an escaped bar is a part of its cell
}

// ---- lists

function list(lines, at) {
  if (!ITEM.test(lines[at])) return null;
  const open = []; // the lists that are open, outermost first: {node, indent}
  let end = at;
  for (; end < lines.length; end++) {
    const item = ITEM.exec(lines[end]);
    if (item) add(open, item);
    else if (!continues(lines, end)) break;
    else open.at(-1).node.lastChild.append(el("br"), ...inline(lines[end].trim()));
  }
  return [open[0].node, end];
}

// An indented line that is no item belongs to the item above it.
function continues(lines, at) {
  return /^ {2,}\S/.test(lines[at]) && !FENCE.test(lines[at]);
}

/** @param {any[]} open @param {any} item */
function add(open, item) {
  const [, spaces, mark, text] = item;
  const indent = spaces.length;
  while (open.length > 1 && indent < open.at(-1).indent) open.pop();
  const inner = open.at(-1);
  if (!inner || (indent >= inner.indent + 2 && open.length < DEEPEST_LIST)) {
    const node = el(/\d/.test(mark) ? "ol" : "ul", { start: /^\d/.test(mark) && parseInt(mark) !== 1 ? parseInt(mark) : null });
    inner?.node.lastChild.append(node);
    open.push({ node, indent });
  }
  open.at(-1).node.append(el("li", {}, inline(text)));
}

// ---- inside a line

// Each alternative stops at its own mark, so that no text is read twice.
const INLINE = new RegExp(
  [
    /\\(?<escaped>[\\`*_{}[\]()#+\-.!|~<>:])/,
    /(?<ticks>`{1,3})(?<code>[^`]+)\k<ticks>(?!`)/,
    /\*\*(?=\S)(?<bold>(?:\\.|[^*\\]|\*(?!\*))+)\*\*/,
    /(?<!\w)__(?=\S)(?<bold2>(?:\\.|[^_\\])+)__(?!\w)/,
    /\*(?=[^\s*])(?<italic>(?:\\.|[^*\\])+)\*(?!\*)/,
    /(?<!\w)_(?=\S)(?<italic2>(?:\\.|[^_\\])+)_(?!\w)/,
    /(?<!!)\[(?<label>[^[\]]+)\]\((?<target>[^()\s]+)\)/,
    /(?<![\w/])(?<url>https?:\/\/[^\s<>()[\]"'`*|]+)/,
  ].map((part) => part.source).join("|"),
  "g",
);

function inline(text, nested = false) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(span(match, nested));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

function span(match, nested) {
  const { escaped, code, bold, bold2, italic, italic2, label, target, url } = match.groups;
  if (escaped) return escaped;
  if (code) return el("code", {}, code);
  if (label) return link(label, target) ?? match[0];
  if (url) return bareLink(url);
  if (nested) return match[0]; // bold in italics in bold … ends here
  if (bold ?? bold2) return el("strong", {}, inline(bold ?? bold2, true));
  return el("em", {}, inline(italic ?? italic2, true));
}

/** safeLink returns the URL of an address that a reader may follow, or null. */
export function safeLink(address) {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return null;
  try {
    const url = new URL(address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

// The host is shown beside a label, because the label may lie about it.
function link(label, target) {
  const url = safeLink(target);
  if (!url) return null;
  const address = url.protocol === "mailto:" ? url.pathname : url.host;
  const beside = label.includes(address) ? null : el("span", { class: "host" }, ` (${address})`);
  return el("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, label, beside);
}

function bareLink(text) {
  const address = withoutStop(text);
  const url = safeLink(address);
  if (!url) return text;
  const node = el("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, address);
  return address === text ? node : el("span", {}, node, text.slice(address.length));
}

// The full stop after an address belongs to the sentence.
function withoutStop(text) {
  let end = text.length;
  while (end > 0 && ".,;:!?".includes(text[end - 1])) end--;
  return text.slice(0, end);
}
