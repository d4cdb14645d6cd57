import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  AGENT_KEYS,
  EVIDENCE_LISTS,
  initialEnvelope,
  STATES,
  SYSTEM_KEYS,
} from "../../../src/core/contract/envelope.ts";
import { REPAIR_MESSAGE } from "../../../src/core/contract/hints.ts";
import { effectiveState, validate } from "../../../src/core/contract/validate.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import {
  isObject,
  type JsonObject,
  type JsonValue,
  valueAt,
  withKey,
  withoutKey,
} from "../../../src/core/json/value.ts";
import { AGENT_ID, anyEnvelope, anyJson } from "./arbitrary.ts";

// Codes and fields of some four hundred envelopes are in the vectors; here are the order, the texts and the splits.

const START = initialEnvelope(AGENT_ID);

function withIn(
  level: "agent_status" | "evidence_report",
  edits: JsonObject,
  envelope: JsonObject = START,
): JsonObject {
  const inner = valueAt(envelope, level);
  return withKey(envelope, level, { ...(isObject(inner) ? inner : {}), ...edits });
}

function pairs(envelope: JsonValue | undefined): readonly string[] {
  return validate(envelope).map((issue) => `${issue.code} ${issue.path}`);
}

test("validate() of what is no object is one issue on the whole", () => {
  for (const envelope of [undefined, null, [], "x", 5]) {
    expect(pairs(envelope)).toEqual(["MISSING_FIELD agent_contract_handoff"]);
  }
});

test("validate() reports in the order of the checks", () => {
  const envelope: JsonObject = {
    failure_report: 1,
    summary: 1,
    approval_request: {},
    report_prose: 5,
    evidence_report: { files_checked: [{}], zzz: 1, verification: { type: "code" } },
    agent_status: { agent_state: "APPROVAL_REQUEST", pending_steps: "x", conclusion: 1 },
  };
  expect(pairs(envelope)).toEqual([
    "UNKNOWN_FIELD summary",
    "MISPLACED_KEY agent_status.conclusion",
    "UNKNOWN_FIELD evidence_report.zzz",
    "FIELD_TYPE report_prose",
    "FIELD_TYPE agent_status.pending_steps",
    "MISSING_FIELD agent_status.agent_id",
    "MISSING_FIELD agent_status.next_action",
    ...EVIDENCE_LISTS.filter((name) => name !== "files_checked").map((name) => `MISSING_FIELD evidence_report.${name}`),
    "VERIFICATION_SHAPE evidence_report.verification.command",
    "APPROVAL_REQUEST_SHAPE approval_request",
    "FAILURE_REPORT_SHAPE failure_report",
    "FILE_REFERENCE_SHAPE evidence_report.files_checked[0].path",
    "FILE_REFERENCE_SHAPE evidence_report.files_checked[0].commit",
  ]);
});

test("a state that is none of the six leaves evidence and approval unjudged, and references judged", () => {
  const envelope = withIn(
    "agent_status",
    { agent_state: "working" },
    { ...START, evidence_report: { files_checked: [{ path: "a" }] } },
  );
  expect(pairs(envelope)).toEqual([
    "PLAN_STATUS agent_status.agent_state",
    "FILE_REFERENCE_SHAPE evidence_report.files_checked[0].commit",
  ]);
});

test("COMPLETE is judged by next_action, pending_steps and the verification", () => {
  const envelope = withIn("agent_status", { agent_state: "complete.", next_action: 5, pending_steps: null });
  expect(pairs(envelope)).toEqual([
    "FIELD_TYPE agent_status.next_action",
    "COMPLETE_SHAPE agent_status.next_action",
    "COMPLETE_SHAPE agent_status.pending_steps",
    "VERIFICATION_RESULT evidence_report.verification",
  ]);
  const done = withIn("agent_status", { agent_state: "COMPLETE", next_action: " DONE " });
  expect(pairs(withIn("evidence_report", { verification: { result: " Pass" } }, done))).toEqual([]);
  expect(pairs(withIn("evidence_report", { verification: { result: true } }, done))).toEqual([
    "VERIFICATION_RESULT evidence_report.verification.result",
  ]);
});

