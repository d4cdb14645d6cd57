/**
 * A job at a node: its states, and what those who ask are told. A job is a leg that the node has accepted: it survives a
 * crash of the node, runs at most once at a time, and is kept for a while after its end.
 *
 * Source: delegation run, sections 7.3 and 7.5
 */
import type { JobProgress } from "../delegation/wire-result.ts";

export const JOB_STATES = ["accepted", "running", "done", "error", "canceled"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** From each state, those that may follow. `running` goes back to `accepted` when the node stopped under the job. */
const NEXT: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: ["running", "canceled"],
  running: ["done", "error", "accepted"],
  done: [],
  error: [],
  canceled: [],
};

export function mayFollow(from: JobState, to: JobState): boolean {
  return NEXT[from].includes(to);
}

/** Done, error and canceled: nothing follows. */
export function isTerminal(state: JobState): boolean {
  return NEXT[state].length === 0;
}

/** The longest that a sender may say that it will wait, in seconds: a year. */
export const MAX_DEADLINE_SEC = 31_536_000;

/**
 * A job as the store has it. Moments are milliseconds of the time that the node has served, over all its starts: it
 * stands still while the node does, and no clock of another machine is compared with it.
 */
export type StoredJob = {
  /** The order of acceptance. */
  readonly seq: number;
  readonly job_id: string;
  readonly contract_sha256: string;
  /** The seat that was asked for, or "". */
  readonly seat: string;
  readonly label: string;
  readonly origin: string;
  readonly deadline_sec: number;
  readonly wall_sec: number;
  /** What its contract takes of a window, before any tokenizer was asked. */
  readonly estimate_tokens: number;
  readonly state: JobState;
  /** Grows with every change of the state. */
  readonly rev: number;
  /** How often the node stopped while the job ran, orderly stops left out. */
  readonly restarts: number;
  /** Given up because nobody asked for it. */
  readonly reaped: boolean;
  /** When it was accepted, and since when it is in its state. */
  readonly accepted_ms: number;
  readonly since_ms: number;
  /** In the backlog, and running, before the state that it is in. */
  readonly queued_ms: number;
  readonly running_ms: number;
  /** The JSON text of the wire result, of a job that is done; null in lists. */
  readonly result: string | null;
  /** Of a job in state `error`. */
  readonly error: string | null;
};

/** Milliseconds: since it was accepted, in the backlog, running. */
export function agesOf(job: StoredJob, now_ms: number) {
  const now = Math.round(now_ms);
  const present = Math.max(0, now - job.since_ms);
  return {
    age_ms: Math.max(0, now - job.accepted_ms),
    queued_ms: job.queued_ms + (job.state === "accepted" ? present : 0),
    running_ms: job.running_ms + (job.state === "running" ? present : 0),
  };
}

/** What a poll is answered with. `result` and `error` are in it once the job has ended. */
export type JobView = {
  readonly job_id: string;
  readonly state: JobState;
  readonly rev: number;
  /** Jobs before it; 0 for one that waits no more. */
  readonly queue_position: number;
  readonly age_ms: number;
  readonly queued_ms: number;
  readonly running_ms: number;
  readonly wall_sec: number;
  readonly waits: { readonly admission_sec: number; readonly contention_sec: number };
  readonly progress?: JobProgress;
  readonly restarts: number;
  readonly reaped?: true;
  /** The JSON text of the wire result. While the job is `running`, it is one that could not be stored yet. */
  readonly result?: string;
  readonly error?: NodeError;
};

/** The JSON text of a view; the result stands in it as it is. */
export function renderView({ result, ...view }: JobView): string {
  const text = JSON.stringify(view);
  return result === undefined ? text : `${text.slice(0, -1)},"result":${result}}`;
}

/** Every error body of a node: `{"error": …}`. */
export type NodeError = {
  readonly code: NodeErrorCode;
  readonly path: string | null;
  readonly message: string;
  readonly hint: string | null;
};

/**
 * Every code that a node answers with, and its status. Both ends read this table.
 *
 * Source: delegation run, sections 7.1 to 7.9
 */
export const NODE_ERRORS = {
  unauthorized: 401,
  misdirected: 421,
  unsupported_media_type: 415,
  too_large: 413,
  bad_request: 400,
  bad_job_id: 400,
  previously_failed: 409,
  id_conflict: 409,
  draining: 503,
  protocol: 426,
  schema_version: 400,
  hop: 400,
  hash_mismatch: 400,
  bad_contract: 400,
  write_door_closed: 400,
  seat_unfit: 400,
  queue_full: 503,
  storage: 507,
  not_found: 404,
  not_done: 409,
  running: 409,
  terminal: 409,
  too_many_streams: 429,
  too_many_connections: 503,
  timeout: 408,
  method_not_allowed: 405,
  internal: 500,
} as const;
export type NodeErrorCode = keyof typeof NODE_ERRORS;
