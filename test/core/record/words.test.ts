import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { quoteWords, splitWords } from "../../../src/core/record/words.ts";

describe("splitWords()", () => {
  test.each<[string, readonly string[]]>([
    ["a  b\tc", ["a", "b", "c"]],
    ["a'b c'd", ["ab cd"]],
    ["a\"b c\"'d'", ["ab cd"]],
    ["''", [""]],
    ['a "" b', ["a", "", "b"]],
    ['"\\"\\\\\\$\\`\\x"', ['"\\$`\\x']],
    ['"$a `b` | *"', ["$a `b` | *"]],
    ["'$a\n`b`'", ["$a\n`b`"]],
    ["a\\ b \\$c \\| \\'", ["a b", "$c", "|", "'"]],
    ["''#a ''~b", ["#a", "~b"]],
    ["\\#a \\~b", ["#a", "~b"]],
    ["a#b c~d", ["a#b", "c~d"]],
    ["a]{}!^%=b", ["a]{}!^%=b"]],
  ])("of %j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test.each([
    ...[
      "a | b",
      "a & b",
      "a; b",
      "a < b",
      "a > b",
      "(a",
      "a)",
      "a `b",
      "a $b",
      "a\nb",
      "a*",
      "a?",
      "a[b",
      "#a",
      "a #",
      "~",
      "a ~b",
    ],
    ...["'a", '"a', '"a\\"', "a\\"],
  ])("cannot split %j", (text) => {
    expect(splitWords(text)).toBeNull();
  });
});

test("quoteWords() quotes a word with an unusual character, and an empty one", () => {
  expect(quoteWords(["A=1", "a_@%+=:,./-Z9", "", "a b", "~", "it's"])).toBe(
    `A=1 a_@%+=:,./-Z9 '' 'a b' '~' 'it'"'"'s'`,
  );
});

test("splitWords(quoteWords(argv)) is argv", () => {
  const char = fc.oneof(
    fc.constantFrom(..."'\"\\$`|&;<>()*?[]#~ \t\n=a-"),
    fc.string({ unit: "binary", maxLength: 2 }),
  );
  const word = fc.array(char, { maxLength: 8 }).map((parts) => parts.join("").replaceAll("\0", ""));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (argv) => {
      expect(splitWords(quoteWords(argv))).toEqual(argv);
    }),
    { numRuns: 1000 },
  );
});
