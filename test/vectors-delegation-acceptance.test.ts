import { expect, test } from "bun:test";
import closedAtCases from "../fixtures/vectors/delegation-acceptance-closedat.json";
import evalCases from "../fixtures/vectors/delegation-acceptance-eval.json";
import parseCases from "../fixtures/vectors/delegation-acceptance-parse.json";
import fingerprintCases from "../fixtures/vectors/delegation-fingerprint.json";
import { run } from "../scripts/vectors/delegation-acceptance.ts";
import { differences } from "../scripts/vectors/difference.ts";

type Case = { readonly id: string; readonly input: unknown; readonly expect: unknown };

test.each([
  { area: "delegation-acceptance-parse", cases: parseCases, count: 118 },
  { area: "delegation-acceptance-eval", cases: evalCases, count: 290 },
  { area: "delegation-acceptance-closedat", cases: closedAtCases, count: 38 },
  { area: "delegation-fingerprint", cases: fingerprintCases, count: 67 },
])("the vectors of $area are all there", ({ area, cases, count }) => {
  expect(cases).toHaveLength(count);
  expect(new Set(cases.map((each) => each.area))).toEqual(new Set([area]));
});

const cases: readonly Case[] = [...parseCases, ...evalCases, ...closedAtCases, ...fingerprintCases];

test.each(cases)("vector $id", ({ input, expect: expected }) => {
  expect(differences(expected, run("", input))).toEqual([]);
});
