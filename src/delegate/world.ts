/** What delegating needs of the world. The command line hands in the real one, a test a scripted one. */
import type { CallLeg } from "../core/delegation/legs.ts";
import type { Attempt, LegResult, Route } from "../core/delegation/result.ts";
import type { JobProgress } from "../core/delegation/wire-result.ts";
import type { Routing } from "../core/placement/pin.ts";
import type { LocalPlace, RemotePlace, Silence } from "../core/placement/port.ts";

export type DelegateClock = {
  /** Monotonic milliseconds. */
  ms(): number;
  /** RFC 3339, UTC. */
  now(): string;
  /** Resolves when the time is over or the signal comes, whichever is first. Never rejects, and leaves no timer behind. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

export type DelegateWorld = {
  readonly clock: DelegateClock;
  readonly mint: {
    /** `run-<24 hex>` */
    runId(): string;
    /** `wrt-<24 hex>` */
    jobId(): string;
  };
  readonly sha256: (text: string) => string;
  /** null: no seat is configured here, and this process is no place. */
  readonly local: LocalPlace | null;
  /** In roster order. */
  readonly remotes: readonly RemotePlace[];
  /** Places that are passed over for wrong answers, shared by the processes of this user. */
  readonly marks: {
    quarantined(): Promise<ReadonlySet<string>>;
    settle(place: string, verdict: "pass" | "strike"): Promise<void>;
  };
  readonly records: {
    /** Puts the record of a call, in pieces, in the place of its older one. Errors: whatever it throws is counted as lost */
    save(runId: string, pieces: Iterable<string>): Promise<void>;
    /** Masks what looks like a secret in one text of a record. */
    scrub(text: string): string;
    readonly keep_contracts: boolean;
  };
  /** Rows of the ledger of what is handed to nodes, counted since the process began. */
  readonly intents: { readonly attempted: number; readonly lost: number };
  readonly limits: DelegateLimits;
  /** The local seat that is taken first; "": by rank. */
  readonly default_seat: string;
  /** Of the process, for records. */
  readonly process: { readonly pid: number; readonly label: string };
  readonly version: string;
};

/** Seconds; -1: off, where it can be. */
export type DelegateLimits = {
  readonly capacity_wait_sec: number;
  readonly slot_wait_sec: number;
  readonly admission_wait_sec: number;
  readonly contention_wait_sec: number;
};

/** One call, valid in every part. */
export type Call = {
  readonly legs: readonly CallLeg[];
  /** As it was asked for, and what that means. */
  readonly route: Route;
  readonly routing: Routing;
  /** The seat that was asked for; "": any. */
  readonly seat: string;
  /** The whole call; null: without limit. */
  readonly timeout_sec: number | null;
  /** Legs that are executed at once, from 1 to 8. */
  readonly width: number;
  /** False: no leg is tried on another seat, since one seat is measured. */
  readonly retries: boolean;
  /** What was typed, for the record. */
  readonly argv: readonly string[];
};

/** What happens, in its order. Displays are made from it, and nothing is decided by it. */
export type DelegateEvent =
  | { readonly kind: "started"; readonly run_id: string; readonly legs: number; readonly route: Route }
  | { readonly kind: "waiting"; readonly index: number; readonly why: string }
  | {
      readonly kind: "placed";
      readonly index: number;
      readonly attempt: Attempt["kind"];
      readonly node: string;
      readonly seat: string;
      readonly reason: string;
    }
  | {
      readonly kind: "queued";
      readonly index: number;
      readonly position: number | null;
      readonly about_sec: number | null;
    }
  | { readonly kind: "progress"; readonly index: number; readonly progress: JobProgress }
  /** The place of the leg does not answer. The next `queued` or `progress` of the leg says that it answers again. */
  | ({ readonly kind: "silent"; readonly index: number; readonly node: string } & Silence)
  | { readonly kind: "refused"; readonly index: number; readonly node: string; readonly said: string }
  | { readonly kind: "done"; readonly index: number; readonly result: LegResult }
  | { readonly kind: "notice"; readonly text: string };

export type CallOptions = {
  /** Stops the call: no new leg starts, and what runs is stopped or taken back. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: DelegateEvent) => void;
};
