import { expect, test } from "bun:test";
import { isBlank } from "../../../src/core/delegation/blank.ts";

const WHITE =
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";

test("nothing and white space are blank, each of the 25 characters", () => {
  expect(isBlank("")).toBe(true);
  expect(isBlank(WHITE)).toBe(true);
  expect([...WHITE].filter((character) => !isBlank(character))).toEqual([]);
});

test.each(["a", " a ", "\ufeff", "\u200b", "\0", "\u180e", "\u2060", "\ud800"])("%j is not blank", (text) => {
  expect(isBlank(text)).toBe(false);
});
