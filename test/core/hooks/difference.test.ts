import { expect, test } from "bun:test";
import fc from "fast-check";
import { differenceLines } from "../../../src/core/hooks/difference.ts";

test("shows what changes with three lines around it", () => {
  const before = "a\nb\nc\nd\ne\nf\ng\nh\n";
  expect(differenceLines(before, before.replace("e\n", "E\nF\n"), "x")).toEqual([
    "--- x",
    "+++ x",
    "@@ -2,7 +2,8 @@",
    " b",
    " c",
    " d",
    "-e",
    "+E",
    "+F",
    " f",
    " g",
    " h",
  ]);
});

test.each([
  ["nothing changes", "a\n", "a\n", []],
  ["there was no file", null, "a\n", ["--- /dev/null", "+++ x", "@@ -0,0 +1,1 @@", "+a"]],
  ["the last line has no end", "a", "a\n", ["--- x", "+++ x", "@@ -1,1 +1,1 @@", "-a (no end of line)", "+a"]],
])("where %s", (_, before, after, expected) => {
  expect(differenceLines(before, after, "x")).toEqual(expected);
});

test("two changes far apart are two hunks", () => {
  const lines = Array.from({ length: 30 }, (_, n) => `${n}\n`);
  const after = lines.map((line, n) => (n === 3 || n === 25 ? `new\n` : line));
  const heads = differenceLines(lines.join(""), after.join(""), "x").filter((line) => line.startsWith("@@"));
  expect(heads).toEqual(["@@ -1,7 +1,7 @@", "@@ -23,7 +23,7 @@"]);
});

const text = fc
  .array(fc.constantFrom("a", "b", "c"), { maxLength: 30 })
  .map((lines) => lines.map((each) => `${each}\n`).join(""));

test("the lines of the hunks tell both sides", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const body = differenceLines(before, after, "x")
        .slice(2)
        .filter((line) => !line.startsWith("@@"));
      const side = (other: string) =>
        body.filter((line) => !line.startsWith(other)).map((line) => `${line.slice(1)}\n`);
      // With at most 30 lines on a side, everything near is everything that differs.
      expect(before).toContain(side("+").slice(0, 4).join(""));
      expect(after).toContain(side("-").slice(0, 4).join(""));
      expect(side("+").length - side("-").length).toBe(before.length / 2 - after.length / 2);
    }),
  );
});

test("texts that are too large to compare line by line are shown as replaced", () => {
  const many = (word: string) => Array.from({ length: 2_000 }, (_, n) => `${word} ${n}\n`).join("");
  expect(differenceLines(many("a"), many("b"), "x")).toHaveLength(4_003);
});
