import { expect, test } from "bun:test";
import { bindingOf, briefOf, MAX_LINKS } from "../../../src/core/contract/chain.ts";

const NONE = { plan_task_id: null, parent_handoff_id: null, brief_id: null };

test.each([
  { what: "no row and no flag", chain: [], flag: null, binding: [null, null] },
  { what: "the flag alone", chain: [], flag: 5, binding: [5, null] },
  {
    what: "the own row first",
    chain: [
      { ...NONE, plan_task_id: 1 },
      { ...NONE, plan_task_id: 2 },
    ],
    flag: null,
    binding: [1, null],
  },
  {
    what: "the nearest that has one",
    chain: [NONE, NONE, { ...NONE, plan_task_id: 2 }],
    flag: null,
    binding: [2, null],
  },
  {
    what: "each column for itself",
    chain: [
      { ...NONE, parent_handoff_id: 7 },
      { ...NONE, plan_task_id: 2, parent_handoff_id: 8 },
    ],
    flag: null,
    binding: [2, 7],
  },
  { what: "the flag before every row", chain: [{ ...NONE, plan_task_id: 1 }], flag: 5, binding: [5, null] },
])("bindingOf() reads $what", ({ chain, flag, binding: [plan_task_id = null, parent_handoff_id = null] }) => {
  expect(bindingOf(chain, flag)).toEqual({ plan_task_id, parent_handoff_id });
});

test("briefOf() is the nearest brief of the chain", () => {
  expect(briefOf([NONE, { ...NONE, brief_id: 3 }, { ...NONE, brief_id: 4 }])).toBe(3);
  expect(briefOf([{ plan_task_id: 1, parent_handoff_id: null }])).toBeNull();
});

test("a chain is walked sixty-four links far", () => {
  const chain = [...Array.from({ length: MAX_LINKS }, () => NONE), { ...NONE, plan_task_id: 9 }];
  expect(bindingOf(chain, null).plan_task_id).toBeNull();
  expect(bindingOf(chain.slice(1), null).plan_task_id).toBe(9);
});
