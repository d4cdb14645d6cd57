/**
 * The store of a node's jobs, as the node uses it. One process has it open. Every change is one transaction, durable when
 * the call returns; nothing waits for another process.
 *
 * `now_ms` is the time that the node has served, over all its starts; each change keeps it.
 */
import type { StoredJob } from "./job.ts";
import type { Submission } from "./submit.ts";

export type JobQueue = {
  /** The time served that was kept last: where the time of a new process begins. */
  servedMs(): number;
  /** Null where there is none of that id. */
  find(job_id: string): StoredJob | null;
  /** The text of a job's contract; null once it was removed. */
  contract(job_id: string): string | null;
  /**
   * Stores a job as accepted.
   *
   * @param maxQueue accepted and running jobs that there may be; negative: no limit
   * Errors: `store_failed`, and then nothing was stored
   */
  submit(submission: Submission, maxQueue: number, now_ms: number): "stored" | "full" | "known";
  /** Accepted jobs in the order in which they start, without results. */
  waiting(): readonly StoredJob[];
  /** Takes an accepted job to run it; false where it is accepted no more. */
  claim(job_id: string, now_ms: number): boolean;
  /** A running job ends with the text of its result. False where it does not run. */
  finish(job_id: string, result: string, now_ms: number): boolean;
  /** A running job ends by a fault of the node itself. */
  fail(job_id: string, error: string, now_ms: number): boolean;
  /** An accepted job will never run; false where it is accepted no more. */
  cancel(job_id: string, isReaped: boolean, now_ms: number): boolean;
  /** A running job goes back to the head of the line, by an orderly stop: it is no restart. */
  release(job_id: string, now_ms: number): boolean;
  /**
   * What a start finds: jobs that ran when the node stopped go back to the head of the line, and those that did so too
   * often end with a result.
   *
   * @param interrupted makes the text of that result; `job.restarts` counts this stop
   */
  recover(
    reruns: number,
    interrupted: (job: StoredJob) => string,
    now_ms: number,
  ): { readonly requeued: number; readonly ended: number };
  /** Keeps the time served. */
  tick(now_ms: number): void;
  /** Removes jobs that ended so long ago, and before that the text of their contracts. Answers how many jobs. */
  expire(limits: { readonly job_ms: number; readonly contract_ms: number }, now_ms: number): number;
  counts(): { readonly accepted: number; readonly running: number };
  /** Jobs that start before it. */
  position(job_id: string): number;
  /** The last jobs, newest first, without results. */
  recent(limit: number): readonly StoredJob[];
  close(): void;
};
