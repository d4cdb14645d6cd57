/**
 * Whether a busy seat is waited for: K calls of eight legs each at once, a stranger on the same seat, and what came of it.
 *
 * Walls are information. What is judged is that no leg was given up because the seat was busy, and that there was
 * something to wait for at all.
 *
 * Source: delegation run, section 10.3
 */

import { counted } from "../counted.ts";
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { medianOf } from "../median.ts";
import type { Verdict } from "./report.ts";

export const LEGS_A_RUN = 8;

/** What one call printed and ended in. */
export type RunOutput = { readonly exit: number | null; readonly stdout: string; readonly wall_ms: number };

export type ParallelRun = {
  readonly exit: number | null;
  readonly wall_ms: number;
  /** Null: it printed one document with eight results. */
  readonly fault: string | null;
  readonly succeeded: number;
};

export type ParallelReport = {
  readonly gate: "parallel";
  readonly verdict: Verdict;
  /** Why it is not a PASS; "" where it is. */
  readonly cause: string;
  readonly scripted: boolean;
  readonly k: number;
  readonly results_total: number;
  readonly succeeded: number;
  readonly contended: number;
  readonly busy_defers: number;
  readonly failed_verification: number;
  readonly failed: number;
  readonly infrastructure: number;
  readonly deferred_other: number;
  readonly waited: number;
  readonly waited_admission: number;
  readonly queued: number;
  readonly median_wall_ms: number;
  readonly max_contention_wait_sec: number;
  readonly runs: readonly ParallelRun[];
};

/**
 * Judges the runs.
 *
 * @param of.isRemote a node was measured, on whose seat no peer can be played from here
 * Errors: none, whatever they printed
 */
export function judgeParallel(
  outputs: readonly RunOutput[],
  of: { readonly isRemote: boolean } = { isRemote: false },
): ParallelReport {
  const read = outputs.map(readRun);
  const results = read.flatMap((run) => run.results);
  const count = (test: (result: JsonObject) => boolean) => results.filter(test).length;
  const has = (key: string, value: JsonValue) => (result: JsonObject) => valueAt(result, key) === value;
  const reason = (start: string) => (result: JsonObject) => textOf(result, "reason").startsWith(start);
  const wait = (key: string) => (result: JsonObject) => numberOf(result, key) > 0;
  const counts = {
    results_total: results.length,
    succeeded: count(has("status", "succeeded")),
    contended: count(reason("seat contended")),
    busy_defers: count(reason("seat busy")),
    failed_verification: count(has("status", "failed_verification")),
    failed: count(has("status", "failed")),
    infrastructure: count(has("defer_class", "infrastructure")) + count(has("defer_class", "config")),
    deferred_other: count(
      (result) => has("status", "deferred")(result) && !BLAMED.some((start) => reason(start)(result)),
    ),
    waited: count(wait("contention_wait_sec")),
    waited_admission: count(wait("admission_wait_sec")),
    queued: count(wait("queue_wait_sec")),
    max_contention_wait_sec: Math.max(0, ...results.map((result) => numberOf(result, "contention_wait_sec"))),
  };
  const { verdict, cause } = verdictOf(counts, read, of.isRemote);
  return {
    gate: "parallel",
    verdict,
    cause,
    scripted: results.some(has("scripted", true)),
    k: outputs.length,
    ...counts,
    median_wall_ms: Math.round(medianOf(outputs.map(({ wall_ms }) => wall_ms)) ?? 0),
    runs: read.map(({ results: own, ...run }) => ({
      ...run,
      succeeded: own.filter(has("status", "succeeded")).length,
    })),
  };
}

const BLAMED = ["seat contended", "seat busy"];

type Counts = Omit<ParallelReport, "gate" | "verdict" | "cause" | "scripted" | "k" | "median_wall_ms" | "runs">;
type ReadRun = Omit<ParallelRun, "succeeded"> & { readonly results: readonly JsonObject[] };

function readRun({ exit, stdout, ...run }: RunOutput): ReadRun {
  const wall_ms = Math.round(run.wall_ms);
  const broken = (fault: string): ReadRun => ({ exit, wall_ms, fault, results: [] });
  const parsed = parseJson(stdout);
  if (!parsed.ok) return broken(`its standard output is no document: ${parsed.fault.message}`);
  const results = isObject(parsed.value) ? valueAt(parsed.value, "results") : undefined;
  const list = isArray(results) ? results.filter(isObject) : [];
  if (list.length !== LEGS_A_RUN) return broken(`it has ${counted(list.length, "result")}, ${LEGS_A_RUN} are due`);
  return { exit, wall_ms, fault: null, results: list };
}

function verdictOf(
  counts: Counts,
  runs: readonly ReadRun[],
  isRemote: boolean,
): { readonly verdict: Verdict; readonly cause: string } {
  const broken = runs.findIndex(({ fault }) => fault !== null);
  if (broken >= 0) return { verdict: "FAIL", cause: `run ${broken + 1}: ${runs[broken]?.fault}` };
  const wrong = (["contended", "busy_defers", "failed_verification", "failed", "infrastructure"] as const).filter(
    (key) => counts[key] > 0,
  );
  if (wrong.length > 0) {
    return { verdict: "FAIL", cause: wrong.map((key) => `${key} ${counts[key]}`).join(", ") };
  }
  if (counts.results_total === 0) return { verdict: "INCONCLUSIVE", cause: "nothing was run" };
  if (counts.waited === 0) {
    const cause =
      isRemote || counts.queued > 0
        ? "no contention was observed: the node queues its own jobs, so that its seat is contended by strangers alone. Run the gate on the node, without --remote, or keep the node's seat busy from elsewhere meanwhile"
        : "no contention was observed: raise -k, or bring a busier peer";
    return { verdict: "INCONCLUSIVE", cause };
  }
  if (counts.deferred_other > 0) {
    return {
      verdict: "INCONCLUSIVE",
      cause: `${counted(counts.deferred_other, "leg was", "legs were")} deferred for other reasons`,
    };
  }
  return { verdict: "PASS", cause: "" };
}

function textOf(object: JsonObject, key: string): string {
  const value = valueAt(object, key);
  return typeof value === "string" ? value : "";
}

function numberOf(object: JsonObject, key: string): number {
  const value = valueAt(object, key);
  return typeof value === "number" ? value : 0;
}

/** Tokens of one chat of the peer: about half a minute of the seat at most. */
export function peerTokens(rate: number): number {
  return Math.round(Math.min(700, Math.max(16, 30 * rate)));
}

/** How long a run's own legs may wait in line, so that a slow seat alone is no fault, in seconds. */
export function ownWaitSec(k: number, slots: number): number {
  return Math.ceil((LEGS_A_RUN * k * 360) / Math.max(1, slots));
}
