import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";
import { isVerb, VERB_NAMES, VERBS } from "../../../src/core/acceptance/verbs.ts";

/** A new verb is one line here, with the reason why it reads no clock. */
const REVIEWED = [
  ["contains", "contains:x", "looks for a text in what was answered"],
  ["not_contains", "not_contains:x", "looks for the absence of a text"],
  ["regex", "regex:x", "matches a pattern against what was answered"],
  ["min_items", "min_items:f:1", "counts the elements of a list"],
  ["nonempty", "nonempty:f", "asks if a value is there"],
  ["diff_touches", "diff_touches:a", "compares path prefixes"],
  ["diff_max_files", "diff_max_files:1", "counts paths"],
] as const;

test("the verbs that are declared are those that were reviewed", () => {
  expect(Object.entries(VERBS).map(([verb, { example, reason }]) => [verb, example, reason])).toEqual(
    REVIEWED.map((row) => [...row]),
  );
  expect(VERB_NAMES).toEqual(REVIEWED.map(([verb]) => verb));
});

test("the parser accepts each reviewed verb, probed with its example", () => {
  const accepted = REVIEWED.map(([, example]) => parseCheck(example)).map((parsed) => parsed.ok && parsed.check.verb);
  expect(accepted).toEqual(REVIEWED.map(([verb]) => verb));
});

test.each([
  "within_sec",
  "max_wall_ms",
  "elapsed",
  "diff_contains",
  "equals",
  "Contains",
  "min_item",
  "not-contains",
  "constructor",
  "__proto__",
  "toString",
  "",
])("the parser accepts no verb %j", (verb) => {
  expect(isVerb(verb)).toBe(false);
  for (const rest of ["x", "f:1", "1"]) {
    const parsed = parseCheck(`${verb}:${rest}`);
    expect(!parsed.ok && parsed.error.code).toBe("unknown_verb");
  }
});

test("a word that is no reviewed verb is none for the parser", () => {
  fc.assert(
    fc.property(fc.string(), (word) => {
      fc.pre(!word.includes(":") && !REVIEWED.some(([verb]) => verb === word));
      const parsed = parseCheck(`${word}:1`);
      expect(!parsed.ok && parsed.error.code).toBe("unknown_verb");
    }),
  );
});
