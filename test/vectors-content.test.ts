import { expect, test } from "bun:test";
import vectors from "../fixtures/vectors/content-checks.json";
import { run } from "../scripts/vectors/content-checks.ts";
import { differences } from "../scripts/vectors/difference.ts";

test("the vectors of the content checks are all there", () => {
  expect(vectors).toHaveLength(241);
});

test.each(vectors)("vector $id", ({ op, input, expect: expected }) => {
  expect(differences(expected, run(op, input))).toEqual([]);
});
