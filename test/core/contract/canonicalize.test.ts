import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalize } from "../../../src/core/contract/canonicalize.ts";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { effectiveState, validate } from "../../../src/core/contract/validate.ts";
import { AGENT_ID, anyEnvelope, anyJson, likelyEnvelope } from "./arbitrary.ts";

test("canonicalize() folds what is compared folded and announces each change", () => {
  const { envelope, changed } = canonicalize({
    agent_status: { agent_state: "complete.", next_action: " Done" },
    evidence_report: {
      verification: { result: " Partly OK ", type: "Self Review" },
      files_checked: [{ path: "a", commit: " ABCDEF1 " }, "B"],
      FILES_CHECKED: [{ path: "b", commit: "ABCDEF2" }],
    },
    failure_report: { severity: " Error" },
  });
  expect(envelope).toEqual({
    agent_status: { agent_state: "COMPLETE", next_action: "done" },
    evidence_report: {
      verification: { result: "partly ok", type: "self_review" },
      files_checked: [{ path: "a", commit: "abcdef1" }, "B"],
      FILES_CHECKED: [{ path: "b", commit: "abcdef2" }],
    },
    failure_report: { severity: "error" },
  });
  expect(changed).toEqual([
    'agent_status.agent_state: "complete." -> "COMPLETE"',
    'agent_status.next_action: " Done" -> "done"',
    'evidence_report.verification.result: " Partly OK " -> "partly ok"',
    'evidence_report.verification.type: "Self Review" -> "self_review"',
    'evidence_report.files_checked[0].commit: " ABCDEF1 " -> "abcdef1"',
    'evidence_report.FILES_CHECKED[0].commit: "ABCDEF2" -> "abcdef2"',
    'failure_report.severity: " Error" -> "error"',
  ]);
});

test.each([
  { what: "another state", envelope: { agent_status: { agent_state: "Working" } } },
  { what: "another next action", envelope: { agent_status: { next_action: " Look " } } },
  { what: "a type of separators", envelope: { evidence_report: { verification: { type: "--" } } } },
  { what: "values that are no strings", envelope: { evidence_report: { verification: { type: 5, result: true } } } },
  {
    what: "a reference with a key too many",
    envelope: { evidence_report: { files_checked: [{ path: "a", commit: "ABCDEF1", n: 1 }] } },
  },
  { what: "a severity nobody knows", envelope: { failure_report: { severity: "Bad" } } },
  { what: "the initial envelope", envelope: initialEnvelope(AGENT_ID) },
])("canonicalize() leaves $what alone", ({ envelope }) => {
  const result = canonicalize(envelope);
  expect(result.envelope).toBe(envelope);
  expect(result.changed).toEqual([]);
});

test("law: canonicalize() twice is once, on anything", () => {
  fc.assert(
    fc.property(fc.oneof(anyJson, anyEnvelope), (value) => {
      const once = canonicalize(value).envelope;
      expect(canonicalize(once)).toEqual({ envelope: once, changed: [] });
    }),
    { numRuns: 300 },
  );
});

test("law: canonicalize() keeps the verdict and the state", () => {
  fc.assert(
    fc.property(likelyEnvelope, (envelope) => {
      const canonical = canonicalize(envelope).envelope;
      const codes = (value: typeof envelope) => validate(value).map(({ code, path }) => [code, path]);
      expect(codes(canonical)).toEqual(codes(envelope));
      expect(effectiveState(canonical)).toBe(effectiveState(envelope));
    }),
    { numRuns: 300 },
  );
});
