import { expect, test } from "bun:test";
import fc from "fast-check";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { repair } from "../../../src/core/contract/repair.ts";
import { validate } from "../../../src/core/contract/validate.ts";
import { AGENT_ID, anyEnvelope, anyJson } from "./arbitrary.ts";

test("repair() says what it did, line by line", () => {
  const { envelope, lines } = repair({
    files_checkd: 1,
    key_outputs: [],
    agent_status: { agent_state: 5, agent_id: 7, pending_steps: "x", next_action: [], backstop: 1 },
    evidence_report: { commands_run: { a: 1 }, open_gaps: null, verification: "pass", agent_state: 1 },
    conclusion: 5,
    memory_delta: 5,
  });
  expect(envelope).toEqual({
    agent_status: { agent_state: "IN_PROGRESS", pending_steps: ["x"], next_action: "pending" },
    evidence_report: { commands_run: [{ a: 1 }], open_gaps: null },
    memory_delta: 5,
  });
  expect(lines).toEqual([
    "removed files_checkd (not a field of the contract envelope)",
    "removed key_outputs (a declared field that belongs at evidence_report.key_outputs)",
    "removed conclusion: number where string is declared, so that it can be written again",
    "removed agent_status.backstop (a declared field that belongs at the root)",
    "repaired agent_status.agent_state: number replaced with IN_PROGRESS",
    "removed agent_status.agent_id: number where string is declared, so that it can be written again",
    "repaired agent_status.pending_steps: string wrapped into an array, which is what is declared",
    "repaired agent_status.next_action: array replaced with pending",
    "removed evidence_report.agent_state (a declared field that belongs at agent_status.agent_state)",
    "repaired evidence_report.commands_run: object wrapped into an array, which is what is declared",
    "removed evidence_report.verification: string where object is declared, so that it can be written again",
  ]);
});

test.each([
  { entry: { path: " src/a.ts " }, text: "src/a.ts" },
  {
    entry: { path: "y", note: "ü", commit: "HEAD", a: [1, { z: 1, b: 2 }] },
    text: 'y {"a": [1, {"b": 2, "z": 1}], "commit": "HEAD", "note": "ü"}',
  },
  { entry: { path: " ", line: 3 }, text: '{"line": 3, "path": " "}' },
  { entry: {}, text: "{}" },
])("repair() flattens a malformed reference to $text", ({ entry, text }) => {
  const { envelope, lines } = repair({ evidence_report: { files_checked: ["ok", entry], FILES_CHECKED: [entry] } });
  expect(envelope).toEqual({ evidence_report: { files_checked: ["ok", text], FILES_CHECKED: [text] } });
  expect(lines.map((line) => line.split(":")[0])).toEqual([
    "repaired evidence_report.files_checked[1]",
    "repaired evidence_report.FILES_CHECKED[0]",
  ]);
});

test("repair() wraps a lone reference before it looks at it", () => {
  const { envelope } = repair({ evidence_report: { files_checked: { path: "a" } } });
  expect(envelope).toEqual({ evidence_report: { files_checked: ["a"] } });
});

test("repair() leaves a sound envelope the very same", () => {
  const envelope = { ...initialEnvelope(AGENT_ID), degraded: true, update_contracts: "x" };
  expect(repair(envelope).envelope).toBe(envelope);
});

test("repair() does not mend a state that is a string, nor what is missing", () => {
  const envelope = { agent_status: { agent_state: "working" } };
  expect(repair(envelope)).toEqual({ envelope, lines: [] });
});

const REPAIRABLE = ["UNKNOWN_FIELD", "MISPLACED_KEY", "FIELD_TYPE", "FILE_REFERENCE_SHAPE"];

test("law: after repair() no fault is left that it can mend, and a second one finds nothing", () => {
  fc.assert(
    fc.property(anyEnvelope, (envelope) => {
      const repaired = repair(envelope);
      expect(validate(repaired.envelope).filter(({ code }) => REPAIRABLE.includes(code))).toEqual([]);
      expect(repair(repaired.envelope)).toEqual({ envelope: repaired.envelope, lines: [] });
    }),
    { numRuns: 500 },
  );
});

test("law: repair() answers on any JSON, and says so exactly when it changed something", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const { envelope, lines } = repair(value);
      expect(lines.length === 0).toBe(envelope === value);
    }),
  );
});
