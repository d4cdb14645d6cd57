import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ErrorCode } from "../../src/core/error.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import { initDraft } from "../../src/editor/init.ts";
import { stopTurn } from "../../src/editor/stop.ts";
import {
  add,
  born,
  cleanRefusalOf,
  closed,
  closing,
  draftOf,
  everything,
  evidence,
  fileOf,
  fill,
  finalize,
  journalOf,
  ran,
  rowJson,
  rowOf,
  set,
  task,
  verbsOf,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";
const CLOSING = ["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "NEEDS_VERIFICATION", "COMPLETE"] as const;

function reportOf(envelope: JsonObject): JsonObject {
  return envelope.evidence_report as JsonObject;
}

/** The patch that closes COMPLETE on a command. */
function claiming(command: string, more: JsonObject = {}): JsonObject {
  const verification = { type: "command", command, result: "pass", ...more };
  return closing("COMPLETE", { evidence_report: { verification } });
}

// What a close writes

test.each(CLOSING)("%s is a clean close: the row takes it, and the cut mark goes", (state) => {
  using world = scriptedWorld();
  const parent = rowOf(world, born(world)).id;
  const id = born(world, { parent_handoff_id: state === "NEEDS_VERIFICATION" ? parent : null });
  fill(world, id, closing(state, state === "APPROVAL_REQUEST" ? { approval_request: { exact_content: "rm x" } } : {}));
  world.advance(90);
  const before = rowOf(world, id);
  const done = finalize(world, id);
  const checks = {
    version: 1,
    bound: false,
    runs: 0,
    record_head: null,
    skipped: [],
    advice: [],
    checked_at: "2026-01-01T00:01:30Z",
  };
  expect(done).toEqual({
    status: "finalized",
    addressed: id,
    draft_id: id,
    handoff_id: before.id,
    created: true,
    agent_state: state,
    content_checks: checks,
    conclusion_alias: null,
    advice: [],
    claims: { held: 0, skipped: [], unheld: state === "COMPLETE" ? "no_record" : null },
    incomplete: null,
    sanitized: [],
    warnings: [],
    proposals: { stored: 0, refused: [], applied: [] },
    notices: [],
    evidence_ids: [],
  });
  const { raw_handoff_json, ...row } = rowOf(world, id);
  expect({ ...row, raw_handoff_json: before.raw_handoff_json }).toEqual({
    ...before,
    agent_state: state,
    cut_reason: null,
    conclusion: "It holds.",
    content_checks: JSON.stringify(checks),
    record_head: null,
    record_count: 0,
    closed_at: "2026-01-01T00:01:30Z",
  });
  expect(JSON.parse(raw_handoff_json)).toMatchObject({ content_checks: checks, born_at_dispatch: true });
});

test("the draft file is rewritten to equal the envelope of the row, and the change is journalled", () => {
  using world = scriptedWorld();
  const id = closed(world);
  expect(readFileSync(fileOf(world, id), "utf8")).toBe(`${JSON.stringify(rowJson(world, id), null, 2)}\n`);
  expect(verbsOf(world, id)).toEqual(["dispatch", "fill", "finalize"]);
  const paths = journalOf(world, id)
    .at(-1)
    ?.changes.map((change) => change.path);
  expect(paths?.toSorted()).toEqual(["agent_name", "born_at_dispatch", "content_checks"]);
});

test("IN_PROGRESS is a checkpoint: persisted, not closed, and the cut mark stays", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "so far");
  ran(world, id, "bun test");
  const done = finalize(world, id);
  expect(done).toMatchObject({
    status: "checkpointed",
    agent_state: "IN_PROGRESS",
    content_checks: null,
    created: true,
  });
  expect(rowOf(world, id)).toMatchObject({
    agent_state: "IN_PROGRESS",
    cut_reason: "never_finalized",
    content_checks: null,
    record_head: null,
    record_count: null,
    closed_at: null,
  });
  expect(reportOf(draftOf(world, id)).commands_run).toEqual(["bun test"]); // stamped all the same
  expect(draftOf(world, id)).not.toHaveProperty("content_checks");
});

test("a checkpoint is no close: a later write stays in the same contract, and it closes cleanly", () => {
  using world = scriptedWorld();
  const id = born(world);
  finalize(world, id);
  expect(fill(world, id, closing("BLOCKED")).draft_id).toBe(id);
  expect(finalize(world, id).status).toBe("finalized");
  expect(rowOf(world, id)).toMatchObject({ agent_state: "BLOCKED", cut_reason: null });
});

test("a checkpoint skips the rules of a close: consolidation, binding, conclusion, content", () => {
  using world = scriptedWorld();
  const id = born(world, { consolidation: true, plan_task_id: task(world, "b").task_id });
  fill(world, id, { evidence_report: { verification: { command: "all tests pass", result: "pass" } } });
  expect(finalize(world, id).status).toBe("checkpointed");
});

