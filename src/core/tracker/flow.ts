/** The state of one flow: what one worktree's store holds, and what its digest is taken of. */
import { canonicalJson, type JsonObject } from "../json/value.ts";
import { PHASE_NAMES, type Phase, type PhaseName } from "./phase.ts";
import { isSettled, type Task } from "./task.ts";

/** That a plan and its spec passed plan check: absolute paths, and the SHA-256 of each file's bytes. */
export type Stamp = {
  readonly plan_path: string;
  readonly plan_sha256: string;
  readonly spec_path: string;
  readonly spec_sha256: string;
};

export type Flow = {
  /** All five, in order; at most one is in progress. */
  readonly phases: readonly Phase[];
  /** The flow was entered by `start brainstorm`; only then are there gates. */
  readonly armed: boolean;
  /** A conformance review succeeded since the last reset or the last start of implement. */
  readonly reviewed: boolean;
  readonly stamp: Stamp | null;
  readonly tasks: readonly Task[];
};

export const INITIAL_FLOW: Flow = {
  phases: PHASE_NAMES.map((name) => ({ name, status: "pending" })),
  armed: false,
  reviewed: false,
  stamp: null,
  tasks: [],
};

export function phaseOf({ phases }: Pick<Flow, "phases">, name: PhaseName): Phase {
  return phases.find((phase) => phase.name === name) ?? { name, status: "pending" };
}

/** The phase in progress; null when none is. */
export function activePhase({ phases }: Pick<Flow, "phases">): Phase | null {
  return phases.find(({ status }) => status === "in_progress") ?? null;
}

/** Every phase is pending. Tasks do not count: a plan works without a flow. */
export function isIdle({ phases }: Pick<Flow, "phases">): boolean {
  return phases.every(({ status }) => status === "pending");
}

export function withPhase<F extends Pick<Flow, "phases">>(flow: F, phase: Phase): F {
  return { ...flow, phases: flow.phases.map((old) => (old.name === phase.name ? phase : old)) };
}

/**
 * Completes implement when it is in progress and nothing of a non-empty plan is left; else the flow as it is.
 *
 * Source: flow state, section 3.8
 */
export function settleImplement(flow: Flow): Flow {
  if (phaseOf(flow, "implement").status !== "in_progress") return flow;
  if (flow.tasks.length === 0 || !flow.tasks.every(isSettled)) return flow;
  return withPhase(flow, { name: "implement", status: "complete" });
}

/** The text whose SHA-256 is the digest of the state. */
export function flowText({ phases, armed, reviewed, stamp, tasks }: Flow): string {
  const state: JsonObject = {
    phases: phases.map(phaseDocument),
    armed,
    reviewed,
    stamp: stamp === null ? null : { ...stamp },
    tasks: tasks.map(({ name, status }) => ({ name, status })),
  };
  return canonicalJson(state);
}

/** A phase as JSON: a reason and a substep only where there is one. */
export function phaseDocument({ name, status, reason, substep }: Phase): JsonObject {
  return {
    name,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(substep === undefined ? {} : { substep }),
  };
}

/**
 * The flow after a plan check: a pass stamps an armed flow, findings take any stamp away.
 *
 * @param stamp null when there were findings
 * Source: flow state, section 6.2
 */
export function stampFlow(flow: Flow, stamp: Stamp | null): Flow {
  if (stamp === null) return { ...flow, stamp: null };
  return flow.armed ? { ...flow, stamp } : flow;
}
