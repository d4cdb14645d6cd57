/** Each promise of docs/security.md names what enforces it and the test that shows it: both are there. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const page = readFileSync(join(ROOT, "docs", "security.md"), "utf8");
/** The cells of each promise. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (it tries|they try|where) \|/.test(line))
  .map((line) => line.slice(2, -2).split(" | "));

test("the page has promises, of four cells each", () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter((cells) => cells.length !== 4)).toEqual([]);
});

test.each(rows)("against %p", (_threat, _promise, enforcer = "", shown = "") => {
  const files = [...enforcer.matchAll(/`((?:src|scripts)\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const tests = [...shown.matchAll(/`(test\/[^`]+)` "([^"]+)"/g)];
  expect(tests.length).toBeGreaterThan(0);
  for (const [, path = "", title = ""] of tests) expect(readFileSync(join(ROOT, path), "utf8")).toContain(title);
});
