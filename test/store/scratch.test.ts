import { expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedWorld } from "../support/world.ts";

test("scratch lists files and folders, and nothing where nothing was staged", () => {
  using world = scriptedWorld();
  expect(world.scratch.list()).toEqual([]);
  mkdirSync(join(world.scratchPath, "a.1"), { recursive: true });
  writeFileSync(join(world.scratchPath, "b.1.txt"), "");
  expect(
    world.scratch
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["a.1", "b.1.txt"]);
});

test("removing takes a folder with what it holds, and never what a link leads to", () => {
  using world = scriptedWorld();
  const outside = join(world.folder, "outside");
  mkdirSync(join(world.scratchPath, "a.1", "deep"), { recursive: true });
  mkdirSync(outside);
  symlinkSync(outside, join(world.scratchPath, "b.1"));
  for (const name of ["a.1", "b.1", "not there"]) world.scratch.remove(name);
  expect(world.scratch.list()).toEqual([]);
  expect(existsSync(outside)).toBe(true);
});
