/**
 * Gates of a task, and what follows from them.
 *
 * A gate is written and committed first; then the task follows in a transaction of its own, which reads the gates
 * anew: of two verifiers that settle two gates at once, the later one sees both. What goes wrong there never undoes
 * the gate.
 */
import { WritError } from "../core/error.ts";
import type { GateRow, NewGate } from "../core/task/repository.ts";
import { derivedStatus, type GateStatus, type TaskStatus } from "../core/task/verdict.ts";
import { isProducer, type Turn, turnOfContract, turnOfHandoff, turnOfRow } from "./actor.ts";
import { getTask, type JudgedTask, judged, noTask } from "./task.ts";
import type { ReadingWorld, World } from "./world.ts";

/** What followed for the task of a gate that was written. */
export type DerivedClosure = {
  readonly task_id: number;
  /** What the gates say together; null when it could not be found out. */
  readonly approving: boolean | null;
  readonly before: TaskStatus | null;
  readonly after: TaskStatus | null;
  /**
   * `moved`: the task followed. `unchanged`: it had that status. `skipped`: a skipped task never moves. `producer`:
   * the settling turn produced the task, which stays as it is. `failed`: see `error`.
   */
  readonly outcome: "moved" | "unchanged" | "skipped" | "producer" | "failed";
  readonly error: WritError | null;
};

export type Settled = { readonly gate: GateRow; readonly derived_closure: DerivedClosure };

/** Adds a pending gate; a task that was done is open again. Errors: `no_row`; `store_busy`, `store_failed`. */
export function addGate(world: World, gate: NewGate): Settled {
  const made = world.store.write((tables) => {
    getTask(tables, gate.task_id);
    return tables.tasks.insertGate(gate);
  });
  return { gate: made, derived_closure: deriveClosure(world, made.task_id, []) };
}

/** In the order in which they were added. Errors: `no_row`. */
export function listGates(world: Pick<ReadingWorld, "store">, taskId: number): JudgedTask {
  const found = world.store?.read((tables) => judged(tables, getTask(tables, taskId)));
  if (found === undefined) throw noTask(taskId);
  return found;
}

/**
 * Settles a gate, or makes it pending again.
 *
 * @param handoffId the settling turn; null: the turn at work, if there is one
 * Errors: `no_row`; `store_busy`, `store_failed`, and then the gate is as it was
 */
export function settleGate(
  world: World,
  settle: { readonly gate_id: number; readonly status: GateStatus; readonly handoff_id: number | null },
): Settled {
  const { gate, turns } = world.store.write((tables) => {
    if (tables.tasks.findGate(settle.gate_id) === null) {
      throw new WritError("no_row", `There is no gate ${settle.gate_id}`, {
        path: "GATE_ID",
        hint: "See what there is with: writ task gate list TASK_ID",
      });
    }
    const named = settle.handoff_id === null ? null : turnOfHandoff(tables, settle.handoff_id);
    // The turn at work counts too: a producer that names another turn is still the producer.
    const atWork = world.contractId === null ? null : turnOfContract(world, tables, world.contractId);
    const isPending = settle.status === "pending";
    tables.tasks.settleGate(settle.gate_id, {
      status: settle.status,
      settled_by_handoff_id: isPending ? null : ((named ?? atWork)?.handoff_id ?? null),
      settled_at: isPending ? null : world.clock.now(),
    });
    const written = tables.tasks.findGate(settle.gate_id);
    if (written === null) throw new Error(`The gate ${settle.gate_id} is missing after its update`);
    return { gate: written, turns: [named, atWork].filter((turn) => turn !== null) };
  });
  return { gate, derived_closure: deriveClosure(world, gate.task_id, turns) };
}

/** Lets the task follow its gates, after they were committed. Errors: none; they are a part of the answer. */
function deriveClosure(world: World, taskId: number, turns: readonly Turn[]): DerivedClosure {
  try {
    return world.store.write((tables): DerivedClosure => {
      const { task, approving } = judged(tables, getTask(tables, taskId));
      const after = derivedStatus(task.status, approving);
      const facts = { task_id: taskId, approving, before: task.status, after, error: null };
      if (task.status === "skipped") return { ...facts, outcome: "skipped" };
      if (task.status === after) return { ...facts, outcome: "unchanged" };
      // Only a close needs someone else: whoever finds a fault may open the task again. What a producer settled before
      // does not close it either, whoever settles the last gate.
      const settlers = tables.tasks.listGates(taskId).flatMap(({ settled_by_handoff_id: by }) => {
        const row = by === null ? null : tables.handoffs.findById(by);
        return row === null ? [] : [turnOfRow(row)];
      });
      if (after === "done" && isProducer(tables, taskId, [...turns, ...settlers])) {
        return { ...facts, after: task.status, outcome: "producer" };
      }
      tables.tasks.setStatus(taskId, after);
      return { ...facts, outcome: "moved" };
    });
  } catch (error) {
    return {
      task_id: taskId,
      approving: null,
      before: null,
      after: null,
      outcome: "failed",
      error: asWritError(error),
    };
  }
}

function asWritError(error: unknown): WritError {
  if (error instanceof WritError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new WritError("internal", `This is a defect in writ: ${reason}`, { cause: error });
}
