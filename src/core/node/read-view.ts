/**
 * What a node says of a job, read as a stranger's words: types are checked, numbers are made finite and not negative,
 * texts are bounded, and the text of a result is kept as it stands.
 *
 * Source: delegation run, sections 7.3, 7.6, 7.7
 */
import { JOB_PHASES, type JobProgress } from "../delegation/wire-result.ts";
import { memberOf, readSource, type SourceNode, type SourceObject } from "../json/source.ts";
import { JOB_STATES, type JobState } from "./job.ts";

/** A job as its delegator sees it. */
export type ReadView = {
  readonly job_id: string;
  readonly state: JobState;
  readonly rev: number;
  readonly queue_position: number;
  readonly queued_ms: number;
  readonly running_ms: number;
  readonly waits_sec: number;
  readonly progress: JobProgress | null;
  readonly restarts: number;
  /** The JSON text of the wire result; null where there is none. */
  readonly result: string | null;
  /** Of a job in state `error`. */
  readonly error: string;
};

export type ReadViewOutcome =
  | { readonly ok: true; readonly view: ReadView }
  | { readonly ok: false; readonly why: string };

const DEPTH = 80;
const LONGEST = { tool: 64, arg: 128, error: 512, job_id: 64 } as const;

/** Errors: none, whatever the text */
export function readView(text: string): ReadViewOutcome {
  const read = readSource(text, { maxDepth: DEPTH, surrogates: "keep" });
  if (!read.ok) return { ok: false, why: `no JSON: ${read.fault.message}` };
  const { node } = read;
  if (node.kind !== "object") return { ok: false, why: "no object" };
  const state = textOf(node, "state", LONGEST.tool);
  const known = JOB_STATES.find((word) => word === state);
  if (known === undefined) return { ok: false, why: `state is ${JSON.stringify(state)}` };
  const result = memberOf(node, "result");
  const waits = objectOf(node, "waits");
  const error = objectOf(node, "error");
  return {
    ok: true,
    view: {
      job_id: textOf(node, "job_id", LONGEST.job_id),
      state: known,
      rev: numberOf(node, "rev"),
      queue_position: numberOf(node, "queue_position"),
      queued_ms: numberOf(node, "queued_ms"),
      running_ms: numberOf(node, "running_ms"),
      waits_sec: waits === null ? 0 : numberOf(waits, "admission_sec") + numberOf(waits, "contention_sec"),
      progress: progressOf(objectOf(node, "progress")),
      restarts: numberOf(node, "restarts"),
      result: result?.kind === "object" ? text.slice(result.start, result.end) : null,
      error: error === null ? "" : textOf(error, "message", LONGEST.error),
    },
  };
}

function progressOf(object: SourceObject | null): JobProgress | null {
  if (object === null) return null;
  const said = textOf(object, "phase", 32);
  const phase = JOB_PHASES.find((word) => word === said);
  if (phase === undefined) return null;
  return {
    phase,
    step: numberOf(object, "step"),
    max_steps: numberOf(object, "max_steps"),
    tool: textOf(object, "tool", LONGEST.tool),
    arg: textOf(object, "arg", LONGEST.arg),
    tokens: numberOf(object, "tokens"),
    tok_s: numberOf(object, "tok_s"),
    idle_ms: numberOf(object, "idle_ms"),
    allowance_ms: numberOf(object, "allowance_ms"),
  };
}

function objectOf(object: SourceObject, key: string): SourceObject | null {
  const node = memberOf(object, key);
  return node?.kind === "object" ? node : null;
}

function textOf(object: SourceObject, key: string, longest: number): string {
  const node: SourceNode | null = memberOf(object, key);
  return node?.kind === "string" ? node.value.slice(0, longest).toWellFormed() : "";
}

/** Finite and not negative, whatever was written. */
function numberOf(object: SourceObject, key: string): number {
  const node = memberOf(object, key);
  const value = node?.kind === "number" ? Number(node.text) : 0;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, value)) || 0;
}
