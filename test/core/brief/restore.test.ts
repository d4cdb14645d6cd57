import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ProcessState } from "../../../src/core/brief/brief.ts";
import { processState, taskSubject } from "../../../src/core/brief/render.ts";
import { planRestore, savedTasks, shipRetryCalls } from "../../../src/core/brief/restore.ts";
import { INITIAL_FLOW, isIdle } from "../../../src/core/tracker/flow.ts";
import { PHASE_NAMES, type PhaseName } from "../../../src/core/tracker/phase.ts";
import { renderPhases } from "../../../src/core/tracker/status-text.ts";
import type { Task } from "../../../src/core/tracker/task.ts";
import { answerTo, aProcess, NO_FACTS, tasksOf } from "../../support/flow.ts";

function stateOf(active: PhaseName, tasks: readonly Task[]): ProcessState {
  const phases = PHASE_NAMES.map((name) => ({
    name,
    status: name === active ? ("in_progress" as const) : ("pending" as const),
  }));
  const state = processState({ phases, tasks }, { subject: taskSubject(tasks), prs: [], rework_base: null, legs: [] });
  if (state === null) throw new Error("a phase is in progress");
  return state;
}

const PLACE = { brief: "b.md", spec: "/w/doc/specs/x.md", plan: "/w/doc/plans/x.md" };

test("an implement brief with nothing left asks for its target, and verify is restored as such", () => {
  const process = { ...stateOf("implement", tasksOf("a=complete", "b=skipped")), substep: "W2" };
  expect(planRestore({ process, ...PLACE })).toEqual({ kind: "question", question: "target", propose: "verify" });
  const found = planRestore({ process, ...PLACE, target: "verify" });
  if (found.kind !== "calls") throw new Error(found.kind);
  expect(found.calls.map((call) => `${call.tool} ${call.action}`)).toEqual([
    "phase start",
    "phase skip",
    "phase start",
    "plan check",
    "phase skip",
    "phase skip",
    "phase start",
    "plan init",
  ]);
});

test("a list whose order no tracker would take is a stop with its rows", () => {
  const found = planRestore({ process: stateOf("verify", tasksOf("a", "b=complete")), ...PLACE });
  expect(found).toEqual({
    kind: "stop",
    message: "infeasible task list - pending tasks precede started or finished ones",
    rows: [0],
    details: ['0 "a"'],
  });
});

test("a ship retry has no plan check and never enters implement", () => {
  const calls = shipRetryCalls({ process: stateOf("ship", tasksOf("a=complete")), ...PLACE });
  expect(calls.map((call) => `${call.tool} ${call.action} ${"phase" in call ? call.phase : ""}`.trim())).toEqual([
    "phase start brainstorm",
    "phase skip brainstorm",
    "phase start plan",
    "phase skip plan",
    "phase skip implement",
    "phase start verify",
    "plan init",
  ]);
});

test("the calls of a restore go through on an idle flow, and restore the phase, its substep and the tasks", () => {
  fc.assert(
    fc.property(aProcess, (process) => {
      const found = planRestore({ process, ...PLACE, target: "verify" });
      if (found.kind === "stop") return;
      if (found.kind === "question") throw new Error("the target was given");
      let flow = INITIAL_FLOW;
      expect(isIdle(flow)).toBe(true);
      for (const call of found.calls) {
        if (call.action === "check") {
          const stamp = { plan_path: "p", plan_sha256: "1", spec_path: "s", spec_sha256: "1" };
          expect(flow.armed).toBe(true);
          flow = { ...flow, stamp };
          continue;
        }
        if (call.tool === "host" || call.action === "refresh") continue;
        const facts = { ...NO_FACTS, digestOf: () => "1" };
        const answer = answerTo(
          flow,
          call.action === "start" ? { ...call, force: false } : call.action === "init" ? { ...call } : call,
          facts,
        );
        if (!answer.ok) throw new Error(answer.refusal.message);
        flow = answer.flow;
      }
      const isLate =
        process.active === "ship" || found.calls.some((call) => "phase" in call && call.phase === "verify");
      const expected = isLate ? "verify" : process.active;
      expect(renderPhases(flow.phases)).toContain(`→ ${expected}`);
      if (found.calls.some(({ action }) => action === "init")) expect(flow.tasks).toEqual(savedTasks(process));
    }),
  );
});
