import { expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { initialEnvelope } from "../../src/core/contract/envelope.ts";
import { fieldOf, viewAt, viewByHarness, viewDraft } from "../../src/editor/view.ts";
import {
  add,
  at,
  born,
  cleanRefusalOf,
  closed,
  closing,
  draftOf,
  everything,
  fileOf,
  fill,
  finalize,
  refusalOf,
  rowJson,
  rowOf,
  set,
} from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";

test("view is of the file, as it stands, and changes nothing", () => {
  using world = scriptedWorld();
  const id = born(world);
  const handMade = { ...draftOf(world, id), key_outputs: 5 };
  writeFileSync(fileOf(world, id), JSON.stringify(handMade));
  const before = everything(world);
  expect(viewDraft(world, at(id))).toEqual({ draft_id: id, envelope: handMade, row: null });
  expect(everything(world)).toEqual(before);
});

test.each(["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "COMPLETE"])(
  "a closed contract (%s) without a file is viewed from its row, and nothing is written",
  (state) => {
    using world = scriptedWorld();
    const id = born(world);
    fill(
      world,
      id,
      closing(state, state === "APPROVAL_REQUEST" ? { approval_request: { exact_content: "rm x" } } : {}),
    );
    finalize(world, id);
    rmSync(fileOf(world, id));
    const before = everything(world);
    expect(viewDraft(world, at(id))).toEqual({ draft_id: id, envelope: rowJson(world, id), row: rowOf(world, id) });
    expect(everything(world)).toEqual(before);
  },
);

test("a checkpointed contract without a file gets it back", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "so far");
  finalize(world, id);
  rmSync(fileOf(world, id));
  expect(viewDraft(world, at(id)).row).toBeNull();
  expect(draftOf(world, id).conclusion).toBe("so far");
});

test.each([
  { what: "no JSON", json: "{" },
  { what: "empty", json: "" },
  { what: "no object", json: "null" },
])("a row that holds $what is never shown as a blank envelope", ({ json }) => {
  using world = scriptedWorld();
  const open = born(world);
  const done = closed(world);
  world.sql("UPDATE handoffs SET raw_handoff_json = ?", json);
  for (const id of [open, done]) {
    rmSync(fileOf(world, id));
    expect(cleanRefusalOf(world, () => viewDraft(world, at(id))).code).toBe("nothing_recoverable");
    expect(existsSync(fileOf(world, id))).toBe(false);
  }
});

test("a closed row that holds only its birth mark is not recoverable", () => {
  using world = scriptedWorld();
  const id = closed(world);
  world.sql("UPDATE handoffs SET raw_handoff_json = '{\"born_at_dispatch\":true}'");
  rmSync(fileOf(world, id));
  expect(cleanRefusalOf(world, () => viewDraft(world, at(id))).code).toBe("nothing_recoverable");
});

test("view addresses exactly the id that is given, not the live link", () => {
  using world = scriptedWorld();
  const id = closed(world);
  add(world, id, OUTPUTS, "of the next turn");
  expect(viewDraft(world, at(id))).toMatchObject({ draft_id: id, envelope: { evidence_report: { key_outputs: [] } } });
});

test("without a store the file is what there is", () => {
  using world = scriptedWorld();
  const id = born(world);
  const reading = { ...world, store: null };
  expect(viewDraft(reading, at(id)).envelope).toEqual(draftOf(world, id));
  rmSync(fileOf(world, id));
  expect(refusalOf(() => viewDraft(reading, at(id))).code).toBe("no_draft");
  expect(refusalOf(() => viewAt(reading, at(id), 1)).code).toBe("no_such_change");
  expect(refusalOf(() => viewByHarness(reading, "h")).code).toBe("no_row");
});

test("the past is rebuilt from the journal, also when the file is gone", () => {
  using world = scriptedWorld();
  const id = born(world);
  const one = set(world, id, "conclusion", "one").change_id ?? 0;
  const two = set(world, id, "conclusion", "two").change_id ?? 0;
  rmSync(fileOf(world, id));
  const seen = [1, one, two].map((change) => viewAt(world, at(id), change).envelope.conclusion);
  expect(seen).toEqual([null, "one", "two"]);
  expect(existsSync(fileOf(world, id))).toBe(false);
  expect(cleanRefusalOf(world, () => viewAt(world, at(id), 99)).code).toBe("no_such_change");
  const other = born(world);
  expect(cleanRefusalOf(world, () => viewAt(world, at(other), one)).code).toBe("no_such_change");
});

test("the newest row of a harness id is viewed with its draft, the fresher source, else with what the row holds", () => {
  using world = scriptedWorld();
  born(world, { harness_agent_id: "h1" });
  const id = born(world, { harness_agent_id: "h1" });
  const agent = id.split(".")[0] ?? "";
  expect(viewByHarness(world, "h1")).toEqual({
    draft_id: id,
    envelope: initialEnvelope(agent),
    row: rowOf(world, id),
    envelope_source: "draft",
  });
  set(world, id, "conclusion", "x");
  rmSync(fileOf(world, id));
  expect(viewByHarness(world, "h1")).toEqual({
    draft_id: id,
    envelope: rowJson(world, id),
    row: rowOf(world, id),
    envelope_source: "db_row",
  });
  writeFileSync(fileOf(world, id), "{ half");
  expect(viewByHarness(world, "h1").envelope.conclusion).toBe("x");
  expect(cleanRefusalOf(world, () => viewByHarness(world, "h2")).code).toBe("no_row");
});

test("a harness id whose row holds nothing, without a draft, is not recoverable", () => {
  using world = scriptedWorld();
  const id = born(world, { harness_agent_id: "h1" });
  rmSync(fileOf(world, id));
  expect(cleanRefusalOf(world, () => viewByHarness(world, "h1")).code).toBe("nothing_recoverable");
});

test.each([
  { field: "evidence_report.key_outputs", value: [] },
  { field: ".evidence_report..key_outputs.", value: [] },
  { field: "approval_request", value: null },
  { field: "agent_status.next_action", value: "pending" },
])("the field $field is there, whatever it holds", ({ field, value }) => {
  expect(fieldOf(initialEnvelope("a0123456789abcdef"), field)).toEqual(value);
});

test.each([
  { field: "nope", message: "no such field 'nope': no key 'nope' under (root)" },
  { field: "agent_status.nope.x", message: "no such field 'agent_status.nope.x': no key 'nope' under agent_status" },
  {
    field: "evidence_report.key_outputs.0",
    message: "no such field 'evidence_report.key_outputs.0': no key '0' under evidence_report.key_outputs",
  },
  { field: "constructor", message: "no such field 'constructor': no key 'constructor' under (root)" },
])("$message", ({ field, message }) => {
  const error = refusalOf(() => fieldOf(initialEnvelope("a0123456789abcdef"), field));
  expect(error).toMatchObject({ code: "no_such_field", message });
});

test("a field path without a segment is no path", () => {
  expect(refusalOf(() => fieldOf({}, "..")).code).toBe("empty_path");
});