test("a checkpoint of a reaped turn keeps that mark", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.sql("UPDATE handoffs SET agent_state = 'IN_PROGRESS', cut_reason = 'reaped'");
  finalize(world, id);
  expect(rowOf(world, id).cut_reason).toBe("reaped");
});

test("a turn that was never dispatched gets its row at its close", () => {
  using world = scriptedWorld({ workspace: "w" });
  const { draft_id, agent_id } = initDraft(world, { agent_id: null, draft_id: null });
  finalize(world, draft_id);
  expect(rowOf(world, draft_id)).toMatchObject({
    agent_id,
    workspace: "w",
    agent_state: "IN_PROGRESS",
    cut_reason: "never_finalized",
    kind: null,
    session_id: null,
  });
  fill(world, draft_id, closing("BLOCKED"));
  finalize(world, draft_id, { workspace: "other", session_id: "s" });
  expect(rowOf(world, draft_id)).toMatchObject({ workspace: "w", session_id: "s", agent_state: "BLOCKED" });
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(1);
});

test.each([
  { given: "x", environment: "w", workspace: "x" },
  { given: null, environment: "w", workspace: "w" },
  { given: null, environment: null, workspace: "me" },
])(
  "the workspace of a new row: --workspace $given, WRIT_WORKSPACE $environment",
  ({ given, environment, workspace }) => {
    using world = scriptedWorld({ workspace: environment });
    const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
    finalize(world, draft_id, { workspace: given });
    expect(rowOf(world, draft_id).workspace).toBe(workspace);
  },
);

test("a close never touches what belongs to the birth, and never clears session, task and brief", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const names = { agent: "qa", goal: "g", role: "r", surface: "u", project: "p", can_read: ["a"], can_write: ["b"] };
  const id = born(world, {
    ...names,
    session_id: "s",
    brief_id,
    plan_task_id: task_id,
    plan_id: 1,
    harness_agent_id: "h",
  });
  const before = rowOf(world, id);
  world.advance(10);
  fill(world, id, closing("BLOCKED"));
  finalize(world, id, { workspace: "elsewhere" });
  const closedKeys = [
    "agent_state",
    "cut_reason",
    "raw_handoff_json",
    "conclusion",
    "content_checks",
    "record_count",
    "closed_at",
  ];
  for (const [key, value] of Object.entries(rowOf(world, id))) {
    if (!closedKeys.includes(key)) expect([key, value]).toEqual([key, before[key as keyof typeof before]]);
  }
});

test("--session-id and --plan-task-id are stored where they are given", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const id = born(world, { session_id: "s1" });
  fill(world, id, closing("NEEDS_VERIFICATION"));
  finalize(world, id, { session_id: "s2", plan_task_id: task_id });
  expect(rowOf(world, id)).toMatchObject({ session_id: "s2", plan_task_id: task_id, brief_id });
});

// Refusals, and their order

type Case = {
  readonly what: string;
  readonly code: ErrorCode;
  readonly patch: JsonObject;
  readonly plan_task_id?: number;
  readonly turn?: (world: ScriptedWorld) => Parameters<typeof born>[1];
};
const WRONG_AGENT = { agent_id: "a00000000000000ff" };
const BOUND = (world: ScriptedWorld) => ({ plan_task_id: task(world, "b").task_id });
const CONSOLIDATING = () => ({ consolidation: true });
const status = (state: string, more: JsonObject = {}) => ({
  agent_state: state,
  next_action: state === "COMPLETE" ? "done" : "wait",
  ...more,
});

