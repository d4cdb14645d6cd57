import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../scripts/vectors/delegation-schema.ts";
import { differences } from "../scripts/vectors/difference.ts";

type Vector = { readonly id: string; readonly input: unknown; readonly expect: unknown };

// Not imported: what JSON.parse makes of keys is known.
function vectorsOf(file: string): readonly Vector[] {
  return JSON.parse(readFileSync(join(import.meta.dir, "..", "fixtures", "vectors", file), "utf8")) as Vector[];
}

const CASES = [...vectorsOf("delegation-schema.json"), ...vectorsOf("delegation-schema-order.json")];

test("the vectors of schemas are all there", () => {
  expect(CASES).toHaveLength(155);
});

test.each(CASES)("vector $id", ({ input, expect: expected }) => {
  expect(differences(expected, run("", input))).toEqual([]);
});

test("run() answers undefined for an operation of another room", () => {
  expect(run("stamp", {})).toBeUndefined();
});
