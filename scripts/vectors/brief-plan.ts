/** Runs the cases of areas "plan-check", "plan-check-new" and "repair". */

import type { JsonObject } from "../../src/core/json/value.ts";
import type { PlanFiles } from "../../src/core/plan/check/context.ts";
import { checkPlan } from "../../src/core/plan/check.ts";
import type { Finding } from "../../src/core/plan/finding.ts";
import { repairPlan } from "../../src/core/plan/repair.ts";
import { parseSpec } from "../../src/core/plan/spec-file.ts";
import type { Task } from "../../src/core/tracker/task.ts";

type CheckCase = {
  readonly spec: string;
  readonly plan: string;
  readonly exists: readonly string[];
  readonly globs?: Readonly<Record<string, readonly string[]>>;
};

type RepairCase = CheckCase & {
  readonly tasks: readonly Task[];
  readonly deleted: readonly string[];
  readonly renames: Readonly<Record<string, string>>;
};

/** @returns what the case should expect; undefined when it names an operation, which these areas have not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  return "tasks" in (input as JsonObject) ? repair(input as RepairCase) : check(input as CheckCase);
}

function filesOf({ exists, globs = {} }: CheckCase): PlanFiles {
  return {
    exists: (path) => exists.includes(path),
    expand: (pattern) => ({ ok: true, paths: globs[pattern] ?? [] }),
  };
}

function check(input: CheckCase) {
  const { findings } = checkPlan(input.plan, input.spec, filesOf(input));
  return {
    status: findings.length === 0 ? "PASS" : "FAIL",
    findings: findings.map((finding) => ({ ...short(finding), reason: finding.reason })),
  };
}

function short({ check: name, class: kind, task, line }: Finding) {
  return { check: name, class: kind, task, line };
}

function repair(input: RepairCase) {
  const files = filesOf(input);
  const found = repairPlan({
    plan: input.plan,
    spec: parseSpec(input.spec),
    tasks: input.tasks,
    evidence: {
      exists: files.exists,
      wasDeleted: (path) => input.deleted.includes(path),
      renamedTo: (path) => input.renames[path] ?? null,
    },
    check: (plan) => checkPlan(plan, input.spec, files),
  });
  if (!found.ok) return { ok: false, kind: found.kind, stop: found.stop, findings: found.findings.map(short) };
  const { rounds, repaired, edits, plan } = found;
  return { ok: true, rounds, repaired, edits, plan };
}
