import { expect, test } from "bun:test";
import { GROUP_TITLES, GROUPS, groupOf, isGroup } from "../../../src/core/board/groups.ts";
import { STATES } from "../../../src/core/contract/state.ts";

test("every state of a row and the cut ones are a group, each in one lane", () => {
  const groups: readonly string[] = [...GROUPS].sort();
  expect(groups).toEqual([...STATES, "DISPATCHED", "CUT"].sort());
  expect(groups).toEqual(Object.keys(GROUP_TITLES).sort());
});

test.each([
  ["DISPATCHED", "never_finalized", "DISPATCHED"],
  ["IN_PROGRESS", "never_finalized", "IN_PROGRESS"], // a checkpoint
  ["IN_PROGRESS", "reaped", "CUT"],
  ["IN_PROGRESS", "salvaged_truncation", "CUT"],
  ["BLOCKED", null, "BLOCKED"],
  ["COMPLETE", null, "COMPLETE"],
  ["constructor", null, "CUT"],
])("groupOf() of %s and %s is %s", (state, cut, group) => {
  expect(groupOf(state, cut)).toBe(group as ReturnType<typeof groupOf>);
});

test("isGroup() knows no inherited name", () => {
  expect(["toString", "__proto__", "", "complete"].filter(isGroup)).toEqual([]);
});
