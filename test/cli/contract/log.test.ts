import { expect, test } from "bun:test";
import { entryLines } from "../../../src/cli/contract/log.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

test.each<{ before?: JsonValue; after?: JsonValue; lines: readonly string[]; rule: string }>([
  { before: [], after: ["x"], lines: ['+ p[0]: "x"'], rule: "a list that grew from nothing" },
  { before: ["a"], after: ["a", { k: 1 }, "c"], lines: ['+ p[1]: {"k":1}', '+ p[2]: "c"'], rule: "each new entry" },
  { before: ["a", "b"], after: ["a", "x"], lines: ['~ p[1]: "b" -> "x"'], rule: "the first place that differs" },
  { before: ["a", "b", "c"], after: ["x", "y", "z"], lines: ['~ p[0]: "a" -> "x"'], rule: "the first alone" },
  { before: ["a", "b"], after: ["a"], lines: ['- p[1]: "b" (2 -> 1 entry)'], rule: "a list that lost its end" },
  {
    before: ["a", "b"],
    after: ["b"],
    lines: ['~ p[0]: "a" -> "b" (2 -> 1 entry)'],
    rule: "and one that lost its start",
  },
  { before: ["a"], after: [], lines: ['- p[0]: "a" (1 -> 0 entries)'], rule: "a list that was cleared" },
  {
    before: ["a"],
    after: ["b", "a"],
    lines: ['~ p[0]: "a" -> "b" (1 -> 2 entries)'],
    rule: "one that grew at its start",
  },
  { before: [null], after: [], lines: ["- p[0]: null (1 -> 0 entries)"], rule: "null is an entry" },
  { before: ["a"], after: ["a", null], lines: ["+ p[1]: null"], rule: "null is a new entry" },
  { before: null, after: ["a"], lines: ['~ p: null -> ["a"]'], rule: "what was no list" },
  { before: ["a"], after: "a", lines: ['~ p: ["a"] -> "a"'], rule: "what is no list any more" },
  { after: ["a"], lines: ['+ p: ["a"]'], rule: "a list that was not there" },
  { before: ["a"], lines: ['- p: ["a"]'], rule: "a list that went" },
])("entryLines() shows $rule", ({ lines, rule: _, ...sides }) => {
  expect(entryLines({ path: "p", ...sides })).toEqual(lines);
});

test("entryLines() cuts a long entry", () => {
  const [line = ""] = entryLines({ path: "p", before: [], after: ["x".repeat(200)] });
  expect(line).toBe(`+ p[0]: "${"x".repeat(98)}…`);
});
