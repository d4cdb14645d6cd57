/** `set`, `add` and `fill` on a draft: what a write changes, and that a refusal changes nothing. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { DraftFolder } from "../../src/core/contract/repository.ts";
import type { ErrorCode } from "../../src/core/error.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { initDraft } from "../../src/editor/init.ts";
import { undoChange } from "../../src/editor/undo.ts";
import { ENVELOPE_LIMIT } from "../../src/store/drafts.ts";
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
  filesIn,
  fill,
  finalize,
  journalOf,
  refusalOf,
  rowJson,
  rowOf,
  set,
  task,
  verbsOf,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";

test("a write is in the file, in the row and in the journal", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.advance(5);
  const written = set(world, id, "conclusion", "so far");
  expect(written).toMatchObject({ draft_id: id, mirrored: true, mirror_skipped_reason: null, continuation: null });
  expect(draftOf(world, id).conclusion).toBe("so far");
  expect(rowJson(world, id).conclusion).toBe("so far");
  expect(journalOf(world, id).at(-1)).toEqual({
    change_id: written.change_id ?? 0,
    contract_id: id,
    at: "2026-01-01T00:00:05Z",
    pid: 4242,
    verb: "set",
    draft_sha256: world.sha256(readFileSync(fileOf(world, id), "utf8")),
    undoes: null,
    changes: [{ path: "conclusion", before: null, after: "so far" }],
  });
});

test("the file is JSON with two-space indent, non-ASCII as itself and one final newline", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "é “so”");
  const text = readFileSync(fileOf(world, id), "utf8");
  expect(text).toBe(`${JSON.stringify(draftOf(world, id), null, 2)}\n`);
  expect(text).toContain('  "conclusion": "é “so”"');
});

test("the mirror writes raw_handoff_json and no other column", () => {
  using world = scriptedWorld();
  const id = born(world, { session_id: "s", goal: "g" });
  const before = rowOf(world, id);
  world.advance(60);
  fill(world, id, { agent_status: { agent_state: "BLOCKED" }, conclusion: "waiting" });
  const { raw_handoff_json, ...rest } = rowOf(world, id);
  expect({ ...rest, raw_handoff_json: before.raw_handoff_json }).toEqual(before);
  expect(JSON.parse(raw_handoff_json).agent_status.agent_state).toBe("BLOCKED");
});

test("the mirror keeps the birth keys of the row, and the draft does not get them", () => {
  using world = scriptedWorld();
  const id = born(world, { agent: "qa" });
  add(world, id, OUTPUTS, "x");
  expect(rowJson(world, id)).toMatchObject({ born_at_dispatch: true, agent_name: "qa" });
  expect(rowJson(world, id).agent_state).toBeUndefined();
  expect(Object.keys(draftOf(world, id))).not.toContain("agent_name");
});

test("a birth key that the envelope has itself is kept as it is", () => {
  using world = scriptedWorld();
  const id = born(world, { agent: "qa" });
  set(world, id, "agent_name", "other");
  expect(rowJson(world, id).agent_name).toBe("other");
});

test("a draft without a row is written and not mirrored, and makes no row", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
  expect(add(world, draft_id, OUTPUTS, "x")).toMatchObject({ mirrored: false, mirror_skipped_reason: "no_row" });
  expect(world.sql("SELECT id FROM handoffs")).toEqual([]);
  expect(verbsOf(world, draft_id)).toEqual(["init", "add"]);
});

test("a write that changes nothing is a success and no change", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "x");
  const before = everything(world);
  for (const act of [() => fill(world, id, {}), () => set(world, id, "conclusion", "x")]) {
    expect(act()).toMatchObject({ change_id: null, mirrored: true });
  }
  expect(everything(world)).toEqual(before);
});

test("what was compared folded is stored folded, and told", () => {
  using world = scriptedWorld();
  const id = born(world);
  const written = fill(world, id, {
    agent_status: { agent_state: "blocked." },
    evidence_report: { verification: { type: "Self-Review", reviewed: "all", result: " PASS " } },
  });
  expect(written.canonicalized).toEqual([
    'agent_status.agent_state: "blocked." -> "BLOCKED"',
    'evidence_report.verification.result: " PASS " -> "pass"',
    'evidence_report.verification.type: "Self-Review" -> "self_review"',
  ]);
  expect(draftOf(world, id)).toMatchObject({ agent_status: { agent_state: "BLOCKED" } });
  expect(rowJson(world, id)).toMatchObject({ evidence_report: { verification: { result: "pass" } } });
});

test("what a draft inherited is repaired first, as a change of its own; what the call writes is not", () => {
  using world = scriptedWorld();
  const id = born(world);
  const inherited = { ...draftOf(world, id), key_outputs: ["x"], report_prose: 5 };
  writeFileSync(fileOf(world, id), JSON.stringify(inherited));
  expect(cleanRefusalOf(world, () => set(world, id, "files_checked", [])).details.codes).toEqual(["MISPLACED_KEY"]);
  const written = set(world, id, "conclusion", "x");
  expect(written.sanitized).toEqual([
    "removed key_outputs (a declared field that belongs at evidence_report.key_outputs)",
    expect.stringMatching(/^removed report_prose: number where string is declared, /),
  ]);
  expect(verbsOf(world, id)).toEqual(["dispatch", "found", "repair", "set"]);
  expect(Object.keys(draftOf(world, id))).not.toContain("report_prose");
});

type Refusal = {
  readonly code: ErrorCode;
  readonly what: string;
  readonly act: (world: ScriptedWorld, id: string) => unknown;
};

const deep = (levels: number): JsonValue => {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
};

const refusals: Refusal[] = [
  { code: "empty_path", what: "set of no path", act: (world, id) => set(world, id, "..", 1) },
  { code: "empty_path", what: "add to no path", act: (world, id) => add(world, id, "", 1) },
  {
    code: "path_through_list",
    what: "set through a populated list",
    act: (world, id) => set(world, id, `${OUTPUTS}.0`, 1),
  },
  { code: "path_through_list", what: "add through one", act: (world, id) => add(world, id, `${OUTPUTS}.0`, 1) },
  { code: "not_a_list", what: "add to a text", act: (world, id) => add(world, id, "report_prose", "x") },
  { code: "not_a_list", what: "add to an object", act: (world, id) => add(world, id, "evidence_report", "x") },
  { code: "not_an_object", what: "fill with a list", act: (world, id) => fill(world, id, []) },
  {
    code: "list_overwrite",
    what: "fill over a populated list",
    act: (world, id) => fill(world, id, { conclusion: "new", evidence_report: { key_outputs: ["z"] } }),
  },
  { code: "too_deep", what: "set too deep", act: (world, id) => set(world, id, "memory_delta", deep(100)) },
  { code: "too_deep", what: "fill too deep", act: (world, id) => fill(world, id, { memory_delta: deep(100) }) },
  { code: "validation", what: "set of an unknown field", act: (world, id) => set(world, id, "conclusoin", "x") },
  { code: "validation", what: "add of a misplaced one", act: (world, id) => add(world, id, "key_outputs", "x") },
  {
    code: "validation",
    what: "fill with a wrong state",
    act: (world, id) => fill(world, id, { agent_status: { agent_state: "DONE" } }),
  },
  {
    code: "validation",
    what: "an approval that is not pending",
    act: (world, id) => fill(world, id, { approval_request: { approval_id: "P-0" } }),
  },
  {
    code: "envelope_too_large",
    what: "an envelope of more than 16 MiB",
    act: (world, id) => set(world, id, "report_prose", "x".repeat(ENVELOPE_LIMIT)),
  },
  { code: "no_draft", what: "an unknown draft", act: (world) => set(world, "a00000000000000ff.1", "conclusion", "x") },
  { code: "invalid_draft_id", what: "no file name", act: (world) => set(world, "../x", "conclusion", "x") },
  { code: "no_such_change", what: "undo of an unknown change", act: (world, id) => undoChange(world, at(id), 99) },
  { code: "nothing_to_undo", what: "undo of a birth", act: (world, id) => undoChange(world, at(id), 1) },
  { code: "undo_conflict", what: "undo below a later change", act: (world, id) => undoChange(world, at(id), 2) },
  { code: "conclusion_required", what: "a close without a conclusion", act: (world, id) => finalize(world, id) },
  {
    code: "plan_task_id_unresolved",
    what: "a close for an unknown task",
    act: (world, id) => finalize(world, id, { plan_task_id: 77 }),
  },
];

test.each(refusals)("$code: $what changes nothing", ({ code, act }) => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, OUTPUTS, "x");
  add(world, id, OUTPUTS, "y");
  set(world, id, "report_prose", "text");
  set(world, id, "agent_status.agent_state", "BLOCKED");
  expect(cleanRefusalOf(world, () => act(world, id)).code).toBe(code);
});

test("a refusal names the draft, and every collision of a refused patch", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { evidence_report: { key_outputs: ["a", "b", "c"], open_gaps: ["d"] } });
  const error = refusalOf(() => fill(world, id, { evidence_report: { open_gaps: null, key_outputs: ["z"] } }));
  expect(error.details).toMatchObject({
    draft_id: id,
    collisions: [
      { field: "evidence_report.open_gaps", existing: 1, incoming: 0 },
      { field: OUTPUTS, existing: 3, incoming: 1 },
    ],
  });
  expect(error.status).toBe("refused");
});

test("the screen compares with the draft after its repair", () => {
  using world = scriptedWorld();
  const id = born(world);
  const draft = draftOf(world, id);
  const report = { ...(draft.evidence_report as JsonObject), key_outputs: "one" };
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draft, evidence_report: report }));
  const patch = { evidence_report: { key_outputs: ["two"] } };
  expect(cleanRefusalOf(world, () => fill(world, id, patch)).details.collisions).toEqual([
    { field: OUTPUTS, existing: 1, incoming: 1 },
  ]);
});

test.each([
  { status: "pending", code: null },
  { status: "approved", code: "validation" },
  { status: "rejected", code: "validation" },
  { status: "revoked", code: "validation" },
  { status: "expired", code: "validation" },
])("an approval that is $status may be cited: $code", ({ status, code }) => {
  using world = scriptedWorld();
  const id = born(world);
  world.sql(
    "INSERT INTO approvals (id, status, fingerprint, payload, created_at) VALUES ('P-1', ?, '', '', '')",
    status,
  );
  const act = () => fill(world, id, { approval_request: { approval_id: " P-1 " } });
  if (code === null) expect(act().change_id).not.toBeNull();
  else {
    const error = cleanRefusalOf(world, act);
    expect(error.issues.map((issue) => [issue.code, issue.path])).toEqual([
      ["APPROVAL_ID_NOT_PENDING", "approval_request.approval_id"],
    ]);
    expect(error.issues[0]?.hint).toContain(status);
  }
});

test("the cross-check is silent where the form has an issue", () => {
  using world = scriptedWorld();
  const id = born(world);
  const error = refusalOf(() => fill(world, id, { approval_request: { approval_id: "P-9" }, conclusion: 1 }));
  expect(error.details.codes).toEqual(["FIELD_TYPE"]);
});

test.each([
  { what: "the statement of the row fails", column: "raw_handoff_json" },
  { what: "the journal cannot be written", column: null },
])("$what: nothing was written, and no file is left beside the draft", ({ column }) => {
  using world = scriptedWorld();
  const id = born(world);
  const when = column === null ? "INSERT ON journal" : `UPDATE OF ${column} ON handoffs`;
  world.sql(`CREATE TRIGGER fails BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'the disk says no'); END`);
  const before = everything(world);
  expect(() => add(world, id, OUTPUTS, "x")).toThrow("the disk says no");
  expect(everything(world)).toEqual(before);
});

/** The world with its draft folder changed in one place. */
function withDrafts(world: ScriptedWorld, change: Partial<DraftFolder>): ScriptedWorld {
  return { ...world, drafts: { ...world.drafts, ...change } };
}