const refused: Case[] = [
  { what: "3: the agent of another draft", code: "agent_id_mismatch", patch: { agent_status: WRONG_AGENT } },
  { what: "3 before 4", code: "agent_id_mismatch", patch: { agent_status: WRONG_AGENT }, plan_task_id: 99 },
  { what: "4: a task that is not there", code: "plan_task_id_unresolved", patch: {}, plan_task_id: 99 },
  { what: "4 before 6", code: "plan_task_id_unresolved", patch: closing("COMPLETE"), plan_task_id: 99, turn: BOUND },
  {
    what: "6: COMPLETE of a bound producer",
    code: "blind_verification_required",
    patch: closing("COMPLETE"),
    turn: BOUND,
  },
  {
    what: "6 before 8, 9 and 11",
    code: "blind_verification_required",
    patch: { ...claiming("all tests pass"), conclusion: null },
    turn: (world) => ({ ...BOUND(world), consolidation: true }),
  },
  { what: "7: NEEDS_VERIFICATION without a binding", code: "validation", patch: closing("NEEDS_VERIFICATION") },
  {
    what: "7 before 8 and 9",
    code: "validation",
    patch: { ...closing("NEEDS_VERIFICATION"), conclusion: null },
    turn: CONSOLIDATING,
  },
  {
    what: "8: no consolidation report",
    code: "consolidation_required",
    patch: closing("BLOCKED"),
    turn: CONSOLIDATING,
  },
  {
    what: "8: an empty one",
    code: "consolidation_required",
    patch: closing("BLOCKED", { consolidation_report: {} }),
    turn: CONSOLIDATING,
  },
  {
    what: "8: one with another word",
    code: "consolidation_required",
    patch: closing("BLOCKED", { consolidation_report: { ownership_assessment: "mine" } }),
    turn: CONSOLIDATING,
  },
  {
    what: "8 before 9",
    code: "consolidation_required",
    patch: { agent_status: status("BLOCKED") },
    turn: CONSOLIDATING,
  },
  { what: "9: no conclusion", code: "conclusion_required", patch: { agent_status: status("BLOCKED") } },
  { what: "9: a blank one", code: "conclusion_required", patch: closing("BLOCKED", { conclusion: " \n" }) },
  {
    what: "9: a blank summary does not stand for it",
    code: "conclusion_required",
    patch: { agent_status: status("BLOCKED"), user_facing_summary: "  " },
  },
  {
    what: "9: nor does one that is no text",
    code: "conclusion_required",
    patch: { agent_status: status("BLOCKED"), user_facing_summary: ["It holds."] },
  },
  {
    what: "9 before 11",
    code: "conclusion_required",
    patch: { ...claiming("all tests pass"), conclusion: null },
  },
  { what: "11: a verdict for a command", code: "content_unverified", patch: claiming("all tests pass") },
  {
    what: "11: in every closing state",
    code: "content_unverified",
    patch: closing("BLOCKED", { evidence_report: { verification: { command: "PASS." } } }),
  },
];

test.each(refused)("step $what is $code, and changes nothing", ({ code, patch, turn, plan_task_id }) => {
  using world = scriptedWorld();
  const id = born(world, turn?.(world));
  ran(world, id, "bun test");
  fill(world, id, patch);
  const error = cleanRefusalOf(world, () => finalize(world, id, { plan_task_id: plan_task_id ?? null }));
  expect(error.code).toBe(code);
});

test("2 before 3: the form comes first, with every issue", () => {
  using world = scriptedWorld();
  const id = born(world);
  const draft = draftOf(world, id);
  const broken = {
    ...draft,
    agent_status: { ...(draft.agent_status as JsonObject), ...WRONG_AGENT, agent_state: "DONE" },
  };
  writeFileSync(fileOf(world, id), JSON.stringify(broken));
  expect(cleanRefusalOf(world, () => finalize(world, id)).details.codes).toEqual(["PLAN_STATUS"]);
});

test("2: the cross-check counts at a close too", () => {
  using world = scriptedWorld();
  world.sql(
    "INSERT INTO approvals (id, status, fingerprint, payload, created_at) VALUES ('P-1', 'pending', '', '', '')",
  );
  const id = born(world);
  fill(world, id, closing("APPROVAL_REQUEST", { approval_request: { exact_content: "rm x", approval_id: "P-1" } }));
  world.sql("UPDATE approvals SET status = 'approved'");
  expect(cleanRefusalOf(world, () => finalize(world, id)).details.codes).toEqual(["APPROVAL_ID_NOT_PENDING"]);
});

test("the refusals say what to do", () => {
  using world = scriptedWorld();
  const { task_id } = task(world, "b");
  const bound = born(world, { plan_task_id: task_id });
  fill(world, bound, closing("COMPLETE"));
  expect(cleanRefusalOf(world, () => finalize(world, bound)).details).toMatchObject({ plan_task_id: task_id });
  const id = born(world);
  fill(world, id, closing("NEEDS_VERIFICATION", { conclusion: null }));
  const unbound = cleanRefusalOf(world, () => finalize(world, id));
  expect(unbound.issues.map((issue) => [issue.code, issue.path])).toEqual([
    ["NEEDS_VERIFICATION_UNBOUND", "agent_status.agent_state"],
  ]);
  set(world, id, "agent_status.agent_state", "BLOCKED");
  const error = cleanRefusalOf(world, () => finalize(world, id));
  expect(error.message).toContain(`writ contract set --draft-id ${id} conclusion '...'`);
  expect(error.status).toBe("rejected");
});

test("findings are all reported, in their order, as the issues of one refusal", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  const verbatim_outputs = [
    { command: "bun lint", excerpt: "x" },
    { command: "bun test", excerpt: "9 pass" },
  ];
  const verification = { type: "command", command: "bun build", result: "pass" };
  fill(world, id, closing("COMPLETE", { evidence_report: { verification, verbatim_outputs } }));
  world.sql("UPDATE tool_records SET output = 'edited' WHERE seq = 1");
  const error = cleanRefusalOf(world, () => finalize(world, id));
  expect(error).toMatchObject({ code: "content_unverified", status: "rejected" });
  expect(error.issues.map((issue) => [issue.code, issue.path])).toEqual([
    ["command_not_run", "evidence_report.verification.command"],
    ["verbatim_command_not_run", "evidence_report.verbatim_outputs[0]"],
    ["excerpt_not_found", "evidence_report.verbatim_outputs[1]"],
    ["record_broken", "tool_record"],
  ]);
});

