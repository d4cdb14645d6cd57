import { expect, test } from "bun:test";
import { fitsGlob } from "../../../src/core/seat/glob.ts";

test.each([
  { path: "docs/a.md", glob: "*.md", fits: true },
  { path: "docs/a.md", glob: "a.*", fits: true },
  { path: "docs/a.md", glob: "?.md", fits: true },
  { path: "docs/ab.md", glob: "?.md", fits: false },
  { path: "docs/a.md", glob: "docs/*.md", fits: true },
  { path: "docs/x/a.md", glob: "**/*.md", fits: true },
  { path: "a.md", glob: "**/*.md", fits: true },
  { path: "docs/a.md", glob: "src/*.md", fits: false },
  { path: "docs/a.md", glob: "./docs/a.md", fits: true },
  { path: "docs/a.mdx", glob: "*.md", fits: false },
  { path: "docs/a.md", glob: "", fits: false },
])("$path fits $glob: $fits", ({ path, glob, fits }) => {
  expect(fitsGlob(path, glob)).toBe(fits);
});

test("a filter of many stars takes no time", () => {
  expect(fitsGlob("a".repeat(1000), `${"*a".repeat(500)}b`)).toBe(false);
});
