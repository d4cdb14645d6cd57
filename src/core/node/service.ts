/** A node as its server asks it: the port between `wire/`, which listens, and `node/`, which decides. */
import type { PlaceRecord } from "../placement/place.ts";
import type { JobView } from "./job.ts";
import type { Refusal } from "./submit.ts";

export type SubmitAnswer =
  /** `new_job_wait_sec` null: nothing has run yet that could tell. */
  { readonly kind: "accepted"; readonly view: JobView; readonly new_job_wait_sec: number | null } | Refusal;

export type CancelAnswer =
  | { readonly kind: "canceled" }
  /** It ran, and is being stopped: its result will say so. */
  | { readonly kind: "stopping"; readonly view: JobView }
  | { readonly kind: "running"; readonly view: JobView }
  | { readonly kind: "terminal"; readonly view: JobView }
  | { readonly kind: "unknown" };

export type NodeRecord = PlaceRecord & {
  /** The store was found damaged at this start: what it held is lost. */
  readonly store_reset?: true;
};

/** Errors of all: `store_failed` where the store cannot be read or written. */
export type NodeService = {
  readonly acceptsWrite: boolean;
  /** Judges the text of a submit and stores it. The answer is durable when it is given. */
  submit(text: string): SubmitAnswer;
  /** How a job is; null where there is none. It counts as asked for. */
  view(job_id: string): JobView | null;
  /** The view of a job as soon as its revision is above `since` (null: as it is now), it has ended, or the time is up. */
  watch(job_id: string, since: number | null, wait_ms: number, signal: AbortSignal): Promise<JobView | null>;
  /** Calls back at every change of a job, which counts as asked for until what is returned is called. */
  onChange(job_id: string, listener: () => void): () => void;
  /** Takes a job back: one that waits never runs; one that runs is stopped when that is asked for. */
  cancel(job_id: string, isForced: boolean): CancelAnswer;
  /** What placement needs to know. It waits for nothing. */
  health(): NodeRecord;
  /** The last jobs, newest first, without contract and output. */
  recent(limit: number): readonly JobView[];
};
