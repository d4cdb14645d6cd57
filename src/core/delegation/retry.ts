/**
 * Whether a leg is tried once more on another seat, and with which budget.
 *
 * Source: delegation run, sections 3.3, 4.10
 */
import type { Settled } from "./settle-result.ts";

/** Faults of a seat that another place does not share; each a prefix of a reason. */
const PLACE_FAULTS = [
  "seat down",
  "seat incoherent",
  "seat loading",
  "stalled",
  "agent loop",
  "structured step unreachable",
  "interrupted",
] as const;

/** With less left there is no further attempt, in seconds. */
export const RETRY_FLOOR_SEC = 10;

export type RetryNeed =
  | { readonly retry: false }
  /** `elsewhere`: another seat of the same place will not do. */
  | { readonly retry: true; readonly elsewhere: boolean };

/** What the first attempt asks for, before any place was looked for. */
export function retryNeed(settled: Settled): RetryNeed {
  switch (settled.status) {
    case "failed_verification":
      return settled.may_retry ? { retry: true, elsewhere: false } : { retry: false };
    case "deferred":
      if (settled.defer_class === "abstention") return { retry: true, elsewhere: false };
      if (settled.defer_class !== "infrastructure") return { retry: false };
      return PLACE_FAULTS.some((prefix) => hasPrefix(settled.reason, prefix))
        ? { retry: true, elsewhere: true }
        : { retry: false };
    default:
      return { retry: false };
  }
}

/**
 * What is left of the wall for a second attempt, in whole seconds; it may be negative.
 *
 * The time on a seat that went down is given back, and no more than one wall ever.
 *
 * @param spent_ms execution of the first attempt, waits left out
 */
export function retryBudgetSec(timeoutSec: number, spent_ms: number, settled: Settled): number {
  if (settled.status === "deferred" && hasPrefix(settled.reason, "seat down")) return timeoutSec;
  return Math.floor(timeoutSec - Math.max(0, spent_ms) / 1000);
}

/** Prefixes of reasons are stable up to their first colon, or up to a number in them. */
export function hasPrefix(reason: string, prefix: string): boolean {
  return reason === prefix || (reason.startsWith(prefix) && !/[A-Za-z]/.test(reason.charAt(prefix.length)));
}
