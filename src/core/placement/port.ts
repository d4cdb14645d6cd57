/**
 * A place as the delegator uses it: working here and working on another machine are one call. `seat/` and the client of
 * nodes make places, a test hands in scripted ones.
 *
 * Source: delegation run, sections 4.7, 4.11, 7.7
 */
import type { Job, JobProgress, Repack, WireResult } from "../delegation/wire-result.ts";
import type { PlaceRecord, Probe } from "./place.ts";

/** Where a job is. What a display is made from, and nothing is decided by. */
export type PlaceProgress =
  /** The place has it and has not begun. `position` from 1; null: not told. */
  | { readonly kind: "queued"; readonly position: number | null; readonly about_sec: number | null }
  | { readonly kind: "running"; readonly progress: JobProgress }
  /** It has the job and does not answer. Told once in a silence, and again where what comes next has changed. */
  | ({ readonly kind: "silent" } & Silence);

/** A place that has a job and does not answer. */
export type Silence = {
  /** For how long it has not answered when this is told. */
  readonly silent_ms: number;
  /** What came in the place of its last answer; one line. */
  readonly why: string;
  /** After how long a silence another place is looked for; null: it is waited for until the deadline of the job. */
  readonly elsewhere_ms: number | null;
  /** After how long a silence the job is given up, where it is waited for. */
  readonly given_up_ms: number;
};

/** What came of handing a job to a place; `queued_sec` is the time that it lay there and was not begun. */
export type PlaceOutcome =
  /** The job has ended there, completed or deferred. A remote place is told when its result is kept: `forget`. */
  | { readonly kind: "ran"; readonly result: WireResult; readonly queued_sec: number }
  /** It was not taken. `http` null: no answer came, or none that was whole. */
  | {
      readonly kind: "refused";
      readonly http: number | null;
      readonly code: string;
      /** One line for a person; decided by nowhere. */
      readonly message: string;
      readonly retry_after_sec: number | null;
    }
  /** It was taken and given back, or dropped, before it began. */
  | { readonly kind: "withdrawn"; readonly queued_sec: number; readonly message: string }
  /** It was taken, and waiting for it came to its bound. */
  | {
      readonly kind: "gave_up";
      readonly defer_class: "budget" | "infrastructure";
      readonly reason: string;
      readonly queued_sec: number;
    }
  /** It was taken, and the place lost it or failed at it: another place may take it, else the leg failed for this reason. */
  | { readonly kind: "lost"; readonly reason: string }
  /** Nobody can say what became of it. The reason begins with one of the published prefixes. */
  | { readonly kind: "failed"; readonly reason: string }
  /** The signal came. "running": it goes on there and could not be taken back. */
  | {
      readonly kind: "stopped";
      readonly state: "withdrawn" | "stopped" | "running";
      /** Why it could not be taken back; one line, "" where there is nothing to say. */
      readonly why?: string;
    }
  /** It was taken, and its place says nothing any more. One of the two is called, once. */
  | {
      readonly kind: "silent";
      readonly silent_sec: number;
      /** Whether it still says nothing, while it is waited for; left out: nobody can say. */
      readonly isStill?: () => boolean;
      /** Somebody else has the leg now: what the place says when it speaks again, or when the signal came. */
      readonly late: () => Promise<PlaceOutcome>;
      /** Nobody else takes the leg: the place is waited for, to the deadline of the job. */
      readonly outwait: () => Promise<PlaceOutcome>;
    };

export type PlaceRun = {
  /** Ends the job: it is stopped, or taken back where that is possible. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PlaceProgress) => void;
  /** The most seconds that the sender will wait in total; 0: no limit. */
  readonly deadline_sec: number;
  /** The delegation that the job is of, and its leg, from 0: for the ledger. */
  readonly of?: { readonly run: string; readonly leg: number };
};

type Runs = {
  /**
   * Runs a job on a seat of this place; "" is any.
   *
   * Errors: none but defects; everything that can happen is a kind of `PlaceOutcome`
   */
  run(job: Job, seat: string, options: PlaceRun): Promise<PlaceOutcome>;
};

export type LocalPlace = Runs & {
  /** The record of this process. Errors: none but defects */
  look(): Promise<PlaceRecord>;
  /**
   * Makes the structured form of an answer that came from elsewhere without one, where a slot of the seat is free now.
   *
   * @param output the answer in words, not blank
   * @returns      null where it cannot be made here and now
   * Errors: none but defects
   */
  structure(job: Job, seat: string, output: string, options: StructureRun): Promise<Structured | null>;
};

export type StructureRun = {
  readonly signal: AbortSignal;
  /** What is left for it. */
  readonly wall_ms: number;
};

/** The JSON text to publish, and how it was made. */
export type Structured = { readonly structured: string; readonly repack: Repack };

export type RemotePlace = Runs & {
  /** Its base URL. */
  readonly url: string;
  /** Which secret it is asked with, by name; two places with one name take the same. */
  readonly token: string;
  /** Asks for its health record. Errors: none; bounded by 5 s and by the signal */
  probe(signal: AbortSignal): Promise<Probe>;
  /**
   * The result of a job that ran there is kept here, or is not wanted: nobody will ask for it any more.
   *
   * @returns false where that could not be written down; a later process asks for it once more then
   */
  forget(job_id: string): boolean;
};
