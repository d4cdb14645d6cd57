/**
 * How long a seat may be silent, and how long its final answer will take.
 *
 * Source: delegation run, sections 5.6 (early forced final) and 5.10
 */
import { LOOP_LIMITS } from "./limits.ts";

/** Silence allowed while a prompt is read. `prefill_tok_s`: measured; null presumes a slow seat. */
export function prefillAllowanceMs(prompt_tokens: number, prefill_tok_s: number | null): number {
  const rate = prefill_tok_s ?? LOOP_LIMITS.presumed_prefill_tok_s;
  return 1000 * Math.max(60, (prompt_tokens / rate) * 1.5 + 30);
}

/** Silence allowed in the structured step. `decode_tok_s`: measured; null presumes a slow seat. */
export function structuredAllowanceMs(expected_tokens: number, decode_tok_s: number | null): number {
  const rate = decode_tok_s ?? LOOP_LIMITS.presumed_prefill_tok_s;
  return 1000 * Math.max(120, (1.5 * expected_tokens) / rate + 30);
}

/**
 * True when there is just time left for the final answer, which is then demanded at once. Never while no rate is known.
 *
 * @param longest_tokens of the run's answers so far
 */
export function isTimeForFinal(run: {
  readonly remaining_ms: number;
  readonly decode_tok_s: number | null;
  readonly final_tokens: number;
  readonly longest_tokens: number;
}): boolean {
  const { remaining_ms, decode_tok_s, final_tokens, longest_tokens } = run;
  if (decode_tok_s === null || decode_tok_s <= 0) return false;
  const expected = Math.min(final_tokens, Math.max(LOOP_LIMITS.least_final_tokens, longest_tokens));
  return remaining_ms < 1000 * (1.3 * (expected / decode_tok_s) + 5);
}

/**
 * How long to sleep on a busy answer: what the server says, else the ladder.
 *
 * @param answers busy answers in a row before this one
 */
export function busySleepMs(answers: number, retry_after_sec: number | null): number {
  const ladder = LOOP_LIMITS.busy_ladder_sec;
  // A hint of next to nothing would ask a busy server without end.
  if (retry_after_sec !== null && retry_after_sec > 0) return 1000 * Math.max(retry_after_sec, ladder[0]);
  return 1000 * (ladder[Math.min(answers, ladder.length - 1)] ?? 15);
}
