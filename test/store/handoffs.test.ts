import { expect, test } from "bun:test";
import { bareBirth } from "../../src/core/contract/birth.ts";
import type { Birth, Close, HandoffFilter, Tables } from "../../src/core/contract/repository.ts";
import { type RowState, STATES } from "../../src/core/contract/state.ts";
import { rowOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const AGENT = "a0000000000000001";

function insert(world: ScriptedWorld, contractId: string, more: Partial<Birth> = {}) {
  return world.store.write((tables) => {
    tables.workspaces.ensure(more.workspace ?? "me", "");
    const known = { contract_id: contractId, agent_id: AGENT, workspace: "me", raw_handoff_json: "{}" };
    return tables.handoffs.insertBirth({ ...bareBirth({ ...known, created_at: "2026-01-01T00:00:00Z" }), ...more });
  });
}

function inState(world: ScriptedWorld, contractId: string, state: RowState): void {
  world.sql("UPDATE handoffs SET agent_state = ? WHERE contract_id = ?", state, contractId);
}

const CLOSE: Close = {
  agent_id: AGENT,
  agent_state: "BLOCKED",
  cut_reason: null,
  raw_handoff_json: '{"a":1}',
  conclusion: "It holds.",
  content_checks: "{}",
  update_contracts_refused: null,
  record_head: "f".repeat(64),
  record_count: 3,
  closed_at: "2026-01-02T00:00:00Z",
  session_id: null,
  plan_task_id: null,
  brief_id: null,
};

test("a row is born DISPATCHED and cut as never_finalized", () => {
  using world = scriptedWorld();
  expect(insert(world, `${AGENT}.1`)).toEqual({ id: 1, created: true });
  expect(rowOf(world, `${AGENT}.1`)).toMatchObject({
    agent_state: "DISPATCHED",
    cut_reason: "never_finalized",
    closed_at: null,
    consolidation: 0,
  });
});

test("a second birth of one contract changes nothing and answers the row that is there", () => {
  using world = scriptedWorld();
  insert(world, `${AGENT}.1`, { goal: "first" });
  const before = rowOf(world, `${AGENT}.1`);
  expect(insert(world, `${AGENT}.1`, { goal: "second", agent_name: "other" })).toEqual({ id: 1, created: false });
  expect(rowOf(world, `${AGENT}.1`)).toEqual(before);
});

test("of one row there is at most one continuation", () => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`);
  insert(world, `${AGENT}.2`, { continues_handoff_id: id });
  expect(() => insert(world, `${AGENT}.3`, { continues_handoff_id: id })).toThrow(/UNIQUE/);
  expect(world.store.read((tables) => tables.handoffs.findContinuation(id))?.contract_id).toBe(`${AGENT}.2`);
});

test.each([
  { state: "DISPATCHED" as const, mirrored: true },
  ...STATES.map((state) => ({ state, mirrored: state === "IN_PROGRESS" })),
])("the mirror of a row in $state is written: $mirrored, and no other column with it", ({ state, mirrored }) => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`, { raw_handoff_json: '{"old":1}' });
  inState(world, `${AGENT}.1`, state);
  const before = rowOf(world, `${AGENT}.1`);
  world.store.write((tables) => tables.handoffs.mirror(id, '{"new":1}'));
  expect(rowOf(world, `${AGENT}.1`)).toEqual({ ...before, raw_handoff_json: mirrored ? '{"new":1}' : '{"old":1}' });
});

test("a close writes its columns and leaves those of the birth", () => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`, { goal: "g", kind: "investigation", session_id: "s1" });
  const before = rowOf(world, `${AGENT}.1`);
  world.store.write((tables) => tables.handoffs.close(id, CLOSE));
  const { session_id: _, plan_task_id: __, brief_id: ___, ...written } = CLOSE;
  expect(rowOf(world, `${AGENT}.1`)).toEqual({ ...before, ...written });
});

test("a close replaces the session, the task and the brief where it has one, and never clears them", () => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`, { session_id: "s1" });
  const close = (session_id: string | null) =>
    world.store.write((tables) => tables.handoffs.close(id, { ...CLOSE, session_id }));
  close("s2");
  expect(rowOf(world, `${AGENT}.1`).session_id).toBe("s2");
  close(null);
  expect(rowOf(world, `${AGENT}.1`).session_id).toBe("s2");
});

test.each([{ state: "DISPATCHED" as const }, ...STATES.map((state) => ({ state }))])(
  "a later verdict replaces one in $state, unless that is COMPLETE",
  ({ state }) => {
    using world = scriptedWorld();
    const { id } = insert(world, `${AGENT}.1`);
    inState(world, `${AGENT}.1`, state);
    world.store.write((tables) => tables.handoffs.close(id, { ...CLOSE, agent_state: "NEEDS_INPUT" }));
    expect(rowOf(world, `${AGENT}.1`).agent_state).toBe(state === "COMPLETE" ? "COMPLETE" : "NEEDS_INPUT");
  },
);

