import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { initialEnvelope } from "../../src/core/contract/envelope.ts";
import { WritError } from "../../src/core/error.ts";
import type { Dispatch } from "../../src/editor/dispatch.ts";
import { add, born, dispatch, draftOf, fill, refusalOf, rowJson, rowOf, task, verbsOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

test("a dispatch makes the row, the draft, the workspace and the kernel block", () => {
  using world = scriptedWorld();
  const done = dispatch(world, {
    agent: "qa",
    goal: "fix it",
    workspace: "w",
    role: "r",
    session_id: "s",
    can_read: ["a"],
  });
  expect(done).toMatchObject({
    contract_id: "a0000000000000001.000000000002",
    agent_id: "a0000000000000001",
    handoff_id: 1,
    created: true,
    kind: "investigation",
    plan_task_id: null,
    parent_handoff_id: null,
    binding_rejection: null,
    warnings: [],
  });
  expect(rowOf(world, done.contract_id)).toMatchObject({
    agent_name: "qa",
    goal: "fix it",
    workspace: "w",
    role: "r",
    session_id: "s",
    can_read: '["a"]',
    can_write: null,
    consolidation: 0,
    agent_state: "DISPATCHED",
    cut_reason: "never_finalized",
    raw_handoff_json: '{"agent_state":"DISPATCHED","born_at_dispatch":true,"agent_name":"qa"}',
    created_at: "2026-01-01T00:00:00Z",
  });
  expect(JSON.stringify(draftOf(world, done.contract_id))).toBe(JSON.stringify(initialEnvelope(done.agent_id)));
  expect(verbsOf(world, done.contract_id)).toEqual(["dispatch"]);
  expect(world.sql("SELECT name FROM workspaces")).toEqual([{ name: "w" }]);
  expect(done.kernel).toContain("goal: fix it");
  expect(done.kernel).toContain(done.contract_id);
});

test("a draft that is there already is never blanked", () => {
  using world = scriptedWorld();
  const id = born(world);
  add(world, id, "evidence_report.key_outputs", "x");
  using again = scriptedWorld({ folder: world.folder }); // mints the same ids
  const row = rowOf(world, id);
  const done = dispatch(again, { agent: "other", goal: "other" });
  expect(done).toMatchObject({ contract_id: id, handoff_id: row.id, created: false });
  expect(rowOf(world, id)).toEqual(row);
  expect(draftOf(world, id).evidence_report).toMatchObject({ key_outputs: ["x"] });
  expect(verbsOf(world, id)).toEqual(["dispatch", "add"]);
});

test("a draft that cannot be written is no failed birth: the row is there, and the first write makes the file", () => {
  using world = scriptedWorld();
  const full: ScriptedWorld = {
    ...world,
    drafts: {
      ...world.drafts,
      stage() {
        throw new WritError("store_failed", "the disk is full");
      },
    },
  };
  const done = dispatch(full);
  expect(done.created).toBe(true);
  expect(done.warnings).toEqual([expect.stringContaining("the disk is full")]);
  expect(world.drafts.read(done.contract_id)).toBeNull();
  add(world, done.contract_id, "evidence_report.key_outputs", "x");
  expect(draftOf(world, done.contract_id).evidence_report).toMatchObject({ key_outputs: ["x"] });
});

test("a store that cannot be written is a failed birth, and leaves nothing", () => {
  using world = scriptedWorld();
  world.sql("CREATE TRIGGER fails BEFORE INSERT ON handoffs BEGIN SELECT RAISE(ABORT, 'no'); END");
  expect(() => dispatch(world)).toThrow("no");
  expect(world.drafts.list()).toEqual([]);
  expect(world.sql("SELECT * FROM workspaces")).toEqual([]);
});

// Binding

test.each([
  { agent: "backend-dev", bound: false, kind: null, expected: "investigation" },
  { agent: "backend-dev", bound: true, kind: null, expected: "task_execution" },
  { agent: "QA-Verifier-2", bound: false, kind: null, expected: "verifier" },
  { agent: "qa-verifier", bound: true, kind: null, expected: "verifier" },
  { agent: "qa-verifier", bound: false, kind: "audit", expected: "audit" },
  { agent: "backend-dev", bound: false, kind: "anything at all", expected: "anything at all" },
])("$agent, with a task: $bound, kind $kind, is of kind $expected", ({ agent, bound, kind, expected }) => {
  using world = scriptedWorld();
  const plan_task_id = bound ? task(world, "b").task_id : null;
  const done = dispatch(world, { agent, kind, plan_task_id });
  expect(done.kind).toBe(expected);
  expect(rowOf(world, done.contract_id).kind).toBe(expected);
});

type Given = Partial<Record<"kind" | "agent", string>> & {
  task?: "pending" | "done" | "skipped" | "none";
  parent?: "row" | "none";
};
const bindings: { given: Given; reason: string | null; bound: "task" | "parent" | "both" | "nothing" }[] = [
  { given: {}, reason: null, bound: "nothing" },
  { given: { task: "pending" }, reason: null, bound: "task" },
  { given: { kind: "task_execution" }, reason: "task_execution_requires_plan_task_id", bound: "nothing" },
  {
    given: { kind: "task_execution", parent: "row" },
    reason: "task_execution_requires_plan_task_id",
    bound: "nothing",
  },
  { given: { task: "none" }, reason: "plan_task_id_unresolved", bound: "nothing" },
  { given: { kind: "audit", task: "none" }, reason: "plan_task_id_unresolved", bound: "nothing" },
  { given: { task: "done" }, reason: "plan_task_id_not_dispatchable", bound: "nothing" },
  { given: { task: "skipped" }, reason: "plan_task_id_not_dispatchable", bound: "nothing" },
  { given: { kind: "audit", task: "done" }, reason: null, bound: "task" },
  { given: { agent: "verifier" }, reason: "verifier_requires_parent_handoff_id", bound: "nothing" },
  { given: { agent: "verifier", task: "pending" }, reason: "verifier_requires_parent_handoff_id", bound: "nothing" },
  { given: { agent: "verifier", task: "pending", parent: "row" }, reason: null, bound: "parent" },
  { given: { agent: "verifier", task: "none", parent: "row" }, reason: null, bound: "parent" },
  { given: { agent: "verifier", parent: "none" }, reason: "parent_handoff_id_unresolved", bound: "nothing" },
  { given: { parent: "row" }, reason: null, bound: "parent" },
  { given: { parent: "none" }, reason: "parent_handoff_id_unresolved", bound: "nothing" },
  { given: { task: "pending", parent: "row" }, reason: null, bound: "both" },
  { given: { task: "pending", parent: "none" }, reason: "parent_handoff_id_unresolved", bound: "nothing" },
];

test.each(bindings)(
  "a turn of $given is bound to $bound, rejected for $reason, and born",
  ({ given, reason, bound }) => {
    using world = scriptedWorld();
    const parent = rowOf(world, born(world)).id;
    const taskId = given.task === "none" ? 99 : given.task === undefined ? null : task(world, "b", given.task).task_id;
    const parentId = given.parent === "none" ? 99 : given.parent === undefined ? null : parent;
    const more: Partial<Dispatch> = { plan_task_id: taskId, parent_handoff_id: parentId };
    const done = dispatch(world, { agent: given.agent ?? "dev", kind: given.kind ?? null, ...more });
    const expected = {
      plan_task_id: bound === "task" || bound === "both" ? taskId : null,
      parent_handoff_id: bound === "parent" || bound === "both" ? parentId : null,
    };
    const rejection =
      reason === null ? null : { reason, attempted_plan_task_id: taskId, attempted_parent_handoff_id: parentId };
    expect(done).toMatchObject({ ...expected, created: true });
    expect(done.binding_rejection as unknown).toEqual(rejection);
    expect(rowOf(world, done.contract_id)).toMatchObject({ ...expected, agent_state: "DISPATCHED" });
    expect(rowJson(world, done.contract_id).binding_rejection ?? null).toEqual(rejection);
    expect(draftOf(world, done.contract_id)).not.toHaveProperty("binding_rejection");
  },
);

test("a brief or a plan that is not there is told, and the turn is born without it", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const known = dispatch(world, { brief_id, plan_id: 1 });
  expect([known.warnings, rowOf(world, known.contract_id)]).toMatchObject([[], { brief_id, plan_id: 1 }]);
  const unknown = dispatch(world, { brief_id: 98, plan_id: 99 });
  expect(unknown.warnings).toEqual([expect.stringContaining("98"), expect.stringContaining("99")]);
  expect(rowOf(world, unknown.contract_id)).toMatchObject({ brief_id: null, plan_id: null });
});

