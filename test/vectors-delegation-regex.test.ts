import { expect, test } from "bun:test";
import vectors from "../fixtures/vectors/delegation-regex.json";
import { run } from "../scripts/vectors/delegation-regex.ts";
import { differences } from "../scripts/vectors/difference.ts";

test("the vectors of the pattern dialect are all there", () => {
  expect(vectors).toHaveLength(335);
});

test.each(vectors)("vector $id", ({ input, expect: expected }) => {
  expect(differences(expected, run("", input))).toEqual([]);
});
