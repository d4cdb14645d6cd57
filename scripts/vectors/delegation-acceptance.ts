/**
 * Runs the conformance vectors of the areas `delegation-acceptance-*` and `delegation-fingerprint`. They name no operation:
 * what is asked shows in the keys of the input.
 */

import { closedAt } from "../../src/core/acceptance/authority.ts";
import type { Check } from "../../src/core/acceptance/check.ts";
import { type Answer, evaluateCheck, evaluateChecks } from "../../src/core/acceptance/evaluate.ts";
import { isFingerprint, isHonestAbsence, judgeFingerprint } from "../../src/core/acceptance/fingerprint.ts";
import { parseCheck } from "../../src/core/acceptance/parse.ts";
import type { Document } from "../../src/core/delegation/document.ts";
import type { JsonObject } from "../../src/core/json/value.ts";

type AnswerInput = Omit<Answer, "documents"> & { readonly docs: readonly Document[] };

type FingerprintInput = {
  readonly check: string;
  readonly contract: { readonly context?: readonly Document[]; readonly output_schema?: JsonObject };
  readonly result: { readonly output: string; readonly structured: string | null };
};

/** What a vector's `expect` spells; undefined for an operation of another area. */
export function run(op: string, input: unknown): unknown | undefined {
  if (op !== "" || typeof input !== "object" || input === null) return undefined;
  if ("checks" in input) return close(input as AnswerInput & { readonly checks: readonly string[] });
  if ("result" in input) return fingerprint(input as FingerprintInput);
  if ("output" in input) return evaluate(input as AnswerInput & { readonly check: string });
  if ("check" in input) return parse((input as { readonly check: string }).check);
  return undefined;
}

function parse(line: string): unknown {
  const parsed = parseCheck(line);
  if (!parsed.ok) return { error: parsed.error.code };
  const { line: _line, ...check } = parsed.check;
  if (check.verb !== "regex") return { parsed: check };
  const { pattern: _pattern, ...rest } = check;
  return { parsed: rest };
}

function answerOf({ output, structured, diff_files, docs }: AnswerInput): Answer {
  return { output, structured, diff_files, documents: docs };
}

function evaluate(input: AnswerInput & { readonly check: string }): unknown {
  const [outcome] = evaluateChecks([input.check], answerOf(input));
  return { outcome: outcome?.outcome, authority: outcome?.authority };
}

function close(input: AnswerInput & { readonly checks: readonly string[] }): unknown {
  const outcomes = evaluateChecks(input.checks, answerOf(input));
  return { outcomes: outcomes.map(({ outcome }) => outcome), closed_at: closedAt(outcomes) };
}

function fingerprint({ check: line, contract, result }: FingerprintInput): unknown {
  const parsed = parseCheck(line);
  if (!parsed.ok || !isFingerprint(parsed.check)) return { fingerprint: false };
  const check: Check = parsed.check;
  const context = contract.context ?? [];
  const { outcome } = evaluateCheck(check, { ...result, diff_files: [], documents: context });
  const judged = judgeFingerprint(
    check,
    outcome,
    { context, output_schema: contract.output_schema ?? null },
    result.structured,
  );
  return { fingerprint: true, outcome, honest_absence: isHonestAbsence(result.structured), ...judged };
}
