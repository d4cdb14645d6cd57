/** The laws of the journal, over random sequences of writes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { WritError } from "../../src/core/error.ts";
import { type JsonValue, sameJson } from "../../src/core/json/value.ts";
import { mutateDraft } from "../../src/editor/edit.ts";
import { undoChange } from "../../src/editor/undo.ts";
import { viewAt, viewDraft } from "../../src/editor/view.ts";
import { at, born, draftOf, everything, journalOf, rowJson } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** Sixty histories in a real store, and the machine may be busy. */
setDefaultTimeout(60_000);

type Step =
  | { readonly verb: "set" | "add"; readonly field: string; readonly value: JsonValue }
  | { readonly verb: "fill"; readonly patch: JsonValue }
  | { readonly verb: "undo"; readonly back: number | null };

const FIELDS = [
  "conclusion",
  "report_prose",
  "memory_delta",
  "memory_delta.a",
  "memory_delta.a.b",
  "memory_delta.__proto__",
  "evidence_report.key_outputs",
  "evidence_report.files_checked",
  "evidence_report.verification.method",
  "agent_status.agent_state",
  "agent_status.pending_steps",
];

const value: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  null,
  "",
  "text",
  "blocked.",
  5,
  [],
  ["x"],
  [{ path: "a", commit: "ABCDEF0" }],
  {},
  { a: 1 },
  { a: { b: [1] }, "b.c": 2 },
  { "": 0 },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("set" as const), field: fc.constantFrom(...FIELDS), value }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("add" as const), field: fc.constantFrom(...FIELDS), value }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant("fill" as const),
      patch: fc.record({ memory_delta: value, conclusion: value, update_contracts: value }, { requiredKeys: [] }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("undo" as const), back: fc.option(fc.nat({ max: 6 })) }) },
);

/** Takes one step; false when it was refused. */
function take(world: ScriptedWorld, id: string, one: Step): boolean {
  try {
    if (one.verb !== "undo") mutateDraft(world, at(id), one);
    else {
      const journal = journalOf(world, id);
      undoChange(world, at(id), one.back === null ? null : (journal[one.back % journal.length]?.change_id ?? null));
    }
    return true;
  } catch (error) {
    if (error instanceof WritError) return false;
    throw error;
  }
}

test("every earlier state stays what it was, row and file are one, and a refusal changes nothing", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) => {
      using world = scriptedWorld();
      const id = born(world);
      const states = new Map<number, string>();
      let before = everything(world);
      for (const one of steps) {
        const isTaken = take(world, id, one);
        const after = everything(world);
        if (!isTaken) expect(after).toEqual(before);
        before = after;

        const journal = journalOf(world, id);
        const newest = journal.at(-1)?.change_id ?? 0;
        const draft = draftOf(world, id);
        const { born_at_dispatch: _, agent_name: __, agent_state: ___, ...mirrored } = rowJson(world, id);
        if (journal.length > 1) expect(sameJson(mirrored, draft)).toBe(true);
        expect(sameJson(viewAt(world, at(id), newest).envelope, draft)).toBe(true);
        expect(sameJson(viewDraft(world, at(id)).envelope, draft)).toBe(true);
        for (const { change_id } of journal) {
          const text = JSON.stringify(viewAt(world, at(id), change_id).envelope);
          expect(text).toBe(states.get(change_id) ?? text);
          states.set(change_id, text);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("undoing a write at once gives the state before it", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), step, (steps, last) => {
      if (last.verb === "undo") return;
      using world = scriptedWorld();
      const id = born(world);
      for (const one of steps) take(world, id, one);
      const before = draftOf(world, id);
      const changes = journalOf(world, id).length;
      if (!take(world, id, last) || journalOf(world, id).length === changes) return;
      undoChange(world, at(id), null);
      expect(sameJson(draftOf(world, id), before)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("undoing one by one comes back to the birth, and then nothing is left", () => {
  const writes = step.filter((one) => one.verb !== "undo");
  fc.assert(
    fc.property(fc.array(writes, { minLength: 1, maxLength: 8 }), (steps) => {
      using world = scriptedWorld();
      const id = born(world);
      const birth = draftOf(world, id);
      for (const one of steps) take(world, id, one);
      const changes = journalOf(world, id).length - 1;
      for (let count = 0; count < changes; count++) undoChange(world, at(id), null);
      expect(sameJson(draftOf(world, id), birth)).toBe(true);
      expect(take(world, id, { verb: "undo", back: null })).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("one command is one change, with one entry a path", () => {
  using world = scriptedWorld();
  const id = born(world);
  mutateDraft(world, at(id), {
    verb: "fill",
    patch: { conclusion: "x", memory_delta: { a: 1, b: [2] }, evidence_report: { key_outputs: ["y"] } },
  });
  mutateDraft(world, at(id), { verb: "fill", patch: { memory_delta: { a: 2, c: null }, conclusion: "x" } });
  expect(world.sql("SELECT change_id, verb, path, before, after FROM journal WHERE change_id > 1")).toEqual([
    { change_id: 2, verb: "fill", path: "evidence_report.key_outputs", before: "[]", after: '["y"]' },
    { change_id: 2, verb: "fill", path: "memory_delta", before: "null", after: '{"a":1,"b":[2]}' },
    { change_id: 2, verb: "fill", path: "conclusion", before: "null", after: '"x"' },
    { change_id: 5, verb: "fill", path: "memory_delta.a", before: "1", after: "2" },
    { change_id: 5, verb: "fill", path: "memory_delta.c", before: null, after: "null" },
  ]);
});

test("a birth is one entry with the empty path and no before", () => {
  using world = scriptedWorld();
  const id = born(world);
  expect(journalOf(world, id)).toEqual([
    {
      change_id: 1,
      contract_id: id,
      at: "2026-01-01T00:00:00Z",
      pid: 4242,
      verb: "dispatch",
      draft_sha256: world.drafts.read(id)?.digest ?? "",
      undoes: null,
      changes: [{ path: "", after: draftOf(world, id) }],
    },
  ]);
});