test("the gates of the bound task are the acceptance of the kernel; a turn without one has none", () => {
  using world = scriptedWorld();
  const { task_id } = task(world, "b");
  world.sql(
    "INSERT INTO task_gates (task_id, verification_type, evidence_shape) VALUES (?, 'command', 'all green')",
    task_id,
  );
  expect(dispatch(world, { plan_task_id: task_id }).kernel).toContain("acceptance:\n  - (command) all green\n");
  expect(dispatch(world).kernel).not.toContain("acceptance:");
});

// Projects

function identities(world: ScriptedWorld): void {
  const identity = { shop_front: { path: "/srv/shop", workflow: "trunk" }, odd: "text" };
  const sections = [
    ["w", "project_identity", JSON.stringify(identity)],
    ["w", "stack", '{"runtime":"bun"}'],
    ["v", "project_identity", '{"billing":{}}'],
  ];
  for (const [workspace = "", section = "", payload = ""] of sections) {
    world.sql("INSERT INTO workspaces (name, created_at) VALUES (?, '') ON CONFLICT DO NOTHING", workspace);
    world.sql("INSERT INTO context_sections VALUES (?, ?, ?, '', NULL)", workspace, section, payload);
  }
}

const resolved = { project: "shop_front", project_path: "/srv/shop", goal_project_token: null };
const unresolved = (token: string | null) => ({ project: null, project_path: null, goal_project_token: token });
test.each([
  { given: { project: "shop_front" }, row: resolved },
  { given: { project: "shop-front" }, row: resolved },
  { given: { project: "odd" }, row: { project: "odd", project_path: null, goal_project_token: null } },
  { given: { project: "billing" }, row: unresolved("billing") }, // known in another workspace only
  { given: { project: "nowhere", goal: "shop_front" }, row: unresolved("nowhere") },
  { given: { goal: "Fix shop-front, then billing" }, row: unresolved("shop-front") },
  { given: { goal: "Fix the billing page" }, row: unresolved("billing") },
  { given: { goal: "Fix the page" }, row: unresolved(null) },
  { given: {}, row: unresolved(null) },
])("a dispatch of $given resolves to $row", ({ given, row }) => {
  using world = scriptedWorld();
  identities(world);
  const done = dispatch(world, { workspace: "w", ...given });
  expect(rowOf(world, done.contract_id)).toMatchObject(row);
});

