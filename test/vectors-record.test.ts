import { expect, test } from "bun:test";
import finalizeCases from "../fixtures/vectors/contract-finalize.json";
import recordCases from "../fixtures/vectors/contract-record.json";
import { run as runRecord } from "../scripts/vectors/record.ts";
import { run as runStamp } from "../scripts/vectors/stamp.ts";

type Case = { readonly id: string; readonly op: string; readonly input: unknown; readonly expect: unknown };

test.each(recordCases as readonly Case[])("vector $id", ({ op, input, expect: expected }) => {
  expect(runRecord(op, input)).toStrictEqual(expected);
});

const stampCases = (finalizeCases as readonly Case[]).filter(({ op }) => op === "stamp");

test.each(stampCases)("vector $id", ({ op, input, expect: expected }) => {
  expect(runStamp(op, input)).toStrictEqual(expected);
});

test("the vectors of the record and of stamping are not empty", () => {
  expect(recordCases.length).toBeGreaterThan(0);
  expect(stampCases.length).toBeGreaterThan(0);
});
