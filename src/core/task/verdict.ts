/** What the gates of a task say, and what follows for the task. */

/** How a gate is verified. `none` is no gate. */
export const GATE_TYPES = ["command", "code", "semantic", "self_review"] as const;
export type GateType = (typeof GATE_TYPES)[number];

export const GATE_STATUSES = ["pending", "pass", "fail"] as const;
export type GateStatus = (typeof GATE_STATUSES)[number];

export const TASK_STATUSES = ["pending", "done", "skipped"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** True when there is at least one gate and every gate is `pass`: where nothing was asked, nothing is approved. */
export function isApproving(gates: readonly { readonly status: GateStatus }[]): boolean {
  return gates.length > 0 && gates.every((gate) => gate.status === "pass");
}

/** The status that a task should have by its gates; its own when nothing follows. A skipped task never moves. */
export function derivedStatus(task: TaskStatus, approving: boolean): TaskStatus {
  if (task === "skipped") return "skipped";
  return approving ? "done" : "pending";
}
