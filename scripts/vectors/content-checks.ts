/** Runs the operations of the conformance vectors of the area `content-checks`. */

import type { JsonValue } from "../../src/core/json/value.ts";
import { type AdvisedRun, adviseRun } from "../../src/core/record/advice.ts";
import { checkContent, type EvidenceRow } from "../../src/core/record/content-checks.ts";
import type { RecordedRun } from "../../src/core/record/tool-record.ts";

type ContentCheckInput = {
  readonly verification: JsonValue;
  readonly verbatim_outputs: JsonValue;
  readonly record: readonly RecordedRun[] | null;
  readonly evidence: readonly EvidenceRow[];
  readonly turn: { readonly brief_id: number | null; readonly plan_task_id: number | null };
  readonly path_programs: readonly string[];
};

/** The result of an operation as a vector's `expect` spells it; undefined for an operation of another area. */
export function run(op: string, input: unknown): unknown | undefined {
  switch (op) {
    case "content_check":
      return contentCheck(input as ContentCheckInput);
    case "advise":
      return { codes: adviseRun((input as { readonly run: AdvisedRun }).run) };
    default:
      return undefined;
  }
}

function contentCheck(input: ContentCheckInput): unknown {
  const rows = new Map(input.evidence.map((row) => [row.id, row]));
  const programs = new Set(input.path_programs);
  const { findings, skipped } = checkContent({
    ...input,
    evidence: (id) => rows.get(id) ?? null,
    isProgram: (word) => programs.has(word),
  });
  return {
    outcome: findings.length === 0 ? "ok" : "refused",
    findings: findings.map(({ code, path }) => [code, path ?? ""]).sort(byWords),
    skipped: skipped
      .map(({ check, path, reason, key }) => [check, path, reason, ...(key === undefined ? [] : [key])])
      .sort(byWords),
  };
}

/** By the first word that differs, in code unit order; the shorter list first. */
function byWords(left: readonly string[], right: readonly string[]): number {
  for (const [index, word] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (word !== other) return word < other ? -1 : 1;
  }
  return left.length - right.length;
}
