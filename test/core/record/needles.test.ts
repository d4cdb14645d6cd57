import { expect, test } from "bun:test";
import fc from "fast-check";
import { findNeedles } from "../../../src/core/record/needles.ts";

/** Every character that an occurrence covers, found one needle and one place at a time. */
function coveredBy(needles: readonly string[], text: string): readonly boolean[] {
  const covered = Array.from({ length: text.length }, () => false);
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
      covered.fill(true, at, at + needle.length);
  }
  return covered;
}

test("findNeedles() covers what the needles cover, each place once and in order", () => {
  const letters = fc.constantFrom("a", "b", "ab", "é");
  const word = (min: number, max: number) =>
    fc.array(letters, { minLength: min, maxLength: max }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(word(2, 6), { maxLength: 6 }), word(0, 30), (needles, text) => {
      const spans = findNeedles(needles)(text);
      const covered = Array.from({ length: text.length }, () => false);
      let last = 0;
      for (const [start, end] of spans) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        covered.fill(true, start, end);
        last = end;
      }
      expect(covered).toEqual([...coveredBy(needles, text)]);
    }),
    { numRuns: 2000 },
  );
});

test("findNeedles() leaves neighbours apart and joins what overlaps", () => {
  const find = findNeedles(["abab", "bb"]);
  expect(find("abababab")).toEqual([[0, 8]]);
  expect(find("bbbb")).toEqual([[0, 4]]);
  expect(find("ababxabab")).toEqual([
    [0, 4],
    [5, 9],
  ]);
  expect(findNeedles(["abc"])("abcabc")).toEqual([
    [0, 3],
    [3, 6],
  ]);
});

test("findNeedles() of no needle finds nothing", () => {
  expect(findNeedles([])("text")).toEqual([]);
});
