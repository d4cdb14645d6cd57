import { expect, test } from "bun:test";
import type { NewProposal, ProposalTable } from "../../src/core/context/repository.ts";
import { born, rowOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function proposed(world: ScriptedWorld, contract_id: string, more: Partial<NewProposal> = {}): NewProposal {
  return {
    handoff_id: rowOf(world, contract_id).id,
    contract_id,
    entry_index: 0,
    entry_hash: "h0",
    section: "stack",
    payload: { a: 1 },
    drift: null,
    workspace: "me",
    project: null,
    goal_project_token: null,
    created_at: "2026-01-01T00:00:00Z",
    ...more,
  };
}

function within<T>(world: ScriptedWorld, act: (proposals: ProposalTable) => T): T {
  return world.store.write(({ proposals }) => act(proposals));
}

const ACCEPTED = {
  status: "accepted",
  decided_by: "ada",
  decided_at: "2026-01-02T00:00:00Z",
  decision_note: "seen",
} as const;

const UNDECIDED = { failed_guards: null, decided_by: null, decided_at: null, decision_note: null };

test("a proposal is pending, and comes back whole", () => {
  using world = scriptedWorld();
  const id = born(world);
  const drift = { key_path: "a", new: [1, null, "x"] };
  const one = proposed(world, id, {
    drift,
    project: "shop",
    goal_project_token: "shop",
    payload: { a: { b: [null] } },
  });
  const made = within(world, (proposals) => proposals.insert(one));
  within(world, (proposals) => {
    expect(proposals.listOf(id)).toEqual([{ ...one, ...UNDECIDED, id: made, status: "pending" }]);
    expect(proposals.listOf("a1.1")).toEqual([]);
  });
});

test("a decision is written on the one proposal, and so are the guards that failed", () => {
  using world = scriptedWorld();
  const id = born(world);
  within(world, (proposals) => {
    const [first, second] = ["h0", "h1"].map((entry_hash) => proposals.insert(proposed(world, id, { entry_hash })));
    proposals.decide(first ?? 0, ACCEPTED);
    proposals.stampFailedGuards(second ?? 0, ["how_keys", "value_shown"]);
    expect(proposals.listOf(id)).toMatchObject([
      { id: first, ...ACCEPTED, failed_guards: null },
      { id: second, ...UNDECIDED, status: "pending", failed_guards: ["how_keys", "value_shown"] },
    ]);
  });
});

test("of one contract they are listed by entry, of all newest first, by contract and by status", () => {
  using world = scriptedWorld();
  const [one, other] = [born(world), born(world)];
  within(world, (proposals) => {
    const insert = (contract: string, entry_index: number) =>
      proposals.insert(proposed(world, contract, { entry_index, entry_hash: `h${entry_index}` }));
    insert(one, 2);
    insert(other, 0);
    insert(one, 1);
    proposals.decide(1, { ...ACCEPTED, status: "rejected" });
    expect(proposals.listOf(one).map((row) => row.entry_index)).toEqual([1, 2]);
    const ids = (contract_id: string | null, status: string | null) =>
      proposals.list({ contract_id, status }).map((row) => row.id);
    expect([
      ids(null, null),
      ids(one, null),
      ids(null, "pending"),
      ids(one, "rejected"),
      ids(other, "accepted"),
    ]).toEqual([[3, 2, 1], [3, 1], [3, 2], [1], []]);
  });
});

test("one contract holds an entry once; another may hold the same", () => {
  using world = scriptedWorld();
  const [one, other] = [born(world), born(world)];
  within(world, (proposals) => {
    for (const id of [one, other]) proposals.insert(proposed(world, id));
  });
  expect(() => within(world, (proposals) => proposals.insert(proposed(world, one, { entry_index: 5 })))).toThrow(
    "UNIQUE",
  );
});

test("columns that somebody broke by hand do not stop the reading", () => {
  using world = scriptedWorld();
  const id = born(world);
  within(world, (proposals) => proposals.insert(proposed(world, id, { drift: {} })));
  world.sql("UPDATE proposals SET payload = '{', drift = 'x', failed_guards = '{}'");
  within(world, (proposals) =>
    expect(proposals.listOf(id)).toMatchObject([{ payload: {}, drift: null, failed_guards: null }]),
  );
  world.sql("UPDATE proposals SET payload = '[1]', failed_guards = '[1]'");
  within(world, (proposals) => expect(proposals.listOf(id)).toMatchObject([{ payload: {}, failed_guards: ["1"] }]));
});
