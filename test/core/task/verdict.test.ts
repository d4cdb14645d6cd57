import { expect, test } from "bun:test";
import { derivedStatus, type GateStatus, isApproving, type TaskStatus } from "../../../src/core/task/verdict.ts";

test.each([
  [[], false],
  [["pass"], true],
  [["pass", "pass"], true],
  [["pass", "pending"], false],
  [["pass", "fail"], false],
  [["pending"], false],
  [["fail"], false],
] as [GateStatus[], boolean][])("isApproving() of %j is %j", (gates, approving) => {
  expect(isApproving(gates.map((status) => ({ status })))).toBe(approving);
});

test.each([
  ["pending", true, "done"],
  ["pending", false, "pending"],
  ["done", true, "done"],
  ["done", false, "pending"],
  ["skipped", true, "skipped"],
  ["skipped", false, "skipped"],
] as [TaskStatus, boolean, TaskStatus][])(
  "a task that is %s, approving %j, should be %s",
  (task, approving, status) => {
    expect(derivedStatus(task, approving)).toBe(status);
  },
);