test.each(["owned_here", "cross_surface_dependency", "not_my_surface"])("a consolidation of %s passes", (word) => {
  using world = scriptedWorld();
  const id = born(world, { consolidation: true });
  fill(world, id, closing("BLOCKED", { consolidation_report: { ownership_assessment: word } }));
  expect(finalize(world, id).status).toBe("finalized");
});

// The conclusion

test("the old name stands for the conclusion: stored as such, told, and kept as it was", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { agent_status: status("BLOCKED"), conclusion: " ", user_facing_summary: "It waits." });
  expect(finalize(world, id).conclusion_alias).toBe("user_facing_summary");
  expect(rowOf(world, id).conclusion).toBe("It waits.");
  expect(rowJson(world, id)).toMatchObject({
    conclusion: "It waits.",
    conclusion_alias: "user_facing_summary",
    user_facing_summary: "It waits.",
  });
});

test("a conclusion of its own wins over the old name, and nothing is stamped", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED", { user_facing_summary: "old" }));
  expect(finalize(world, id).conclusion_alias).toBeNull();
  expect(rowJson(world, id)).not.toHaveProperty("conclusion_alias");
});

test("what only a finalize may write is dropped when it came from the draft", () => {
  using world = scriptedWorld();
  const id = born(world);
  const forged = {
    conclusion_alias: "x",
    harness_record: [1],
    update_contracts_refused: [2],
    content_checks: { version: 9 },
  };
  fill(world, id, closing("BLOCKED", forged));
  finalize(world, id);
  const envelope = rowJson(world, id);
  for (const key of ["conclusion_alias", "harness_record", "update_contracts_refused"]) {
    expect(envelope).not.toHaveProperty(key);
  }
  expect(envelope.content_checks).toMatchObject({ version: 1 });
  expect(draftOf(world, id)).toEqual(envelope);
});

test("so it is at a checkpoint", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { content_checks: { version: 9 }, harness_record: [1] });
  finalize(world, id);
  expect(Object.keys(rowJson(world, id))).not.toContain("content_checks");
  expect(Object.keys(draftOf(world, id))).not.toContain("harness_record");
});

test("what a draft inherited is repaired and told; what was folded is stored folded", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED"));
  const handMade = {
    ...draftOf(world, id),
    key_outputs: [],
    agent_status: { ...(draftOf(world, id).agent_status as JsonObject), agent_state: "blocked." },
  };
  writeFileSync(fileOf(world, id), JSON.stringify(handMade));
  const done = finalize(world, id);
  expect(done.sanitized).toEqual([expect.stringContaining("removed key_outputs")]);
  expect(rowOf(world, id).agent_state).toBe("BLOCKED");
  expect(rowJson(world, id).agent_status).toMatchObject({ agent_state: "BLOCKED" });
  expect(verbsOf(world, id)).toEqual(["dispatch", "fill", "found", "repair", "finalize"]);
});

// The record

test("both lists are stamped from the record: what ran first, then what only the agent says, marked", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  ran(world, id, "git status");
  ran(world, id, "bun test");
  ran(world, id, "", { tool: "read", command: null, path: "src/a.ts" });
  ran(world, id, "", { tool: "read", command: null, path: "src/b.ts" });
  ran(world, id, "", { tool: "edit", command: null, path: "src/c.ts" });
  const commands_run = ["git status", "make", "[agent annotation] bun test", { odd: 1 }];
  const files_checked = [{ path: "src/b.ts", commit: "abcdef0" }, "docs/x.md"];
  fill(world, id, closing("BLOCKED", { evidence_report: { commands_run, files_checked } }));
  finalize(world, id);
  const report = reportOf(rowJson(world, id));
  expect(report.commands_run).toEqual([
    "bun test",
    "git status",
    "[agent annotation] make",
    '[agent annotation] {"odd":1}',
  ]);
  expect(report.files_checked).toEqual([
    "src/a.ts",
    { path: "src/b.ts", commit: "abcdef0" },
    "[agent annotation] docs/x.md",
  ]);
  expect(reportOf(draftOf(world, id))).toEqual(report);
});

test("without a bound record both lists stay as the agent wrote them", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED", { evidence_report: { commands_run: ["make"], files_checked: ["a"] } }));
  finalize(world, id);
  expect(reportOf(rowJson(world, id))).toMatchObject({ commands_run: ["make"], files_checked: ["a"] });
});

