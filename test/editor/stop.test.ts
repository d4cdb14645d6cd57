/** The stop lane: what is kept of a turn that ended without closing itself. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { JsonObject } from "../../src/core/json/value.ts";
import type { Transcript } from "../../src/core/record/transcript.ts";
import { initDraft } from "../../src/editor/init.ts";
import { type StopRequest, stopTurn } from "../../src/editor/stop.ts";
import {
  add,
  born,
  cleanRefusalOf,
  closed,
  closing,
  draftOf,
  everything,
  fileOf,
  fill,
  finalize,
  journalOf,
  ran,
  rowJson,
  rowOf,
  set,
  verbsOf,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function stop(world: ScriptedWorld, contract_id: string, more: Partial<StopRequest> = {}) {
  const rest = { transcript: null, stop_reason: null, session_id: null, redactCommand: (text: string) => text };
  return stopTurn(world, { contract_id, ...rest, ...more });
}

function transcript(more: Partial<Transcript> = {}): Transcript {
  return { commands: [], paths: [], stop_reason: null, ...more };
}

const MARKS = { degraded: true, auto_captured: true };

test.each([
  { what: "DISPATCHED", prepare: () => {} },
  { what: "a checkpoint", prepare: (world: ScriptedWorld, id: string) => void finalize(world, id) },
])("a row that is $what becomes IN_PROGRESS and reaped, in row, draft and journal", ({ prepare }) => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, "evidence_report.key_outputs", "kept");
  prepare(world, id);
  const before = draftOf(world, id);
  expect(stop(world, id)).toEqual({ contract_id: id, cut_reason: "reaped", notices: [], warnings: [] });
  expect(rowOf(world, id)).toMatchObject({
    agent_state: "IN_PROGRESS",
    cut_reason: "reaped",
    conclusion: null,
    content_checks: null,
    record_head: null,
    record_count: null,
    closed_at: null,
  });
  expect(draftOf(world, id)).toEqual({
    ...before,
    born_at_dispatch: true,
    agent_name: "backend-dev",
    ...MARKS,
    reaped: true,
  });
  expect(rowJson(world, id)).toEqual(draftOf(world, id));
  expect(verbsOf(world, id).at(-1)).toBe("stop");
});

test.each(["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "COMPLETE"])(
  "a turn that closed %s itself is left alone",
  (state) => {
    using world = scriptedWorld();
    const id = born(world);
    fill(
      world,
      id,
      closing(state, state === "APPROVAL_REQUEST" ? { approval_request: { exact_content: "rm x" } } : {}),
    );
    finalize(world, id);
    const before = everything(world);
    const given = { transcript: transcript({ commands: ["ls"] }), stop_reason: "max_tokens", session_id: "s" };
    expect(stop(world, id, given)).toMatchObject({ contract_id: id, cut_reason: null });
    expect(everything(world)).toEqual(before);
  },
);

test("a valid closing state that was never finalized stays in the envelope; the row is IN_PROGRESS", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("COMPLETE"));
  stop(world, id);
  expect(rowOf(world, id)).toMatchObject({ agent_state: "IN_PROGRESS", cut_reason: "reaped", conclusion: null });
  expect(rowJson(world, id)).toMatchObject({ agent_status: { agent_state: "COMPLETE" }, reaped: true });
});

test("the lane is exempt from the rules of a close", () => {
  using world = scriptedWorld();
  const id = born(world, { consolidation: true });
  fill(world, id, { agent_status: { agent_state: "NEEDS_VERIFICATION" } });
  fill(world, id, { evidence_report: { verification: { command: "all tests pass", result: "pass" } } });
  expect(stop(world, id).cut_reason).toBe("reaped");
});

test.each([
  { what: "the event says max_tokens", given: { stop_reason: "max_tokens" }, cut: "salvaged_truncation" },
  {
    what: "the transcript says so",
    given: { transcript: transcript({ stop_reason: "max_tokens" }) },
    cut: "salvaged_truncation",
  },
  { what: "the event says end_turn", given: { stop_reason: "end_turn" }, cut: "reaped" },
  {
    what: "the transcript says end_turn",
    given: { transcript: transcript({ stop_reason: "end_turn" }) },
    cut: "reaped",
  },
  { what: "nobody says", given: {}, cut: "reaped" },
] as const)("of a valid draft where $what the cut is $cut", ({ given, cut }) => {
  using world = scriptedWorld();
  const id = born(world);
  expect(stop(world, id, given).cut_reason).toBe(cut);
  expect(rowOf(world, id).cut_reason).toBe(cut);
  const mark = cut === "reaped" ? "reaped" : "salvaged";
  expect(rowJson(world, id)).toMatchObject({ ...MARKS, [mark]: true });
  expect(Object.keys(rowJson(world, id)).filter((key) => ["reaped", "salvaged", "backstop"].includes(key))).toEqual([
    mark,
  ]);
});

test("a draft that is not valid is reaped, also at max_tokens, and kept as it stands", () => {
  using world = scriptedWorld();
  const id = born(world);
  const broken = { ...draftOf(world, id), nope: 1 };
  writeFileSync(fileOf(world, id), JSON.stringify(broken));
  expect(stop(world, id, { stop_reason: "max_tokens" }).cut_reason).toBe("reaped");
  expect(draftOf(world, id)).toMatchObject({ nope: 1, reaped: true });
  expect(verbsOf(world, id)).toEqual(["dispatch", "found", "stop"]);
});

test("a draft that cannot be read is reaped, never written over, and the row keeps what it holds", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "kept");
  writeFileSync(fileOf(world, id), "{ half");
  expect(stop(world, id, { stop_reason: "max_tokens" }).cut_reason).toBe("reaped");
  expect(readFileSync(fileOf(world, id), "utf8")).toBe("{ half");
  expect(rowJson(world, id)).toMatchObject({ conclusion: "kept", ...MARKS, reaped: true });
});

test("a lost file is made anew", () => {
  using world = scriptedWorld();
  const id = born(world);
  set(world, id, "conclusion", "kept");
  rmSync(fileOf(world, id));
  stop(world, id);
  expect(draftOf(world, id)).toMatchObject({ conclusion: "kept", reaped: true });
});

test("a draft without a row gets one: a backstop", () => {
  using world = scriptedWorld();
  const { draft_id, agent_id } = initDraft(world, { agent_id: null, draft_id: null });
  expect(stop(world, draft_id, { session_id: "s" }).cut_reason).toBe("backstop_capture");
  expect(rowOf(world, draft_id)).toMatchObject({
    agent_id,
    workspace: "me",
    session_id: "s",
    agent_state: "IN_PROGRESS",
    cut_reason: "backstop_capture",
  });
  expect(rowJson(world, draft_id)).toMatchObject({ ...MARKS, backstop: true });
});

test("an id of nobody is no turn", () => {
  using world = scriptedWorld();
  born(world);
  expect(cleanRefusalOf(world, () => stop(world, "a00000000000000ff.1")).code).toBe("no_row");
});

test.each([
  { first: { stop_reason: "max_tokens" }, cut: "salvaged_truncation" },
  { first: {}, cut: "reaped" },
] as const)("a turn that was cut as $cut stays cut so when it stops again", ({ first, cut }) => {
  using world = scriptedWorld();
  const id = born(world);
  stop(world, id, first);
  const before = everything(world);
  for (const again of [{}, { stop_reason: "max_tokens" }]) expect(stop(world, id, again).cut_reason).toBe(cut);
  expect(everything(world)).toEqual(before);
});

test("a backstop stays passive where a row of the turn exists", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
  stop(world, draft_id);
  const before = everything(world);
  expect(stop(world, draft_id).cut_reason).toBe("backstop_capture");
  expect(everything(world)).toEqual(before);
});

test("a cut turn can still close itself, and is clean then", () => {
  using world = scriptedWorld();
  const id = born(world);
  stop(world, id);
  fill(world, id, closing("BLOCKED"));
  expect(finalize(world, id).status).toBe("finalized");
  expect(rowOf(world, id)).toMatchObject({ agent_state: "BLOCKED", cut_reason: null });
});

test("the live link of a chain is stopped, not the closed turn before it", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const before = rowOf(world, id);
  const next = add(world, id, "evidence_report.key_outputs", "x").draft_id;
  expect(stop(world, id)).toMatchObject({ contract_id: next, cut_reason: "reaped" });
  expect(rowOf(world, id)).toEqual(before);
});

test("the session of the stop is kept, and none clears none", () => {
  using world = scriptedWorld();
  const id = born(world, { session_id: "s1" });
  stop(world, id);
  expect(rowOf(world, id).session_id).toBe("s1");
});

// Recovery

test("empty lists are filled from the transcript, redacted and marked", () => {
  using world = scriptedWorld();
  const id = born(world);
  const given = transcript({ commands: ["ls", "curl -H secret"], paths: ["/a"] });
  stop(world, id, { transcript: given, redactCommand: (text) => text.replace("secret", "[REDACTED]") });
  const report = draftOf(world, id).evidence_report as JsonObject;
  expect(report.commands_run).toEqual([
    "[recovered from transcript] ls",
    "[recovered from transcript] curl -H [REDACTED]",
  ]);
  expect(report.files_checked).toEqual(["[recovered from transcript] /a"]);
  expect(
    journalOf(world, id)
      .at(-1)
      ?.changes.map((change) => change.path),
  ).toContain("evidence_report.commands_run");
});

test("a list that has entries is never touched", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, "evidence_report.commands_run", "mine");
  stop(world, id, { transcript: transcript({ commands: ["ls"], paths: ["/a"] }) });
  const report = draftOf(world, id).evidence_report as JsonObject;
  expect([report.commands_run, report.files_checked]).toEqual([["mine"], ["[recovered from transcript] /a"]]);
});

test("nothing is stamped from the record: that is the close's", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "bun test");
  stop(world, id);
  expect((draftOf(world, id).evidence_report as JsonObject).commands_run).toEqual([]);
});

test("a stop that cannot be stored changes nothing", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.sql("CREATE TRIGGER fails BEFORE UPDATE ON handoffs BEGIN SELECT RAISE(ABORT, 'no'); END");
  const before = everything(world);
  expect(() => stop(world, id)).toThrow("no");
  expect(everything(world)).toEqual(before);
});
