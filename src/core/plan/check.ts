/** Plan check: everything that can be held against a plan and its spec without running anything. */
import { checkAnchors } from "./check/anchors.ts";
import { CheckContext, type PlanFiles } from "./check/context.ts";
import { checkQuotes, checkTableClosure, checkWaivers } from "./check/coverage.ts";
import { checkEntrypoint, checkHappyPath } from "./check/entrypoint.ts";
import { checkPaths } from "./check/paths.ts";
import { checkPlaceholders } from "./check/placeholders.ts";
import { checkQuestions } from "./check/questions.ts";
import { checkBaselines, checkTests } from "./check/tests.ts";
import { checkWaves } from "./check/waves.ts";
import { type Finding, findingOf } from "./finding.ts";
import { parsePlan } from "./plan-file.ts";
import { parseSpec } from "./spec-file.ts";

export type CheckReport = {
  readonly findings: readonly Finding[];
  /** How many there are; more than `findings` lists for a plan with very many. */
  readonly count: number;
};

/**
 * Holds a plan against its spec and against the files of its checkout.
 *
 * Time is linear in the two texts and in what is found, up to a bound; what asks for more is the one finding `internal`.
 *
 * Errors: none; an exception inside the checks is the one finding `internal`
 * Source: flow state, section 6.3
 */
export function checkPlan(plan: string, spec: string, files: PlanFiles): CheckReport {
  try {
    const context = new CheckContext(parsePlan(plan), parseSpec(spec), files);
    checkInput(context);
    checkTableClosure(context);
    checkQuotes(context);
    checkAnchors(context);
    checkPaths(context);
    checkTests(context);
    checkBaselines(context);
    checkPlaceholders(context);
    checkWaves(context);
    checkEntrypoint(context);
    checkHappyPath(context);
    checkWaivers(context);
    checkQuestions(context);
    return { findings: context.findings.list, count: context.findings.count };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return oneFinding(findingOf("internal", "internal", message.split("\n", 1)[0] ?? ""));
  }
}

export function oneFinding(finding: Finding): CheckReport {
  return { findings: [finding], count: 1 };
}

/** Source: flow state, section 6.3, check 1 */
function checkInput({ plan, findings }: CheckContext): void {
  if (plan.waves.length > 0 || plan.tasks.length > 0) return;
  findings.add("input", "no-waves", "no wave headers found (expected '## Wave N — label' or '## Wave N - label')");
  findings.add("input", "no-tasks", "no task headers found (expected '### Task N: label')");
}
