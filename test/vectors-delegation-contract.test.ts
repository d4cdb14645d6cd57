import { expect, test } from "bun:test";
import contractCases from "../fixtures/vectors/delegation-contract.json";
import readRootCases from "../fixtures/vectors/delegation-read-root.json";
import { run as runContract } from "../scripts/vectors/delegation-contract.ts";
import { run as runReadRoot } from "../scripts/vectors/delegation-read-root.ts";

test.each(contractCases as readonly { id: string; input: unknown; expect: unknown }[])(
  "vector $id",
  ({ input, expect: expected }) => {
    expect(runContract("", input)).toStrictEqual(expected);
  },
);

test.each(readRootCases as readonly { id: string; input: unknown; expect: unknown }[])(
  "vector $id",
  ({ input, expect: expected }) => {
    expect(runReadRoot("", input)).toStrictEqual(expected);
  },
);

test("the vectors of the contract file and the read root are not empty", () => {
  expect([contractCases.length, readRootCases.length]).toEqual([178, 77]);
});
