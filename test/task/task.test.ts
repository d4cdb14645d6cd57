/** Briefs, tasks, gates and what follows from them, in a scripted world. */
import { describe, expect, test } from "bun:test";
import type { ContractStore } from "../../src/core/contract/repository.ts";
import { WritError } from "../../src/core/error.ts";
import type { GateStatus, TaskStatus } from "../../src/core/task/verdict.ts";
import { initDraft } from "../../src/editor/init.ts";
import { addBrief, listBriefs } from "../../src/task/brief.ts";
import { addGate, listGates, settleGate } from "../../src/task/gate.ts";
import { addTask, listTasks, setTask } from "../../src/task/task.ts";
import type { World } from "../../src/task/world.ts";
import { cleanRefusalOf, closed, dispatch, refusalOf, set } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const B = { name: "b", workspace: null };

/** A brief with one task of so many gates; their ids are 1, and 1 upwards. */
function withGates(world: ScriptedWorld, gates: number): void {
  addBrief(world, B);
  addTask(world, B, "Round the total");
  for (let gate = 0; gate < gates; gate++) gateOf(world);
}

function gateOf(world: World) {
  const said = { evidence_type: null, evidence_shape: null, artifact_path: null };
  return addGate(world, { task_id: 1, verification_type: "command", ...said });
}

function settle(world: World, gate_id: number, status: GateStatus, handoff_id: number | null = null) {
  return settleGate(world, { gate_id, status, handoff_id });
}

const statusOf = (world: ScriptedWorld) => listGates(world, 1).task.status;

describe("briefs and tasks", () => {
  test("a brief is made once in its workspace, which is made with it", () => {
    using world = scriptedWorld();
    const brief = addBrief(world, { name: "b", workspace: "shop" });
    expect(brief).toMatchObject({ id: 1, workspace: "shop", name: "b", status: "open" });
    const error = refusalOf(() => addBrief(world, { name: "b", workspace: "shop" }));
    expect(error).toMatchObject({ code: "brief_exists", details: { brief_id: 1 } });
    expect(addBrief(world, B)).toMatchObject({ id: 2, workspace: "me" });
    expect(listBriefs(world, null).map((one) => one.workspace)).toEqual(["shop", "me"]);
    expect([listBriefs(world, "me").length, listBriefs(world, "you").length]).toEqual([1, 0]);
    expect(listBriefs({ store: null }, null)).toEqual([]);
  });

  test.each([[""], [" "], ["a/b"], [".."], ["a\u001bb"], ["x".repeat(201)]])("%j names no brief", (name) => {
    using world = scriptedWorld();
    expect(refusalOf(() => addBrief(world, { name, workspace: null }))).toMatchObject({ code: "usage", path: "NAME" });
    expect(listBriefs(world, null)).toEqual([]);
  });

  test("tasks are listed in the order of the plan, with what their gates say", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    addTask(world, B, " Add a test \n");
    settle(world, 1, "pass");
    const { brief, tasks } = listTasks(world, B);
    expect(brief.id).toBe(1);
    expect(tasks.map(({ task, approving, gates }) => [task.goal, task.status, approving, gates.length])).toEqual([
      ["Round the total", "done", true, 1],
      ["Add a test", "pending", false, 0],
    ]);
  });

  test.each([
    ["a task of an unknown brief", (world: ScriptedWorld) => addTask(world, B, "x")],
    ["the tasks of an unknown brief", (world: ScriptedWorld) => listTasks(world, B)],
    ["the tasks where no store is", (world: ScriptedWorld) => listTasks({ ...world, store: null }, B)],
    ["a gate of an unknown task", gateOf],
    ["the gates of an unknown task", (world: ScriptedWorld) => listGates(world, 1)],
    ["the gates where no store is", () => listGates({ store: null }, 1)],
    ["an unknown gate", (world: ScriptedWorld) => settle(world, 1, "pass")],
    ["an unknown task", (world: ScriptedWorld) => setTask(world, 1, "done")],
  ])("%s: no row", (_, act) => {
    using world = scriptedWorld();
    expect(refusalOf(() => act(world))).toMatchObject({ code: "no_row" });
  });

  test("a blank goal is a usage error", () => {
    using world = scriptedWorld();
    addBrief(world, B);
    expect(refusalOf(() => addTask(world, B, " \n"))).toMatchObject({ code: "usage", path: "--goal" });
  });
});

