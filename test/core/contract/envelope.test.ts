import { expect, test } from "bun:test";
import {
  agentPart,
  draftIdFault,
  homeOf,
  initialEnvelope,
  isAgentId,
  isDraftId,
  withBirthKeys,
  withoutFinalizeKeys,
} from "../../../src/core/contract/envelope.ts";
import { validate } from "../../../src/core/contract/validate.ts";
import { compactJson } from "../../../src/core/json/value.ts";

const AGENT_ID = "a0123456789abcdef";

test("initialEnvelope() has its keys in order and is valid as it stands", () => {
  expect(compactJson(initialEnvelope(AGENT_ID))).toBe(
    '{"agent_status":{"agent_state":"IN_PROGRESS","agent_id":"a0123456789abcdef","pending_steps":[],"next_action":"pending"},' +
      '"evidence_report":{"patterns_checked":[],"files_checked":[],"commands_run":[],"key_outputs":[],"verbatim_outputs":[],' +
      '"cross_layer_impacts":[],"open_gaps":[]},"consolidation_report":null,"approval_request":null,"failure_report":null,' +
      '"memory_delta":null,"conclusion":null}',
  );
  expect(validate(initialEnvelope(AGENT_ID))).toEqual([]);
});

test.each([
  { id: AGENT_ID, is: true },
  { id: `${AGENT_ID}0123`, is: true },
  { id: "a0123456789abcde", is: false },
  { id: "A0123456789abcdef", is: false },
  { id: "a0123456789ABCDEF", is: false },
  { id: `${AGENT_ID}\n`, is: false },
  { id: ` ${AGENT_ID}`, is: false },
  { id: "", is: false },
])("isAgentId() of $id is $is", ({ id, is }) => {
  expect(isAgentId(id)).toBe(is);
});

test.each([
  { id: `${AGENT_ID}.0a1b2c3d4e5f`, fault: null },
  { id: "any words ä", fault: null },
  { id: "x".repeat(200), fault: null },
  { id: "", fault: "is empty" },
  { id: "x".repeat(201), fault: "is longer than 200 bytes" },
  { id: "ä".repeat(101), fault: "is longer than 200 bytes" },
  { id: ".hidden", fault: "starts with a dot" },
  { id: "..", fault: "starts with a dot" },
  { id: "a/b", fault: 'holds "/"' },
  { id: "a\\b", fault: 'holds "\\"' },
  { id: "a\0b", fault: "holds a control character" },
  { id: "a\nb", fault: "holds a control character" },
  { id: "a\u0085b", fault: "holds a control character" },
  { id: "a\ud800b", fault: "holds a lone surrogate" },
])("draftIdFault() of $id is $fault", ({ id, fault }) => {
  expect(draftIdFault(id)).toBe(fault);
  expect(isDraftId(id)).toBe(fault === null);
});

test.each([
  { id: "a1.t", part: "a1" },
  { id: "a1.t.u", part: "a1" },
  { id: "a1", part: "a1" },
  { id: ".t", part: "" },
])("agentPart() of $id is $part", ({ id, part }) => {
  expect(agentPart(id)).toBe(part);
});

test.each([
  { key: "agent_state", home: "" },
  { key: "backstop", home: "" },
  { key: "agent_id", home: "agent_status" },
  { key: "verification", home: "evidence_report" },
  { key: "open_gaps", home: "evidence_report" },
  { key: "OPEN_GAPS", home: null },
  { key: "work_phase", home: null },
  { key: "constructor", home: null },
])("homeOf() $key is $home", ({ key, home }) => {
  expect(homeOf(key)).toBe(home as ReturnType<typeof homeOf>);
});

test("withBirthKeys() keeps the birth keys that the new envelope lacks, and no others", () => {
  const stored = { agent_state: "DISPATCHED", born_at_dispatch: true, agent_name: "qa" };
  expect(withBirthKeys({ conclusion: "x" }, stored)).toEqual({
    conclusion: "x",
    born_at_dispatch: true,
    agent_name: "qa",
  });
  expect(withBirthKeys({ agent_name: null }, stored)).toEqual({ agent_name: null, born_at_dispatch: true });
});

test("withoutFinalizeKeys() drops what only a finalize writes", () => {
  const envelope = {
    conclusion: "x",
    content_checks: {},
    conclusion_alias: "y",
    harness_record: [],
    update_contracts_refused: [],
  };
  expect(withoutFinalizeKeys(envelope)).toEqual({ conclusion: "x" });
});
