import { expect, test } from "bun:test";
import type { NewEvidence } from "../../src/core/evidence/repository.ts";
import { task } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

function made(brief_id: number, more: Partial<NewEvidence> = {}): NewEvidence {
  return {
    brief_id,
    ac_id: "AC-1",
    task_id: null,
    type: "text",
    polarity: "positive",
    text: "3 pass",
    artifact_path: null,
    size_bytes: 6,
    created_by_agent: null,
    source_contract_id: null,
    source_entry_hash: null,
    created_at: "2026-01-01T00:00:00Z",
    ...more,
  };
}

test("a row comes back whole, with the names of its brief and workspace", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const evidence = made(brief_id, { task_id, polarity: "negative", created_by_agent: "qa" });
  const id = world.store.write((tables) => tables.evidence.insert(evidence));
  world.store.read((tables) => {
    expect(tables.evidence.findRow(id)).toEqual({ ...evidence, id, brief: "b", workspace: "me" });
    expect(tables.evidence.findRow(id + 1)).toBeNull();
  });
});

test("evidence is listed by its brief and criterion, oldest first", () => {
  using world = scriptedWorld();
  const first = task(world, "first").brief_id;
  const second = task(world, "second").brief_id;
  world.store.write(({ evidence }) => {
    for (const [brief, ac] of [
      [first, "AC-1"],
      [second, "AC-1"],
      [first, "AC-2"],
    ] as const)
      evidence.insert(made(brief, { ac_id: ac }));
  });
  world.store.read(({ evidence }) => {
    const ids = (brief: number, ac: string | null) => evidence.list(brief, ac).map((row) => row.id);
    expect([ids(first, null), ids(first, "AC-2"), ids(second, "AC-2"), ids(99, null)]).toEqual([[1, 3], [3], [], []]);
  });
});

test("an entry of a contract is inserted once; what was added by hand may be added again", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const entry = made(brief_id, { source_contract_id: "a1.1", source_entry_hash: "h" });
  const byHand = made(brief_id, { source_contract_id: "a1.1" });
  world.store.write(({ evidence }) => {
    expect(evidence.hasEntry("a1.1", "h")).toBe(false);
    for (const each of [entry, byHand, byHand]) evidence.insert(each);
    expect([evidence.hasEntry("a1.1", "h"), evidence.hasEntry("a1.2", "h"), evidence.hasEntry("a1.1", "i")]).toEqual([
      true,
      false,
      false,
    ]);
  });
  expect(() => world.store.write(({ evidence }) => evidence.insert(entry))).toThrow("UNIQUE");
});

test.each([
  ["a brief that is not there", { brief_id: 99 }],
  ["a task that is not there", { task_id: 99 }],
  ["neither text nor file", { text: null }],
  ["text and file", { artifact_path: "/x" }],
])("%s is refused by the table", (_, more) => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  expect(() => world.store.write(({ evidence }) => evidence.insert(made(brief_id, more)))).toThrow("constraint failed");
});
