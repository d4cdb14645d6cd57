/**
 * The reviewed list of verbs. Acceptance has no time criterion, so a verb stands here with the reason why it reads no
 * clock; one that would read a clock has no such reason and does not get in.
 */
import type { Verb } from "./check.ts";

export type ReviewedVerb = {
  /** What it looks at. */
  readonly reads: string;
  /** A line that parses. */
  readonly example: string;
  /** Why it reads no clock. */
  readonly reason: string;
};

export const VERBS = {
  contains: {
    reads: "answer text, structured values, documents",
    example: "contains:x",
    reason: "looks for a text in what was answered",
  },
  not_contains: {
    reads: "answer text, structured values",
    example: "not_contains:x",
    reason: "looks for the absence of a text",
  },
  regex: {
    reads: "answer text, structured values, documents",
    example: "regex:x",
    reason: "matches a pattern against what was answered",
  },
  min_items: { reads: "structured", example: "min_items:f:1", reason: "counts the elements of a list" },
  nonempty: { reads: "structured", example: "nonempty:f", reason: "asks if a value is there" },
  diff_touches: {
    reads: "names in the write set",
    example: "diff_touches:a",
    reason: "compares path prefixes",
  },
  diff_max_files: { reads: "size of the write set", example: "diff_max_files:1", reason: "counts paths" },
} as const satisfies Readonly<Record<Verb, ReviewedVerb>>;

/** All verbs, in the order of the list. */
export const VERB_NAMES: readonly Verb[] = Object.keys(VERBS) as Verb[];

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERBS, word);
}
