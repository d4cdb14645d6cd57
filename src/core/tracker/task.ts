/** The tasks of a flow: an ordered list, in which every pending one trails every other. */

export const TASK_STATUSES = ["pending", "in_progress", "complete", "failed", "skipped"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Those that a task can be set to: pending is what it is from its beginning alone. */
export const SETTABLE_STATUSES = [
  "in_progress",
  "complete",
  "failed",
  "skipped",
] as const satisfies readonly TaskStatus[];

/** `name` is one line, never empty. */
export type Task = { readonly name: string; readonly status: TaskStatus };

export function isTaskStatus(word: string): word is TaskStatus {
  return (TASK_STATUSES as readonly string[]).includes(word);
}

/** Nothing is left to do: complete or skipped. */
export function isSettled({ status }: Task): boolean {
  return status === "complete" || status === "skipped";
}

/**
 * The places of the pending tasks that have one that is not pending behind them; none in a valid list.
 *
 * Source: flow state, section 4.2
 */
export function offendersOf(tasks: readonly Task[]): readonly number[] {
  const last = tasks.findLastIndex(({ status }) => status !== "pending");
  return tasks.flatMap(({ status }, index) => (status === "pending" && index < last ? [index] : []));
}
