import { expect, test } from "bun:test";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { type CloseInput, closeGate, OWNERSHIPS } from "../../../src/core/contract/gates.ts";
import { type JsonObject, withKey } from "../../../src/core/json/value.ts";
import { AGENT_ID } from "./arbitrary.ts";

const DRAFT_ID = `${AGENT_ID}.0a1b2c3d4e5f`;

function envelopeIn(state: string, edits: JsonObject = {}): JsonObject {
  const status = { agent_state: state, agent_id: AGENT_ID, pending_steps: [], next_action: "done" };
  return { ...withKey(initialEnvelope(AGENT_ID), "agent_status", status), conclusion: "It holds.", ...edits };
}

function decide(envelope: JsonObject, more: Partial<CloseInput> = {}): ReturnType<typeof closeGate> {
  return closeGate({ draft_id: DRAFT_ID, envelope, chain: [], plan_task_id: null, consolidation: false, ...more });
}

function errorOf(envelope: JsonObject, more: Partial<CloseInput> = {}) {
  const decision = decide(envelope, more);
  if (decision.outcome !== "refuse") throw new Error(`it was not refused: ${decision.outcome}`);
  return decision.error;
}

const BOUND = [{ plan_task_id: 12, parent_handoff_id: null }];

test("a closing state with a conclusion closes", () => {
  const envelope = envelopeIn("BLOCKED");
  expect(decide(envelope)).toEqual({
    outcome: "close",
    envelope,
    state: "BLOCKED",
    conclusion: "It holds.",
    conclusion_alias: null,
  });
});

test("IN_PROGRESS is a checkpoint, whatever it is bound to and without a conclusion", () => {
  const envelope = envelopeIn("in_progress", { conclusion: null });
  expect(decide(envelope, { chain: BOUND, consolidation: true })).toEqual({ outcome: "checkpoint", envelope });
});

test("the agent of the envelope must be the agent of the draft, also at a checkpoint", () => {
  const error = errorOf(envelopeIn("IN_PROGRESS"), { draft_id: "a1111111111111111.0a1b2c3d4e5f" });
  expect(error).toMatchObject({ code: "agent_id_mismatch", status: "error", path: "agent_status.agent_id" });
  expect(error.message).toBe(
    `agent_status.agent_id is "${AGENT_ID}", and draft "a1111111111111111.0a1b2c3d4e5f" is of "a1111111111111111"`,
  );
});

test("a flag that names no task is refused before the state is looked at", () => {
  const error = errorOf(envelopeIn("IN_PROGRESS"), { plan_task_id: 5, task_exists: false });
  expect(error).toMatchObject({ code: "plan_task_id_unresolved", message: "--plan-task-id 5 names no task" });
  expect(decide(envelopeIn("BLOCKED"), { plan_task_id: 5, task_exists: true }).outcome).toBe("close");
  expect(decide(envelopeIn("BLOCKED"), { plan_task_id: null, task_exists: false }).outcome).toBe("close");
});

test("a producer bound to a plan task does not close COMPLETE", () => {
  const error = errorOf(envelopeIn("COMPLETE"), { chain: BOUND });
  expect(error).toMatchObject({ code: "blind_verification_required", status: "error", details: { plan_task_id: 12 } });
  expect(error.message).toContain("NEEDS_VERIFICATION");
  expect(decide(envelopeIn("COMPLETE"), { chain: [{ plan_task_id: null, parent_handoff_id: 3 }] }).outcome).toBe(
    "close",
  );
  expect(decide(envelopeIn("NEEDS_VERIFICATION"), { chain: BOUND }).outcome).toBe("close");
});

test("NEEDS_VERIFICATION without a binding is a validation error that names what would do", () => {
  const error = errorOf(envelopeIn("NEEDS_VERIFICATION"));
  expect(error).toMatchObject({
    code: "validation",
    status: "rejected",
    details: { codes: ["NEEDS_VERIFICATION_UNBOUND"] },
  });
  expect(error.details.repair_message).toBeString();
  expect(error.issues).toHaveLength(1);
  expect(error.issues[0]).toMatchObject({ code: "NEEDS_VERIFICATION_UNBOUND", path: "agent_status.agent_state" });
  for (const word of ["plan_task_id", "parent_handoff_id", "COMPLETE", "BLOCKED", "NEEDS_INPUT"]) {
    expect(error.issues[0]?.hint).toContain(word);
  }
  expect(
    decide(envelopeIn("NEEDS_VERIFICATION"), { chain: [{ plan_task_id: null, parent_handoff_id: 3 }] }).outcome,
  ).toBe("close");
});

test.each([
  null,
  {},
  { ownership_assessment: "mine" },
  { ownership_assessment: ["owned_here"] },
  { confirmed_findings: [] },
])("consolidation asks for an ownership, and a report without one is refused (%#)", (report) => {
  const error = errorOf(envelopeIn("BLOCKED", { consolidation_report: report, conclusion: null }), {
    consolidation: true,
  });
  expect(error).toMatchObject({ code: "consolidation_required", status: "rejected" });
  expect(decide(envelopeIn("BLOCKED", { consolidation_report: report })).outcome).toBe("close");
});

test.each(OWNERSHIPS)("consolidation is content with %s", (ownership) => {
  const envelope = envelopeIn("BLOCKED", { consolidation_report: { ownership_assessment: ownership } });
  expect(decide(envelope, { consolidation: true }).outcome).toBe("close");
});

test.each([null, "", " \n"])("a close without a conclusion (%#) names the call that writes it", (conclusion) => {
  const error = errorOf(envelopeIn("NEEDS_INPUT", { conclusion, report_prose: "a tale" }));
  expect(error).toMatchObject({ code: "conclusion_required", status: "rejected", path: "conclusion" });
  expect(error.message).toBe(
    `conclusion is missing. Write it: writ contract set --draft-id ${DRAFT_ID} conclusion '...'`,
  );
});

test("the old name of the conclusion is taken, stamped and kept", () => {
  const decision = decide(envelopeIn("BLOCKED", { conclusion: " ", user_facing_summary: " old words " }));
  expect(decision).toMatchObject({
    outcome: "close",
    conclusion: " old words ",
    conclusion_alias: "user_facing_summary",
    envelope: {
      conclusion: " old words ",
      conclusion_alias: "user_facing_summary",
      user_facing_summary: " old words ",
    },
  });
  const own = decide(envelopeIn("BLOCKED", { user_facing_summary: "old words" }));
  expect(own).toMatchObject({ conclusion: "It holds.", conclusion_alias: null });
});

test("what only a finalize writes is dropped when it came from the draft", () => {
  const forged = {
    content_checks: { version: 1 },
    conclusion_alias: "user_facing_summary",
    harness_record: [],
    update_contracts_refused: [],
  };
  for (const state of ["BLOCKED", "IN_PROGRESS"]) {
    const decision = decide(envelopeIn(state, forged));
    if (decision.outcome === "refuse") throw decision.error;
    for (const key of Object.keys(forged)) expect(Object.hasOwn(decision.envelope, key)).toBe(false);
  }
});
