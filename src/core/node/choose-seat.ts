/** Which seat of a node a job starts on. */
import { reserveTokens } from "../placement/estimate.ts";
import type { SeatRecord } from "../placement/place.ts";
import type { StoredJob } from "./job.ts";

/**
 * The smallest seat that is large enough and has a free slot, so that roomy ones stay free; those whose window is not
 * known come last. Null: none now.
 *
 * @param job   `seat` is the one that it names, or ""
 * @param taken the seats of the jobs that run, one entry for each
 */
export function chooseSeat(
  { seat: asked, estimate_tokens }: Pick<StoredJob, "seat" | "estimate_tokens">,
  seats: readonly SeatRecord[],
  taken: readonly string[],
): string | null {
  const size = ({ ctx_tokens }: SeatRecord) => (ctx_tokens === 0 ? Number.POSITIVE_INFINITY : ctx_tokens);
  const fitting = seats
    .filter(({ name }) => asked === "" || name === asked)
    .filter((seat) => isFree(seat, taken))
    .filter(({ ctx_tokens: ctx }) => ctx === 0 || estimate_tokens + reserveTokens(ctx) <= ctx);
  const [best] = fitting.toSorted((left, right) => size(left) - size(right) || 0);
  return best?.name ?? null;
}

/** Whether a job may start on a seat now. One that nobody has looked at yet is waited for: the look comes within seconds. */
export function isFree({ name, served, slots }: SeatRecord, taken: readonly string[]): boolean {
  return served === true && taken.filter((each) => each === name).length < Math.max(1, slots);
}
