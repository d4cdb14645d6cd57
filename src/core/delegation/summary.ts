/**
 * What the legs of a call come to together, and the exit status that follows.
 *
 * Source: delegation run, sections 1.2, 3.1
 */
import { EXIT } from "../error.ts";
import type { LegResult, LegStatus, Summary } from "./result.ts";

/** What the call knows beside its results; zeros are left out of the summary. */
export type Tally = {
  /** Legs that ran here while every remote that might have taken them failed its probe. */
  readonly fleet_unreachable: number;
  /** Legs that were refused at submit and offered elsewhere, and how many of them were taken. */
  readonly replaced: number;
  readonly replacement_recovered: number;
  readonly orphaned: number;
  /** Places that were passed over for wrong answers. */
  readonly quarantined: number;
  readonly telemetry_lost: number;
  readonly telemetry_attempted: number;
};

export const NO_TALLY: Tally = {
  fleet_unreachable: 0,
  replaced: 0,
  replacement_recovered: 0,
  orphaned: 0,
  quarantined: 0,
  telemetry_lost: 0,
  telemetry_attempted: 0,
};

/** Defers that blame a broken or misconfigured place and not the work. */
const BLAMED = ["infrastructure", "config"];

export function summarise(results: readonly LegResult[], tally: Tally): Summary {
  const count = (holds: (leg: LegResult) => boolean) => results.filter(holds).length;
  const having = (status: LegStatus) => count((leg) => leg.status === status);
  const retried = (leg: LegResult) => leg.attempts.some(({ kind }) => kind === "retry");
  const lost = tally.telemetry_lost;
  return {
    succeeded: having("succeeded"),
    deferred: having("deferred"),
    failed_verification: having("failed_verification"),
    failed: having("failed"),
    infrastructure: count((leg) => leg.status === "deferred" && BLAMED.includes(leg.defer_class ?? "")),
    ...filled({
      fleet_unreachable: tally.fleet_unreachable,
      retried: count(retried),
      retry_recovered: count((leg) =>
        leg.attempts.some(({ kind, status }) => kind === "retry" && status === "succeeded"),
      ),
      replaced: tally.replaced,
      replacement_recovered: tally.replacement_recovered,
      waited: count((leg) => (leg.capacity_wait_sec ?? 0) > 0),
      orphaned: tally.orphaned,
      quarantined: tally.quarantined,
      canceled: count((leg) => leg.status === "deferred" && leg.defer_class === "canceled"),
    }),
    ...(lost > 0 ? { telemetry_lost: lost, telemetry_attempted: tally.telemetry_attempted } : {}),
  };
}

/** The members that are not zero. */
function filled<T extends Record<string, number>>(counts: T): Partial<T> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)) as Partial<T>;
}

/**
 * The status that a call with a result document ends in, when its document is written whole.
 *
 * @param stopped the status of a signal that ended the call; null: none did
 */
export function exitOfSummary(summary: Summary, legs: number, strict: boolean, stopped: number | null): number {
  if (stopped !== null) return stopped;
  if (summary.failed > 0) return EXIT.no;
  if (summary.infrastructure > 0) return EXIT.unavailable;
  if (strict && summary.succeeded < legs) return EXIT.no;
  return EXIT.ok;
}