test("a failure between the staged file and the commit leaves everything as it was", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, OUTPUTS, "x");
  const failing: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      write: (unit) =>
        world.store.write((tables) => {
          unit(tables);
          expect(filesIn(world).filter((name) => name.endsWith(".tmp"))).toHaveLength(1);
          throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
        }),
    },
  };
  for (const act of [
    () => add(failing, id, OUTPUTS, "y"),
    () => undoChange(failing, at(id), null),
    () => finalize(failing, id),
    () => initDraft(failing, { agent_id: null, draft_id: null }),
  ]) {
    expect(cleanRefusalOf(world, act).code).toBe("store_failed");
  }
});

test("a crash between the commit and the rename: the write stands, and the next load has it", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, OUTPUTS, "x");
  const crashing = withDrafts(world, {
    stage: (draftId, text) => ({
      ...world.drafts.stage(draftId, text),
      publish() {
        throw new Error("killed");
      },
    }),
  });
  const before = readFileSync(fileOf(world, id), "utf8");
  expect(() => add(crashing, id, OUTPUTS, "y")).toThrow("killed");
  expect(readFileSync(fileOf(world, id), "utf8")).toBe(before);
  expect(rowJson(world, id).evidence_report).toMatchObject({ key_outputs: ["x", "y"] });
  add(world, id, OUTPUTS, "z");
  expect(draftOf(world, id).evidence_report).toMatchObject({ key_outputs: ["x", "y", "z"] });
  expect(verbsOf(world, id)).toEqual(["dispatch", "add", "add", "add"]);
});

