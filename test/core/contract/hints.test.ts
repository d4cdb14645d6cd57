import { expect, test } from "bun:test";
import { absentHint } from "../../../src/core/contract/hints.ts";
import { readPath, splitPath } from "../../../src/core/contract/path.ts";

const ENVELOPE = {
  agent_status: { agent_state: "IN_PROGRESS" },
  evidence_report: { key_outputs: [] },
  conclusion: null,
};

test.each([
  { field: "key_outputs", hint: "It belongs at evidence_report.key_outputs: --field evidence_report.key_outputs" },
  { field: "verification.command", hint: /--field evidence_report\.verification\.command$/ },
  { field: "agent_status.conclusion", hint: "It belongs at conclusion: --field conclusion" },
  { field: "agent_state", hint: /--field agent_status\.agent_state$/ },
  { field: "evidence_report.agent_state", hint: /--field agent_status\.agent_state$/ },
  { field: "report_prose", hint: "report_prose is a declared field that was not written yet" },
  {
    field: "agent_status.pending_steps",
    hint: "agent_status.pending_steps is a declared field that was not written yet",
  },
  { field: "conclusoin", hint: "Did you mean conclusion?" },
  { field: "evidence_report.key_output", hint: "Did you mean evidence_report.key_outputs?" },
  { field: "backstop", hint: null },
  { field: "zzzz", hint: null },
  { field: "conclusion.deep", hint: null },
  { field: "evidence_report.key_outputs.0", hint: null },
])("what $field may have meant: $hint", ({ field, hint }) => {
  const segments = splitPath(field);
  const read = readPath(ENVELOPE, segments);
  if (read.found) throw new Error("it is there");
  const told = absentHint(segments, read.segment, read.under);
  if (hint instanceof RegExp) expect(told).toMatch(hint);
  else expect(told).toBe(hint);
});
