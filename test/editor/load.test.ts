/** What a draft file is on load: the newest state, a crash's leftover, an edit by hand, missing, or no JSON. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { initialEnvelope } from "../../src/core/contract/envelope.ts";
import { initDraft } from "../../src/editor/init.ts";
import { undoChange } from "../../src/editor/undo.ts";
import { viewAt, viewDraft } from "../../src/editor/view.ts";
import {
  add,
  at,
  born,
  cleanRefusalOf,
  closed,
  draftOf,
  fileOf,
  fill,
  finalize,
  journalOf,
  refusalOf,
  rowJson,
  set,
  verbsOf,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";
const AGENT = "a0123456789abcdef";

const outputsOf = (world: ScriptedWorld, id: string) => draftOf(world, id).evidence_report;

test("a file that is an earlier journalled state is a leftover: the write builds on what the store holds", () => {
  using world = scriptedWorld();
  const id = born(world);
  const birth = readFileSync(fileOf(world, id));
  add(world, id, OUTPUTS, "x");
  const middle = readFileSync(fileOf(world, id));
  add(world, id, OUTPUTS, "y");
  for (const [leftover, more] of [[birth, "z"] as const, [middle, "w"] as const]) {
    writeFileSync(fileOf(world, id), leftover);
    expect(viewDraft(world, at(id)).envelope).toEqual(rowJsonWithoutBirth(world, id));
    expect(readFileSync(fileOf(world, id))).toEqual(leftover); // looking brings nothing up to date
    add(world, id, OUTPUTS, more);
  }
  expect(outputsOf(world, id)).toMatchObject({ key_outputs: ["x", "y", "z", "w"] });
  expect(verbsOf(world, id)).toEqual(["dispatch", "add", "add", "add", "add"]);
});

function rowJsonWithoutBirth(world: ScriptedWorld, id: string) {
  const { born_at_dispatch: _, agent_name: __, ...rest } = rowJson(world, id);
  return rest;
}

test("a leftover that a write leaves as it is goes into its place all the same", () => {
  using world = scriptedWorld();
  const id = born(world);
  const birth = readFileSync(fileOf(world, id));
  add(world, id, OUTPUTS, "x");
  writeFileSync(fileOf(world, id), birth);
  expect(fill(world, id, {}).change_id).toBeNull();
  expect(outputsOf(world, id)).toMatchObject({ key_outputs: ["x"] });
});

test("a state that came back by undo is the newest, not a leftover", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, OUTPUTS, "x");
  undoChange(world, at(id), null);
  add(world, id, OUTPUTS, "y");
  expect(outputsOf(world, id)).toMatchObject({ key_outputs: ["y"] });
  expect(verbsOf(world, id)).toEqual(["dispatch", "add", "undo", "add"]);
});

test("an edit by hand is journalled as found, before the write, with what it changed", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), conclusion: "by hand", report_prose: "p" }));
  add(world, id, OUTPUTS, "x");
  const [, found, added] = journalOf(world, id);
  expect(found).toMatchObject({
    verb: "found",
    changes: [
      { path: "conclusion", before: null, after: "by hand" },
      { path: "report_prose", after: "p" },
    ],
  });
  expect(added).toMatchObject({ verb: "add", changes: [{ path: OUTPUTS, before: [], after: ["x"] }] });
  expect(draftOf(world, id).conclusion).toBe("by hand");
  expect(rowJson(world, id).conclusion).toBe("by hand");
});

test("an edit by hand that a refused write met is not journalled and stays", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), conclusion: "by hand" }));
  cleanRefusalOf(world, () => set(world, id, "nothing", 1));
  expect(draftOf(world, id).conclusion).toBe("by hand");
});

test("another layout of the same envelope is no change", () => {
  using world = scriptedWorld();
  const id = born(world);
  const { conclusion, ...rest } = draftOf(world, id);
  writeFileSync(fileOf(world, id), JSON.stringify({ conclusion: conclusion ?? null, ...rest }));
  add(world, id, OUTPUTS, "x");
  expect(verbsOf(world, id)).toEqual(["dispatch", "add"]);
});

test("a draft that the journal knows nothing of is found whole", () => {
  using world = scriptedWorld();
  initDraft(world, { agent_id: null, draft_id: null }); // makes the folder
  writeFileSync(fileOf(world, `${AGENT}.1`), JSON.stringify(initialEnvelope(AGENT)));
  add(world, `${AGENT}.1`, OUTPUTS, "x");
  expect(journalOf(world, `${AGENT}.1`)[0]).toMatchObject({
    verb: "found",
    changes: [{ path: "", after: initialEnvelope(AGENT) }],
  });
});

test.each([
  { what: "no JSON", text: "{ half" },
  { what: "YAML", text: "agent_status:\n  agent_state: DONE\n" },
  { what: "JSON and no object", text: "[]" },
  { what: "empty", text: "" },
  { what: "JSON with a key given twice", text: '{"a":1,"a":2}' },
])("a draft that is $what is never overwritten", ({ text }) => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, OUTPUTS, "x");
  writeFileSync(fileOf(world, id), text);
  for (const act of [
    () => set(world, id, "conclusion", "x"),
    () => add(world, id, OUTPUTS, "x"),
    () => fill(world, id, {}),
    () => undoChange(world, at(id), null),
    () => finalize(world, id),
    () => viewDraft(world, at(id)),
  ]) {
    expect(cleanRefusalOf(world, act)).toMatchObject({ code: "draft_unreadable" });
  }
  expect(readFileSync(fileOf(world, id), "utf8")).toBe(text);
  rmSync(fileOf(world, id)); // as the hint says: moved away, the row is what is gone on with
  add(world, id, OUTPUTS, "y");
  expect(outputsOf(world, id)).toMatchObject({ key_outputs: ["x", "y"] });
});

// Adoption

const adopting: { verb: string; act: (world: ScriptedWorld, id: string) => unknown }[] = [
  { verb: "set", act: (world, id) => set(world, id, "conclusion", "x") },
  { verb: "add", act: (world, id) => add(world, id, OUTPUTS, "x") },
  { verb: "fill", act: (world, id) => fill(world, id, { conclusion: "x" }) },
  { verb: "view", act: (world, id) => viewDraft(world, at(id)) },
  { verb: "finalize", act: (world, id) => finalize(world, id) },
];

test.each(adopting)("$verb of a born contract without a file makes it, from the initial envelope", ({ act }) => {
  using world = scriptedWorld();
  const id = born(world);
  rmSync(fileOf(world, id));
  act(world, id);
  expect(draftOf(world, id).agent_status).toEqual(initialEnvelope(id.split(".")[0] ?? "").agent_status ?? null);
});

test.each(adopting)("$verb of a contract whose file was lost makes it from what the row mirrors", ({ act }) => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { evidence_report: { open_gaps: ["kept"] } });
  rmSync(fileOf(world, id));
  act(world, id);
  expect(draftOf(world, id).evidence_report).toMatchObject({ open_gaps: ["kept"] });
  expect(verbsOf(world, id).slice(0, 3)).toEqual(["dispatch", "fill", "adopt"]);
});

test.each(adopting)("$verb of an id without a row, or of one that is no agent's, makes nothing", ({ act }) => {
  using world = scriptedWorld();
  born(world);
  world.sql(
    "INSERT INTO handoffs (contract_id, agent_id, workspace, agent_state, raw_handoff_json, created_at) VALUES ('b.1', 'b', 'me', 'DISPATCHED', '{}', '')",
  );
  for (const id of [`${AGENT}.1`, "b.1"]) {
    const error = cleanRefusalOf(world, () => act(world, id));
    expect(error).toMatchObject({
      code: "no_draft",
      message: `No draft found for id '${id}'. Run 'writ contract init' first.`,
    });
  }
});

test("WRIT_CONTRACT_ID adopts as --draft-id does", () => {
  using first = scriptedWorld();
  const id = born(first);
  rmSync(fileOf(first, id));
  using turn = scriptedWorld({ folder: first.folder, contractId: id, minted: 100 });
  expect(viewDraft(turn, at(null)).draft_id).toBe(id);
  expect(draftOf(first, id).conclusion).toBeNull();
});

test("undo makes the missing file too, and takes back what its journal holds", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "x");
  rmSync(fileOf(world, id));
  const { undoes } = undoChange(world, at(id), 2);
  expect(undoes).toBe(2);
  expect(draftOf(world, id).conclusion).toBeNull();
});

test("a continuation whose file is missing is adopted through the first id", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const next = add(world, id, OUTPUTS, "x").draft_id;
  rmSync(fileOf(world, next));
  add(world, id, OUTPUTS, "y");
  expect(draftOf(world, next).evidence_report).toMatchObject({ key_outputs: ["x", "y"] });
});

test("what a hand edit and a lost file did can be seen state by state", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "one");
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), conclusion: "by hand" }));
  set(world, id, "conclusion", "two");
  const conclusions = journalOf(world, id).map(({ change_id }) => viewAt(world, at(id), change_id).envelope.conclusion);
  expect(conclusions).toEqual([null, "one", "by hand", "two"]);
});

test("a draft in a folder that is none is not there", () => {
  using world = scriptedWorld();
  writeFileSync(world.draftsPath, "in the way");
  expect(refusalOf(() => viewDraft({ ...world, store: null }, at(`${AGENT}.1`))).code).toBe("no_draft");
});