test("a rename that fails is a warning: the write stands in the store", () => {
  using world = scriptedWorld();
  const id = born(world);
  const stuck = withDrafts(world, {
    stage(draftId, text) {
      const staged = world.drafts.stage(draftId, text);
      return {
        ...staged,
        publish() {
          rmSync(fileOf(world, draftId));
          writeFileSync(`${fileOf(world, draftId)}x`, "");
          staged.discard();
          staged.publish();
        },
      };
    },
  });
  const written = add(stuck, id, OUTPUTS, "x");
  expect(written.warnings).toEqual([expect.stringMatching(/^The change is stored, but its draft file could not/)]);
  expect(rowJson(world, id).evidence_report).toMatchObject({ key_outputs: ["x"] });
  expect(add(world, id, OUTPUTS, "y").warnings).toEqual([]);
  expect(draftOf(world, id).evidence_report).toMatchObject({ key_outputs: ["x", "y"] });
});

test("a draft folder that cannot be written is unavailable, and nothing was written", () => {
  using world = scriptedWorld();
  const id = born(world);
  const before = everything(world);
  rmSync(world.draftsPath, { recursive: true });
  writeFileSync(world.draftsPath, "in the way");
  expect(refusalOf(() => add(world, id, OUTPUTS, "x")).code).toBe("store_failed");
  const tables = world.sql("SELECT * FROM journal");
  expect(tables).toEqual(before.tables.journal as object[]);
});

