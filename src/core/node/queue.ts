/**
 * The store of a node's jobs, as the node uses it. One process has it open. Every change is one transaction, durable when
 * the call returns; nothing waits for another process.
 */
import type { StoredJob } from "./job.ts";
import type { Submission } from "./submit.ts";

export type JobQueue = {
  /** Null where there is none of that id. */
  find(job_id: string): StoredJob | null;
  /**
   * Stores a job as accepted.
   *
   * @param maxQueue accepted and running jobs that there may be; negative: no limit
   * Errors: `store_failed`, and then nothing was stored
   */
  submit(submission: Submission, maxQueue: number): "stored" | "full" | "known";
  /** Accepted jobs in the order in which they start; at most so many. */
  waiting(limit: number): readonly StoredJob[];
  /** Takes an accepted job to run it; false where it is accepted no more. */
  claim(job_id: string): boolean;
  /** A running job ends with the text of its result. False where it does not run. */
  finish(job_id: string, result: string): boolean;
  /** A running job ends by a fault of the node itself. */
  fail(job_id: string, error: string): boolean;
  /** An accepted job will never run; false where it is accepted no more. */
  cancel(job_id: string, isReaped: boolean): boolean;
  /** A running job goes back to the head of the line, by an orderly stop: it is no restart. */
  release(job_id: string): boolean;
  /**
   * What a start finds: jobs that ran when the node stopped go back to the head of the line, and those that did so too
   * often end with a result.
   *
   * @param interrupted makes the text of that result; `job.restarts` counts this stop
   */
  recover(
    reruns: number,
    interrupted: (job: StoredJob) => string,
  ): { readonly requeued: number; readonly ended: number };
  /** Counts time: what passed since the last call, in milliseconds. */
  tick(elapsed_ms: number): void;
  /** Removes jobs that ended so long ago, and before that the text of their contracts. */
  expire(limits: { readonly job_ms: number; readonly contract_ms: number }): number;
  counts(): { readonly accepted: number; readonly running: number };
  /** Jobs that start before it. */
  position(job_id: string): number;
  /** The last jobs, newest first, without contract and result. */
  recent(limit: number): readonly StoredJob[];
  close(): void;
};
