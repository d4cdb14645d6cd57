import { expect, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { canSearch, type Span, spansFrom } from "../../../src/core/pattern/all-matches.ts";

/** What the engine finds, one search after the other. */
function searched(engine: RE2JS, text: string): readonly Span[] {
  const matcher = engine.matcher(text);
  const spans: Span[] = [];
  while (matcher.find()) spans.push([matcher.start(), matcher.end()]);
  return spans;
}

const atom = fc.constantFrom(
  ..."abxy.^$é😀",
  ..."\\b \\B (?m:^) (?m:$) \\w \\W [ab] [^a] \\n \\z \\A (?i:k) (?s:.) \\s ()".split(" "),
);
const { source } = fc.letrec<{ source: string }>((tie) => ({
  source: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.tuple(tie("source"), tie("source")).map(([left, right]) => left + right),
    fc.tuple(tie("source"), tie("source")).map(([left, right]) => `(${left}|${right})`),
    fc
      .tuple(tie("source"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"))
      .map(([inner, repeat]) => `(?:${inner})${repeat}`),
  ),
}));
const text = fc.string({
  unit: fc.constantFrom("a", "b", "x", "y", "k", "K", "\u212a", " ", "\n", "é", "😀", "\ud800", "_", "1"),
  maxLength: 14,
});

test("spansFrom() finds what the engine finds", () => {
  fc.assert(
    fc.property(source, text, (pattern, subject) => {
      const engine = RE2JS.compile(pattern);
      expect([...spansFrom(engine.re2().prog, subject, 0)]).toEqual([...searched(engine, subject)]);
    }),
    { numRuns: 2000 },
  );
});

test("spansFrom() begins where it is told, with what stands before in sight", () => {
  const { prog } = RE2JS.compile("\\bb|^c|d").re2();
  expect([...spansFrom(prog, "ab cd", 1)]).toEqual([[4, 5]]);
  expect([...spansFrom(prog, "a b", 1)]).toEqual([[2, 3]]);
  expect([...spansFrom(prog, "ad", 2)]).toEqual([]);
});

test("a program too large for the length of a text is not searched here", () => {
  const { prog } = RE2JS.compile("[ab]{1000}[cd]{1000}").re2();
  expect(canSearch(prog, 1000)).toBe(true);
  expect(canSearch(prog, 2 ** 25)).toBe(false);
});