test("a stale rename of another writer is followed by one with the newest state", () => {
  using world = scriptedWorld();
  const id = born(world);
  let isFirst = true;
  const slow = withDrafts(world, {
    stage(draftId, text) {
      const staged = world.drafts.stage(draftId, text);
      return {
        ...staged,
        publish() {
          if (isFirst) {
            isFirst = false;
            add(world, draftId, OUTPUTS, "of the other writer"); // commits and renames before this one does
          }
          staged.publish();
        },
      };
    },
  });
  add(slow, id, OUTPUTS, "of this one");
  const expected = { key_outputs: ["of this one", "of the other writer"] };
  expect(draftOf(world, id).evidence_report).toMatchObject(expected);
  expect(rowJson(world, id).evidence_report).toMatchObject(expected);
  expect(verbsOf(world, id)).toEqual(["dispatch", "add", "add"]);
  expect(filesIn(world)).toEqual([`${id}.json`]);
});

test("a unit that is run again stages one file, not two", () => {
  using world = scriptedWorld();
  const id = born(world);
  let runs = 0;
  const busy: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      write: (unit) =>
        world.store.write((tables) => {
          const answer = unit(tables);
          runs += 1;
          if (runs < 3) throw Object.assign(new Error("locked"), { code: "SQLITE_BUSY" });
          return answer;
        }),
    },
  };
  add(busy, id, OUTPUTS, "x");
  expect(runs).toBe(3);
  expect(filesIn(world)).toEqual([`${id}.json`]);
  expect(draftOf(world, id).evidence_report).toMatchObject({ key_outputs: ["x"] });
  expect(verbsOf(world, id)).toEqual(["dispatch", "add"]);
});

