import { expect, test } from "bun:test";
import { foldType, isMissing, isText, isTruthy } from "../../../src/core/contract/fold.ts";

test.each([
  { text: "Self-Review", type: "self_review" },
  { text: " SELF_REVIEW ", type: "self_review" },
  { text: "self__ -review", type: "self_review" },
  { text: "-_none_-", type: "none" },
  { text: "selfreview", type: "selfreview" },
  { text: "self.review", type: "self.review" },
  { text: "self\u2010review", type: "self\u2010review" },
  { text: "com-mand", type: "com_mand" },
  { text: "---", type: null },
  { text: " ", type: null },
])("foldType() of $text is $type", ({ text, type }) => {
  expect(foldType(text)).toBe(type);
});

test("isTruthy() is false for what is absent, null, false, zero or empty", () => {
  for (const value of [undefined, null, false, 0, -0, "", [], {}]) expect(isTruthy(value)).toBe(false);
});

test("isTruthy() is true for everything else, a blank and the text of false among it", () => {
  for (const value of [true, 1, "false", " ", [0], { a: null }]) expect(isTruthy(value)).toBe(true);
});

test("isMissing() counts any value that is no string and not null as present", () => {
  expect([undefined, null, "", " \u00a0"].map(isMissing)).toEqual([true, true, true, true]);
  expect([0, false, [], {}, "x"].map(isMissing)).toEqual([false, false, false, false, false]);
});

test("isText() is false for a blank and for what is no string", () => {
  expect(["x", " ", 5, null, undefined].map(isText)).toEqual([true, false, false, false, false]);
});
