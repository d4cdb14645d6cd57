/** Runs the cases of areas "phase", "plan", "format-phase" and "format-plan": one flow, call by call. */
import type { JsonObject } from "../../src/core/json/value.ts";
import { type Flow, INITIAL_FLOW, stampFlow } from "../../src/core/tracker/flow.ts";
import type { Phase, PhaseName } from "../../src/core/tracker/phase.ts";
import { movePhase, type PhaseCall, SHIP_ADVISORY } from "../../src/core/tracker/phase-verbs.ts";
import { movePlan, type PlanCall } from "../../src/core/tracker/plan-verbs.ts";
import { flowSettings } from "../../src/core/tracker/settings.ts";
import { renderPhases, renderPlan } from "../../src/core/tracker/status-text.ts";
import type { Task, TaskStatus } from "../../src/core/tracker/task.ts";

type PlanStep = {
  readonly action: PlanCall["action"];
  readonly tasks?: readonly (string | { readonly name: string; readonly status: TaskStatus })[];
  readonly index?: number;
  readonly status?: TaskStatus;
};
type PhaseStep = {
  readonly action: "status" | "start" | "complete" | "skip" | "substep" | "reset";
  readonly phase?: PhaseName;
  readonly reason?: string;
  readonly force?: boolean;
  readonly substep?: string;
};
type Step =
  | ({ readonly cmd: "phase" } & PhaseStep)
  | ({ readonly cmd: "plan" } & PlanStep)
  | { readonly cmd: "observe"; readonly agent: string; readonly exit: number }
  | { readonly cmd: "stamp" | "unstamp" | "edit-plan" | "edit-spec" | "remove-plan" };

/** @returns what the case should expect; undefined when it names an operation, which these areas have not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const given = input as JsonObject;
  if ("phases" in given) return { text: renderPhases(given.phases as unknown as readonly Phase[]) };
  if ("tasks" in given) return { text: renderPlan(given.tasks as unknown as readonly Task[]) };
  const steps = given.steps as unknown as readonly (Step | PlanStep)[];
  return steps.some((step) => "cmd" in step)
    ? runPhaseSteps(steps as readonly Step[], (given.settings ?? {}) as JsonObject)
    : runPlanSteps(steps as readonly PlanStep[]);
}

function runPlanSteps(steps: readonly PlanStep[]) {
  let flow = INITIAL_FLOW;
  const answers = steps.map((step) => {
    const answer = movePlan(flow, planCall(step));
    if (answer.ok) flow = answer.flow;
    return answer.ok
      ? { ok: true, error: null, text: answer.text }
      : { ok: false, error: answer.refusal.error, text: answer.refusal.message };
  });
  return { steps: answers, status: renderPlan(flow.tasks) };
}

function runPhaseSteps(steps: readonly Step[], given: JsonObject) {
  const settings = flowSettings(given);
  const files = new Map<string, string>([
    ["<plan>", "plan 0"],
    ["<spec>", "spec 0"],
  ]);
  let flow: Flow = INITIAL_FLOW;
  let last = "";
  const answers = steps.map((step, index) => {
    if (step.cmd === "phase" || step.cmd === "plan" || step.cmd === "observe") {
      const facts = { settings, digestOf: (path: string) => files.get(path) ?? null };
      const answer = step.cmd === "plan" ? movePlan(flow, planCall(step)) : movePhase(flow, phaseCall(step), facts);
      if (answer.ok) flow = answer.flow;
      last = answer.ok ? answer.text : answer.refusal.message;
      const line1 = step.cmd === "observe" ? null : (last.split("\n", 1)[0] ?? "");
      return { ok: answer.ok, line1, error: answer.ok ? null : answer.refusal.error };
    }
    last = "";
    if (step.cmd === "edit-plan") files.set("<plan>", `plan ${index}`);
    else if (step.cmd === "edit-spec") files.set("<spec>", `spec ${index}`);
    else if (step.cmd === "remove-plan") files.delete("<plan>");
    else if (step.cmd === "unstamp") flow = stampFlow(flow, null);
    else {
      flow = stampFlow(flow, {
        plan_path: "<plan>",
        plan_sha256: files.get("<plan>") ?? "",
        spec_path: "<spec>",
        spec_sha256: files.get("<spec>") ?? "",
      });
    }
    return { ok: true, line1: null, error: null };
  });
  return { steps: answers, status: renderPhases(flow.phases), advisory: last.endsWith(`\n\n${SHIP_ADVISORY}`) };
}

function planCall(step: PlanStep): PlanCall {
  const tasks = (step.tasks ?? []).map((task): Task => {
    return typeof task === "string" ? { name: task, status: "pending" } : task;
  });
  switch (step.action) {
    case "init":
      return { action: "init", tasks };
    case "add":
      return { action: "add", names: tasks.map(({ name }) => name) };
    case "update":
      return { action: "update", index: step.index ?? null, status: step.status ?? null };
    default:
      return { action: step.action };
  }
}

function phaseCall(step: Extract<Step, { cmd: "phase" | "observe" }>): PhaseCall {
  if (step.cmd === "observe") return { action: "observe", agent: step.agent, exit: step.exit };
  const phase = step.phase ?? null;
  switch (step.action) {
    case "start":
      return { action: "start", phase, force: step.force ?? false };
    case "complete":
      return { action: "complete", phase };
    case "skip":
      return { action: "skip", phase, reason: step.reason ?? null };
    case "substep":
      return { action: "substep", phase, substep: step.substep ?? null };
    default:
      return { action: step.action };
  }
}