test("a bound turn that ran nothing is bound: its entries are the agent's alone, its command was not run", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.store.write((tables) => tables.records.bind(id, "hook", ""));
  fill(world, id, claiming("bun test"));
  expect(cleanRefusalOf(world, () => finalize(world, id)).issues.map((issue) => issue.code)).toEqual([
    "command_not_run",
  ]);
  set(world, id, "evidence_report.verification", { type: "none", result: "pass" });
  add(world, id, "evidence_report.commands_run", "make");
  expect(finalize(world, id).content_checks).toMatchObject({ bound: true, runs: 0, record_head: null });
  expect(reportOf(rowJson(world, id)).commands_run).toEqual(["[agent annotation] make"]);
});

test("the head and the count of the record are stored with the row and in the checks", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  ran(world, id, "git status");
  fill(world, id, claiming("bun test"));
  const done = finalize(world, id);
  const [head] = world.sql<{ digest: string }>("SELECT digest FROM tool_records WHERE seq = 2");
  expect(rowOf(world, id)).toMatchObject({ record_head: head?.digest, record_count: 2 });
  expect(done.content_checks).toMatchObject({ bound: true, runs: 2, record_head: head?.digest ?? "" });
  expect(Object.keys(done.content_checks ?? {})).toEqual([
    "version",
    "bound",
    "runs",
    "record_head",
    "skipped",
    "advice",
    "checked_at",
  ]);
});

test("the checks read what the agent cites, not the stamped lists, and name what they skipped", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  fill(
    world,
    id,
    closing("BLOCKED", { evidence_report: { verbatim_outputs: ["3 pass"], commands_run: ["all tests pass"] } }),
  );
  expect(finalize(world, id).content_checks?.skipped).toEqual([
    { check: "verbatim", path: "evidence_report.verbatim_outputs[0]", reason: "unattributed" },
  ]);
});

test.each([
  { what: "a program on PATH", command: "bun test", code: null },
  { what: "no program", command: "frobnicate all", code: "content_unverified" },
])("an unbound turn cites $what: $code", ({ command, code }) => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, claiming(command));
  if (code === null) {
    expect(finalize(world, id).content_checks).toMatchObject({ bound: false, runs: 0 });
  } else expect(cleanRefusalOf(world, () => finalize(world, id)).issues[0]?.code).toBe("command_not_runnable");
});

test.each([
  { what: "an output was changed", edit: "UPDATE tool_records SET output = 'all green' WHERE seq = 1", at: "1" },
  { what: "a record was taken out", edit: "DELETE FROM tool_records WHERE seq = 2", at: "3" },
  { what: "a digest was changed", edit: "UPDATE tool_records SET digest = 'x' WHERE seq = 3", at: "3" },
])("a record whose chain is broken refuses the close: $what", ({ edit, at }) => {
  using world = scriptedWorld();
  const id = born(world);
  for (const command of ["bun test", "git status", "bun lint"]) ran(world, id, command);
  fill(world, id, closing("BLOCKED"));
  world.sql(edit);
  const error = cleanRefusalOf(world, () => finalize(world, id));
  expect(error.issues.map(({ code, path }) => [code, path])).toEqual([["record_broken", "tool_record"]]);
  expect(error.issues[0]?.message).toContain(`at ${at}:`);
});

test("a turn is bound through an earlier link of its chain, and the runs of that link are not its own", () => {
  using world = scriptedWorld();
  const first = born(world);
  ran(world, first, "bun test");
  fill(world, first, closing("BLOCKED"));
  finalize(world, first);
  const next = fill(world, first, claiming("bun test")).draft_id;
  const error = cleanRefusalOf(world, () => finalize(world, next));
  expect(error.issues.map((issue) => issue.code)).toEqual(["command_not_run"]);
  ran(world, first, "bun test"); // recorded to the live link
  expect(finalize(world, first)).toMatchObject({ draft_id: next, content_checks: { bound: true, runs: 1 } });
});

// Advice

const weak: { code: string; command: string; output: string; changed?: string[] }[] = [
  { code: "stale", command: "bun test", output: "3 pass\n", changed: ["src/a.ts"] },
  { code: "masked", command: "bun test | tail", output: "3 pass\n" },
  { code: "cached", command: "bun test", output: "3 pass (cached)\n" },
  { code: "no_tests", command: "bun test", output: "no tests found\n" },
];

test.each(weak)(
  "$code is advice: it is kept and told, and refuses with --strict alone",
  ({ code, command, output, changed }) => {
    using world = scriptedWorld({ changed: changed ?? [] });
    const id = born(world);
    ran(world, id, command, { output });
    fill(world, id, claiming(command));
    const error = cleanRefusalOf(world, () => finalize(world, id, { strict: true }));
    expect(error).toMatchObject({ code: "advised", status: "rejected" });
    expect(error.issues.map((issue) => issue.code)).toEqual([code]);
    const done = finalize(world, id);
    expect(done.advice).toEqual(error.issues);
    expect(JSON.parse(rowOf(world, id).content_checks ?? "").advice).toEqual(JSON.parse(JSON.stringify(error.issues)));
  },
);