test("the closed ones among ids are those in a closing state", () => {
  using world = scriptedWorld();
  const states = ["DISPATCHED", ...STATES] as const;
  for (const state of states) {
    insert(world, `${AGENT}.${state}`);
    inState(world, `${AGENT}.${state}`, state);
  }
  const ids = [...states.map((state) => `${AGENT}.${state}`), `${AGENT}.none`, "it's; DROP TABLE handoffs"];
  const closed = world.store.read((tables) => tables.handoffs.listClosed(ids));
  expect([...closed].sort()).toEqual(
    ["APPROVAL_REQUEST", "BLOCKED", "COMPLETE", "NEEDS_INPUT", "NEEDS_VERIFICATION"].map((word) => `${AGENT}.${word}`),
  );
});

test("a harness id is stamped once, and finds the newest row that carries it", () => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`);
  const second = insert(world, `${AGENT}.2`, { harness_agent_id: "h1" });
  world.store.write((tables) => tables.handoffs.stampHarness(id, "h0"));
  world.store.write((tables) => tables.handoffs.stampHarness(id, "h9"));
  expect(rowOf(world, `${AGENT}.1`).harness_agent_id).toBe("h0");
  insert(world, `${AGENT}.3`, { harness_agent_id: "h1" });
  const found = (harness: string) => world.store.read((tables) => tables.handoffs.findByHarness(harness))?.id ?? null;
  expect([found("h1"), found("h0"), found("h9")]).toEqual([second.id + 1, id, null]);
});

test.each([
  { what: "DISPATCHED and unclaimed", state: "DISPATCHED" as const, harness: null, session: "s", found: true },
  { what: "a checkpoint", state: "IN_PROGRESS" as const, harness: null, session: "s", found: false },
  { what: "closed", state: "BLOCKED" as const, harness: null, session: "s", found: false },
  { what: "claimed", state: "DISPATCHED" as const, harness: "h", session: "s", found: false },
  { what: "of another session", state: "DISPATCHED" as const, harness: null, session: "t", found: false },
  { what: "of no session", state: "DISPATCHED" as const, harness: null, session: null, found: false },
])("a row that is $what waits for an agent of the session: $found", ({ state, harness, session, found }) => {
  using world = scriptedWorld();
  insert(world, `${AGENT}.1`, { harness_agent_id: harness, session_id: session });
  inState(world, `${AGENT}.1`, state);
  expect(world.store.read((tables) => tables.handoffs.listUnclaimed("s", 2))).toHaveLength(found ? 1 : 0);
});

const ANY: HandoffFilter = {
  agent_id: null,
  agent_name: null,
  agent_state: null,
  cut_reason: null,
  session_id: null,
  contract_id: null,
  harness_agent_id: null,
  workspace: null,
  since: null,
  until: null,
  limit: 20,
};

const filters: { filter: Partial<HandoffFilter>; ids: number[] }[] = [
  { filter: {}, ids: [3, 2, 1] },
  { filter: { limit: 2 }, ids: [3, 2] },
  { filter: { agent_id: AGENT }, ids: [2, 1] },
  { filter: { agent_name: "qa" }, ids: [3] },
  { filter: { agent_name: "QA" }, ids: [] },
  { filter: { agent_state: "BLOCKED" }, ids: [2] },
  { filter: { cut_reason: "never_finalized" }, ids: [1] },
  { filter: { cut_reason: "any" }, ids: [3, 1] },
  { filter: { session_id: "s1" }, ids: [1] },
  { filter: { contract_id: "a.2" }, ids: [2] },
  { filter: { harness_agent_id: "h3" }, ids: [3] },
  { filter: { workspace: "other" }, ids: [3] },
  { filter: { since: "2026-01-02T00:00:00Z" }, ids: [3, 2] },
  { filter: { since: "2026-01-02" }, ids: [3, 2] },
  { filter: { until: "2026-01-02" }, ids: [2, 1] },
  { filter: { until: "2026-01-02T23:59:58Z" }, ids: [1] },
  { filter: { since: "2026-01-02", until: "2026-01-02" }, ids: [2] },
  { filter: { agent_id: AGENT, agent_state: "DISPATCHED" }, ids: [1] },
];

test.each(filters)("the rows of $filter, newest first, are $ids", ({ filter, ids }) => {
  using world = scriptedWorld();
  insert(world, "a.1", { session_id: "s1", created_at: "2026-01-01T10:00:00Z" });
  insert(world, "a.2", { created_at: "2026-01-02T23:59:59Z" });
  insert(world, "a.3", {
    agent_id: "a0000000000000002",
    agent_name: "qa",
    harness_agent_id: "h3",
    workspace: "other",
    created_at: "2026-01-03T00:00:00Z",
  });
  world.sql("UPDATE handoffs SET agent_state = 'BLOCKED', cut_reason = NULL WHERE id = 2");
  world.sql("UPDATE handoffs SET agent_state = 'IN_PROGRESS', cut_reason = 'reaped' WHERE id = 3");
  const list = (tables: Tables) => tables.handoffs.list({ ...ANY, ...filter }).map((row) => row.id);
  expect(world.store.read(list)).toEqual(ids);
});

test("a row that another one refers to is not deleted", () => {
  using world = scriptedWorld();
  const { id } = insert(world, `${AGENT}.1`);
  insert(world, `${AGENT}.2`, { continues_handoff_id: id });
  world.sql("PRAGMA foreign_keys = ON");
  expect(() => world.sql("DELETE FROM handoffs WHERE id = ?", id)).toThrow(/FOREIGN KEY/);
});
