import { expect, test } from "bun:test";
import type { Change } from "../../src/core/contract/changes.ts";
import type { JournalChange } from "../../src/core/contract/repository.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const ID = "a0000000000000001.1";

function append(world: ScriptedWorld, changes: readonly Change[], more: Partial<JournalChange> = {}): number {
  return world.store.write((tables) =>
    tables.journal.append({
      contract_id: ID,
      at: "2026-01-01T00:00:00Z",
      pid: 7,
      verb: "set",
      draft_sha256: "d1",
      undoes: null,
      changes,
      ...more,
    }),
  );
}

const list = (world: ScriptedWorld, id = ID) => world.store.read((tables) => tables.journal.list(id));

test("the paths of one change stand under one id, that of its first row", () => {
  using world = scriptedWorld();
  const changes = [
    { path: "a", after: 1 },
    { path: "b.c", before: [1], after: null },
    { path: "d", before: "x" },
  ];
  expect(append(world, changes)).toBe(1);
  expect(append(world, [{ path: "a", before: 1, after: 2 }], { undoes: 1 })).toBe(4);
  expect(world.sql("SELECT id, change_id, path, before, after FROM journal")).toEqual([
    { id: 1, change_id: 1, path: "a", before: null, after: "1" },
    { id: 2, change_id: 1, path: "b.c", before: "[1]", after: "null" },
    { id: 3, change_id: 1, path: "d", before: '"x"', after: null },
    { id: 4, change_id: 4, path: "a", before: "1", after: "2" },
  ]);
  const rest = { contract_id: ID, at: "2026-01-01T00:00:00Z", pid: 7, verb: "set", draft_sha256: "d1" };
  expect(list(world)).toEqual([
    { ...rest, change_id: 1, undoes: null, changes },
    { ...rest, change_id: 4, undoes: 1, changes: [{ path: "a", before: 1, after: 2 }] },
  ]);
});

test("absent and null are two values of a side", () => {
  using world = scriptedWorld();
  append(world, [{ path: "a", after: null }]);
  const [change] = list(world);
  expect(change?.changes[0]).toEqual({ path: "a", after: null });
  expect(Object.hasOwn(change?.changes[0] ?? {}, "before")).toBe(false);
});

test("contracts have histories of their own, and ids are shared by all", () => {
  using world = scriptedWorld();
  append(world, [{ path: "a", after: 1 }]);
  expect(append(world, [{ path: "a", after: 1 }], { contract_id: "other", draft_sha256: "d2" })).toBe(2);
  expect(append(world, [{ path: "a", before: 1, after: 2 }], { draft_sha256: "d3" })).toBe(3);
  expect(list(world).map((change) => change.change_id)).toEqual([1, 3]);
  expect(list(world, "nobody")).toEqual([]);
  world.store.read(({ journal }) => {
    expect([journal.newestDigest(ID), journal.newestDigest("other"), journal.newestDigest("nobody")]).toEqual([
      "d3",
      "d2",
      null,
    ]);
    expect([journal.hasDigest(ID, "d1"), journal.hasDigest(ID, "d2"), journal.hasDigest("other", "d2")]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

test("a change without a path is a defect", () => {
  using world = scriptedWorld();
  expect(() => append(world, [])).toThrow("without a path");
});

test("a key named __proto__ comes back as data", () => {
  using world = scriptedWorld();
  const after = JSON.parse('{"__proto__":{"polluted":true}}');
  append(world, [{ path: "a", after }]);
  expect(JSON.stringify(list(world)[0]?.changes[0]?.after)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.hasOwn({}, "polluted")).toBe(false);
});
