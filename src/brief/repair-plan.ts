/**
 * Plan repair of a file: the evidence that git gives, the one write, the commit.
 *
 * The rounds happen on texts (`core/plan/repair.ts`); the file is written once, with the text that passes. A repair that
 * stops has written nothing, so there is nothing to restore.
 */

import { stop } from "../core/brief/stop.ts";
import { type CheckReport, checkPlan } from "../core/plan/check.ts";
import { type Repair, type RepairEdit, type RepairEvidence, repairPlan } from "../core/plan/repair.ts";
import { parseSpec } from "../core/plan/spec-file.ts";
import type { Task } from "../core/tracker/task.ts";
import { checkPlanFile, type PlanCheck, type PlanOperands } from "./check-plan.ts";
import type { PlanWorld } from "./plan-world.ts";

export type PlanRepair =
  | {
      readonly ok: true;
      readonly rounds: number;
      readonly repaired: number;
      readonly edits: readonly RepairEdit[];
      /** "commit abc1234" or "working copy"; null when nothing had to be repaired. */
      readonly where: string | null;
      /** The check of what the file holds now. */
      readonly check: PlanCheck;
    }
  | { readonly ok: false; readonly repair: Extract<Repair, { ok: false }>; readonly check: PlanCheck };

/**
 * Repairs the citations of a plan file.
 *
 * @param tasks read for evidence, never changed
 * Errors: `repair_stopped` when the file changed meanwhile, or its commit failed; `file_unwritable`, `git_missing`
 * Source: flow state, section 13
 */
export function repairPlanFile(world: PlanWorld, operands: PlanOperands, tasks: readonly Task[]): PlanRepair {
  const check = checkPlanFile(world, operands);
  const { planPath, toplevel, plan, spec } = check;
  if (plan === null || spec === null || toplevel === null || check.report.count === 0) return unrepaired(check);
  const files = world.filesOf(toplevel);
  const evidence = gitEvidence(world, toplevel, files.exists);
  let first: CheckReport | null = check.report;
  const repair = repairPlan({
    plan: plan.text,
    spec: parseSpec(spec.text),
    tasks,
    evidence,
    // The text of the first round is the file's: it was checked already, as what it is.
    check: (text) => {
      const report = first ?? checkPlan(text, spec.text, files);
      first = null;
      return report;
    },
  });
  if (!repair.ok) return { ok: false, repair, check };
  const isClean = isCommitted(world, toplevel, planPath);
  if (world.readFile(planPath)?.sha256 !== plan.sha256) {
    throw stop("repair_stopped", `the plan changed while it was repaired: ${planPath}`, { path: planPath });
  }
  world.replaceFile(planPath, repair.plan);
  const where = isClean ? commitPlan(world, toplevel, planPath, repair.repaired) : "working copy";
  const { rounds, repaired, edits } = repair;
  return { ok: true, rounds, repaired, edits, where, check: checkPlanFile(world, operands) };
}

/** Of a plan without findings, and of one that cannot even be judged. */
function unrepaired(check: PlanCheck): PlanRepair {
  if (check.report.count === 0) return { ok: true, rounds: 0, repaired: 0, edits: [], where: null, check };
  const { findings } = check.report;
  const repair = repairPlan({
    plan: "",
    spec: parseSpec(""),
    tasks: [],
    evidence: { exists: () => false, wasDeleted: () => false, renamedTo: () => null },
    check: () => ({ findings, count: findings.length }),
  });
  if (repair.ok) throw new Error("findings were repaired without a plan");
  return { ok: false, repair, check };
}

function gitEvidence(world: PlanWorld, toplevel: string, exists: (path: string) => boolean): RepairEvidence {
  let renames: ReadonlyMap<string, string> | null = null;
  const log = (...args: readonly string[]) => world.git(toplevel, ["--literal-pathspecs", "log", ...args]);
  return {
    exists,
    wasDeleted: (path) => log("--diff-filter=D", "--format=%h", "-1", "--", path).stdout.trim() !== "",
    renamedTo: (path) => {
      // Without a path: with one git reports a deletion in the place of a rename.
      renames ??= readRenames(log("--diff-filter=R", "--format=", "--name-status", "-M", "-z").stdout);
      return renames.get(path) ?? null;
    },
  };
}

/** The newest rename of each path, from the fields of git: `R100`, old, new. Source: flow state, section 13.5. */
function readRenames(output: string): ReadonlyMap<string, string> {
  const fields = output.split("\0").filter((field) => field !== "");
  const renames = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at++) {
    if (!/^R\d+$/.test(fields[at]?.trim() ?? "")) continue;
    const old = fields[at + 1] ?? "";
    if (!renames.has(old)) renames.set(old, fields[at + 2] ?? "");
    at += 2;
  }
  return renames;
}

/** Tracked, and as HEAD has it in the index and in the working copy. Source: flow state, section 13.3. */
function isCommitted(world: PlanWorld, toplevel: string, path: string): boolean {
  if (!world.git(toplevel, ["--literal-pathspecs", "ls-files", "--error-unmatch", "--", path]).ok) return false;
  const { ok, stdout } = world.git(toplevel, ["--literal-pathspecs", "status", "--porcelain", "--", path]);
  return ok && stdout === "";
}

/** Commits the plan alone. Errors: `repair_stopped`, and the repaired plan stays in the working copy. */
function commitPlan(world: PlanWorld, toplevel: string, path: string, repaired: number): string {
  const message = `resume: plan citation repair - ${repaired} findings`;
  const steps = [
    ["--literal-pathspecs", "add", "--", path],
    ["--literal-pathspecs", "commit", "-q", "-m", message, "--", path],
  ];
  for (const args of steps) {
    const { ok, stdout, stderr } = world.git(toplevel, args);
    if (ok) continue;
    const output = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
    throw stop("repair_stopped", `git ${args[1]} failed: ${output[0] ?? "it said nothing"}`, {
      path,
      details: output,
      hint: "the repaired plan is in the working copy; commit it",
    });
  }
  const { stdout } = world.git(toplevel, ["rev-parse", "--short=7", "HEAD"]);
  return `commit ${stdout.trim()}`;
}
