/** The result of a job whose node stopped under it too often. */
import type { WireResult } from "../delegation/wire-result.ts";
import type { StoredJob } from "./job.ts";

/** Source: delegation run, section 7.5 */
export function interruptedResult(
  job: StoredJob,
  { node_id, version }: { readonly node_id: string; readonly version: string },
): WireResult {
  return {
    schema_version: 1,
    job_id: job.job_id,
    contract_sha256: job.contract_sha256,
    node_id,
    seat: "",
    output: "",
    structured: null,
    schema_miss: false,
    steps: 0,
    max_steps: 0,
    stop_reason: "error",
    stop_note: "",
    forced_final: false,
    output_truncated: false,
    deferred: true,
    reason: `interrupted: the node stopped ${job.restarts} times while this job ran`,
    defer_class: "infrastructure",
    diff: "",
    diff_files: [],
    write_note: "",
    repack: { mode: "none", attempts: 0, ms: 0 },
    tokens: { prompt: 0, completion: 0, reasoning: 0, cached: 0, estimated: false },
    timings: { first_byte_ms: 0, prefill_ms: 0, decode_ms: 0, tools_ms: 0, repack_ms: 0, tok_s: 0 },
    trace: [],
    waits: { admission_sec: 0, contention_sec: 0, seat_down_sec: 0 },
    wall_ms: 0,
    seat_pin: null,
    scripted: false,
    writ_version: version,
  };
}
