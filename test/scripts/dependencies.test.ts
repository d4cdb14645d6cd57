import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");

test("docs/dependencies.md has one line for each dependency, and none for another", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const page = readFileSync(join(ROOT, "docs", "dependencies.md"), "utf8");
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
  expect(named.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

test("every version is pinned", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const loose = Object.entries<string>({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d/.test(version),
  );
  expect(loose).toEqual([]);
});

test("the lock file and the tooling name no registry", () => {
  const files = ["package-lock.json", "package.json", ".npmrc", "scripts/setup.mjs", ".ci/run"];
  const named = files.filter((file) => /https?:\/\/registry|"resolved"/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(named).toEqual([]);
});
