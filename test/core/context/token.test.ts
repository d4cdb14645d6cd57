import { expect, test } from "bun:test";
import fc from "fast-check";
import { holdsToken } from "../../../src/core/context/token.ts";

test.each([
  { text: "prod-eu", why: "it is the whole text" },
  { text: "on prod-eu and", why: "blanks bound it" },
  { text: '"prod-eu"', why: "quotes bound it" },
  { text: "x:prod-eu,y", why: "a colon and a comma bound it" },
  { text: "prod-eux prod-eu", why: "a later place counts" },
  { text: "prod-eu\nnext", why: "a line end bounds it" },
  { text: "😀prod-eu😀", why: "a pair of surrogates is one character" },
])("holdsToken() finds prod-eu: $why", ({ text }) => {
  expect(holdsToken(text, "prod-eu")).toBe(true);
});

const GLUE = [
  ..."a",
  "Z",
  "0",
  "_",
  ".",
  "+",
  "-",
  "é",
  "ж",
  "中",
  "٣",
  "\u0301", // combining acute
  "𝐀", // a letter outside of the first plane
  ..."\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d",
];

test.each(GLUE.map((glue) => ({ glue, code: glue.codePointAt(0)?.toString(16) })))(
  "a token does not end beside U+$code",
  ({ glue }) => {
    expect(holdsToken(`${glue}token`, "token")).toBe(false);
    expect(holdsToken(`token${glue}`, "token")).toBe(false);
    expect(holdsToken("token", "token", glue)).toBe(false);
    expect(holdsToken(`token${glue} token`, "token")).toBe(true);
  },
);

test("what follows the text counts by its first character", () => {
  expect(holdsToken("a token", "token", " x")).toBe(true);
  expect(holdsToken("a token", "token", "s")).toBe(false);
  expect(holdsToken("a token", "token", null)).toBe(false);
  expect(holdsToken("a token ", "token", null)).toBe(true);
});

test("a place that overlaps one which does not count is found", () => {
  expect(holdsToken("ba:a:a", "a:a")).toBe(true);
  expect(holdsToken("ba:a:ab", "a:a")).toBe(false);
});

test("the empty token stands nowhere, a longer one neither", () => {
  expect(holdsToken("", "")).toBe(false);
  expect(holdsToken("a b", "")).toBe(false);
  expect(holdsToken("a", "ab")).toBe(false);
});

const alphabet = fc.string({ unit: fc.constantFrom("a", "b", " ", "-", ":"), maxLength: 12 });

test("holdsToken() is what a search at every place finds", () => {
  const goesOn = (char: string) => char !== "" && "ab-".includes(char);
  fc.assert(
    fc.property(alphabet, alphabet, (text, token) => {
      const places = Array.from({ length: text.length }, (_, at) => at);
      const found = places.some(
        (at) =>
          token !== "" &&
          text.startsWith(token, at) &&
          !goesOn(text.charAt(at - 1)) &&
          !goesOn(text.charAt(at + token.length)),
      );
      expect(holdsToken(text, token)).toBe(found);
    }),
    { numRuns: 1000 },
  );
});
