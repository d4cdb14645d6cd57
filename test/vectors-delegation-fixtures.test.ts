import { expect, test } from "bun:test";
import nameOnlyCases from "../fixtures/vectors/delegation-name-only.json";
import speedCases from "../fixtures/vectors/delegation-speed-scan.json";
import { run as runNameOnly } from "../scripts/vectors/delegation-name-only.ts";
import { run as runSpeed } from "../scripts/vectors/delegation-speed.ts";

test.each(speedCases)("vector $id", ({ input, expect: expected }) => {
  expect(runSpeed("", input)).toStrictEqual(expected);
});

test.each(nameOnlyCases)("vector $id", ({ input, expect: expected }) => {
  expect(runNameOnly("", input)).toStrictEqual(expected);
});

test("the vectors of the fixture gate are not empty", () => {
  expect([speedCases.length, nameOnlyCases.length]).toEqual([79, 16]);
});
