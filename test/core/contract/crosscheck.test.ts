import { expect, test } from "bun:test";
import { crossCheck } from "../../../src/core/contract/crosscheck.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

/** What is wrong with a request when only P-1 and 7 are pending, and what was looked up. */
function check(request: JsonValue, state = "APPROVAL_REQUEST") {
  const asked: string[] = [];
  const issues = crossCheck({ agent_status: { agent_state: state }, approval_request: request }, (id) => {
    asked.push(id);
    return { "P-1": "pending", "7": "pending", "P-2": "rejected" }[id] ?? null;
  });
  return { asked, issues };
}

test.each<{ request: JsonValue }>([
  { request: null },
  { request: "P-9" },
  { request: [{ approval_id: "P-9" }] },
  { request: {} },
  { request: { approval_id: null } },
  { request: { approval_id: "" } },
  { request: { approval_id: " \n" } },
])("nothing is looked up for $request", ({ request }) => {
  expect(check(request)).toEqual({ asked: [], issues: [] });
});

test.each<{ id: JsonValue; asked: string }>([
  { id: "P-1", asked: "P-1" },
  { id: "  P-1\n", asked: "P-1" },
  { id: 7, asked: "7" },
])("$id is looked up as $asked, and may be cited", ({ id, asked }) => {
  expect(check({ approval_id: id })).toEqual({ asked: [asked], issues: [] });
});

test.each<{ id: JsonValue; message: string; hint: string }>([
  { id: "P-2", message: 'The approval "P-2" is rejected, not pending', hint: "rejected" },
  { id: "P-9", message: 'No approval has the id "P-9"', hint: "unknown" },
  { id: "p-1", message: 'No approval has the id "p-1"', hint: "unknown" },
  { id: 8, message: 'No approval has the id "8"', hint: "unknown" },
  { id: false, message: 'No approval has the id "false"', hint: "unknown" },
])("$id may not be cited, in any state: $message", ({ id, message, hint }) => {
  for (const state of ["IN_PROGRESS", "APPROVAL_REQUEST", "COMPLETE"]) {
    const { issues } = check({ approval_id: id }, state);
    expect(issues).toMatchObject([{ code: "APPROVAL_ID_NOT_PENDING", path: "approval_request.approval_id", message }]);
    for (const word of ["writ approvals request", hint]) expect(issues[0]?.hint).toContain(word);
  }
});
