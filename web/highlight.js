// @ts-check
// Colours for source text: comments, strings, numbers and keywords, told apart by
// one expression for every language. It reads no grammar, so what it is unsure of
// stays plain.

const HASH = /^(python|shell|bash|ruby|perl|r|yaml|toml|makefile|dockerfile|elixir|ini)/i;
const DASH = /^(sql|lua|haskell|ada)/i;

const WORDS = new Set(("abstract and as assert async await begin bool break case catch chan char class const continue crate def default defer del delete do double elif else end enum except export extends " +
  "extern false final finally float fn for foreach from func function global go goto if impl implements import in instanceof int interface is lambda let local long loop map match mod module mut namespace native new nil not null of or " +
  "override package pass private protected protocol pub public raise range readonly record ref return select self short static string struct super switch then this throw throws trait true try type typedef typeof union unless until unsafe " +
  "use using var virtual void where while with yield create table insert update set None True False").split(" "));

const PARTS = {
  block: String.raw`\/\*[\s\S]*?(?:\*\/|$)`,
  slashes: String.raw`\/\/[^\n]*`,
  hash: String.raw`#[^\n]*`,
  dashes: String.raw`--[^\n]*`,
  triple: String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`,
  strings: "\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'|`(?:\\\\.|[^`\\\\])*`",
  number: String.raw`\b\d[\w.]*`,
  word: String.raw`[\p{L}_$][\p{L}\p{N}_$]*`,
};

function expressionFor(language) {
  const comments = HASH.test(language) ? [PARTS.hash] : DASH.test(language) ? [PARTS.dashes, PARTS.block] : [PARTS.block, PARTS.slashes];
  return new RegExp(`(?<comment>${comments.join("|")})|(?<string>${PARTS.triple}|${PARTS.strings})|(?<number>${PARTS.number})|(?<word>${PARTS.word})`, "gu");
}

/**
 * tokensOf cuts a text into lines of [kind, text]; kind is "comment", "string",
 * "number", "keyword" or "".
 * @param {string} text
 * @param {string} language
 * @returns {[string, string][][]}
 */
export function tokensOf(text, language) {
  const lines = /** @type {[string, string][][]} */ ([[]]);
  let from = 0;
  for (const match of text.matchAll(expressionFor(language))) {
    put(lines, "", text.slice(from, match.index));
    put(lines, kindOf(match.groups), match[0]);
    from = match.index + match[0].length;
  }
  put(lines, "", text.slice(from));
  return lines;
}

function kindOf(groups) {
  if (groups.word) return WORDS.has(groups.word) ? "keyword" : "";
  return groups.comment ? "comment" : groups.string ? "string" : "number";
}

function put(lines, kind, text) {
  text.split("\n").forEach((part, i) => {
    if (i > 0) lines.push([]);
    const line = lines[lines.length - 1];
    const last = line[line.length - 1];
    if (last && last[0] === kind) last[1] += part;
    else if (part) line.push([kind, part]);
  });
}
