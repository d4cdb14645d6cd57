import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseCheck } from "../../src/core/acceptance/parse.ts";
import { VERB_NAMES, VERBS } from "../../src/core/acceptance/verbs.ts";

const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "acceptance.md"), "utf8");

test("docs/acceptance.md has a row for each verb, with what it reads, and for no other", () => {
  const rows = [...page.matchAll(/^\| `(\w+):[^|]*(?:\\\|[^|]*)*\| ([^|]+) \|/gm)].map(([, verb, reads]) => [
    verb,
    reads,
  ]);
  expect(rows).toEqual(VERB_NAMES.map((verb) => [verb, VERBS[verb].reads]));
});

test("the checks that it shows parse", () => {
  const shown = /"acceptance": (\[.*\])/.exec(page)?.[1];
  const lines = JSON.parse(shown ?? "[]") as readonly string[];
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !parseCheck(line).ok)).toEqual([]);
});

test("it says what a delegator older than qualifiers makes of them", () => {
  expect(page).toContain("not_contains:@answer:SECRET");
});
