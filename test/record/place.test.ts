/** Which contract a record belongs to: the four ways, in their order. */
import { expect, test } from "bun:test";
import { placeOfContract, placeOfHook } from "../../src/record/place.ts";
import { add, born, closed, everything, rowOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

type Hook = Parameters<typeof placeOfHook>[1];
type Given = {
  named?: string | null;
  environment?: string | null;
  agent?: string | null;
  session?: string | null;
  mayClaim?: boolean;
};

function place(world: ScriptedWorld, given: Given) {
  const hook: Hook = {
    named: given.named ?? null,
    environment: given.environment ?? null,
    origin: { agent_id: given.agent ?? null, session_id: given.session ?? null, cwd: null },
    mayClaim: given.mayClaim ?? true,
  };
  return world.store.write((tables) => placeOfHook(tables, hook));
}

function why(world: ScriptedWorld, given: Given): string | null {
  const before = everything(world);
  const found = place(world, given);
  expect(found.contract_id).toBeNull();
  expect(everything(world)).toEqual(before);
  return found.contract_id === null ? found.why : null;
}

test("a named contract comes before all others", () => {
  using world = scriptedWorld();
  born(world, { harness_agent_id: "h" });
  const [named, environment] = [born(world), born(world)];
  expect(place(world, { named, environment, agent: "h", session: "s" }).contract_id).toBe(named);
});

test("an event with an agent goes to the newest row that carries it, whatever WRIT_CONTRACT_ID says", () => {
  using world = scriptedWorld();
  const environment = born(world);
  born(world, { harness_agent_id: "h" });
  const newest = born(world, { harness_agent_id: "h" });
  expect(place(world, { environment, agent: "h" }).contract_id).toBe(newest);
});

test("an event without an agent goes to WRIT_CONTRACT_ID", () => {
  using world = scriptedWorld();
  const environment = born(world, { session_id: "other" });
  expect(place(world, { environment, session: "s" }).contract_id).toBe(environment);
});

test("an event without an agent and without WRIT_CONTRACT_ID is never attributed by its session", () => {
  using world = scriptedWorld();
  born(world, { session_id: "s" });
  expect(why(world, { session: "s" })).toContain("no contract was named");
});

test("what a subagent runs is not its parent's: WRIT_CONTRACT_ID does not count for an event with an agent", () => {
  using world = scriptedWorld();
  const environment = born(world);
  expect(why(world, { environment, agent: "h" })).toContain('agent "h"');
  expect(why(world, { environment, agent: "h", session: "s" })).toContain('session "s"');
});

test("the only turn of the session that waits for an agent is claimed, and keeps its agent", () => {
  using world = scriptedWorld();
  const id = born(world, { session_id: "s" });
  born(world, { session_id: "t" });
  born(world, { session_id: "s", harness_agent_id: "claimed" });
  expect(place(world, { agent: "h", session: "s" }).contract_id).toBe(id);
  expect(rowOf(world, id).harness_agent_id).toBe("h");
  expect(place(world, { agent: "h", session: "anything" }).contract_id).toBe(id);
  expect(why(world, { agent: "h2", session: "s" })).toContain("has no turn that waits");
});

test("of several turns that wait none is chosen", () => {
  using world = scriptedWorld();
  born(world, { session_id: "s" });
  born(world, { session_id: "s" });
  expect(why(world, { agent: "h", session: "s" })).toContain("several");
});

test("a turn that is at work or over does not wait", () => {
  using world = scriptedWorld();
  closed(world, "BLOCKED", { session_id: "s" });
  born(world, { session_id: "s" });
  world.sql("UPDATE handoffs SET agent_state = 'IN_PROGRESS' WHERE agent_state = 'DISPATCHED'");
  expect(why(world, { agent: "h", session: "s" })).toContain("no turn that waits");
});

test("a stop never claims: an orphan with a fresh id would end a turn that runs", () => {
  using world = scriptedWorld();
  const id = born(world, { session_id: "s" });
  expect(why(world, { agent: "h", session: "s", mayClaim: false })).toContain('no turn is of agent "h"');
  expect(rowOf(world, id).harness_agent_id).toBeNull();
});

test("a stop of a known agent, or without one, finds its turn as any event does", () => {
  using world = scriptedWorld();
  const [own, environment] = [born(world, { harness_agent_id: "h" }), born(world)];
  expect(place(world, { agent: "h", mayClaim: false }).contract_id).toBe(own);
  expect(place(world, { environment, mayClaim: false }).contract_id).toBe(environment);
});

test.each(["named", "environment", "agent"] as const)(
  "a closed contract found by %s is followed to its live link",
  (by) => {
    using world = scriptedWorld();
    const id = closed(world, "BLOCKED", { harness_agent_id: "h" });
    const next = add(world, id, "evidence_report.key_outputs", "x").draft_id;
    // As if the harness had kept the id of the first link alone.
    world.sql("UPDATE handoffs SET harness_agent_id = NULL WHERE contract_id = ?", next);
    const given = { named: { named: id }, environment: { environment: id }, agent: { agent: "h" } }[by];
    expect(place(world, given).contract_id).toBe(next);
  },
);

test("a closed contract that nothing continues is recorded to itself: a record opens no link", () => {
  using world = scriptedWorld();
  const id = closed(world);
  expect(place(world, { named: id }).contract_id).toBe(id);
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(1);
});

test.each([
  { id: "a0123456789abcdef.0a1b2c3d4e5f", is: true },
  { id: "a0123456789abcdef", is: true },
  { id: "b0123456789abcdef.0a1b2c3d4e5f", is: false },
  { id: "nothing", is: false },
  { id: "", is: false },
  { id: `a0123456789abcdef.${"x".repeat(182)}`, is: true },
  { id: `a0123456789abcdef.${"x".repeat(183)}`, is: false },
])("an id without a row is a contract when its agent part is an agent's: $is", ({ id, is }) => {
  using world = scriptedWorld();
  expect(world.store.read((tables) => placeOfContract(tables, id)).contract_id).toBe(is ? id : null);
});
