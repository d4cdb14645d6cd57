import { expect, test } from "bun:test";
import cases from "../fixtures/vectors/delegation-lint.json";
import { run } from "../scripts/vectors/delegation-lint.ts";

test.each(cases)("vector $id", ({ input, expect: expected }) => {
  expect(run("", input)).toStrictEqual(expected);
});

test("the vectors of lint are not empty", () => {
  expect(cases).toHaveLength(75);
});
