import { expect, test } from "bun:test";
import { born, dispatch } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

const AT = "2026-01-01T00:00:00Z";
const GATE = {
  verification_type: "command",
  evidence_type: null,
  evidence_shape: "exits 0",
  artifact_path: null,
} as const;

function worldWithBrief() {
  const world = scriptedWorld();
  const brief = world.store.write((tables) => {
    tables.workspaces.ensure("me", AT);
    return tables.tasks.insertBrief({ workspace: "me", name: "b", created_at: AT });
  });
  if (brief === null) throw new Error("there was a brief already");
  return { world, brief };
}

test("a brief is made once in a workspace, and found by its name there", () => {
  const { world, brief } = worldWithBrief();
  using _ = world;
  world.store.write((tables) => {
    tables.workspaces.ensure("you", AT);
    expect(tables.tasks.insertBrief({ workspace: "me", name: "b", created_at: AT })).toBeNull();
    const other = tables.tasks.insertBrief({ workspace: "you", name: "b", created_at: AT });
    expect(other).toMatchObject({ workspace: "you", name: "b", status: "open", created_at: AT });
    expect(tables.tasks.findBrief("me", "b")).toEqual(brief);
    expect(tables.tasks.findBrief("me", "B")).toBeNull();
    expect(tables.tasks.listBriefs(null).map((one) => one.workspace)).toEqual(["me", "you"]);
    expect(tables.tasks.listBriefs("you")).toEqual(other === null ? [] : [other]);
  });
});

test("the plan of a brief is made with its first task, and tasks are put at its end", () => {
  const { world, brief } = worldWithBrief();
  using _ = world;
  world.store.write(({ tasks }) => {
    expect(tasks.list(brief.id)).toEqual([]);
    const first = tasks.insert(brief.id, "one", AT);
    const second = tasks.insert(brief.id, "two", AT);
    expect(first).toEqual({ id: 1, plan_id: 1, brief_id: brief.id, order_num: 1, status: "pending", goal: "one" });
    expect(second).toMatchObject({ plan_id: 1, order_num: 2 });
    expect(tasks.list(brief.id)).toEqual([first, second]);
    tasks.setStatus(1, "done");
    expect(tasks.list(brief.id).map((task) => task.status)).toEqual(["done", "pending"]);
  });
  expect(world.sql("SELECT status FROM plans")).toEqual([{ status: "draft" }]);
});

test("a gate is pending when it is made, and keeps who settled it and when", () => {
  const { world, brief } = worldWithBrief();
  using _ = world;
  const { handoff_id } = dispatch(world);
  world.store.write(({ tasks }) => {
    const { id } = tasks.insert(brief.id, "one", AT);
    const gate = tasks.insertGate({ task_id: id, ...GATE });
    const pending = { status: "pending", settled_by_handoff_id: null, settled_at: null } as const;
    expect(gate).toEqual({ id: 1, task_id: id, ...GATE, ...pending });
    const settled = { status: "pass", settled_by_handoff_id: handoff_id, settled_at: AT } as const;
    tasks.settleGate(gate.id, settled);
    expect(tasks.findGate(gate.id)).toEqual({ ...gate, ...settled });
    expect(tasks.listGates(id)).toEqual([{ ...gate, ...settled }]);
    expect(tasks.findGate(2)).toBeNull();
  });
});

test("a producer is of the agent id or of the agent name of a turn bound to the task", () => {
  const { world, brief } = worldWithBrief();
  using _ = world;
  const id = world.store.write(({ tasks }) => tasks.insert(brief.id, "one", AT).id);
  const producer = dispatch(world, { agent: "backend-dev", plan_task_id: id });
  born(world, { agent: "bystander" });
  world.sql("UPDATE handoffs SET agent_name = NULL WHERE agent_name = 'bystander'");
  world.store.read(({ tasks }) => {
    const is = (agent_id: string, agent_name: string | null) => tasks.hasProducer(id, { agent_id, agent_name });
    expect(is(producer.agent_id, null)).toBe(true);
    expect(is("a9999999999999999", "backend-dev")).toBe(true);
    expect(is("a9999999999999999", null)).toBe(false);
    expect(is("a9999999999999999", "bystander")).toBe(false);
    expect(tasks.hasProducer(id + 1, { agent_id: producer.agent_id, agent_name: "backend-dev" })).toBe(false);
  });
});
