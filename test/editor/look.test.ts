/** Looking at rows and at history. */
import { expect, test } from "bun:test";
import type { HandoffFilter } from "../../src/core/contract/repository.ts";
import { compareChanges, listChain, listChanges, listHandoffs, showHandoff } from "../../src/editor/look.ts";
import { undoChange } from "../../src/editor/undo.ts";
import {
  add,
  at,
  born,
  cleanRefusalOf,
  closed,
  closing,
  draftOf,
  everything,
  fill,
  finalize,
  journalOf,
  ran,
  refusalOf,
  rowJson,
  rowOf,
  set,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";
const ANY: HandoffFilter = {
  agent_id: null,
  agent_name: null,
  agent_state: null,
  cut_reason: null,
  session_id: null,
  contract_id: null,
  harness_agent_id: null,
  workspace: null,
  since: null,
  until: null,
  limit: 20,
};

const without = (world: ScriptedWorld) => ({ ...world, store: null });

test("rows are listed newest first, and none where there is no store", () => {
  using world = scriptedWorld();
  const [one, two] = [born(world), born(world)];
  expect(listHandoffs(world, ANY)).toEqual([rowOf(world, two), rowOf(world, one)]);
  expect(listHandoffs(without(world), ANY)).toEqual([]);
});

test("a row is shown by contract id and by handoff id, with its envelope and its record", () => {
  using world = scriptedWorld();
  const id = born(world);
  expect(showHandoff(world, id)).toEqual({
    row: rowOf(world, id),
    notices: [],
    proposals: [],
    envelope: null,
    bound: false,
    record: [],
  });
  ran(world, id, "bun test");
  fill(world, id, closing("BLOCKED"));
  finalize(world, id);
  const shown = showHandoff(world, String(rowOf(world, id).id));
  expect(shown).toMatchObject({ row: rowOf(world, id), envelope: rowJson(world, id), bound: true });
  expect(shown.record.map((run) => run.command)).toEqual(["bun test"]);
});

test.each(["99", "0", "01", "-1", "1.0", "1e0", "", "a00000000000000ff.1", "9".repeat(40)])("%j is no row", (id) => {
  using world = scriptedWorld();
  born(world);
  expect(cleanRefusalOf(world, () => showHandoff(world, id)).code).toBe("no_row");
  expect(refusalOf(() => showHandoff(without(world), id)).code).toBe("no_row");
});

test("a chain is listed oldest first, from any of its links", () => {
  using world = scriptedWorld();
  const first = closed(world);
  const second = fill(world, first, closing("BLOCKED")).draft_id;
  finalize(world, second);
  const third = add(world, second, OUTPUTS, "x").draft_id;
  for (const id of [first, second, third]) {
    expect(listChain(world, id).map((row) => row.contract_id)).toEqual([first, second, third]);
  }
  const alone = born(world);
  expect(listChain(world, alone).map((row) => row.contract_id)).toEqual([alone]);
  expect(cleanRefusalOf(world, () => listChain(world, "a00000000000000ff.1")).code).toBe("no_row");
  expect(refusalOf(() => listChain(without(world), first)).code).toBe("no_row");
});

test("changes are listed newest first, as many as were asked for", () => {
  using world = scriptedWorld();
  const id = born(world);
  for (const text of ["a", "b", "c"]) set(world, id, "conclusion", text);
  const before = everything(world);
  const all = listChanges(world, at(id), null, 20);
  expect(all).toEqual({ draft_id: id, changes: journalOf(world, id).toReversed(), total: 4 });
  expect(listChanges(world, at(id), null, 2)).toEqual({ ...all, changes: all.changes.slice(0, 2) });
  expect(listChanges(without(world), at(id), null, 20).changes).toEqual([]);
  expect(everything(world)).toEqual(before);
});

test("a path is listed with everything under it, and a change shows what it did there alone", () => {
  using world = scriptedWorld();
  const id = born(world);
  const both = fill(world, id, { conclusion: "c", evidence_report: { key_outputs: ["x"] } }).change_id;
  set(world, id, "report_prose", "p");
  const deeper = set(world, id, "evidence_report.verification.method", "m").change_id;
  const found = (path: string): unknown =>
    listChanges(world, at(id), path, 20).changes.map(({ change_id, changes }) => [
      change_id,
      changes.map((one) => one.path),
    ]);
  const birth = [1, [""]];
  expect(found("evidence_report")).toEqual([[deeper, ["evidence_report.verification"]], [both, [OUTPUTS]], birth]);
  expect(found("evidence_report.key_outputs.")).toEqual([[both, [OUTPUTS]], birth]);
  expect(found("conclusion")).toEqual([[both, ["conclusion"]], birth]);
  expect(found("conclu")).toEqual([birth]); // a birth touched every path
});

test("a comparison is of what one change did, or of the states after two", () => {
  using world = scriptedWorld();
  const id = born(world);
  const one = set(world, id, "conclusion", "one").change_id ?? 0;
  add(world, id, OUTPUTS, "x");
  const three = set(world, id, "conclusion", "three").change_id ?? 0;
  const compare = (from: number | null, to: number | null) => compareChanges(world, at(id), { from, to });
  expect(compare(null, null)).toEqual({
    draft_id: id,
    from: null,
    to: three,
    changes: [{ path: "conclusion", before: "one", after: "three" }],
  });
  expect(compare(null, one).changes).toEqual([{ path: "conclusion", before: null, after: "one" }]);
  expect(compare(1, null).changes).toEqual([
    { path: OUTPUTS, before: [], after: ["x"] },
    { path: "conclusion", before: null, after: "three" },
  ]);
  expect(compare(three, one).changes).toEqual([
    { path: OUTPUTS, before: ["x"], after: [] },
    { path: "conclusion", before: "three", after: "one" },
  ]);
  expect(compare(three, three).changes).toEqual([]);
  expect(compare(null, 1).changes).toMatchObject([{ path: "" }]);
  for (const [from, to] of [[99, null] as const, [null, 99] as const]) {
    expect(cleanRefusalOf(world, () => compare(from, to)).code).toBe("no_such_change");
  }
});

test("what a write and its undo leave between them is no difference", () => {
  using world = scriptedWorld();
  const id = born(world);
  const before = set(world, id, "conclusion", "one").change_id;
  set(world, id, "conclusion", "two");
  undoChange(world, at(id), null);
  expect(compareChanges(world, at(id), { from: before, to: null }).changes).toEqual([]);
});

test("a contract that nobody knows has no history: it is no_draft", () => {
  using world = scriptedWorld();
  const nobody = at("a00000000000000ff.1");
  expect(refusalOf(() => compareChanges(world, nobody, { from: null, to: null })).code).toBe("no_draft");
  expect(refusalOf(() => listChanges(world, nobody, null, 20)).code).toBe("no_draft");
});

test("a draft that writ never wrote has nothing to compare yet", () => {
  using world = scriptedWorld();
  const draft_id = "a00000000000000ff.1";
  world.drafts.stage(draft_id, "{}").publish();
  expect(compareChanges(world, at(draft_id), { from: null, to: null })).toEqual({
    draft_id,
    from: null,
    to: null,
    changes: [],
  });
});

test("history is addressed exactly: a chain is not followed", () => {
  using world = scriptedWorld();
  const first = closed(world);
  add(world, first, OUTPUTS, "x");
  expect(listChanges(world, at(first), null, 20).changes.map((change) => change.verb)).toEqual([
    "finalize",
    "fill",
    "dispatch",
  ]);
  expect(draftOf(world, first).evidence_report).toMatchObject({ key_outputs: [] });
});
