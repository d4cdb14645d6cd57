import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeCalls, type RestoreOrder } from "../../src/brief/resume/restore.ts";
import type { ResumeWorld } from "../../src/brief/resume/world.ts";
import { briefWorld } from "../../src/cli/brief/world.ts";
import type { Output } from "../../src/cli/command.ts";
import { planRestore } from "../../src/core/brief/restore.ts";
import { flowText, INITIAL_FLOW } from "../../src/core/tracker/flow.ts";
import { flowStore } from "../../src/store/flow.ts";
import { openCheckouts } from "../support/checkout.ts";
import { answerTo, flowAfter, NO_FACTS, tasksOf } from "../support/flow.ts";
import { greetingCheckout, PLAN_PATH, SPEC_PATH } from "../support/greeting.ts";

const SILENT: Output = {
  document: () => {},
  product: () => {},
  exact: () => {},
  exactPieces: () => {},
  raw: () => {},
  line: () => {},
  talk: () => {},
  columns: () => null,
};
const NO_ANSWERS: ResumeWorld["answers"] = {
  pick: null,
  base: null,
  spec: null,
  plan: null,
  approved: null,
  confirm: false,
  tasks: new Map(),
  stage: null,
  target: null,
  worktree: null,
  skipPrCheck: false,
  pendingRecovered: false,
  createWorktree: false,
};

/** A restore of an implement brief in a checkout of its own; `before` is told of each call before it is made. */
function restoring(before: (line: string, store: ReturnType<typeof flowStore>) => void) {
  const places = openCheckouts();
  const checkout = greetingCheckout(places);
  const store = flowStore(join(places.folder, "flow.sqlite"));
  const world: ResumeWorld = {
    ...briefWorld(store.path, SILENT),
    answers: NO_ANSWERS,
    typed: ["b.md"],
    say: (line) => before(line, store),
    notice: () => {},
    ask: () => null,
    turn: () => null,
  };
  const flow = flowAfter([
    { action: "start", phase: "implement", force: false },
    { action: "init", tasks: tasksOf("a=complete", "b") },
  ]);
  const spec = join(checkout.path, SPEC_PATH);
  const plan = join(checkout.path, PLAN_PATH);
  const process = { ...sampleProcess(), phases: flow.phases, active: "implement" as const, substep: null };
  const planned = planRestore({
    process: { ...process, plan: { done: 1, total: 2, tasks: indexed() } },
    brief: "b.md",
    spec,
    plan,
  });
  if (planned.kind !== "calls") throw new Error(planned.kind);
  const order: RestoreOrder = {
    worktree: checkout.path,
    calls: planned.calls,
    tasks: tasksOf("a=complete", "b"),
    expected: { active: "implement", substep: null },
    brief: { path: "/b.md", block_sha256: "block" },
    again: "writ resume b.md",
  };
  return { world, store, order, flow, [Symbol.dispose]: () => places[Symbol.dispose]() };
}

function sampleProcess() {
  return { plan: null, subject: { kind: "task" as const, active_task: null }, prs: [], rework_base: null, legs: [] };
}

function indexed() {
  return tasksOf("a=complete", "b").map(({ name, status }, index) => ({ index, name, status }));
}

test("a restore goes through on an idle store", () => {
  using setting = restoring(() => {});
  const { flow, repair } = makeCalls(setting.world, setting.order);
  expect(repair).toBeNull();
  expect(flow.tasks).toEqual(tasksOf("a=complete", "b"));
  expect(flow.stamp).not.toBeNull();
  expect(setting.store.read().mark).toBeNull();
});

test("a flow that somebody started meanwhile refuses the first call, and stays as it is", () => {
  using setting = restoring((line, store) => {
    if (!line.startsWith("1. ")) return;
    store.write(() => ({
      record: { flow: flowAfter([{ action: "start", phase: "ship", force: false }]), mark: null },
      value: null,
    }));
  });
  expect(() => makeCalls(setting.world, setting.order)).toThrow(
    "restore refused at call 1: another flow was started meanwhile",
  );
  expect(setting.store.read().flow).toEqual(flowAfter([{ action: "start", phase: "ship", force: false }]));
});

test("another writer between two calls stops the restore; the calls that were made stay, with a mark for the brief", () => {
  using setting = restoring((line, store) => {
    if (!line.startsWith("6. ")) return;
    store.write((record) => {
      const answer = answerTo(record.flow, { action: "start", phase: "ship", force: false }, NO_FACTS);
      if (!answer.ok) throw new Error(answer.refusal.message);
      return { record: { ...record, flow: answer.flow }, value: null };
    });
  });
  expect(() => makeCalls(setting.world, setting.order)).toThrow(
    'restore refused at call 6: Error: phase "ship" is already in_progress. Complete or skip it first.',
  );
  const { flow, mark } = setting.store.read();
  expect(mark).toMatchObject({
    brief_path: "/b.md",
    block_sha256: "block",
    state_sha256: setting.world.sha256(flowText(flow)),
  });
});

test("what is not as it was to be after the last call is told, and nothing is patched", () => {
  using setting = restoring(() => {});
  const order = { ...setting.order, expected: { active: "implement" as const, substep: "W9" } };
  expect(() => makeCalls(setting.world, order)).toThrow("restore mismatch");
});

test("a handed-off flow gives its place only to its own brief, as it was", () => {
  using setting = restoring(() => {});
  const { world, store, order, flow } = setting;
  const mark = {
    state_sha256: world.sha256(flowText(flow)),
    brief_path: "/b.md",
    block_sha256: "block",
    at: "2026-01-01T00:00:00Z",
  };
  store.write(() => ({ record: { flow, mark: { ...mark, block_sha256: "another" } }, value: null }));
  expect(() => makeCalls(world, order)).toThrow("another flow was started meanwhile");
  store.write(() => ({ record: { flow, mark: { ...mark, state_sha256: "moved" } }, value: null }));
  expect(() => makeCalls(world, order)).toThrow("another flow was started meanwhile");
  store.write(() => ({ record: { flow, mark }, value: null }));
  makeCalls(world, order);
  expect(store.archived()).toMatchObject([{ brief_path: "/b.md", flow }]);
  expect(store.archived()[0]?.flow).not.toEqual(INITIAL_FLOW);
});
