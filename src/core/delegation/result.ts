/** The result document of one call (delegation run, section 3): what is printed, kept and graded again. */
import type { Outcome } from "../acceptance/evaluate.ts";
import type { SeatPin } from "../seat/endpoint.ts";
import type { Repack, StopReason, Timings, Tokens, TraceEntry } from "./wire-result.ts";

export const LEG_STATUSES = ["succeeded", "failed_verification", "deferred", "failed"] as const;
export type LegStatus = (typeof LEG_STATUSES)[number];

export const ROUTES = ["auto", "local", "remote", "spread"] as const;
export type Route = (typeof ROUTES)[number];

export type Attempt = {
  /** From 1. */
  readonly n: number;
  readonly kind: "first" | "replacement" | "retry" | "orphan";
  readonly node: string;
  readonly seat: string;
  readonly job_id: string;
  readonly status: LegStatus | "refused" | "abandoned" | "withdrawn";
  readonly http?: number;
  readonly code?: string;
  readonly reason?: string;
  readonly defer_class?: string;
  readonly wall_ms: number;
  readonly steps: number;
  readonly tokens: number;
};

/** In the order in which the members are printed. An optional member is left out when it is zero or empty. */
export type LegResult = {
  readonly index: number;
  readonly status: LegStatus;
  readonly node: string;
  readonly seat: string;
  readonly scripted?: true;
  readonly placement: string;
  readonly route: Route;
  readonly route_asked?: Route;
  readonly pin_reason?: string;
  readonly job_id: string;
  readonly output?: string;
  /** JSON text; printed as the value it is, its numbers as spelled. */
  readonly structured?: string;
  readonly deferred: boolean;
  readonly reason?: string;
  readonly defer_class?: string;
  readonly failed?: true;
  readonly acceptance_failures?: readonly string[];
  readonly acceptance?: readonly Outcome[];
  readonly acceptance_authority?: "answer" | "field" | "grounded";
  readonly acceptance_note?: string;
  readonly acceptance_lint?: readonly string[];
  readonly diff?: string;
  readonly diff_files?: readonly string[];
  readonly write_note?: string;
  readonly steps?: number;
  readonly max_steps: number;
  readonly stop_reason?: StopReason;
  readonly stop_note?: string;
  readonly forced_final?: true;
  readonly output_truncated?: true;
  readonly repack?: Repack;
  readonly tokens?: Tokens;
  readonly wall_ms: number;
  readonly node_wall_ms?: number;
  readonly capacity_wait_sec?: number;
  readonly retry_after_sec?: number;
  readonly queue_wait_sec?: number;
  readonly admission_wait_sec?: number;
  readonly admission_note?: string;
  readonly contention_wait_sec?: number;
  readonly seat_down_wait_sec?: number;
  readonly timings?: Timings;
  readonly trace?: readonly TraceEntry[];
  readonly attempts: readonly Attempt[];
  readonly retried_on?: string;
  readonly retry_note?: string;
  readonly replacements?: number;
  readonly replacement_note?: string;
  readonly contract_sha256: string;
  readonly seat_pin?: SeatPin;
};

export type Summary = {
  readonly succeeded: number;
  readonly deferred: number;
  readonly failed_verification: number;
  readonly failed: number;
  readonly infrastructure: number;
  readonly fleet_unreachable?: number;
  readonly retried?: number;
  readonly retry_recovered?: number;
  readonly replaced?: number;
  readonly replacement_recovered?: number;
  readonly waited?: number;
  readonly orphaned?: number;
  readonly quarantined?: number;
  readonly canceled?: number;
  readonly telemetry_lost?: number;
  readonly telemetry_attempted?: number;
};

export type ResultDocument = {
  readonly schema_version: 1;
  /** `run-<24 hex>` */
  readonly run_id: string;
  readonly summary: Summary;
  /** In the order of submission. */
  readonly results: readonly LegResult[];
  readonly writ_version: string;
  /** RFC 3339, UTC. */
  readonly started_at: string;
  readonly wall_ms: number;
};

/** What the diff of a leg is called in a folder of results when the leg did not succeed. */
export const UNVERIFIED_PATCH = "diff.unverified.patch";
