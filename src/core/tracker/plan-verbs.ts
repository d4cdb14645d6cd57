/** What `writ plan init|add|update|clear|status` decides, and every text. */
import { refuse, type TrackerAnswer } from "./answer.ts";
import { type Flow, settleImplement } from "./flow.ts";
import { renderPlan } from "./status-text.ts";
import { offendersOf, type Task, type TaskStatus } from "./task.ts";

export type PlanCall =
  | { readonly action: "status" | "clear" }
  | { readonly action: "init"; readonly tasks: readonly Task[] }
  | { readonly action: "add"; readonly names: readonly string[] }
  /** Null: not given. `index` is a whole number from 0. */
  | { readonly action: "update"; readonly index: number | null; readonly status: TaskStatus | null };

const RULE = "Rule: pending tasks must trail every started or finished task.";
const LIST_HINT = "writ plan init --tasks - or writ plan update <index> <status>";

/**
 * Carries out one call on a flow. What is done, `clear` apart, also completes an implement phase whose tasks are settled.
 *
 * Errors: none; a call that the list forbids is a refusal, and the list stays as it was
 * Source: flow state, sections 3.8 and 4.3
 */
export function movePlan(flow: Flow, call: PlanCall): TrackerAnswer {
  const answer = decide(flow, call);
  return answer.ok && call.action !== "clear" ? { ...answer, flow: settleImplement(answer.flow) } : answer;
}

function decide(flow: Flow, call: PlanCall): TrackerAnswer {
  const { tasks } = flow;
  switch (call.action) {
    case "status":
      return { ok: true, flow, text: renderPlan(tasks) };
    case "clear":
      if (tasks.length === 0) return { ok: true, flow, text: "No plan was active." };
      return { ok: true, flow: { ...flow, tasks: [] }, text: `Plan cleared (${tasks.length} tasks removed).` };
    case "init":
      return init(flow, call.tasks);
    case "add": {
      if (call.names.length === 0) return tasksRequired(call.action);
      const added = call.names.map((name): Task => ({ name, status: "pending" }));
      const all = [...tasks, ...added];
      return done(flow, all, `Added ${added.length} tasks (${all.length} total).`);
    }
    case "update":
      return update(flow, call.index, call.status);
    default:
      return call satisfies never;
  }
}

function init(flow: Flow, proposed: readonly Task[]): TrackerAnswer {
  if (proposed.length === 0) return tasksRequired("init");
  const offenders = offendersOf(proposed);
  if (offenders.length === 0) return done(flow, proposed, `Plan initialized with ${proposed.length} tasks.`);
  return refuse(
    "plan_refused",
    [
      `Error: cannot init: pending tasks precede started or finished ones: ${listed(offenders, proposed)}.`,
      RULE,
      "Reorder the list or restate those statuses truthfully, then retry.",
      `Proposed: ${snapshot(proposed)}`,
    ].join("\n"),
    `pending-suffix violation: ${offenders.join(",")}`,
    LIST_HINT,
  );
}

function update(flow: Flow, index: number | null, status: TaskStatus | null): TrackerAnswer {
  const { tasks } = flow;
  if (index === null || status === null) {
    return refuse("usage", "Error: index and status required for update", "index and status required");
  }
  if (tasks.length === 0) {
    return refuse("plan_refused", "Error: no plan active. Use init first.", "no plan active", "writ plan init");
  }
  const task = tasks[index];
  if (task === undefined) {
    return refuse(
      "plan_refused",
      `Error: index ${index} out of range (0-${tasks.length - 1})`,
      `index ${index} out of range`,
    );
  }
  if (status === "pending") {
    return refuse(
      "plan_refused",
      [
        `Error: cannot set task ${index} "${task.name}" to pending: update never sets pending; a task is pending only from init/add.`,
        "To redo it, update it to in_progress. To recreate the whole list, re-init with {name, status}[].",
        `Current: ${snapshot(tasks)}`,
      ].join("\n"),
      "update cannot set pending",
      LIST_HINT,
    );
  }
  const changed = tasks.with(index, { ...task, status });
  const offenders = offendersOf(changed);
  if (offenders.length === 0) return done(flow, changed, `Task ${index} "${task.name}" → ${status}`);
  return refuse(
    "plan_refused",
    [
      `Error: cannot set task ${index} "${task.name}" to ${status}: pending tasks precede it: ${listed(offenders, tasks)}.`,
      RULE,
      "Fix first, then retry: update each listed task to in_progress (working on it now), complete, failed, or skipped (not applicable in this run); or, if the list order itself is wrong, re-init with {name, status}[] keeping every task and its true status so the untouched ones trail.",
      "Never clear, drop tasks, or record a status the work has not actually reached.",
      `Current: ${snapshot(tasks)}`,
    ].join("\n"),
    `pending-suffix violation: ${offenders.join(",")}`,
    LIST_HINT,
  );
}

function done(flow: Flow, tasks: readonly Task[], first: string): TrackerAnswer {
  return { ok: true, flow: { ...flow, tasks }, text: `${first}\n${renderPlan(tasks)}` };
}

function tasksRequired(action: string): TrackerAnswer {
  return refuse("usage", `Error: tasks array required for ${action}`, "tasks required");
}

function listed(indices: readonly number[], tasks: readonly Task[]): string {
  return listedRows(indices, tasks).join(", ");
}

/** `1 "b"` for each. */
export function listedRows(indices: readonly number[], tasks: readonly Task[]): readonly string[] {
  return indices.map((index) => `${index} "${tasks[index]?.name ?? ""}"`);
}

/** `0 a=complete, 1 b=pending`. */
function snapshot(tasks: readonly Task[]): string {
  return tasks.map(({ name, status }, index) => `${index} ${name}=${status}`).join(", ");
}
