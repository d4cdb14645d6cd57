/**
 * Finding every list named `acceptance` in a JSON text, in two ways that know nothing of each other: a walk through the
 * parsed text, and a scan of its string tokens. A file that one of them misses shows where they differ.
 */
import type { SourceNode } from "../json/source.ts";
import { foldName } from "./fold.ts";
import { pointerTo } from "./pointer.ts";

/** A value under a key `acceptance`, in whatever case, at whatever depth. */
export type AcceptanceValue = { readonly path: string; readonly value: SourceNode };

/**
 * Walks a parsed text.
 *
 * @returns in the order of the text, each with its JSON pointer; what stands inside such a value is walked as well
 */
export function findAcceptance(node: SourceNode): readonly AcceptanceValue[] {
  const found: AcceptanceValue[] = [];
  const open: AcceptanceValue[] = [{ path: "", value: node }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    const inner: AcceptanceValue[] = [];
    if (value.kind === "array") {
      for (const [index, item] of value.items.entries()) inner.push({ path: pointerTo(path, index), value: item });
    } else if (value.kind === "object") {
      for (const member of value.members) {
        const place = { path: pointerTo(path, member.key), value: member.value };
        if (foldName(member.key) === "acceptance") found.push(place);
        inner.push(place);
      }
    }
    open.push(...inner.reverse());
  }
  return found.sort((left, right) => left.value.start - right.value.start);
}

/**
 * Scans a text for a string token that is followed by white space and a colon and spells `acceptance`, in whatever case
 * and with whatever escapes. It knows strings and nothing else of JSON, so that it sees into a text that does not parse.
 *
 * Errors: none, whatever the text. Time is linear in the text
 */
export function mentionsAcceptance(text: string): boolean {
  let at = text.indexOf('"');
  while (at >= 0) {
    const end = closingQuote(text, at + 1);
    if (end < 0) return false;
    // Ten escapes of six characters are the longest spelling of the word.
    const isShort = end - at <= 61;
    if (isShort && /^[ \t\r\n]*:/.test(text.slice(end + 1, blanksEnd(text, end + 1) + 1))) {
      // Its own folding: no character outside of ASCII folds to a letter of this word.
      if (decode(text.slice(at + 1, end)).toUpperCase() === "ACCEPTANCE") return true;
    }
    at = text.indexOf('"', end + 1);
  }
  return false;
}

function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === '"') return at;
  }
  return -1;
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(text[at] ?? "x")) at += 1;
  return at;
}

function decode(token: string): string {
  return token.replace(/\\u([0-9A-Fa-f]{4})|\\(.)/gs, (whole, hex: string | undefined) =>
    hex === undefined ? whole : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