test("--strict has nothing against a claim that nothing weakens", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  fill(world, id, claiming("bun test"));
  expect(finalize(world, id, { strict: true }).status).toBe("finalized");
});

test.each([
  { what: "behind the run", edited: 2, stale: true },
  { what: "before it", edited: 0, stale: false },
])("an edit that the record holds $what makes it stale: $stale", ({ edited, stale }) => {
  using world = scriptedWorld();
  const id = born(world);
  for (const place of [0, 1, 2]) {
    if (place === 1) ran(world, id, "bun test");
    else if (place === edited) ran(world, id, "", { tool: "edit", command: null, path: "src/a.ts" });
  }
  fill(world, id, claiming("bun test"));
  expect(finalize(world, id).advice.map((issue) => issue.code)).toEqual(stale ? ["stale"] : []);
});

test("the work tree is asked around the last run of the cited command, with its end", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test", { cwd: "/one", ended_at: "2026-01-01T00:00:01Z" });
  ran(world, id, "bun test", { cwd: "/two", ended_at: "2026-01-01T00:00:02Z" });
  ran(world, id, "bun lint", { cwd: "/three" });
  fill(world, id, claiming("bun test"));
  const asked: string[][] = [];
  const changedAfter = (...question: [string, string]) => {
    asked.push(question);
    return [];
  };
  finalize({ ...world, changedAfter }, id);
  expect(asked).toEqual([["/two", "2026-01-01T00:00:02Z"]]);
});

test("files that changed after one run say nothing of a later one, which came while they were looked for", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  fill(world, id, claiming("bun test"));
  const changedAfter = () => {
    ran(world, id, "bun test");
    return ["src/a.ts"];
  };
  expect(finalize({ ...world, changedAfter }, id)).toMatchObject({ advice: [], content_checks: { runs: 2 } });
});

test("a command with a secret in it is compared as the record was redacted, for its advice too", () => {
  using world = scriptedWorld({
    changed: ["src/a.ts"],
    values: (text) => text.replaceAll("hunter2hunter2", "[REDACTED]"),
  });
  const id = born(world);
  ran(world, id, "bun test [REDACTED]");
  fill(world, id, claiming("bun test hunter2hunter2"));
  expect(finalize(world, id).advice.map((issue) => issue.code)).toEqual(["stale"]);
});

// Evidence

type Scoped = {
  what: string;
  holds: boolean;
  make: (world: ScriptedWorld) => { turn: Parameters<typeof born>[1]; ids: number[]; flag?: number };
};
const scoped: Scoped[] = [
  {
    what: "the turn's own brief",
    holds: true,
    make: (world) => {
      const { brief_id } = task(world, "b");
      return { turn: { brief_id }, ids: [evidence(world, brief_id)] };
    },
  },
  {
    what: "another brief",
    holds: false,
    make: (world) => ({
      turn: { brief_id: task(world, "b").brief_id },
      ids: [evidence(world, task(world, "c").brief_id)],
    }),
  },
  {
    what: "no brief at all",
    holds: false,
    make: (world) => ({ turn: {}, ids: [evidence(world, task(world, "b").brief_id)] }),
  },
  {
    what: "its brief, but a task that the turn has not",
    holds: false,
    make: (world) => {
      const { brief_id, task_id } = task(world, "b");
      return { turn: { brief_id }, ids: [evidence(world, brief_id, { task_id })] };
    },
  },
  {
    what: "the brief of its task",
    holds: true,
    make: (world) => {
      const { brief_id, task_id } = task(world, "b");
      return { turn: { plan_task_id: task_id }, ids: [evidence(world, brief_id, { task_id })] };
    },
  },
  {
    what: "the brief of its task, without the task",
    holds: false,
    make: (world) => {
      const { brief_id, task_id } = task(world, "b");
      return { turn: { plan_task_id: task_id }, ids: [evidence(world, brief_id)] };
    },
  },
  {
    what: "the task of --plan-task-id",
    holds: true,
    make: (world) => {
      const { brief_id, task_id } = task(world, "b");
      return { turn: {}, ids: [evidence(world, brief_id, { task_id })], flag: task_id };
    },
  },
  {
    what: "the brief of its parent",
    holds: true,
    make: (world) => {
      const { brief_id } = task(world, "b");
      const parent = rowOf(world, born(world, { brief_id })).id;
      return { turn: { parent_handoff_id: parent }, ids: [evidence(world, brief_id)] };
    },
  },
  {
    what: "the task of its parent, which a verifier verifies",
    holds: true,
    make: (world) => {
      const { brief_id, task_id } = task(world, "b");
      const parent = rowOf(world, born(world, { brief_id, plan_task_id: task_id })).id;
      return { turn: { agent: "verifier", parent_handoff_id: parent }, ids: [evidence(world, brief_id, { task_id })] };
    },
  },
  {
    what: "its own brief, where the parent has another",
    holds: true,
    make: (world) => {
      const own = task(world, "b").brief_id;
      const parent = rowOf(world, born(world, { brief_id: task(world, "c").brief_id })).id;
      return { turn: { brief_id: own, parent_handoff_id: parent }, ids: [evidence(world, own)] };
    },
  },
];

