import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../../src/core/error.ts";
import { sweepDrafts } from "../../src/editor/housekeeping.ts";
import { viewAt } from "../../src/editor/view.ts";
import { add, at, born, closed, draftOf, fileOf, journalOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Makes a path as old as told, by the clock of the world. */
function age(world: ScriptedWorld, path: string, seconds: number): void {
  const time = world.clock.ms() / 1000 - seconds;
  utimesSync(path, time, time);
}

/** The hour that must lie between two sweeps has gone by since the dispatches of a test. */
function sweep(world: ScriptedWorld): readonly string[] {
  world.advance(2 * HOUR);
  return sweepDrafts(world);
}

const rules = [
  { state: "spent", seconds: DAY - 1, kept: true },
  { state: "spent", seconds: DAY + 1, kept: false },
  { state: "spent", seconds: 8 * DAY, kept: false },
  { state: "live", seconds: DAY + 1, kept: true },
  { state: "live", seconds: 7 * DAY - 1, kept: true },
  { state: "live", seconds: 7 * DAY + 1, kept: false },
] as const;

test.each(rules)("a $state draft that is untouched for $seconds seconds is kept: $kept", ({ state, seconds, kept }) => {
  using world = scriptedWorld();
  const id = state === "spent" ? closed(world) : born(world);
  world.advance(2 * HOUR);
  age(world, fileOf(world, id), seconds);
  expect(sweepDrafts(world)).toEqual([]);
  expect(existsSync(fileOf(world, id))).toBe(kept);
});

test.each(rules)("a scratch file of a $state contract, untouched for $seconds seconds", ({ state, seconds, kept }) => {
  using world = scriptedWorld();
  const id = state === "spent" ? closed(world) : born(world);
  world.advance(2 * HOUR);
  for (const path of [join(world.scratchPath, id, "deep"), join(world.scratchPath, `${id}.png`)]) {
    mkdirSync(path, { recursive: true });
  }
  for (const name of readdirSync(world.scratchPath)) age(world, join(world.scratchPath, name), seconds);
  sweepDrafts(world);
  // Only what carries the id of a closed contract goes.
  expect(readdirSync(world.scratchPath)).toHaveLength(kept || state === "live" ? 2 : 0);
});

test("scratch that carries no id of a contract stays", () => {
  using world = scriptedWorld();
  born(world);
  world.advance(2 * HOUR);
  mkdirSync(world.scratchPath);
  for (const name of ["notes.txt", "x", "a0000000000000009.1.txt"]) {
    writeFileSync(join(world.scratchPath, name), "");
    age(world, join(world.scratchPath, name), 30 * DAY);
  }
  sweepDrafts(world);
  expect(readdirSync(world.scratchPath)).toHaveLength(3);
});

test("a draft without a row is live", () => {
  using world = scriptedWorld();
  born(world);
  world.advance(2 * HOUR);
  for (const [id, seconds] of [["a0000000000000009.1", 2 * DAY] as const, ["a0000000000000009.2", 8 * DAY] as const]) {
    writeFileSync(fileOf(world, id), "{}");
    age(world, fileOf(world, id), seconds);
  }
  sweepDrafts(world);
  expect([existsSync(fileOf(world, "a0000000000000009.1")), existsSync(fileOf(world, "a0000000000000009.2"))]).toEqual([
    true,
    false,
  ]);
});

test("the limits of the environment are the limits", () => {
  using world = scriptedWorld();
  const id = closed(world);
  world.advance(2 * HOUR);
  age(world, fileOf(world, id), 3 * HOUR);
  sweepDrafts({ ...world, limits: { graceHours: 2, maxDays: 7 } });
  expect(existsSync(fileOf(world, id))).toBe(false);
});

test("where the store cannot be read only the longest time counts", () => {
  using world = scriptedWorld();
  const [young, old] = [closed(world), closed(world)];
  world.advance(2 * HOUR);
  age(world, fileOf(world, young), 3 * DAY);
  age(world, fileOf(world, old), 8 * DAY);
  mkdirSync(world.scratchPath);
  writeFileSync(join(world.scratchPath, old), "");
  age(world, join(world.scratchPath, old), 8 * DAY);
  const broken: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      read() {
        throw new WritError("store_failed", "no");
      },
    },
  };
  expect(sweepDrafts(broken)).toEqual([]);
  expect([existsSync(fileOf(world, young)), existsSync(fileOf(world, old))]).toEqual([true, false]);
  expect(readdirSync(world.scratchPath)).toEqual([old]);
});

test("a dispatch sweeps, at most once an hour", () => {
  using world = scriptedWorld();
  const id = closed(world);
  age(world, fileOf(world, id), 2 * DAY);
  born(world);
  expect(existsSync(fileOf(world, id))).toBe(true); // the first dispatch of the hour has swept
  world.advance(HOUR);
  born(world);
  expect(existsSync(fileOf(world, id))).toBe(false);
});

test("temporary files of killed processes go after an hour", () => {
  using world = scriptedWorld();
  const id = born(world);
  const paths = ["0", "1"].map((name) => join(world.draftsPath, `.${id}.7.0000000${name}.tmp`));
  for (const path of paths) writeFileSync(path, "{");
  world.advance(2 * HOUR);
  age(world, paths[0] ?? "", HOUR - 1);
  age(world, paths[1] ?? "", HOUR + 1);
  sweepDrafts(world);
  expect(paths.map((path) => existsSync(path))).toEqual([true, false]);
});

test("what cannot be done is one warning and no error", () => {
  using world = scriptedWorld();
  born(world);
  const failing: ScriptedWorld = {
    ...world,
    drafts: {
      ...world.drafts,
      list() {
        throw new Error("no entry");
      },
    },
  };
  expect(sweep(failing)).toEqual(["Housekeeping could not be done: no entry"]);
});

test("the journal keeps what a removed draft held, and a live turn goes on with it", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, "evidence_report.key_outputs", "kept");
  const newest = journalOf(world, id).at(-1)?.change_id ?? 0;
  world.advance(2 * HOUR);
  age(world, fileOf(world, id), 8 * DAY);
  sweepDrafts(world);
  expect(existsSync(fileOf(world, id))).toBe(false);
  expect(viewAt(world, at(id), newest).envelope.evidence_report).toMatchObject({ key_outputs: ["kept"] });
  add(world, id, "evidence_report.key_outputs", "more");
  expect(draftOf(world, id).evidence_report).toMatchObject({ key_outputs: ["kept", "more"] });
});