test.each([...STATES, "needs_input;"])("effectiveState() reads %s", (state) => {
  expect(effectiveState(withIn("agent_status", { agent_state: state }))).toBe(
    state === "needs_input;" ? "NEEDS_INPUT" : (state as (typeof STATES)[number]),
  );
});

test("effectiveState() is null without a state", () => {
  expect([undefined, null, {}, { agent_status: [] }, { agent_status: { agent_state: 5 } }].map(effectiveState)).toEqual(
    [null, null, null, null, null],
  );
});

test.each([
  {
    code: "MISSING_FIELD",
    envelope: withIn("agent_status", { next_action: null }),
    names: ["agent_status.next_action", "writ contract set"],
  },
  {
    code: "MISSING_FIELD",
    envelope: withKey(START, "evidence_report", null),
    names: ["evidence_report", "writ contract fill", "open_gaps"],
  },
  {
    code: "FIELD_TYPE",
    envelope: withIn("evidence_report", { key_outputs: "x" }),
    names: ["evidence_report.key_outputs", "a string", "an array"],
  },
  { code: "FIELD_TYPE", envelope: withKey(START, "conclusion", 5), names: ["conclusion", "a number", "a string"] },
  { code: "PLAN_STATUS", envelope: withIn("agent_status", { agent_state: "wip" }), names: ['"wip"', ...STATES] },
  {
    code: "AGENT_ID_FORMAT",
    envelope: withIn("agent_status", { agent_id: "a1" }),
    names: ['"a1"', "^a[0-9a-f]{16,}$", "writ contract init"],
  },
  {
    code: "VERIFICATION_RESULT",
    envelope: withIn("agent_status", { agent_state: "COMPLETE", next_action: "done" }),
    names: ["verification.result", "pass", "evidence_report.verification first", "agent_state last"],
  },
  {
    code: "VERIFICATION_SHAPE",
    envelope: withIn("evidence_report", { verification: { type: "Self-Review" } }),
    names: ['"self_review"', "reviewed", "none"],
  },
  {
    code: "VERIFICATION_SHAPE",
    envelope: withIn("evidence_report", { verification: { type: 5 } }),
    names: ["command, requires_human and reviewed", "none"],
  },
  {
    code: "APPROVAL_REQUEST_SHAPE",
    envelope: withIn("agent_status", { agent_state: "APPROVAL_REQUEST" }),
    names: ["exact_content", "agent_state last"],
  },
  {
    code: "COMPLETE_SHAPE",
    envelope: withIn(
      "evidence_report",
      { verification: { result: "pass" } },
      withIn("agent_status", { agent_state: "COMPLETE", next_action: "done", pending_steps: ["x"] }),
    ),
    names: ["[]", "agent_state last"],
  },
  { code: "FAILURE_REPORT_SHAPE", envelope: withKey(START, "failure_report", {}), names: ["attempted", "one fill"] },
  {
    code: "MISPLACED_KEY",
    envelope: withKey(START, "key_outputs", []),
    names: ["It belongs at evidence_report.key_outputs. It was not moved."],
  },
  {
    code: "MISPLACED_KEY",
    envelope: withIn("evidence_report", { conclusion: "x" }),
    names: ["the root", "conclusion", "not moved"],
  },
  {
    code: "MISPLACED_KEY",
    envelope: withIn("evidence_report", { agent_state: "x" }),
    names: ["agent_status.agent_state", "not moved"],
  },
  {
    code: "MISPLACED_KEY",
    envelope: withIn("agent_status", { backstop: true }),
    names: ["the root", "only writ", "not moved"],
  },
  { code: "UNKNOWN_FIELD", envelope: withKey(START, "files_checkd", []), names: ["evidence_report.files_checked"] },
  {
    code: "UNKNOWN_FIELD",
    envelope: withIn("evidence_report", { opn_gaps: [] }),
    names: ["evidence_report.open_gaps"],
  },
  {
    code: "UNKNOWN_FIELD",
    envelope: withIn("agent_status", { zzzzzzzzz: 1 }),
    names: ["agent_state", "pending_steps"],
  },
  { code: "UNKNOWN_FIELD", envelope: withKey(START, "zzzzzzzzz", []), names: [...AGENT_KEYS] },
  {
    code: "FILE_REFERENCE_SHAPE",
    envelope: withIn("evidence_report", { files_checked: [{ path: "a", commit: "abcdef1", line: 3 }] }),
    names: ['"src/a.ts"', '"commit"', "uncommitted"],
  },
])("the hint of $code names what helps (%#)", ({ code, envelope, names }) => {
  const [issue, ...more] = validate(envelope);
  expect(more).toEqual(code === "FAILURE_REPORT_SHAPE" ? more : []);
  expect(issue?.code).toBe(code);
  for (const name of names) expect(issue?.hint).toContain(name);
});

