/** The tables that the editor only looks into: approvals, context sections, evidence, tasks, workspaces. */
import { expect, test } from "bun:test";
import { evidence, task } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

test("the status of an approval, and null for an unknown one", () => {
  using world = scriptedWorld();
  world.sql(
    "INSERT INTO approvals (id, status, fingerprint, payload, created_at) VALUES ('P-1', 'approved', '', '', '')",
  );
  world.store.read(({ approvals }) =>
    expect([approvals.statusOf("P-1"), approvals.statusOf("P-2")]).toEqual(["approved", null]),
  );
});

test("an approval that cannot be looked up is not known", () => {
  using world = scriptedWorld();
  world.sql("DROP TABLE approvals");
  expect(world.store.read(({ approvals }) => approvals.statusOf("P-1"))).toBeNull();
});

test("a section is read as an object; what was edited into something else is none", () => {
  using world = scriptedWorld();
  world.store.write((tables) => tables.workspaces.ensure("w", ""));
  for (const [section, payload] of Object.entries({ stack: '{"a":1}', list: "[1]", broken: "{" })) {
    world.sql(
      "INSERT INTO context_sections (workspace, section, payload, updated_at) VALUES ('w', ?, ?, '')",
      section,
      payload,
    );
  }
  world.store.read(({ context }) => {
    expect(["stack", "list", "broken", "none"].map((name) => context.get("w", name))).toEqual([
      { a: 1 },
      null,
      null,
      null,
    ]);
    expect(context.get("v", "stack")).toBeNull();
    expect(context.list("w").map((one) => one.section)).toEqual(["broken", "list", "stack"]);
    expect(context.listWorkspaces("stack")).toEqual([{ workspace: "w", payload: { a: 1 } }]);
    expect(context.listWorkspaces("broken")).toEqual([]);
  });
});

test("evidence is found with its scope and its polarity", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const id = evidence(world, brief_id, { task_id, polarity: "negative" });
  world.store.read((tables) => {
    expect(tables.evidence.find(id)).toEqual({ id, brief_id, task_id, polarity: "negative" });
    expect([tables.evidence.find(id + 1), tables.evidence.find(2 ** 53)]).toEqual([null, null]);
  });
});

test("a task is found with its brief, and its gates in order", () => {
  using world = scriptedWorld();
  task(world, "first");
  const { brief_id, task_id } = task(world, "second", "done");
  for (const type of ["command", "semantic"]) {
    world.sql("INSERT INTO task_gates (task_id, verification_type) VALUES (?, ?)", task_id, type);
  }
  world.store.read(({ tasks }) => {
    expect(tasks.find(task_id)).toMatchObject({ id: task_id, plan_id: 2, brief_id, status: "done", goal: null });
    expect(tasks.find(99)).toBeNull();
    expect(tasks.listGates(task_id).map((gate) => gate.verification_type)).toEqual(["command", "semantic"]);
    expect([tasks.briefExists(brief_id), tasks.briefExists(99), tasks.planExists(2), tasks.planExists(99)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

test("a workspace is made once", () => {
  using world = scriptedWorld();
  for (const time of ["first", "second"]) world.store.write((tables) => tables.workspaces.ensure("w", time));
  expect(world.sql("SELECT * FROM workspaces")).toEqual([{ name: "w", created_at: "first" }]);
});
