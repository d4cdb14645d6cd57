/** What the outcomes of an answer's checks mean together: for the result, for the place that answered, for a retry. */
import { closedAt, isUnreachable, type Reachable } from "./authority.ts";
import type { Authority } from "./check.ts";
import type { Outcome } from "./evaluate.ts";
import { type FingerprintVerdict, isFingerprint, judgeFingerprint } from "./fingerprint.ts";
import { parseCheck } from "./parse.ts";

export type AcceptanceVerdict = {
  /** One reason for each check that is unmet and not excused, in the order of the checks; none: accepted. */
  readonly failures: readonly string[];
  /** The failed fingerprints that an honest absence excuses, as written. */
  readonly excused: readonly string[];
  /** The authority that the contract was closed at; `none` also where a fingerprint is excused. */
  readonly authority: Authority;
  /** Whether another place may close what is unmet. */
  readonly retry: boolean;
  /** For the place that answered; null where the contract has no fingerprint. */
  readonly node: FingerprintVerdict["node"] | null;
};

/**
 * Settles an answer whose checks were evaluated. Only a completed result has any: a deferred or failed one is not.
 *
 * No retry where one check can never be closed, or where the documents do not hold what was asked for: no other place
 * has other documents. A place is struck once, however many fingerprints failed.
 *
 * @param outcomes   one for each check of the contract; none: accepted, and nothing verified
 * @param structured the JSON text of a validated structured result; null when there is none
 * Errors: none
 */
export function judgeOutcomes(
  outcomes: readonly Outcome[],
  contract: Reachable,
  structured: string | null,
): AcceptanceVerdict {
  const failures: string[] = [];
  const excused: string[] = [];
  const nodes = new Set<FingerprintVerdict["node"]>();
  let canRetry = true;
  for (const outcome of outcomes) {
    const parsed = parseCheck(outcome.check);
    if (parsed.ok && isFingerprint(parsed.check)) {
      const verdict = judgeFingerprint(parsed.check, outcome.outcome, contract, structured);
      nodes.add(verdict.node);
      if (verdict.excused) excused.push(outcome.check);
      if (verdict.listed && !verdict.retry) canRetry = false;
      if (!verdict.listed) continue;
    }
    if (parsed.ok && isUnreachable(parsed.check, contract)) canRetry = false;
    if (outcome.outcome !== "pass") failures.push(outcome.reason);
  }
  return {
    failures,
    excused,
    authority: excused.length > 0 ? "none" : closedAt(outcomes),
    retry: failures.length > 0 && canRetry,
    node: (["strike", "neutral", "pass"] as const).find((node) => nodes.has(node)) ?? null,
  };
}
