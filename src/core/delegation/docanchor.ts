/**
 * The document fingerprint that `--fingerprint` adds: words of a contract's own documents of which a right answer will
 * hardly have none. A tripwire for the wrong document, and no measure of an answer.
 *
 * Source: delegation run, section 4.9
 */
import type { Document } from "./document.ts";
import { STOP_WORDS } from "./stop-words.ts";

const LEAST_WORDS = 6;
const MOST_WORDS = 24;
const SHORTEST = 6;
/** Longer ones are no words. */
const LONGEST = 40;
/** A line with as many words is prose; a heading may be shorter. */
const PROSE_WORDS = 5;

export type DocAnchor =
  | { readonly ok: true; readonly check: string }
  /** Too few words to tell the documents by. */
  | { readonly ok: false; readonly found: number };

/**
 * The check for one contract.
 *
 * Words are taken from prose and headings outside of fenced code, folded, most frequent first and then in the order of
 * the text.
 *
 * Errors: none. Time is linear in goal and documents
 */
export function docAnchorOf(goal: string, documents: readonly Document[]): DocAnchor {
  const asked = new Set(wordsOf(goal).map((word) => word.toLowerCase()));
  const counts = new Map<string, number>();
  for (const { text } of documents) {
    for (const line of proseOf(text)) {
      for (const word of wordsOf(line)) {
        const folded = word.toLowerCase();
        if (isTelling(word) && !asked.has(folded)) counts.set(folded, (counts.get(folded) ?? 0) + 1);
      }
    }
  }
  if (counts.size < LEAST_WORDS) return { ok: false, found: counts.size };
  // The sort is stable: words that are as frequent stay in the order of the text.
  const words = [...counts].sort(([, left], [, right]) => right - left).slice(0, MOST_WORDS);
  return { ok: true, check: `regex:(?i)(?P<docanchor>${words.map(([word]) => word).join("|")})` };
}

function proseOf(text: string): readonly string[] {
  const lines: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1] ?? "";
    if (mark !== "" && (fence === "" || fence === mark)) fence = fence === "" ? mark : "";
    else if (fence === "" && (/^ {0,3}#{1,6}\s/.test(line) || hasWords(line))) lines.push(line);
  }
  return lines;
}

function hasWords(line: string): boolean {
  let found = 0;
  for (const _ of line.matchAll(/[A-Za-z]{2,}/g)) if (++found >= PROSE_WORDS) return true;
  return false;
}

/** Words with what is glued to them: `max_steps`, `gpt4` and `a-b` come whole, so that no part of them counts as a word. */
function wordsOf(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+(?:[./:-][\p{L}\p{N}_]+)*/gu) ?? [];
}

/** Plain letters, long enough, no capital inside, and not a word that stands in any text. */
function isTelling(word: string): boolean {
  return (
    word.length >= SHORTEST &&
    word.length <= LONGEST &&
    /^[A-Za-z][a-z]+$/.test(word) &&
    !STOP_WORDS.has(word.toLowerCase())
  );
}