describe("what follows from a gate", () => {
  test.each([
    { gates: ["pass"], task: "pending", after: "done", outcome: "moved" },
    { gates: ["pass", "pass"], task: "pending", after: "done", outcome: "moved" },
    { gates: ["pending", "pass"], task: "pending", after: "pending", outcome: "unchanged" },
    { gates: ["pass", "fail"], task: "pending", after: "pending", outcome: "unchanged" },
    { gates: ["pass", "fail"], task: "done", after: "pending", outcome: "moved" },
    { gates: ["pending"], task: "done", after: "pending", outcome: "moved" },
    { gates: ["pass"], task: "done", after: "done", outcome: "unchanged" },
    { gates: ["pass"], task: "skipped", after: "skipped", outcome: "skipped" },
    { gates: ["fail"], task: "skipped", after: "skipped", outcome: "skipped" },
  ] as const)("gates $gates on a task that is $task: $after", ({ gates, task, after, outcome }) => {
    using world = scriptedWorld();
    withGates(world, gates.length);
    // All but the last are there already; the last is the one that is written.
    for (const [index, status] of gates.slice(0, -1).entries()) settle(world, index + 1, status);
    setTask(world, 1, task);
    const { gate, derived_closure } = settle(world, gates.length, gates.at(-1) ?? "pending");
    expect(gate.status).toBe(gates.at(-1) ?? "pending");
    expect(derived_closure).toMatchObject({ task_id: 1, before: task, after, outcome, error: null });
    expect(derived_closure.approving).toBe(gates.every((status) => status === "pass"));
    expect(statusOf(world)).toBe(after);
  });

  test("a new gate opens a task that was done", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    settle(world, 1, "pass");
    expect(statusOf(world)).toBe("done");
    expect(gateOf(world).derived_closure).toMatchObject({ before: "done", after: "pending", outcome: "moved" });
    expect(statusOf(world)).toBe("pending");
  });

  test("who settled it and when is kept, and goes when it is pending again", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    const verifier = dispatch(world, { agent: "qa-verifier" });
    const at = { settled_at: "2026-01-01T00:00:00Z" };
    expect(settle(world, 1, "pass").gate).toMatchObject({ settled_by_handoff_id: null, ...at });
    const inside = { ...world, contractId: verifier.contract_id };
    expect(settle(inside, 1, "pass").gate).toMatchObject({ settled_by_handoff_id: verifier.handoff_id, ...at });
    expect(settle(inside, 1, "pending").gate).toMatchObject({ settled_by_handoff_id: null, settled_at: null });
    expect(settle(world, 1, "fail", verifier.handoff_id).gate.settled_by_handoff_id).toBe(verifier.handoff_id);
  });

  test.each(["a1.none", "junk", "../x", "aaaaaaaaaaaaaaaaa.bbbbbbbbbbbb"])(
    "a WRIT_CONTRACT_ID that names no turn settles nothing: %s",
    (contractId) => {
      using world = scriptedWorld();
      withGates(world, 1);
      const stranger = { ...world, contractId };
      expect(cleanRefusalOf(world, () => settle(stranger, 1, "pass"))).toMatchObject({ code: "no_row" });
      expect(cleanRefusalOf(world, () => setTask(stranger, 1, "done"))).toMatchObject({ code: "no_row" });
    },
  );

  test("a turn that has a draft and no row yet settles as its agent", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
    expect(settle({ ...world, contractId: draft_id }, 1, "pass").gate.settled_by_handoff_id).toBeNull();
    expect(statusOf(world)).toBe("done");
  });

  test("the turn at work is its live link", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    const contractId = closed(world, "BLOCKED", { agent: "qa-verifier" });
    set(world, contractId, "report_prose", "more");
    const [link] = world.sql<{ id: number }>("SELECT id FROM handoffs WHERE continues_handoff_id IS NOT NULL");
    expect(settle({ ...world, contractId }, 1, "pass").gate.settled_by_handoff_id).toBe(link?.id ?? 0);
  });

  test("an unknown --handoff-id changes nothing", () => {
    using world = scriptedWorld();
    withGates(world, 1);
    expect(refusalOf(() => settle(world, 1, "pass", 99))).toMatchObject({ code: "no_row", path: "--handoff-id" });
    expect(listGates(world, 1).gates).toMatchObject([{ status: "pending" }]);
  });
});

