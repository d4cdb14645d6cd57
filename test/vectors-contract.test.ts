import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../scripts/vectors/contract.ts";
import { differences } from "../scripts/vectors/difference.ts";

type Vector = { readonly id: string; readonly op: string; readonly input: unknown; readonly expect: unknown };

function vectorsOf(file: string): readonly Vector[] {
  return JSON.parse(readFileSync(join(import.meta.dir, "..", "fixtures", "vectors", file), "utf8")) as Vector[];
}

const CASES = [
  ...vectorsOf("contract-validate.json"),
  ...vectorsOf("contract-verbs.json"),
  ...vectorsOf("contract-finalize.json").filter(({ op }) => op === "finalize_gates"),
];

test.each(CASES)("$id is as the vector expects", ({ op, input, expect: expected }) => {
  expect(differences(expected, run(op, input))).toEqual([]);
});

test("the vectors are all there", () => {
  expect(CASES.length).toBe(596);
});

test("run() answers undefined for an operation of another room", () => {
  expect(run("stamp", {})).toBeUndefined();
});
