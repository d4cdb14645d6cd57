/** Which seat of a node a job starts on. */
import type { DelegationContract } from "../delegation/contract.ts";
import { estimateTokens, reserveTokens } from "../placement/estimate.ts";
import type { SeatRecord } from "../placement/place.ts";

/**
 * The smallest seat that is large enough and has a free slot, so that roomy ones stay free; those whose window is not
 * known come last. Null: none now.
 *
 * @param asked the seat that the job names, or ""
 * @param taken the seats of the jobs that run, one entry for each
 */
export function chooseSeat(
  contract: DelegationContract,
  asked: string,
  seats: readonly SeatRecord[],
  taken: readonly string[],
): string | null {
  const estimate = estimateTokens(contract);
  const size = ({ ctx_tokens }: SeatRecord) => (ctx_tokens === 0 ? Number.POSITIVE_INFINITY : ctx_tokens);
  const fitting = seats
    .filter(({ name }) => asked === "" || name === asked)
    .filter(({ served }) => served !== false)
    .filter(({ ctx_tokens: ctx }) => ctx === 0 || estimate + reserveTokens(ctx) <= ctx)
    .filter(({ name, slots }) => taken.filter((each) => each === name).length < Math.max(1, slots));
  const [best] = fitting.toSorted((left, right) => size(left) - size(right) || 0);
  return best?.name ?? null;
}
