/** Plan check of a file: what it is held against, and the stamp that a pass leaves in an armed flow. */
import { checkLedger } from "../core/ledger/check.ts";
import { isLedger, parseLedger } from "../core/ledger/ledger-file.ts";
import { type CheckReport, checkPlan, oneFinding } from "../core/plan/check.ts";
import { findingOf } from "../core/plan/finding.ts";
import { specPathOf } from "../core/plan/header.ts";
import { readDocument } from "../core/plan/text.ts";
import { stampFlow } from "../core/tracker/flow.ts";
import type { FlowStore } from "../core/tracker/repository.ts";
import type { PlanWorld, ReadFile } from "./plan-world.ts";

export type PlanCheck = {
  /** Absolute. */
  readonly planPath: string;
  /** Null where none is named. */
  readonly specPath: string | null;
  /** Null where the plan is in no checkout. */
  readonly toplevel: string | null;
  readonly report: CheckReport;
  /** The files as they were judged; null where one could not be read. */
  readonly plan: ReadFile | null;
  readonly spec: ReadFile | null;
};

export type PlanOperands = {
  readonly cwd: string;
  /** As typed, against `cwd`. */
  readonly plan: string;
  readonly spec: string | null;
};

/**
 * Judges a plan or a ledger; nothing is written.
 *
 * Errors: `git_missing`
 * Source: flow state, sections 6.1 and 9.3
 */
export function checkPlanFile(world: PlanWorld, { cwd, plan, spec: option }: PlanOperands): PlanCheck {
  const planPath = world.resolve(cwd, plan);
  const read = world.readFile(planPath);
  const none = { planPath, specPath: null, toplevel: null, plan: read, spec: null };
  if (read === null) {
    return { ...none, report: oneFinding(findingOf("input", "unreadable", `plan file unreadable at ${planPath}`)) };
  }
  const toplevel = world.toplevelOf(world.folderOf(planPath));
  if (toplevel === null) {
    return { ...none, report: oneFinding(findingOf("input", "no-checkout", "plan is not inside a git checkout")) };
  }
  const ledger = isLedger(read.text) ? parseLedger(read.text) : null;
  const named = ledger === null ? specPathOf(readDocument(read.text)) : ledger.spec;
  const specPath =
    option !== null ? world.resolve(cwd, option) : named === null ? null : world.resolve(toplevel, named);
  const spec = specPath === null ? null : world.readFile(specPath);
  const found = { planPath, specPath, toplevel, plan: read, spec };
  if (ledger !== null) {
    const about = specPath === null ? null : { path: specPath, isReadable: spec !== null };
    return { ...found, report: checkLedger(ledger, about) };
  }
  if (specPath === null) {
    const reason = "no path-only **Spec:** header line found in plan";
    return { ...found, report: oneFinding(findingOf("input", "no-spec-header", reason)) };
  }
  if (spec === null) {
    const reason = `spec file unreadable at ${specPath}`;
    return { ...found, report: oneFinding(findingOf("input", "spec-unreadable", reason)) };
  }
  return { ...found, report: checkPlan(read.text, spec.text, world.filesOf(toplevel)) };
}

/**
 * Leaves what a check says in the flow: a pass stamps an armed one, findings take any stamp away.
 *
 * @returns whether there is a stamp now
 * Errors: those of the store
 * Source: flow state, section 6.2
 */
export function recordCheck(store: FlowStore, { planPath, specPath, report, plan, spec }: PlanCheck): boolean {
  const isPass = report.count === 0 && specPath !== null && plan !== null && spec !== null;
  const stamp = isPass
    ? { plan_path: planPath, plan_sha256: plan.sha256, spec_path: specPath, spec_sha256: spec.sha256 }
    : null;
  // Plan check never makes a store, and touches none that it does not change.
  const { flow } = store.read();
  if (stampFlow(flow, stamp) === flow || (stamp === null && flow.stamp === null)) return false;
  return store.write((record) => {
    const stamped = stampFlow(record.flow, stamp);
    return { record: { ...record, flow: stamped }, value: stamped.stamp !== null };
  });
}