test("temporary files that a killed process left are no drafts and in nobody's way", () => {
  using world = scriptedWorld();
  const id = born(world);
  writeFileSync(`${world.draftsPath}/.${id}.7.00000000.tmp`, "{ half");
  add(world, id, OUTPUTS, "x");
  expect(world.drafts.list().map((draft) => draft.draft_id)).toEqual([id]);
});

test("keys named __proto__ and constructor are plain data", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { memory_delta: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}') });
  set(world, id, "memory_delta.__proto__.more", 3);
  expect(JSON.stringify(draftOf(world, id).memory_delta)).toBe(
    '{"__proto__":{"polluted":1,"more":3},"constructor":{"prototype":2}}',
  );
  expect(Object.hasOwn({}, "polluted")).toBe(false);
  const view = undoChange(world, at(id), null);
  expect(view.undoes).toBeGreaterThan(0);
  expect(JSON.stringify(draftOf(world, id).memory_delta)).toContain('"__proto__":{"polluted":1}');
});

// Continuation

test("a write to a closed contract opens a new one, and leaves the closed one as it was", () => {
  using world = scriptedWorld();
  const id = closed(world, "BLOCKED", { agent: "qa", goal: "g" });
  const row = rowOf(world, id);
  const text = readFileSync(fileOf(world, id), "utf8");
  world.advance(60);
  const written = add(world, id, OUTPUTS, "more");
  const next = written.continuation?.contract_id ?? "";
  expect(written).toMatchObject({ draft_id: next, mirrored: true });
  expect(written.continuation).toEqual({
    contract_id: next,
    continues_contract_id: id,
    handoff_id: 2,
    continues_handoff_id: 1,
    created: true,
  });
  expect(next.split(".")[0]).toBe(row.agent_id);
  expect(rowOf(world, id)).toEqual(row);
  expect(readFileSync(fileOf(world, id), "utf8")).toBe(text);
  const draft = draftOf(world, next);
  expect(draft).toEqual({
    ...draftOf(world, born(world)),
    agent_status: { agent_state: "IN_PROGRESS", agent_id: row.agent_id, pending_steps: [], next_action: "pending" },
    evidence_report: { ...(draft.evidence_report as JsonObject), key_outputs: ["more"], files_checked: [] },
    continues_contract_id: id,
    born_at_dispatch: true,
    agent_name: "qa",
  });
  expect(verbsOf(world, next)).toEqual(["continue", "add"]);
});

test("a turn without a birth mark gives none to its continuation", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
  fill(world, draft_id, closing("BLOCKED"));
  finalize(world, draft_id);
  const next = add(world, draft_id, OUTPUTS, "x").draft_id;
  expect(Object.keys(draftOf(world, next))).not.toContain("born_at_dispatch");
});

test("the new row inherits what restricts the agent, and not the goal, the brief or the project", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const parent = born(world);
  const given = {
    kind: "task_execution",
    plan_task_id: task_id,
    plan_id: 1,
    parent_handoff_id: rowOf(world, parent).id,
  };
  const names = { agent: "qa", session_id: "s", harness_agent_id: "h", workspace: "w", role: "r", surface: "u" };
  const lists = { can_read: ["a"], can_write: ["b"], consolidation: true };
  const id = born(world, { ...given, ...names, ...lists, brief_id, goal: "g", project: "p" });
  world.sql("UPDATE handoffs SET agent_state = 'BLOCKED', cut_reason = NULL WHERE contract_id = ?", id);
  const next = add(world, id, OUTPUTS, "x").draft_id;
  expect(rowOf(world, next)).toMatchObject({
    agent_id: rowOf(world, id).agent_id,
    agent_name: "qa",
    session_id: "s",
    workspace: "w",
    harness_agent_id: "h",
    plan_task_id: task_id,
    plan_id: 1,
    parent_handoff_id: given.parent_handoff_id,
    kind: "task_execution",
    continues_handoff_id: rowOf(world, id).id,
    agent_state: "DISPATCHED",
    cut_reason: "never_finalized",
    goal: null,
    brief_id: null,
    project: null,
    project_path: null,
    goal_project_token: null,
    role: null,
    surface: null,
    consolidation: 0,
    closed_at: null,
    content_checks: null,
  });
});

