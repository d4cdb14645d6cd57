/**
 * One leg's element of the result document, from what was decided and what came of it. A member that would be zero or
 * empty is left out.
 *
 * Source: delegation run, sections 3.1, 3.4
 */
import { toThousandths } from "../rounded.ts";
import type { Attempt, LegResult, Route } from "./result.ts";
import type { Settled } from "./settle-result.ts";
import type { Repack, Timings, Tokens } from "./wire-result.ts";

/** What became of a leg; units as in `LegResult`. */
export type LegEnd = {
  readonly index: number;
  readonly settled: Settled;
  /** Where the published attempt ran, and its id; "" when no place ran it. */
  readonly node: string;
  readonly seat: string;
  /** The seat that it was dealt is a scripted one, whatever came of it. */
  readonly is_scripted: boolean;
  readonly job_id: string;
  readonly placement: string;
  readonly route: Route;
  /** What the caller named. */
  readonly route_asked: Route;
  readonly pin_reason: string;
  readonly max_steps: number;
  readonly acceptance_lint: readonly string[];
  readonly wall_ms: number;
  readonly capacity_wait_sec: number;
  readonly retry_after_sec: number;
  readonly queue_wait_sec: number;
  readonly attempts: readonly Attempt[];
  readonly retried_on: string;
  readonly retry_note: string;
  readonly replacements: number;
  readonly replacement_note: string;
  readonly contract_sha256: string;
};

export function legResult(end: LegEnd): LegResult {
  const { settled } = end;
  const { result } = settled;
  return {
    index: end.index,
    status: settled.status,
    node: end.node,
    seat: end.seat,
    ...(result?.scripted || end.is_scripted ? { scripted: true } : {}),
    placement: end.placement,
    route: end.route,
    ...(end.route_asked === end.route ? {} : { route_asked: end.route_asked }),
    ...filled({ pin_reason: end.pin_reason }),
    job_id: end.job_id,
    ...filled({ output: result?.output }),
    ...(result?.structured == null ? {} : { structured: result.structured }),
    deferred: settled.status === "deferred",
    ...filled({ reason: settled.reason, defer_class: settled.defer_class }),
    ...(settled.status === "failed" ? { failed: true } : {}),
    ...filled({ acceptance_failures: settled.failures }),
    ...filled({ acceptance: settled.outcomes ?? [] }),
    ...(settled.authority === null ? {} : { acceptance_authority: settled.authority }),
    ...filled({ acceptance_note: settled.note, acceptance_lint: end.acceptance_lint }),
    ...filled({ diff: result?.diff, diff_files: result?.diff_files, write_note: result?.write_note }),
    ...filled({ steps: result?.steps }),
    max_steps: end.max_steps,
    ...(result === null ? {} : { stop_reason: result.stop_reason }),
    ...filled({ stop_note: result?.stop_note }),
    ...(result?.forced_final ? { forced_final: true } : {}),
    ...(result?.output_truncated ? { output_truncated: true } : {}),
    ...(result === null || !isRepacked(result.repack) ? {} : { repack: result.repack }),
    ...(result === null || !isCounted(result.tokens) ? {} : { tokens: result.tokens }),
    wall_ms: Math.round(end.wall_ms),
    ...filled({
      node_wall_ms: Math.round(result?.wall_ms ?? 0),
      capacity_wait_sec: toThousandths(end.capacity_wait_sec),
      retry_after_sec: Math.ceil(end.retry_after_sec),
      queue_wait_sec: toThousandths(end.queue_wait_sec),
      admission_wait_sec: toThousandths(result?.waits.admission_sec ?? 0),
    }),
    ...filled({ admission_note: result?.waits.admission_note }),
    ...filled({
      contention_wait_sec: toThousandths(result?.waits.contention_sec ?? 0),
      seat_down_wait_sec: toThousandths(result?.waits.seat_down_sec ?? 0),
    }),
    ...(result === null || !isTimed(result.timings) ? {} : { timings: result.timings }),
    ...filled({ trace: result?.trace }),
    attempts: end.attempts,
    ...filled({ retried_on: end.retried_on, retry_note: end.retry_note, replacements: end.replacements }),
    ...filled({ replacement_note: end.replacement_note }),
    contract_sha256: end.contract_sha256,
    ...(result?.seat_pin == null ? {} : { seat_pin: result.seat_pin }),
  };
}

/** What is neither 0 nor "" nor an empty list, in the order given. */
function filled<T extends Record<string, string | number | readonly unknown[] | undefined>>(
  members: T,
): { readonly [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(members).filter(
    ([, value]) => value !== undefined && value !== 0 && (typeof value === "number" || value.length > 0),
  );
  return Object.fromEntries(kept) as { readonly [K in keyof T]?: NonNullable<T[K]> };
}

function isRepacked({ mode, attempts, note }: Repack): boolean {
  return mode !== "none" || attempts > 0 || note !== undefined;
}

function isCounted({ prompt, completion, reasoning, cached }: Tokens): boolean {
  return prompt + completion + reasoning + cached > 0;
}

function isTimed(timings: Timings): boolean {
  return Object.values(timings).some((value) => value > 0);
}
