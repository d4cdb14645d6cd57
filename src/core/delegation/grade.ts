/**
 * Grades a saved answer by a contract, as a live one is graded: the schema first, then the checks.
 *
 * What a live leg would not have reached is not reached here: a result that was deferred or failed is not evaluated.
 */
import { closedAt } from "../acceptance/authority.ts";
import type { Authority } from "../acceptance/check.ts";
import type { Outcome } from "../acceptance/evaluate.ts";
import { acceptedFields } from "../acceptance/fields.ts";
import { isFingerprint, judgeFingerprint } from "../acceptance/fingerprint.ts";
import { parseCheck } from "../acceptance/parse.ts";
import { oneLine } from "../acceptance/quoting.ts";
import { closeSchema } from "../schema/close.ts";
import { judgeText } from "../schema/validate.ts";
import type { ContractDraft } from "./contract.ts";
import { evaluateAnswer } from "./evaluate-answer.ts";
import { lintContract, lintLine } from "./lint.ts";
import type { SavedAnswer } from "./saved-answer.ts";
import { settleResult } from "./settle-result.ts";
import type { WireResult } from "./wire-result.ts";

export type Grade = {
  /** `pass`: there is at least one check, and every one passes. */
  readonly verdict: "pass" | "fail";
  /** One for each check, in their order; none where the answer was not evaluated. */
  readonly outcomes: readonly Outcome[];
  readonly closed_at: Authority;
  readonly acceptance_lint: readonly string[];
  /** What the verdict does not show. */
  readonly notes: readonly string[];
};

/**
 * Grades one answer.
 *
 * @param answer null where no answer to this subtask was saved: then nothing was measured, and that is a fail
 * Errors: none
 * Source: delegation contract, section 7.2
 */
export function gradeAnswer(draft: ContractDraft, answer: SavedAnswer | null): Grade {
  const { contract, isComplete } = draft;
  const documents = isComplete ? "all" : "some";
  const acceptance_lint = lintContract(contract, { documents }).map(lintLine);
  const unmeasured = (note: string): Grade => {
    return { verdict: "fail", outcomes: [], closed_at: "none", acceptance_lint, notes: [note] };
  };
  if (answer === null) return unmeasured("there is no answer to this subtask in the result");
  if (answer.status === "deferred" || answer.status === "failed") {
    const why = answer.reason === null ? "" : `: ${oneLine(answer.reason)}`;
    return unmeasured(`not evaluated: the result is ${answer.status}${why}`);
  }
  const unusable = answer.wire === null ? null : unusableWhy(draft, answer.wire);
  if (unusable !== null) return unmeasured(`not evaluated: ${unusable}`);
  const notes: string[] = [];
  const structured = validated(draft, answer.structured, notes);
  const lines = contract.acceptance;
  const reachable = evaluateAnswer(contract, {
    output: answer.output,
    structured,
    diff_files: answer.diff_files,
    documents: isComplete ? contract.context : [],
  });
  const outcomes = isComplete ? reachable : reachable.map(unreadDocuments);
  if (!isComplete && outcomes.some(({ authority }) => authority === "grounded")) {
    notes.push(
      "@grounded: checks are unknown: the files of context_paths were not read; --read-root says where they are",
    );
  }
  if (lines.length === 0) notes.push("the contract has no check: nothing was measured, and that is no pass");
  for (const [index, outcome] of outcomes.entries()) {
    const parsed = parseCheck(lines[index] ?? "");
    if (!parsed.ok || !isFingerprint(parsed.check)) continue;
    if (judgeFingerprint(parsed.check, outcome.outcome, contract, structured).excused) {
      notes.push(`a live grading excuses ${oneLine(outcome.check)}: the answer says that the documents do not hold it`);
    }
  }
  const passed = outcomes.length > 0 && outcomes.every(({ outcome }) => outcome === "pass");
  return { verdict: passed ? "pass" : "fail", outcomes, closed_at: closedAt(outcomes), acceptance_lint, notes };
}

/**
 * Why a job's result would not have been graded, had its delegator lived: it is settled by the rules of a live leg; null
 * where it would have been. Which contract it names is not asked here: an attempt may have run with less time.
 */
function unusableWhy({ contract, isComplete }: ContractDraft, wire: WireResult): string | null {
  const { job_id, contract_sha256 } = wire;
  // Without the documents nobody can say whether a diff fits them.
  const known = isComplete ? wire : { ...wire, diff: "", diff_files: [] };
  const { status, reason } = settleResult({ job_id, contract_sha256, contract }, known);
  return status === "deferred" || status === "failed" ? `a live leg would be ${status}: ${oneLine(reason)}` : null;
}

/** The structured text as a delegator takes it; null where it does not validate. */
function validated({ contract }: ContractDraft, structured: string | null, notes: string[]): string | null {
  if (structured === null) return null;
  if (contract.output_schema === null) {
    notes.push("structured counts as absent: the contract has no output_schema to hold it against");
    return null;
  }
  const errors = judgeText(structured, closeSchema(contract.output_schema, acceptedFields(contract.acceptance)));
  if (errors.length === 0) return structured;
  notes.push(`structured counts as absent, it does not validate: ${errors.join("; ")}`);
  return null;
}

/** A grounded check that had no documents to read, because nobody read them. */
function unreadDocuments(outcome: Outcome): Outcome {
  if (outcome.authority !== "grounded" || outcome.outcome === "pass") return outcome;
  const reason = `${oneLine(outcome.check)}: unknown at grounded authority: the files of context_paths were not read`;
  return { ...outcome, outcome: "unknown", reason };
}
