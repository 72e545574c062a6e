// @ts-check
// The digest of what a card shows. The gateway compares it before an answer
// counts, so that an answer to anything else than what was drawn here is rejected.

// What a server adds to a card on its way; the digest does not cover it.
const ADDED = ["digest", "expiresAt", "approvalUrl"];

/**
 * digestOf returns the SHA-256, in hex, of the canonical JSON (RFC 8785) of the
 * card's message and data; nothing where the browser offers no digest, which is
 * on a page that came over plain http from another machine.
 */
export async function digestOf({ message = "", confirmationData = {} }) {
  if (!globalThis.crypto?.subtle) return "";
  const drawn = Object.entries(confirmationData).filter(([key]) => !ADDED.includes(key));
  const text = canonical({ message, confirmationData: Object.fromEntries(drawn) });
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// JSON.stringify writes numbers and text as RFC 8785 has them, and sort compares
// keys by UTF-16 units as it asks; only the order of the keys is left.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${pairs.join(",")}}`;
}
