/**
 * The two status texts. They are wire: a brief carries them to the letter, and `core/brief/` reads them back.
 */
import type { Phase, PhaseStatus } from "./phase.ts";
import { isSettled, type Task, type TaskStatus } from "./task.ts";

export const PHASE_GLYPHS: Readonly<Record<PhaseStatus, string>> = {
  complete: "✓",
  in_progress: "→",
  skipped: "⊘",
  pending: "○",
};

export const TASK_GLYPHS: Readonly<Record<TaskStatus, string>> = {
  complete: "✓",
  in_progress: "→",
  failed: "✗",
  skipped: "⊘",
  pending: "○",
};

export const NO_PLAN = "No plan active.";

/** The groups of a plan's header, in their order, and the word for each. */
const GROUPS: readonly (readonly [TaskStatus, string])[] = [
  ["in_progress", "in progress"],
  ["pending", "pending"],
  ["failed", "failed"],
  ["skipped", "skipped"],
];

/**
 * The phase status: a heading and a line a phase, without a final newline.
 *
 * Source: flow state, section 3.1
 */
export function renderPhases(phases: readonly Phase[]): string {
  return ["Phases:", ...phases.map(renderPhase)].join("\n");
}

/** One line of the phase status. */
export function renderPhase({ name, status, reason, substep }: Phase): string {
  const label = status === "in_progress" && substep !== undefined && substep !== "" ? `${name}(${substep})` : name;
  const suffix = reason === undefined || reason === "" ? "" : ` (${reason})`;
  return `  ${PHASE_GLYPHS[status]} ${label}${suffix}`;
}

/**
 * The plan status: a header, a blank line and a line a task, without a final newline.
 *
 * Source: flow state, section 4.1
 */
export function renderPlan(tasks: readonly Task[]): string {
  if (tasks.length === 0) return NO_PLAN;
  const lines = tasks.map(({ name, status }, index) => `  ${TASK_GLYPHS[status]} [${index}] ${name}`);
  return [planHeader(tasks), "", ...lines].join("\n");
}

/** "Plan: 1/3 done (1 in progress, 1 pending)". */
export function planHeader(tasks: readonly Task[]): string {
  const groups = GROUPS.flatMap(([status, word]) => {
    const count = tasks.filter((task) => task.status === status).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const detail = groups.length === 0 ? "" : ` (${groups.join(", ")})`;
  return `Plan: ${tasks.filter(isSettled).length}/${tasks.length} done${detail}`;
}
