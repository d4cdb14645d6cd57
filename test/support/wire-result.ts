/** A result as a place hands it back. */
import type { Job, WireResult } from "../../src/core/delegation/wire-result.ts";
import { interruptedResult } from "../../src/core/node/interrupted.ts";
import type { StoredJob } from "../../src/core/node/job.ts";

export function doneResult(job: Pick<Job, "job_id" | "contract_sha256">, more: Partial<WireResult> = {}): WireResult {
  const base = interruptedResult(job as StoredJob, { node_id: "n", version: "0" });
  return { ...base, deferred: false, reason: "", defer_class: "", output: "done", stop_reason: "done", ...more };
}
