import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ErrorCode } from "../../src/core/error.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import { validateClose, validateDraft } from "../../src/editor/validate.ts";
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
  ran,
  refusalOf,
  task,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";

test("a valid draft is told so, with the cross-check done, and nothing changes", () => {
  using world = scriptedWorld();
  const id = born(world);
  const before = everything(world);
  expect(validateDraft(world, at(id))).toEqual({
    draft_id: id,
    cross_check: "done",
    would: null,
    advice: [],
    claims: { held: 0, skipped: [], unheld: null },
    incomplete: null,
    refused: [],
  });
  expect(everything(world)).toEqual(before);
});

test("without a store the cross-check is skipped, and the form still counts", () => {
  using world = scriptedWorld();
  const id = born(world);
  const draft = { ...draftOf(world, id), approval_request: { approval_id: "P-1" } };
  writeFileSync(fileOf(world, id), JSON.stringify(draft));
  const reading = { ...world, store: null };
  expect(validateDraft(reading, at(id)).cross_check).toBe("skipped");
  expect(cleanRefusalOf(world, () => validateDraft(world, at(id))).details.codes).toEqual(["APPROVAL_ID_NOT_PENDING"]);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draft, nope: 1 }));
  expect(refusalOf(() => validateDraft(reading, at(id))).details.codes).toEqual(["UNKNOWN_FIELD"]);
});

test("an approval that cannot be looked up is not pending", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), approval_request: { approval_id: 7 } }));
  world.sql("DROP TABLE approvals");
  const error = cleanRefusalOf(world, () => validateDraft(world, at(id)));
  expect(error.issues.map((issue) => issue.code)).toEqual(["APPROVAL_ID_NOT_PENDING"]);
});

test("what a draft inherited is judged as it stands: nothing is repaired, nothing journalled", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), key_outputs: [] }));
  const error = cleanRefusalOf(world, () => validateDraft(world, at(id)));
  expect(error).toMatchObject({ code: "validation", status: "rejected", details: { codes: ["MISPLACED_KEY"] } });
});

test.each([
  { what: "a list", text: "[]", code: "validation" },
  { what: "null", text: "null", code: "validation" },
  { what: "no JSON", text: "{", code: "draft_unreadable" },
])("a draft that is $what is $code", ({ text, code }) => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), text);
  const error = cleanRefusalOf(world, () => validateDraft(world, at(id)));
  expect(error.code).toBe(code as ErrorCode);
  if (code === "validation") {
    expect(error.issues.map((issue) => [issue.code, issue.path])).toEqual([
      ["MISSING_FIELD", "agent_contract_handoff"],
    ]);
  }
});

test("validate adopts nothing: a born contract without a file has no draft", () => {
  using world = scriptedWorld();
  const id = born(world);
  rmSync(fileOf(world, id));
  for (const act of [() => validateDraft(world, at(id)), () => validateClose(world, at(id), false)]) {
    expect(cleanRefusalOf(world, act)).toMatchObject({
      code: "no_draft",
      message: `No draft found for id '${id}'. Run 'writ contract init' first.`,
      hint: expect.stringContaining("init makes another, unrelated draft"),
    });
  }
});

test("validate addresses exactly the id that is given", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const next = add(world, id, OUTPUTS, "x").draft_id;
  writeFileSync(fileOf(world, next), JSON.stringify({ ...draftOf(world, next), nope: 1 }));
  expect(validateDraft(world, at(id)).draft_id).toBe(id);
  expect(cleanRefusalOf(world, () => validateDraft(world, at(next))).code).toBe("validation");
});

test("a crash's leftover is judged as the state that the store holds", () => {
  using world = scriptedWorld();
  const id = born(world);
  const birth = readFileSync(fileOf(world, id));
  fill(world, id, closing("BLOCKED"));
  writeFileSync(fileOf(world, id), birth);
  expect(validateClose(world, at(id), false).would).toBe("finalize");
});

// --close

function close(world: ScriptedWorld, id: string, strict = false) {
  return validateClose(world, at(id), strict);
}

test.each([
  {
    state: "IN_PROGRESS",
    would: "checkpoint" as const,
    unheld: null,
    incomplete: { why: "COMPLETE needs a verification that passed", isRefuted: false },
  },
  { state: "BLOCKED", would: "finalize" as const, unheld: null, incomplete: null },
  { state: "COMPLETE", would: "finalize" as const, unheld: "no_record" as const, incomplete: null },
])("the close of $state would $would, and nothing was written", ({ state, would, unheld, incomplete }) => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing(state));
  const before = everything(world);
  expect(close(world, id)).toEqual({
    draft_id: id,
    cross_check: "done",
    would,
    advice: [],
    claims: { held: 0, skipped: [], unheld },
    incomplete,
    refused: [],
  });
  expect(everything(world)).toEqual(before);
});

const blocked = closing("BLOCKED");
const refusals: { code: ErrorCode; patch: JsonObject; bound?: boolean; consolidation?: boolean }[] = [
  { code: "agent_id_mismatch", patch: { ...blocked, agent_status: { agent_id: "a00000000000000ff" } } },
  { code: "blind_verification_required", patch: closing("COMPLETE"), bound: true },
  { code: "validation", patch: closing("NEEDS_VERIFICATION") },
  { code: "consolidation_required", patch: blocked, consolidation: true },
  { code: "conclusion_required", patch: { ...blocked, conclusion: " " } },
  {
    code: "content_unverified",
    patch: { ...blocked, evidence_report: { verification: { command: "all tests pass" } } },
  },
];

test.each(refusals)("--close reports $code as finalize does, and changes nothing", ({ code, patch, ...turn }) => {
  using world = scriptedWorld();
  const plan_task_id = turn.bound === true ? task(world, "b").task_id : null;
  const id = born(world, { consolidation: turn.consolidation === true, plan_task_id });
  fill(world, id, patch);
  const error = cleanRefusalOf(world, () => close(world, id));
  expect(error.code).toBe(code);
  const same = cleanRefusalOf(world, () => finalize(world, id));
  expect({ ...same, stack: "" }).toEqual({ ...error, stack: "" });
  expect(validateDraft(world, at(id)).would).toBeNull(); // the form alone has nothing against it
});

test("--close reports what the form has against it before anything of the close", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draftOf(world, id), nope: 1 }));
  expect(cleanRefusalOf(world, () => close(world, id)).details.codes).toEqual(["UNKNOWN_FIELD"]);
});

test("advice is told, and refuses with --strict alone", () => {
  using world = scriptedWorld({ changed: ["src/a.ts"] });
  const id = born(world);
  ran(world, id, "bun test");
  const verification = { type: "command", command: "bun test", result: "pass" };
  fill(world, id, closing("COMPLETE", { evidence_report: { verification } }));
  expect(close(world, id).advice.map((issue) => issue.code)).toEqual(["stale"]);
  const error = cleanRefusalOf(world, () => close(world, id, true));
  expect(error).toMatchObject({ code: "advised", status: "rejected" });
  expect(error.issues.map((issue) => issue.code)).toEqual(["stale"]);
});

test("--close follows the chain to its live link, as finalize does", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const next = add(world, id, OUTPUTS, "x").draft_id;
  expect(close(world, id)).toMatchObject({ draft_id: next, would: "checkpoint" });
});
