/**
 * What placement knows of the places a leg could go to: one snapshot a moment, made of what each place says of itself.
 *
 * Source: delegation run, section 4.3
 */
import { medianOf } from "../median.ts";

/** One model at a place. `null` stands for what nobody has measured or looked at yet. */
export type SeatRecord = {
  readonly name: string;
  readonly engine: string;
  readonly model: string;
  /** The window of one request, in tokens; 0: not known. */
  readonly ctx_tokens: number;
  /** Requests at once, and how many of them are taken now. */
  readonly slots: number;
  readonly busy: number;
  /** The model is in its server's list. */
  readonly served: boolean | null;
  /** It can answer without being loaded first. */
  readonly loaded: boolean | null;
  /** Decoded, and read, tokens a second. */
  readonly tok_s: number | null;
  readonly prefill_tok_s: number | null;
  readonly cold_load_sec: number | null;
  /** Runs that the rates were measured in. */
  readonly samples: number;
};

/** What a place says of itself; a node's health record, or the same of this process. */
export type PlaceRecord = {
  readonly node_id: string;
  readonly protocol: number;
  readonly schema_versions: readonly number[];
  readonly draining: boolean;
  readonly accepts_write: boolean;
  /** Jobs at once; negative: no limit. */
  readonly max_running: number;
  readonly running: number;
  readonly queued: number;
  /** Accepted and running jobs together; 0 or negative: no limit is known. */
  readonly max_queue: number;
  readonly new_job_wait_sec: number | null;
  /** Median wall of the last jobs. */
  readonly recent_wall_sec: number | null;
  readonly seats: readonly SeatRecord[];
};

/** What came of asking a place. */
export type Probe =
  | { readonly ok: true; readonly record: PlaceRecord }
  | {
      readonly ok: false;
      /** One line: `connection refused`. */
      readonly why: string;
      /** "config": it answered, and not to us (a token, another protocol); else it did not answer as a node does. */
      readonly blames: "infrastructure" | "config";
    };

export const LOCAL = "local";

export type PlaceView = {
  /** "local", a node's id, or its URL as long as nobody knows the id. No two of a snapshot are the same. */
  readonly name: string;
  readonly kind: "local" | "remote";
  readonly probe: Probe;
  /** Monotonic; when this reading began. */
  readonly taken_ms: number;
};

/** All configured places in roster order: the local one first, then the remotes as configured. */
export type Snapshot = readonly PlaceView[];

/** A seat at a place. */
export type Spot = { readonly place: string; readonly seat: string };

/** The median of all decode rates that this snapshot publishes, in tokens a second; null where there is none. */
export function medianRate(snapshot: Snapshot): number | null {
  const rates = snapshot
    .flatMap(({ probe }) => (probe.ok ? probe.record.seats : []))
    .flatMap(({ tok_s }) => (tok_s !== null && tok_s > 0 ? [tok_s] : []));
  return medianOf(rates);
}
