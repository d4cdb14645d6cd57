import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { initDraft } from "../../src/editor/init.ts";
import { undoChange } from "../../src/editor/undo.ts";
import {
  add,
  at,
  born,
  cleanRefusalOf,
  closed,
  draftOf,
  fileOf,
  fill,
  journalOf,
  rowJson,
  rowOf,
  set,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";

function undo(world: ScriptedWorld, id: string, change: number | null = null) {
  return undoChange(world, at(id), change);
}

/** Sets the conclusion and answers the id of the change. */
function say(world: ScriptedWorld, id: string, text: string): number {
  return set(world, id, "conclusion", text).change_id ?? 0;
}

test("undo of a fill takes back every path of it", () => {
  using world = scriptedWorld();
  const id = born(world);
  say(world, id, "one");
  const before = draftOf(world, id);
  const { change_id } = fill(world, id, {
    conclusion: "two",
    report_prose: "p",
    evidence_report: { key_outputs: ["x"] },
  });
  const undone = undo(world, id);
  expect(undone).toMatchObject({ draft_id: id, undoes: change_id, mirrored: true });
  expect(draftOf(world, id)).toEqual(before);
  expect(rowJson(world, id)).toMatchObject({ ...before, born_at_dispatch: true });
  expect(journalOf(world, id).at(-1)).toMatchObject({
    change_id: undone.change_id,
    verb: "undo",
    undoes: change_id,
    changes: [
      { path: "evidence_report.key_outputs", before: ["x"], after: [] },
      { path: "conclusion", before: "two", after: "one" },
      { path: "report_prose", before: "p" },
    ],
  });
});

test("a second undo goes one step further back, down to the birth, which is not undone", () => {
  using world = scriptedWorld();
  const id = born(world);
  for (const text of ["one", "two", "three"]) say(world, id, text);
  const seen = [];
  for (let step = 0; step < 3; step++) {
    undo(world, id);
    seen.push(draftOf(world, id).conclusion);
  }
  expect(seen).toEqual(["two", "one", null]);
  expect(cleanRefusalOf(world, () => undo(world, id)).code).toBe("nothing_to_undo");
});

test("a write after an undo is what the next undo takes back", () => {
  using world = scriptedWorld();
  const id = born(world);
  say(world, id, "one");
  say(world, id, "two");
  undo(world, id);
  say(world, id, "three");
  undo(world, id);
  expect(draftOf(world, id).conclusion).toBe("one");
  undo(world, id);
  expect(draftOf(world, id).conclusion).toBeNull();
});

test("undo of an undo brings the change back, and it can be undone again", () => {
  using world = scriptedWorld();
  const id = born(world);
  const change = say(world, id, "one");
  const undone = undo(world, id);
  expect(undo(world, id, undone.change_id ?? 0).undoes).toBe(undone.change_id ?? 0);
  expect(draftOf(world, id).conclusion).toBe("one");
  expect(undo(world, id).undoes).toBe(change);
  expect(draftOf(world, id).conclusion).toBeNull();
});

test("what is undone already is not undone again", () => {
  using world = scriptedWorld();
  const id = born(world);
  const change = say(world, id, "one");
  const undone = undo(world, id);
  expect(cleanRefusalOf(world, () => undo(world, id, change)).code).toBe("nothing_to_undo");
  undo(world, id, undone.change_id ?? 0);
  expect(cleanRefusalOf(world, () => undo(world, id, undone.change_id ?? 0)).code).toBe("nothing_to_undo");
});

type Conflict = { what: string; first: [string, unknown]; later: [string, unknown]; conflict: boolean };
const conflicts: Conflict[] = [
  { what: "the same path", first: ["conclusion", "a"], later: ["conclusion", "b"], conflict: true },
  { what: "a path under it", first: ["memory_delta", { a: 1 }], later: ["memory_delta.a", 2], conflict: true },
  { what: "a path above it", first: ["memory_delta.a", 1], later: ["memory_delta", null], conflict: true },
  { what: "a path beside it", first: ["memory_delta.a", 1], later: ["memory_delta.b", 2], conflict: false },
  { what: "a path that begins like it", first: ["memory_delta.a", 1], later: ["memory_delta.ab", 2], conflict: false },
  { what: "another path", first: ["conclusion", "a"], later: ["report_prose", "b"], conflict: false },
];

test.each(conflicts)("a later change of $what is in the way of an undo: $conflict", ({ first, later, conflict }) => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "memory_delta", { z: 0 });
  const change = set(world, id, first[0], first[1] as never).change_id ?? 0;
  const next = set(world, id, later[0], later[1] as never).change_id;
  if (!conflict) {
    expect(undo(world, id, change).undoes).toBe(change);
    return;
  }
  const error = cleanRefusalOf(world, () => undo(world, id, change));
  expect(error.code).toBe("undo_conflict");
  expect(error.message).toContain(`change ${next}`);
  expect(error.hint).toContain(`--change ${next}`);
});

