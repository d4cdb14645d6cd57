import { expect, test } from "bun:test";
import fc from "fast-check";
import { occursInAny } from "../../../src/core/acceptance/occurrence.ts";

const letters = fc.constantFrom("a", "b", "c", "😀", "\ud800");
const needle = fc.string({ unit: letters, minLength: 1, maxLength: 5 });

test("occursInAny() answers as looking for each text alone does", () => {
  fc.assert(
    fc.property(
      fc.array(needle, { maxLength: 60 }),
      fc.array(fc.string({ unit: letters, maxLength: 12 }), { maxLength: 3 }),
      (needles, documents) => {
        const alone = needles.some((each) => documents.some((document) => document.includes(each)));
        expect(occursInAny(needles, documents)).toBe(alone);
      },
    ),
    { numRuns: 1000 },
  );
});

/** Enough of them that none of the texts behind is looked for alone. */
const many = Array.from({ length: 40 }, (_, index) => `q${index}q`);

test.each([
  { name: "nothing to look for", needles: [], documents: ["a"], found: false },
  { name: "nothing to look in", needles: ["a"], documents: [], found: false },
  {
    name: "one that is a suffix of the beginning of another",
    needles: [...many, "abcx", "bc"],
    documents: ["abcd"],
    found: true,
  },
  { name: "one that is found after a false start", needles: [...many, "aab"], documents: ["aaab"], found: true },
  { name: "one that spans two documents", needles: [...many, "ab"], documents: ["a", "b"], found: false },
])("$name", ({ needles, documents, found }) => {
  expect(occursInAny(needles, documents)).toBe(found);
});

test("no further text is asked for once one is found", () => {
  function* needles(): Iterable<string> {
    yield "a";
    throw new Error("asked for too much");
  }
  expect(occursInAny(needles(), ["cat"])).toBe(true);
});