test.each(scoped)("evidence of $what proves the claim of a turn: $holds", ({ holds, make }) => {
  using world = scriptedWorld();
  const { turn, ids, flag } = make(world);
  const id = born(world, turn);
  fill(world, id, closing("NEEDS_INPUT", { evidence_report: { verification: { result: "pass", evidence_ids: ids } } }));
  const act = () => finalize(world, id, { plan_task_id: flag ?? null });
  if (holds) expect(act().status).toBe("finalized");
  else {
    expect(cleanRefusalOf(world, act).issues.map((issue) => [issue.code, issue.path])).toEqual([
      ["evidence_out_of_scope", "evidence_report.verification.evidence_ids[0]"],
    ]);
  }
});

test.each([
  { what: "negative", code: "evidence_not_positive" },
  { what: "gone", code: "evidence_missing" },
])("evidence that is $what proves nothing", ({ what, code }) => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const cited = evidence(world, brief_id, { polarity: what === "negative" ? "negative" : "positive" });
  const id = born(world, { brief_id });
  fill(world, id, closing("BLOCKED", { evidence_report: { verification: { evidence_ids: [cited] } } }));
  if (what === "gone") world.sql("DELETE FROM evidence");
  expect(cleanRefusalOf(world, () => finalize(world, id)).issues[0]?.code).toBe(code);
});

test("a continuation finds its brief and its binding through the chain; a descendant never binds its ancestor", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const first = born(world, { brief_id });
  fill(world, first, closing("BLOCKED"));
  finalize(world, first);
  const ids = [evidence(world, brief_id)];
  const next = fill(
    world,
    first,
    closing("BLOCKED", { evidence_report: { verification: { evidence_ids: ids } } }),
  ).draft_id;
  world.sql("UPDATE handoffs SET plan_task_id = NULL");
  expect(finalize(world, next).status).toBe("finalized");
  world.sql("UPDATE handoffs SET plan_task_id = ? WHERE contract_id = ?", task_id, next);
  expect(cleanRefusalOf(world, () => finalize(world, next)).issues[0]?.code).toBe("evidence_out_of_scope");
  expect(rowOf(world, first).plan_task_id).toBeNull();
});

test("a binding that only the root of a chain has binds its last link", () => {
  using world = scriptedWorld();
  const { task_id } = task(world, "b");
  const first = closed(world);
  const next = fill(world, first, closing("COMPLETE")).draft_id;
  world.sql("UPDATE handoffs SET plan_task_id = ? WHERE contract_id = ?", task_id, first);
  expect(cleanRefusalOf(world, () => finalize(world, next)).code).toBe("blind_verification_required");
  set(world, next, "agent_status.agent_state", "NEEDS_VERIFICATION");
  expect(finalize(world, next).status).toBe("finalized");
});

test("consolidation that the root was dispatched for is owed by the last link", () => {
  using world = scriptedWorld();
  const first = closed(world);
  const next = fill(world, first, closing("BLOCKED")).draft_id;
  world.sql("UPDATE handoffs SET consolidation = 1 WHERE contract_id = ?", first);
  expect(cleanRefusalOf(world, () => finalize(world, next)).code).toBe("consolidation_required");
});

// Finalizing again

test.each(["BLOCKED", "NEEDS_INPUT", "APPROVAL_REQUEST"])("a row in %s takes a later verdict, in one row", (state) => {
  using world = scriptedWorld();
  const id = closed(world);
  world.sql("UPDATE handoffs SET agent_state = ?", state);
  const draft = draftOf(world, id);
  writeFileSync(
    fileOf(world, id),
    JSON.stringify({
      ...draft,
      conclusion: "Later.",
      agent_status: { ...(draft.agent_status as JsonObject), agent_state: "NEEDS_INPUT" },
    }),
  );
  world.advance(60);
  expect(finalize(world, id)).toMatchObject({
    status: "finalized",
    created: true,
    handoff_id: 1,
    agent_state: "NEEDS_INPUT",
  });
  expect(rowOf(world, id)).toMatchObject({
    agent_state: "NEEDS_INPUT",
    cut_reason: null,
    conclusion: "Later.",
    closed_at: "2026-01-01T00:01:00Z",
  });
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(1);
  expect(verbsOf(world, id)).toEqual(["dispatch", "fill", "finalize", "found", "finalize"]);
});

