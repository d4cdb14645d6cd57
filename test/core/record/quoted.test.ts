import { expect, test } from "bun:test";
import { quoted, shortened } from "../../../src/core/record/quoted.ts";

test.each([
  { text: "npm test", shown: "npm test" },
  { text: "  a\n\tb  ", shown: "a b" },
  { text: "", shown: "" },
  { text: "x".repeat(120), shown: "x".repeat(120) },
  { text: "x".repeat(121), shown: `${"x".repeat(120)}…` },
  { text: `${"x".repeat(119)}😀`, shown: `${"x".repeat(119)}…` },
  { text: "a ".repeat(1_000_000), shown: `${"a ".repeat(60)}…` },
])("shortened() of a text like $shown", ({ text, shown }) => {
  expect(shortened(text)).toBe(shown);
  expect(quoted(text)).toBe(`"${shown}"`);
});
