/**
 * What a node's answer to a submitted job means. Decided by status and code, never by a message.
 *
 * Source: delegation run, section 4.7
 */

export type SubmitMeaning =
  /** It has the job now. */
  | "owned"
  /** It does not take this job now, or not at all: another place may. */
  | "refused"
  /** It does not take us: a place that takes another token may. */
  | "auth"
  /** Our own fault: the id is taken by another contract. */
  | "fault"
  /** The request is what is wrong, and the next node would get the same bytes. */
  | "wrong";

/** @param status null: no answer came, or none that was whole */
export function submitMeaning(status: number | null, code: string): SubmitMeaning {
  if (status === null || status >= 500) return "refused";
  if (status === 202) return "owned";
  if (status === 404 || status === 408 || status === 429 || status === 426) return "refused";
  if (status === 401 || status === 403) return "auth";
  if (status === 409) return code === "previously_failed" ? "refused" : code === "id_conflict" ? "fault" : "wrong";
  if (status === 400 && (code === "write_door_closed" || code === "seat_unfit")) return "refused";
  return "wrong";
}

/** Whether a refusal says that there is no room, and not that the job is not wanted. */
export function isForRoom(status: number | null): boolean {
  return status === 503 || status === 429;
}

const COOLDOWN_SEC = 10;
const LONGEST_COOLDOWN_SEC = 300;
const JITTER = 0.2;

/**
 * How long a place that refused is left alone, in milliseconds.
 *
 * @param retryAfterSec what it asked for; null: nothing
 * @param draw          from 0 to 1: once jittered, so that those who were turned away together do not come back together
 */
export function cooldownMs(retryAfterSec: number | null, draw: number): number {
  if (retryAfterSec === null || !(retryAfterSec >= 0)) return COOLDOWN_SEC * 1000;
  return Math.round(Math.min(LONGEST_COOLDOWN_SEC, retryAfterSec) * 1000 * (1 + JITTER * (2 * draw - 1)));
}