test("a re-finalize runs its checks again", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  fill(world, id, closing("BLOCKED", { evidence_report: { verification: { command: "bun test", result: "pass" } } }));
  finalize(world, id);
  ran(world, id, "bun test", { exit_code: 1 });
  expect(cleanRefusalOf(world, () => finalize(world, id)).issues[0]?.code).toBe("exit_mismatch");
});

test("a closed contract does not go back to IN_PROGRESS", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const draft = draftOf(world, id);
  const reopened = { ...(draft.agent_status as JsonObject), agent_state: "IN_PROGRESS" };
  writeFileSync(fileOf(world, id), JSON.stringify({ ...draft, agent_status: reopened }));
  expect(cleanRefusalOf(world, () => finalize(world, id)).code).toBe("closed");
});

test("COMPLETE is final: to finalize it again is a no-op that says so", () => {
  using world = scriptedWorld();
  const id = closed(world, "COMPLETE");
  const checks = rowOf(world, id).content_checks;
  world.advance(60);
  const before = everything(world);
  const done = finalize(world, id, { session_id: "s" });
  expect(done).toMatchObject({
    status: "finalized",
    draft_id: id,
    handoff_id: 1,
    created: false,
    agent_state: "COMPLETE",
  });
  expect(JSON.stringify(done.content_checks)).toBe(checks ?? "");
  expect(everything(world)).toEqual(before);
});

test("a COMPLETE contract whose file is gone is a no-op too, and the file is not made", () => {
  using world = scriptedWorld();
  const id = closed(world, "COMPLETE");
  rmSync(fileOf(world, id));
  const before = everything(world);
  expect(finalize(world, id).created).toBe(false);
  expect(everything(world)).toEqual(before);
});

test("a COMPLETE contract is still checked: a refusal is printed and changes nothing", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  fill(world, id, claiming("bun test"));
  finalize(world, id);
  world.sql("UPDATE tool_records SET exit_code = 1");
  const error = cleanRefusalOf(world, () => finalize(world, id));
  expect(error.issues.map((issue) => issue.code)).toEqual(["exit_mismatch", "record_broken"]);
});

test("imported history, closed clean without checks, skips them when it is finalized again", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "git status");
  fill(world, id, closing("BLOCKED", { evidence_report: { verification: { command: "all tests pass" } } }));
  expect(cleanRefusalOf(world, () => finalize(world, id)).code).toBe("content_unverified");
  world.sql("UPDATE handoffs SET agent_state = 'BLOCKED', cut_reason = NULL, content_checks = NULL");
  expect(finalize(world, id)).toMatchObject({ status: "finalized", content_checks: null });
  expect(rowOf(world, id).content_checks).toBeNull();
  expect(rowJson(world, id)).not.toHaveProperty("content_checks");
  world.sql("UPDATE handoffs SET cut_reason = 'reaped'");
  expect(cleanRefusalOf(world, () => finalize(world, id)).code).toBe("content_unverified");
});

test("finalize follows the chain to its live link, and never opens one", () => {
  using world = scriptedWorld();
  const first = closed(world);
  finalize(world, first);
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(1);
  const next = add(world, first, OUTPUTS, "x").draft_id;
  expect(finalize(world, first)).toMatchObject({ draft_id: next, status: "checkpointed" });
});

test("an unknown draft has none to finalize", () => {
  using world = scriptedWorld();
  born(world);
  expect(cleanRefusalOf(world, () => finalize(world, "a00000000000000ff.1")).code).toBe("no_draft");
});

test("a close that cannot be stored changes nothing, and no file is left behind", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED"));
  for (const trigger of ["UPDATE ON handoffs", "INSERT ON journal"]) {
    world.sql(`CREATE TRIGGER fails BEFORE ${trigger} BEGIN SELECT RAISE(ABORT, 'the disk says no'); END`);
    const before = everything(world);
    expect(() => finalize(world, id)).toThrow("the disk says no");
    expect(everything(world)).toEqual(before);
    world.sql("DROP TRIGGER fails");
  }
  expect(finalize(world, id).status).toBe("finalized");
});

test("a clean close takes the marks of an earlier cut off", () => {
  using world = scriptedWorld();
  const id = born(world);
  stopTurn(world, {
    contract_id: id,
    transcript: null,
    stop_reason: null,
    session_id: null,
    redactCommand: (text) => text,
  });
  expect(draftOf(world, id)).toMatchObject({ degraded: true, auto_captured: true, reaped: true });
  fill(world, id, closing("BLOCKED"));
  finalize(world, id);
  expect(rowOf(world, id).cut_reason).toBeNull();
  for (const key of ["degraded", "auto_captured", "reaped"]) expect(rowJson(world, id)).not.toHaveProperty(key);
});
