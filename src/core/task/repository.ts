/** What the store promises of acceptance work: briefs, their plans, tasks and gates. */
import type { GateStatus, GateType, TaskStatus } from "./verdict.ts";

/** A piece of work with acceptance criteria. Its plan is made with its first task. */
export type BriefRow = {
  readonly id: number;
  readonly workspace: string;
  readonly name: string;
  readonly status: string;
  readonly created_at: string;
};

export type TaskRow = {
  readonly id: number;
  readonly plan_id: number;
  readonly brief_id: number;
  /** Its place in the plan, from 1. */
  readonly order_num: number;
  readonly status: TaskStatus;
  readonly goal: string | null;
};

export type GateRow = {
  readonly id: number;
  readonly task_id: number;
  readonly verification_type: string;
  readonly evidence_type: string | null;
  readonly evidence_shape: string | null;
  readonly artifact_path: string | null;
  readonly status: GateStatus;
  /** The turn that settled it; null while it is pending, and when no turn did. */
  readonly settled_by_handoff_id: number | null;
  readonly settled_at: string | null;
};

export type NewGate = Pick<GateRow, "task_id" | "evidence_type" | "evidence_shape" | "artifact_path"> & {
  readonly verification_type: GateType;
};

/** Whoever did something, as a row or a contract id tells. */
export type Actor = { readonly agent_id: string; readonly agent_name: string | null };

export type TaskTable = {
  find(id: number): TaskRow | null;
  listGates(taskId: number): readonly GateRow[];
  briefExists(id: number): boolean;
  planExists(id: number): boolean;

  findBrief(workspace: string, name: string): BriefRow | null;
  /** Oldest first; null: of every workspace. */
  listBriefs(workspace: string | null): readonly BriefRow[];
  /** Null, and nothing changed, when the workspace has a brief of that name. */
  insertBrief(brief: Pick<BriefRow, "workspace" | "name" | "created_at">): BriefRow | null;
  /** In the order of the plan; empty when the brief has none. */
  list(briefId: number): readonly TaskRow[];
  /** Puts a task at the end of the brief's plan, which is made where it is missing. */
  insert(briefId: number, goal: string, at: string): TaskRow;
  setStatus(id: number, status: TaskStatus): void;

  findGate(id: number): GateRow | null;
  insertGate(gate: NewGate): GateRow;
  settleGate(id: number, settled: Pick<GateRow, "status" | "settled_by_handoff_id" | "settled_at">): void;
  /** Whether a turn bound to this task is of the actor: of the same agent id, or of the same agent name. */
  hasProducer(taskId: number, actor: Actor): boolean;
};