test("the issue of a misplaced key is worded as specified", () => {
  expect(validate(withKey(START, "key_outputs", ["x"]))).toEqual([
    {
      code: "MISPLACED_KEY",
      path: "key_outputs",
      message: "key_outputs is a declared field at the wrong level",
      hint: "It belongs at evidence_report.key_outputs. It was not moved.",
    },
  ]);
});

test("no hint offers a key that only the system writes", () => {
  const hints = SYSTEM_KEYS.flatMap((key) => validate(withKey(START, `${key}x`, 1))).map((issue) => issue.hint ?? "");
  const offered = SYSTEM_KEYS.filter((key) => key !== "agent_state");
  expect(hints.length).toBe(SYSTEM_KEYS.length);
  for (const hint of hints) expect(offered.filter((key) => hint.includes(key))).toEqual([]);
});

test("a long value is cut in its message", () => {
  for (const { message, hint } of validate(withIn("agent_status", { agent_state: "x".repeat(100_000) }))) {
    expect(message.length + (hint ?? "").length).toBeLessThan(1_000);
  }
});

test("the repair message holds a template that is valid once its state is", () => {
  const parsed = parseJson(REPAIR_MESSAGE.slice(REPAIR_MESSAGE.indexOf("{"), REPAIR_MESSAGE.indexOf("\n}\n") + 2));
  if (!parsed.ok || !isObject(parsed.value)) throw new Error("the template does not parse");
  expect(validate(parsed.value)).toEqual([]);
  expect(validate(withIn("agent_status", { agent_state: "COMPLETE", next_action: "done" }, parsed.value))).toEqual([]);
  for (const word of ["method", "type", "agent_state last", "dependencies first"])
    expect(REPAIR_MESSAGE).toContain(word);
});

test("a key named like a prototype is unknown at a closed level and plain data below", () => {
  const proto = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
  expect(pairs({ ...START, ...proto, constructor: 1 })).toContain("UNKNOWN_FIELD constructor");
  expect(pairs(withIn("evidence_report", { verification: proto }))).toEqual([]);
  expect(pairs(withoutKey(START, "agent_status"))).toEqual(["MISSING_FIELD agent_status"]);
});

test("law: validate() never throws, and every issue has a field and a hint", () => {
  fc.assert(
    fc.property(fc.oneof(anyJson, anyEnvelope), (envelope) => {
      for (const issue of validate(envelope)) {
        expect(issue.path).toBeString();
        expect(issue.hint).toBeString();
      }
    }),
    { numRuns: 500 },
  );
});

test("law: one defect gives one code: no field is both missing and of a wrong type", () => {
  fc.assert(
    fc.property(anyEnvelope, (envelope) => {
      const issues = validate(envelope);
      const wrong = new Set(issues.filter(({ code }) => code === "FIELD_TYPE").map(({ path }) => path));
      expect(issues.filter(({ code, path }) => code === "MISSING_FIELD" && wrong.has(path))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