test("a later change that was undone is not in the way, nor is its undo", () => {
  using world = scriptedWorld();
  const id = born(world);
  const change = say(world, id, "one");
  say(world, id, "two");
  undo(world, id);
  expect(undo(world, id, change).undoes).toBe(change);
  expect(draftOf(world, id).conclusion).toBeNull();
});

test("a later change that an undo of an undo brought back is in the way", () => {
  using world = scriptedWorld();
  const id = born(world);
  const change = say(world, id, "one");
  say(world, id, "two");
  const undone = undo(world, id);
  undo(world, id, undone.change_id ?? 0);
  expect(cleanRefusalOf(world, () => undo(world, id, change)).code).toBe("undo_conflict");
});

test("an undo is a write like any other: what would not be valid is refused", () => {
  using world = scriptedWorld();
  const id = born(world);
  const { change_id } = fill(world, id, {
    evidence_report: { verification: { type: "self_review", reviewed: "all", result: "pass" } },
  });
  fill(world, id, { agent_status: { agent_state: "COMPLETE", next_action: "done" } });
  const error = cleanRefusalOf(world, () => undo(world, id, change_id));
  expect(error).toMatchObject({ code: "validation", status: "rejected" });
});

test("undo repairs nothing: an inherited key refuses it", () => {
  using world = scriptedWorld();
  const id = born(world);
  const change = say(world, id, "one");
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), key_outputs: [] }));
  expect(cleanRefusalOf(world, () => undo(world, id, change)).details.codes).toEqual(["MISPLACED_KEY"]);
});

test("an edit by hand is what the next undo takes back", () => {
  using world = scriptedWorld();
  const id = born(world);
  say(world, id, "one");
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), conclusion: "by hand" }));
  undo(world, id);
  expect(draftOf(world, id).conclusion).toBe("one");
  expect(journalOf(world, id).map((change) => change.verb)).toEqual(["dispatch", "set", "found", "undo"]);
});

test.each(["BLOCKED", "COMPLETE"])("a contract that is %s is not undone, and no chain is followed", (state) => {
  using world = scriptedWorld();
  const id = closed(world, state);
  expect(cleanRefusalOf(world, () => undo(world, id)).code).toBe("closed");
  const next = add(world, id, OUTPUTS, "x").draft_id;
  expect(cleanRefusalOf(world, () => undo(world, id)).code).toBe("closed");
  expect(undo(world, next).draft_id).toBe(next);
  expect(cleanRefusalOf(world, () => undo(world, next)).code).toBe("nothing_to_undo"); // the seed is its birth
  expect(rowOf(world, next).agent_state).toBe("DISPATCHED");
});

test("the change of another contract is none of this one's", () => {
  using world = scriptedWorld();
  const id = born(world);
  const other = born(world);
  const change = say(world, other, "one");
  expect(cleanRefusalOf(world, () => undo(world, id, change)).code).toBe("no_such_change");
});

test("a draft without a row is undone too", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
  say(world, draft_id, "one");
  expect(undo(world, draft_id)).toMatchObject({ mirrored: false, mirror_skipped_reason: "no_row" });
  expect(draftOf(world, draft_id).conclusion).toBeNull();
});
