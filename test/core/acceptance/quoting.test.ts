import { expect, test } from "bun:test";
import { cut, oneLine, quote } from "../../../src/core/acceptance/quoting.ts";

test("oneLine() spells out what breaks a line or has no shape, and nothing else", () => {
  expect(oneLine('a\nb\r\tc\0\u007f\u0085\u2028"\\d')).toBe('a\\nb\\r\\tc\\u0000\\u007f\\u0085\\u2028"\\d');
});

test("quote() keeps white space at the ends", () => {
  expect(quote(" contains:x ")).toBe('" contains:x "');
});

test.each([
  { character: "a", name: "a letter" },
  { character: "😀", name: "a pair of surrogates" },
])("120 characters stand, 121 are cut, of $name", ({ character }) => {
  expect(cut(character.repeat(120))).toBe(character.repeat(120));
  expect(cut(character.repeat(121))).toBe(`${character.repeat(120)}…`);
  expect(cut(character.repeat(100_000))).toBe(`${character.repeat(120)}…`);
});