describe("a producer", () => {
  function withProducer(world: ScriptedWorld) {
    withGates(world, 1);
    return dispatch(world, { agent: "backend-dev", plan_task_id: 1 });
  }

  test("settles the gate, and its task stays", () => {
    using world = scriptedWorld();
    const producer = withProducer(world);
    const { gate, derived_closure } = settle({ ...world, contractId: producer.contract_id }, 1, "pass");
    expect(gate).toMatchObject({ status: "pass", settled_by_handoff_id: producer.handoff_id });
    const stays = { approving: true, before: "pending", after: "pending", outcome: "producer", error: null };
    expect(derived_closure).toMatchObject(stays);
    expect(statusOf(world)).toBe("pending");
  });

  test.each([
    ["named as the settling turn", null, true],
    ["that names the verifier as the settling turn", "producer", false],
    ["of the same name in another turn", "namesake", null],
    ["whose next turn continues the first", "continuation", null],
    ["known by its agent id alone", "agent", null],
  ])("%s does not close it", (_, contract, named) => {
    using world = scriptedWorld();
    const producer = withProducer(world);
    const verifier = dispatch(world, { agent: "qa-verifier", parent_handoff_id: producer.handoff_id });
    const contracts: Record<string, () => string> = {
      producer: () => producer.contract_id,
      namesake: () => dispatch(world, { agent: "backend-dev" }).contract_id,
      agent: () => initDraft(world, { agent_id: producer.agent_id, draft_id: null }).draft_id,
      continuation() {
        const id = closed(world, "BLOCKED", { agent: "fixer", plan_task_id: 1 });
        world.sql("UPDATE handoffs SET agent_name = NULL WHERE agent_name = 'fixer'");
        return set(world, id, "report_prose", "more").draft_id;
      },
    };
    const contractId = contract === null ? null : (contracts[contract]?.() ?? null);
    const handoff = named === null ? null : named ? producer.handoff_id : verifier.handoff_id;
    expect(settle({ ...world, contractId }, 1, "pass", handoff).derived_closure.outcome).toBe("producer");
    expect(statusOf(world)).toBe("pending");
  });

  test("does not close it by what it settled before, when a verifier settles the last gate", () => {
    using world = scriptedWorld();
    const producer = withProducer(world);
    world.store.write(({ tasks }) =>
      tasks.insertGate({
        task_id: 1,
        verification_type: "command",
        evidence_type: null,
        evidence_shape: null,
        artifact_path: null,
      }),
    );
    const verifier = dispatch(world, { agent: "qa-verifier", parent_handoff_id: producer.handoff_id });
    const as = (contractId: string) => ({ ...world, contractId });
    settle(as(verifier.contract_id), 1, "fail");
    settle(as(producer.contract_id), 1, "pass");
    expect(settle(as(verifier.contract_id), 2, "pass").derived_closure.outcome).toBe("producer");
    expect(statusOf(world)).toBe("pending");
    expect(settle(as(verifier.contract_id), 1, "pass").derived_closure.outcome).toBe("moved");
    expect(statusOf(world)).toBe("done");
  });

  test("may open it again: a fault is a fault, whoever finds it", () => {
    using world = scriptedWorld();
    const producer = withProducer(world);
    settle(world, 1, "pass");
    expect(settle({ ...world, contractId: producer.contract_id }, 1, "fail").derived_closure.outcome).toBe("moved");
    expect(statusOf(world)).toBe("pending");
  });

  test("is no verifier: the verifier of its turn closes the task, and nobody's row changes", () => {
    using world = scriptedWorld();
    const producer = withProducer(world);
    const verifier = dispatch(world, { agent: "qa-verifier", parent_handoff_id: producer.handoff_id });
    const before = world.sql("SELECT * FROM handoffs");
    expect(settle({ ...world, contractId: verifier.contract_id }, 1, "pass").derived_closure.outcome).toBe("moved");
    expect(statusOf(world)).toBe("done");
    expect(world.sql("SELECT * FROM handoffs")).toEqual(before);
  });

  test.each([
    ["done", "blind_verification_required"],
    ["skipped", null],
    ["pending", null],
  ] as [TaskStatus, string | null][])("sets its task %s: %j", (status, code) => {
    using world = scriptedWorld();
    const inside = { ...world, contractId: withProducer(world).contract_id };
    if (code === null) expect(setTask(inside, 1, status).task.status).toBe(status);
    else {
      const error = refusalOf(() => setTask(inside, 1, status));
      expect(error).toMatchObject({ code, details: { plan_task_id: 1 } });
      expect(statusOf(world)).toBe("pending");
    }
  });

  test("of another task sets this one", () => {
    using world = scriptedWorld();
    withProducer(world);
    addTask(world, B, "Another");
    const other = dispatch(world, { agent: "frontend-dev", plan_task_id: 2 });
    expect(setTask({ ...world, contractId: other.contract_id }, 1, "done")).toMatchObject({ before: "pending" });
  });
});

describe("a derivation that fails", () => {
  test.each([
    [new WritError("store_busy", "busy"), "store_busy"],
    [new Error("a constraint"), "internal"],
  ])("never undoes the gate, and is reported: %s", (thrown, code) => {
    using world = scriptedWorld();
    withGates(world, 1);
    let writes = 0;
    const store: ContractStore = {
      ...world.store,
      write(unit) {
        writes += 1;
        if (writes === 2) throw thrown;
        return world.store.write(unit);
      },
    };
    const { gate, derived_closure } = settle({ ...world, store }, 1, "pass");
    expect(gate.status).toBe("pass");
    expect(derived_closure).toMatchObject({ outcome: "failed", approving: null, before: null, after: null });
    expect(derived_closure.error?.code).toBe(code as never);
    expect(listGates(world, 1).gates).toMatchObject([{ status: "pass" }]);
    expect(statusOf(world)).toBe("pending");
    // Settling it once more brings the task after it.
    expect(settle(world, 1, "pass").derived_closure.outcome).toBe("moved");
  });
});

test("of two verifiers that settle two gates, the later one closes the task", () => {
  using world = scriptedWorld();
  withGates(world, 2);
  let raced = false;
  const store: ContractStore = {
    ...world.store,
    write(unit) {
      const answer = world.store.write(unit);
      // Between the commit of the first gate and its derivation, the other gate is settled as a whole.
      if (!raced) {
        raced = true;
        settle(world, 2, "pass");
      }
      return answer;
    },
  };
  expect(settle({ ...world, store }, 1, "pass").derived_closure).toMatchObject({ approving: true, after: "done" });
  expect(statusOf(world)).toBe("done");
});
