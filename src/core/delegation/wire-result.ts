/**
 * What a place hands back of one job, and what it says while the job runs. The only thing that crosses back: there is no
 * transcript in it. A place never grades: acceptance is the delegator's.
 */
import type { SeatPin, StructuredMode } from "../seat/endpoint.ts";
import type { DelegationContract } from "./contract.ts";

export const DEFER_CLASSES = [
  "abstention",
  "budget",
  "infrastructure",
  "config",
  "contract",
  "capacity",
  "write",
  "canceled",
] as const;
export type DeferClass = (typeof DEFER_CLASSES)[number];

export const STOP_REASONS = [
  "done",
  "finish",
  "forced_final",
  "budget",
  "wall",
  "empty",
  "reasoning_starved",
  "tool_call_cut",
  "unparsed_tool_call",
  "repetition",
  "context",
  "error",
  "canceled",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export type Repack = {
  readonly mode: "none" | "lossless" | StructuredMode;
  readonly attempts: number;
  readonly ms: number;
  readonly note?: string;
};

/** Summed over the job. `estimated`: a server sent no usage for at least one answer. */
export type Tokens = {
  readonly prompt: number;
  readonly completion: number;
  readonly reasoning: number;
  readonly cached: number;
  readonly estimated: boolean;
};

export type Timings = {
  readonly first_byte_ms: number;
  readonly prefill_ms: number;
  readonly decode_ms: number;
  readonly tools_ms: number;
  readonly repack_ms: number;
  /** Decoded tokens a second; 0: not known. */
  readonly tok_s: number;
};

export type TraceEntry = {
  /** From 1; 0 for seeded reads. */
  readonly step: number;
  readonly tool: string;
  readonly status: "ok" | "error" | "refused" | "unknown";
  readonly obs_chars: number;
  readonly seeded?: boolean;
  /** 160 bytes at most. */
  readonly note?: string;
};

/** Seconds, to the millisecond. None of them is charged to the wall. */
export type Waits = {
  readonly admission_sec: number;
  readonly admission_note?: string;
  readonly contention_sec: number;
  readonly seat_down_sec: number;
};

export type WireResult = {
  readonly schema_version: 1;
  readonly job_id: string;
  readonly contract_sha256: string;
  /** "local" for the place itself. */
  readonly node_id: string;
  readonly seat: string;
  readonly output: string;
  /** JSON text of an object that validates, byte for byte as it is published; null when there is none. */
  readonly structured: string | null;
  /** The answer is there and its structured form could not be made. */
  readonly schema_miss: boolean;
  readonly steps: number;
  readonly max_steps: number;
  readonly stop_reason: StopReason;
  readonly stop_note: string;
  readonly forced_final: boolean;
  readonly output_truncated: boolean;
  readonly deferred: boolean;
  /** Begins with one of the stable prefixes; "" when not deferred. */
  readonly reason: string;
  /** "" when not deferred. */
  readonly defer_class: DeferClass | "";
  /** "" when the write set is empty, or when it is past a cap. */
  readonly diff: string;
  readonly diff_files: readonly string[];
  /** "" on a contract without a write root. */
  readonly write_note: string;
  readonly repack: Repack;
  readonly tokens: Tokens;
  readonly timings: Timings;
  readonly trace: readonly TraceEntry[];
  readonly waits: Waits;
  /** Execution, waits left out, milliseconds. */
  readonly wall_ms: number;
  readonly seat_pin: SeatPin | null;
  readonly scripted: boolean;
  readonly writ_version: string;
};

/** What a place is given. */
export type Job = {
  /** `wrt-<24 hex>` */
  readonly job_id: string;
  readonly contract: DelegationContract;
  /** Of the canonical JSON of the contract. */
  readonly contract_sha256: string;
};

export const JOB_PHASES = ["admission", "contention", "prefill", "decoding", "tool", "repack", "seat_down"] as const;
export type JobPhase = (typeof JOB_PHASES)[number];

/** Where a running job is; what a display is made from, and nothing is decided by. */
export type JobProgress = {
  readonly phase: JobPhase;
  readonly step: number;
  readonly max_steps: number;
  /** "" outside of a tool. */
  readonly tool: string;
  /** The tool's first text argument, or "". */
  readonly arg: string;
  /** Of the present turn. */
  readonly tokens: number;
  /** 0: not known. */
  readonly tok_s: number;
  readonly idle_ms: number;
  readonly allowance_ms: number;
};