test("a resolved project gives the kernel its path, its workflow and its readable sections", () => {
  using world = scriptedWorld();
  identities(world);
  const { kernel } = dispatch(world, { workspace: "w", project: "shop-front", can_read: ["stack", "gone"] });
  for (const line of ["project: shop_front (/srv/shop)", "workflow: trunk", "# Project context", '"runtime"']) {
    expect(kernel).toContain(line);
  }
  expect(dispatch(world, { workspace: "w", can_read: ["stack"] }).kernel).not.toContain("# Project context");
  expect(dispatch(world, { workspace: "w", project: "odd", can_read: ["gone"] }).kernel).not.toContain(
    "# Project context",
  );
});

test("housekeeping that fails is a warning, and the turn is born", () => {
  using world = scriptedWorld();
  const failing: ScriptedWorld = {
    ...world,
    drafts: {
      ...world.drafts,
      claimSweep() {
        throw new Error("no entry");
      },
    },
  };
  expect(dispatch(failing)).toMatchObject({ created: true, warnings: [expect.stringContaining("no entry")] });
});

test("a born turn can be closed at once by nobody but itself: an empty patch leaves it DISPATCHED", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, {});
  expect(rowOf(world, id)).toMatchObject({ agent_state: "DISPATCHED", cut_reason: "never_finalized" });
});

test("a draft folder that is no folder is a warning too", () => {
  using world = scriptedWorld();
  writeFileSync(world.draftsPath, "in the way");
  const done = dispatch(world);
  expect(done.warnings[0]).toContain("could not be written");
  expect(refusalOf(() => add(world, done.contract_id, "evidence_report.key_outputs", "x")).code).toBe("store_failed");
});
