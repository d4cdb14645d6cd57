import { expect, test } from "bun:test";
import { bareBirth } from "../../../src/core/contract/birth.ts";
import { chainOf, liveLink, wholeChain } from "../../../src/core/contract/links.ts";
import type { HandoffRow, HandoffTable } from "../../../src/core/contract/repository.ts";

function row(id: number, continues: number | null): HandoffRow {
  const known = { contract_id: `a.${id}`, agent_id: "a", workspace: "me", raw_handoff_json: "{}", created_at: "" };
  const close = { conclusion: null, content_checks: null, update_contracts_refused: null, closed_at: null };
  const state = { agent_state: "BLOCKED", cut_reason: null, record_head: null, record_count: null };
  return { ...bareBirth(known), ...close, ...state, id, continues_handoff_id: continues };
}

/** A table that answers the two questions of a walk, from rows by their id. */
function tableOf(rows: readonly HandoffRow[]): HandoffTable {
  const table: Pick<HandoffTable, "findById" | "findContinuation"> = {
    findById: (id) => rows.find((one) => one.id === id) ?? null,
    findContinuation: (id) => rows.find((one) => one.continues_handoff_id === id) ?? null,
  };
  return table as HandoffTable;
}

const ids = (rows: readonly HandoffRow[]) => rows.map((one) => one.id);

function chain(length: number): readonly [HandoffRow, ...HandoffRow[]] {
  return [row(1, null), ...Array.from({ length: length - 1 }, (_, index) => row(index + 2, index + 1))];
}

test("the live link is the newest; the row itself where nothing continues it", () => {
  const rows = chain(3);
  for (const one of rows) expect(liveLink(tableOf(rows), one).id).toBe(3);
  expect(liveLink(tableOf([]), row(7, null)).id).toBe(7);
});

test("a chain goes back to its root, own first; a link that is gone ends it", () => {
  const rows = chain(3);
  expect(ids(chainOf(tableOf(rows), row(3, 2)))).toEqual([3, 2, 1]);
  expect(ids(chainOf(tableOf(rows), row(9, 8)))).toEqual([9]);
});

test("the whole chain is oldest first, from any link", () => {
  const rows = chain(4);
  for (const one of rows) expect(ids(wholeChain(tableOf(rows), one))).toEqual([1, 2, 3, 4]);
});

test("a walk has at most 64 links, forwards and backwards", () => {
  const rows = chain(70);
  expect(liveLink(tableOf(rows), rows[0]).id).toBe(64);
  expect(ids(chainOf(tableOf(rows), row(70, 69)))).toHaveLength(64);
  expect(chainOf(tableOf(rows), row(64, 63)).at(-1)?.id).toBe(1);
});

test("a circle is cut where it closes", () => {
  const rows = [row(1, 3), row(2, 1), row(3, 2)];
  const table = tableOf(rows);
  expect(liveLink(table, row(1, 3)).id).toBe(3);
  expect(ids(chainOf(table, row(3, 2)))).toEqual([3, 2, 1]);
  expect(liveLink(tableOf([row(5, 5)]), row(5, 5)).id).toBe(5);
});

test("each link of a circle is in its whole chain once", () => {
  const rows = [row(1, 3), row(2, 1), row(3, 2)];
  expect(ids(wholeChain(tableOf(rows), row(2, 1))).toSorted()).toEqual([1, 2, 3]);
});
