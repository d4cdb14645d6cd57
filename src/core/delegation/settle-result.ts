/**
 * What a place's result is worth: whether it is about this job at all, whether it was completed, and whether it passes the
 * contract's checks. The place is a stranger: nothing that can be looked at again is believed.
 *
 * Source: delegation run, sections 3.2, 7.7; delegation contract, sections 3.8 to 3.10
 */
import type { Outcome } from "../acceptance/evaluate.ts";
import { acceptedFields } from "../acceptance/fields.ts";
import { oneLine } from "../acceptance/quoting.ts";
import { type AcceptanceVerdict, judgeOutcomes } from "../acceptance/verdict.ts";
import { readReturnedDiff } from "../patch/returned.ts";
import { closeSchema } from "../schema/close.ts";
import { judgeText } from "../schema/validate.ts";
import { isBlank } from "./blank.ts";
import type { DelegationContract } from "./contract.ts";
import { evaluateAnswer } from "./evaluate-answer.ts";
import { listFidelityNotes } from "./list-fidelity.ts";
import type { LegStatus } from "./result.ts";
import type { DeferClass, Job, WireResult } from "./wire-result.ts";

export type Settled = {
  readonly status: LegStatus;
  /** One line; "" for a success. */
  readonly reason: string;
  /** "" unless deferred; a peer's unknown word stays what it is. */
  readonly defer_class: string;
  /** What may be published of it: `structured` only where it validates, `diff` only where it is safe; null: nothing. */
  readonly result: WireResult | null;
  /** One for each check; null where they were not evaluated. */
  readonly outcomes: readonly Outcome[] | null;
  readonly failures: readonly string[];
  /** Of a result that was accepted whole; null: not told. */
  readonly authority: "answer" | "field" | "grounded" | null;
  /** "" where there is nothing to note. */
  readonly note: string;
  /** Whether another seat may close what its checks left open. */
  readonly may_retry: boolean;
  /** For the place that answered; null: its answer says nothing about it. */
  readonly verdict: AcceptanceVerdict["node"];
};

/**
 * Settles the result of one job.
 *
 * Errors: none, whatever the result holds
 */
export function settleResult(job: Job, result: WireResult): Settled {
  const { contract } = job;
  if (result.job_id !== job.job_id || result.contract_sha256 !== job.contract_sha256) {
    const what = result.job_id === job.job_id ? "its digest" : "its job id";
    return unsettled("failed", `result is for another contract: ${what} is not the one that was sent`, "");
  }
  const safe = withSafeDiff(contract, result);
  if (typeof safe === "string") return unsettled("failed", `unsafe diff: ${safe}`, "");
  const errors = schemaErrors(contract, result.structured);
  const structured = contract.output_schema !== null && errors.length === 0 ? result.structured : null;
  const published = { ...result, ...safe, structured };
  if (result.deferred) {
    const reason = isBlank(result.reason) ? "the place gave no reason" : oneLine(result.reason);
    return { ...unsettled("deferred", reason, result.defer_class), result: published };
  }
  const miss = answerMiss(contract, result, errors);
  if (miss !== null) return { ...unsettled("deferred", miss, "abstention"), result: published };
  return judged(contract, published);
}

/** A leg of which there is no result that could be published. */
export function unsettled(status: "deferred" | "failed", reason: string, defer_class: DeferClass | ""): Settled {
  return {
    status,
    reason,
    defer_class,
    result: null,
    outcomes: null,
    failures: [],
    authority: null,
    note: "",
    may_retry: false,
    verdict: null,
  };
}

/** The diff with the files that it changes, or why it must not be handed on. */
function withSafeDiff(
  { write_root, context }: DelegationContract,
  { diff, diff_files }: WireResult,
): Pick<WireResult, "diff" | "diff_files"> | string {
  if (diff === "" && diff_files.length > 0) return "files are named, and there is no diff";
  const read = readReturnedDiff(diff, { write_root, documents: context });
  return read.ok ? { diff, diff_files: read.diff_files } : oneLine(read.reason);
}

/** None where it validates, or where there is nothing to hold it against. */
function schemaErrors({ output_schema, acceptance }: DelegationContract, structured: string | null): readonly string[] {
  if (structured === null || output_schema === null) return [];
  return judgeText(structured, closeSchema(output_schema, acceptedFields(acceptance)));
}

/** Why a result that claims to be complete is none; null where there is an answer. */
function answerMiss(
  { output_schema }: DelegationContract,
  { output, structured }: WireResult,
  errors: readonly string[],
): string | null {
  const isEmpty = isBlank(output);
  if (output_schema === null) return isEmpty ? "empty final answer" : null;
  const [first] = errors;
  if (first !== undefined) return `output failed schema (delegator check): ${first}`;
  if (structured !== null) return null;
  return isEmpty ? "empty final answer" : "output failed schema (delegator check): there is no structured result";
}

function judged(contract: DelegationContract, result: WireResult): Settled {
  const { output, structured, diff_files } = result;
  const outcomes = evaluateAnswer(contract, { output, structured, diff_files, documents: contract.context });
  const verdict = judgeOutcomes(outcomes, contract, structured);
  const fidelity = structured === null ? [] : listFidelityNotes(output, structured, result.repack.mode);
  const excused = verdict.excused.map(
    (check) => `excused: ${oneLine(check)}: the answer says that the documents do not hold it`,
  );
  const isAccepted = verdict.failures.length === 0;
  const isWhole = isAccepted && verdict.authority !== "none" && fidelity.length === 0;
  return {
    status: isAccepted ? "succeeded" : "failed_verification",
    reason: isAccepted ? "" : verdict.failures.join("; "),
    defer_class: "",
    result,
    outcomes,
    failures: verdict.failures,
    authority: isWhole ? (verdict.authority as Exclude<typeof verdict.authority, "none">) : null,
    note: [...excused, ...fidelity].join("; "),
    may_retry: verdict.retry,
    verdict: verdict.node,
  };
}
