/** Tasks of a brief's plan. */
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import type { BriefName } from "../core/task/brief.ts";
import type { BriefRow, GateRow, TaskRow } from "../core/task/repository.ts";
import { isApproving, type TaskStatus } from "../core/task/verdict.ts";
import { isProducer, turnOfContract } from "./actor.ts";
import { getBrief } from "./brief.ts";
import type { ReadingWorld, World } from "./world.ts";

/** A task with what its gates say. */
export type JudgedTask = { readonly task: TaskRow; readonly gates: readonly GateRow[]; readonly approving: boolean };

/** Puts a task at the end of the brief's plan. Errors: `usage` for a blank goal; `no_row`; `store_busy`, `store_failed`. */
export function addTask(world: World, brief: BriefName, goal: string): TaskRow {
  checkGoal(goal);
  return world.store.write((tables) =>
    tables.tasks.insert(getBrief(tables, world, brief).id, goal.trim(), world.clock.now()),
  );
}

/** What can be said before the store is opened. Errors: `usage`. */
export function checkGoal(goal: string): void {
  if (goal.trim() !== "") return;
  throw new WritError("usage", "The goal is blank", { path: "--goal", hint: "Say what the task is to achieve" });
}

/** In the order of the plan. Errors: `no_row`. */
export function listTasks(
  world: ReadingWorld,
  name: BriefName,
): { readonly brief: BriefRow; readonly tasks: readonly JudgedTask[] } {
  const { store } = world;
  if (store === null) return { brief: getBrief(null, world, name), tasks: [] };
  return store.read((tables) => {
    const brief = getBrief(tables, world, name);
    return { brief, tasks: tables.tasks.list(brief.id).map((task) => judged(tables, task)) };
  });
}

/**
 * Sets the status of a task by hand.
 *
 * @returns the task as it is now, and the status it had
 * Errors: `no_row`; `blind_verification_required` when a turn that produced the task says it is done; `store_busy`,
 * `store_failed`
 */
export function setTask(
  world: World,
  id: number,
  status: TaskStatus,
): { readonly task: TaskRow; readonly before: TaskStatus } {
  return world.store.write((tables) => {
    const task = getTask(tables, id);
    const turns = world.contractId === null ? [] : [turnOfContract(world, tables, world.contractId)];
    if (status === "done" && isProducer(tables, id, turns)) {
      throw new WritError("blind_verification_required", `A producer of task ${id} does not set it done`, {
        path: "TASK_ID",
        hint: "Close the turn NEEDS_VERIFICATION: a verifier settles the gates with writ task gate set",
        details: { plan_task_id: id },
      });
    }
    tables.tasks.setStatus(id, status);
    return { task: { ...task, status }, before: task.status };
  });
}

/** Errors: `no_row`. */
export function getTask(tables: Tables, id: number): TaskRow {
  const task = tables.tasks.find(id);
  if (task === null) throw noTask(id);
  return task;
}

export function noTask(id: number): WritError {
  return new WritError("no_row", `There is no task ${id}`, {
    path: "TASK_ID",
    hint: "See what there is with: writ task list --brief NAME",
  });
}

export function judged(tables: Tables, task: TaskRow): JudgedTask {
  const gates = tables.tasks.listGates(task.id);
  return { task, gates, approving: isApproving(gates) };
}
