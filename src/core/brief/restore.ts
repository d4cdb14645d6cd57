/**
 * What a brief's process state is restored by: the ordered calls, or why there are none.
 *
 * Earlier phases are skipped with a reason, never completed: what was done before is not invented.
 */

import { restoreRowName } from "../ledger/row-name.ts";
import type { PhaseName } from "../tracker/phase.ts";
import { listedRows } from "../tracker/plan-verbs.ts";
import { isSettled, offendersOf, type Task } from "../tracker/task.ts";
import type { ProcessState } from "./brief.ts";

export type Call =
  | { readonly tool: "phase"; readonly action: "start"; readonly phase: PhaseName }
  | { readonly tool: "phase"; readonly action: "skip"; readonly phase: PhaseName; readonly reason: string }
  | { readonly tool: "phase"; readonly action: "substep"; readonly phase: PhaseName; readonly substep: string }
  | { readonly tool: "plan"; readonly action: "check"; readonly path: string; readonly on_fail: "repair" | "stop" }
  | { readonly tool: "plan"; readonly action: "init"; readonly tasks: readonly Task[] }
  | { readonly tool: "plan"; readonly action: "refresh"; readonly path: string }
  | {
      readonly tool: "host";
      readonly action: "pending-recovery" | "ledger-migrate" | "ledger-allowance";
      readonly path: string;
    };

export type RestoreInput = {
  readonly process: ProcessState;
  /** The brief as its operand was typed, or "-" for one that was pasted. */
  readonly brief: string;
  /** Absolute; null where an active brainstorm has none. */
  readonly spec: string | null;
  /** Absolute: the plan, or the ledger of a ledger brief; null where none is needed. */
  readonly plan: string | null;
  /** The human's answer when an implement brief has nothing left to implement. */
  readonly target?: "verify" | null;
};

export type Restore =
  | { readonly kind: "calls"; readonly calls: readonly Call[] }
  | {
      readonly kind: "stop";
      readonly message: string;
      /** Places in the saved list. */
      readonly rows: readonly number[];
      readonly details: readonly string[];
    }
  | { readonly kind: "question"; readonly question: "target"; readonly propose: "verify" };

export const INFEASIBLE_ORDER = "infeasible task list - pending tasks precede started or finished ones";
export const INFEASIBLE_STATED = "infeasible as stated - every task is complete or skipped";

/**
 * Errors: none
 * Source: flow state, sections 12.6, 12.10 and 12.11
 */
export function planRestore(input: RestoreInput): Restore {
  const { process: state } = input;
  const isLedger = state.subject.kind === "ledger";
  const tasks = savedTasks(state);
  if (state.active === "brainstorm" || state.active === "plan") {
    return { kind: "calls", calls: [...opening(input), ...substep(state, state.active)] };
  }
  const isInitialized = tasks.length > 0 && !(isLedger && state.active === "implement");
  if (isInitialized) {
    const rows = offendersOf(tasks);
    if (rows.length > 0) {
      return { kind: "stop", message: INFEASIBLE_ORDER, rows, details: listedRows(rows, tasks) };
    }
  }
  let stage: "implement" | "verify" = state.active === "implement" ? "implement" : "verify";
  let shown = state.active === "ship" ? [] : substep(state, state.active);
  if (stage === "implement" && !isLedger && tasks.length > 0 && tasks.every(isSettled)) {
    if (input.target !== "verify") return { kind: "question", question: "target", propose: "verify" };
    stage = "verify";
    shown = [];
  }
  return { kind: "calls", calls: isLedger ? ledgerCalls(input, stage, shown) : taskCalls(input, stage, shown) };
}

/** The calls of a coordinated ship retry whose plan was stripped: no plan check, no stamp. Source: section 14.3. */
export function shipRetryCalls(input: RestoreInput): readonly Call[] {
  const reason = resumeReason(input);
  return [
    ...opening(input),
    skipped("plan", reason),
    skipped("implement", reason),
    started("verify"),
    ...init(savedTasks(input.process)),
  ];
}

/** The saved list as it is restored: of a ledger with the names of its rows. */
export function savedTasks({ plan, subject }: ProcessState): readonly Task[] {
  return (plan?.tasks ?? []).map(({ name, status }) => ({
    name: subject.kind === "ledger" ? restoreRowName(name) : name,
    status,
  }));
}

/** What plan and implement are skipped with. */
function resumeReason({ brief }: Pick<RestoreInput, "brief">): string {
  return `resume: ${brief === "-" ? "pasted brief" : brief}`;
}

/** Arms the flow, and for all but an active brainstorm goes to plan. */
function opening({ process: state, spec }: RestoreInput): readonly Call[] {
  if (state.active === "brainstorm") return [started("brainstorm")];
  return openingCalls(spec ?? "");
}

/** The calls with which every restore of a flow behind brainstorm begins. */
export function openingCalls(spec: string): readonly Call[] {
  return [started("brainstorm"), skipped("brainstorm", `resume: ${spec}`), started("plan")];
}

function taskCalls(input: RestoreInput, stage: "implement" | "verify", shown: readonly Call[]): readonly Call[] {
  const reason = resumeReason(input);
  return [
    ...opening(input),
    { tool: "plan", action: "check", path: input.plan ?? "", on_fail: "repair" },
    skipped("plan", reason),
    ...(stage === "verify" ? [skipped("implement", reason)] : []),
    started(stage),
    ...shown,
    ...init(savedTasks(input.process)),
  ];
}

function ledgerCalls(input: RestoreInput, stage: "implement" | "verify", shown: readonly Call[]): readonly Call[] {
  const ledger = input.plan ?? "";
  const entered = [...opening(input), ...ledgerEntry(ledger, input.spec ?? "")];
  if (stage === "implement") return [...entered, started("implement"), ...ledgerBoundary(ledger)];
  return [
    ...entered,
    skipped("implement", resumeReason(input)),
    started("verify"),
    ...shown,
    ...init(savedTasks(input.process)),
    ...ledgerBoundary(ledger),
  ];
}

/** The check of a ledger, and the skip of plan on its pass. */
export function ledgerEntry(ledger: string, spec: string): readonly Call[] {
  return [
    { tool: "plan", action: "check", path: ledger, on_fail: "stop" },
    skipped("plan", `resume: ${spec} (loop engine)`),
  ];
}

/** What the host decides before a ledger is continued, and the one refresh. */
export function ledgerBoundary(ledger: string): readonly Call[] {
  return [
    { tool: "host", action: "pending-recovery", path: ledger },
    { tool: "host", action: "ledger-migrate", path: ledger },
    { tool: "host", action: "ledger-allowance", path: ledger },
    { tool: "plan", action: "refresh", path: ledger },
  ];
}

function substep({ substep: label }: ProcessState, phase: PhaseName): readonly Call[] {
  return label === null ? [] : [{ tool: "phase", action: "substep", phase, substep: label }];
}

function init(tasks: readonly Task[]): readonly Call[] {
  return tasks.length === 0 ? [] : [{ tool: "plan", action: "init", tasks }];
}

export function started(phase: PhaseName): Call {
  return { tool: "phase", action: "start", phase };
}

export function skipped(phase: PhaseName, reason: string): Call {
  return { tool: "phase", action: "skip", phase, reason };
}