test("a refused write to a closed contract leaves no link behind", () => {
  using world = scriptedWorld();
  const id = closed(world);
  expect(cleanRefusalOf(world, () => set(world, id, "key_outputs", [])).code).toBe("validation");
  expect(cleanRefusalOf(world, () => add(world, id, "conclusion.x", "y")).code).toBe("validation");
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(1);
});

test("the first id keeps naming the turn: a second write lands in the link that is open", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const first = add(world, id, OUTPUTS, "x");
  const second = add(world, id, OUTPUTS, "y");
  expect(second.draft_id).toBe(first.draft_id);
  expect(second.continuation).toEqual({ ...(first.continuation as object), created: false } as never);
  expect(add(world, first.draft_id, OUTPUTS, "z").continuation).toBeNull();
  expect(draftOf(world, first.draft_id).evidence_report).toMatchObject({ key_outputs: ["x", "y", "z"] });
});

test("a closed link is continued in its turn, from any id of the chain", () => {
  using world = scriptedWorld();
  const first = closed(world);
  const second = fill(world, first, closing("NEEDS_INPUT")).draft_id;
  expect(finalize(world, first).draft_id).toBe(second);
  const third = add(world, first, OUTPUTS, "x");
  expect(third.continuation).toMatchObject({ continues_contract_id: second, created: true });
  expect(add(world, second, OUTPUTS, "y").draft_id).toBe(third.draft_id);
});

test("a closed contract is continued from its row: its file may be gone, and is not made again", () => {
  using world = scriptedWorld();
  const id = closed(world, "BLOCKED", { agent: "qa" });
  rmSync(fileOf(world, id));
  const next = add(world, id, OUTPUTS, "x").draft_id;
  expect(draftOf(world, next)).toMatchObject({ continues_contract_id: id, agent_name: "qa" });
  expect(filesIn(world)).toEqual([`${next}.json`]);
});

test("of two writers on a closed contract one opens the link and both land in it", () => {
  using one = scriptedWorld();
  const id = closed(one);
  using two = scriptedWorld({ folder: one.folder, minted: 100 });
  const opened = add(one, id, OUTPUTS, "x");
  const landed = add(two, id, OUTPUTS, "y");
  expect([opened.continuation?.created, landed.continuation?.created]).toEqual([true, false]);
  expect(landed.draft_id).toBe(opened.draft_id);
});

test("a chain of rows that was bent into a circle is refused, and nothing was written", () => {
  using world = scriptedWorld();
  const first = closed(world);
  const second = fill(world, first, closing("BLOCKED")).draft_id;
  finalize(world, second);
  world.sql("UPDATE handoffs SET continues_handoff_id = ? WHERE contract_id = ?", rowOf(world, second).id, first);
  expect(cleanRefusalOf(world, () => add(world, first, OUTPUTS, "x")).code).toBe("continuation_raced");
});

test("a chain is followed for 64 links: the 64th is found, the 65th is not", () => {
  using world = scriptedWorld();
  const first = born(world);
  world.sql("UPDATE handoffs SET agent_state = 'BLOCKED', cut_reason = NULL");
  const agent = rowOf(world, first).agent_id;
  const link = (number: number) =>
    world.sql(
      `INSERT INTO handoffs (contract_id, agent_id, workspace, continues_handoff_id, agent_state, raw_handoff_json, created_at)
       VALUES (?, ?, 'me', ?, ?, '{}', '')`,
      `${agent}.link${number}`,
      agent,
      number - 1,
      number === 64 ? "IN_PROGRESS" : "BLOCKED",
    );
  for (let number = 2; number <= 64; number++) link(number);
  expect(add(world, first, OUTPUTS, "x").draft_id).toBe(`${agent}.link64`);
  world.sql("UPDATE handoffs SET agent_state = 'BLOCKED' WHERE id = 64");
  link(65);
  expect(cleanRefusalOf(world, () => add(world, first, OUTPUTS, "x")).code).toBe("continuation_raced");
  expect(add(world, `${agent}.link2`, OUTPUTS, "x").continuation?.continues_contract_id).toBe(`${agent}.link65`);
});
