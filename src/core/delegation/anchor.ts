/**
 * A term or figure that a contract's documents have and its goal has not: what a check can be anchored on.
 */
import { redact } from "../record/redact.ts";
import { piecesOf } from "./name-only.ts";
import { speedTerm } from "./speed.ts";

/** Longer words are digests, addresses and keys rather than terms; shorter ones stand everywhere. */
const LONGEST = 40;
const SHORTEST = 3;
/** As many of the best words are held against the goal. */
const TRIED = 100;

/**
 * The best anchor: figures and identifiers before plain words, then the rarest, then the longest, then by code unit.
 *
 * Never a word that is shaped like a secret, since lint is printed, and never a speed term.
 *
 * @returns null where the documents have no word of that kind that the goal has not
 * Errors:  none. Time is linear in goal and documents
 */
export function findAnchor(goal: string, documents: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const document of documents) {
    for (const { isWord, text } of piecesOf(document)) {
      if (isWord && text.length <= LONGEST && text.length >= SHORTEST) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  for (const { isWord, text } of piecesOf(goal)) if (isWord) counts.delete(text);
  const words = [...counts].map(([word, count]) => ({ word, count, rank: isTerm(word) ? 0 : 1 }));
  words.sort(
    (left, right) =>
      left.rank - right.rank ||
      left.count - right.count ||
      right.word.length - left.word.length ||
      (left.word < right.word ? -1 : 1),
  );
  const found = words.slice(0, TRIED).find(({ word }) => !goal.includes(word) && isFit(word));
  return found?.word ?? null;
}

/** A figure or an identifier: it has a digit, a sign inside, or a capital behind a small letter. */
function isTerm(word: string): boolean {
  return /[0-9_./-]/.test(word) || /[a-z][A-Z]/.test(word);
}

function isFit(word: string): boolean {
  return speedTerm(`contains:${word}`) === null && redact(word, "output") === word;
}
