/** Contracts, jobs and results for tests, each a whole one of which a test says only what it is about. */
import { type DelegationContract, readContracts } from "../../src/core/delegation/contract.ts";
import { contractDigest } from "../../src/core/delegation/contract-digest.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import { type CallLeg, readLegs } from "../../src/core/delegation/legs.ts";
import type { Job, WireResult } from "../../src/core/delegation/wire-result.ts";

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Throws with the issues of a contract that is not valid. */
export function contractOf(fields: object = {}): DelegationContract {
  const { subtasks, issues } = readContracts(JSON.stringify({ goal: "how many pallets?", ...fields }), JUDGES);
  const [draft] = subtasks;
  if (draft === undefined) throw new Error(JSON.stringify(issues));
  return draft.contract;
}

/** Of one file that holds all of them. */
export function legsOf(contracts: readonly object[], fingerprint = false): readonly CallLeg[] {
  const files = contracts.map((fields, at) => ({
    name: `${at}.json`,
    read: readContracts(JSON.stringify({ goal: "how many pallets?", ...fields }), JUDGES),
  }));
  const read = readLegs(files, { fingerprint, sha256 });
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return read.legs;
}

export function jobOf(contract: DelegationContract, job_id = "wrt-000000000000000000000001"): Job {
  return { job_id, contract, contract_sha256: contractDigest(contract, sha256) };
}

/** A completed answer to the job, but for what is given. */
export function wireResultOf(job: Job, fields: Partial<WireResult> = {}): WireResult {
  return {
    schema_version: 1,
    job_id: job.job_id,
    contract_sha256: job.contract_sha256,
    node_id: "local",
    seat: "pool",
    output: "there are 412",
    structured: null,
    schema_miss: false,
    steps: 2,
    max_steps: job.contract.max_steps,
    stop_reason: "done",
    stop_note: "",
    forced_final: false,
    output_truncated: false,
    deferred: false,
    reason: "",
    defer_class: "",
    diff: "",
    diff_files: [],
    write_note: "",
    repack: { mode: "none", attempts: 0, ms: 0 },
    tokens: { prompt: 100, completion: 20, reasoning: 0, cached: 0, estimated: false },
    timings: { first_byte_ms: 1, prefill_ms: 2, decode_ms: 3, tools_ms: 0, repack_ms: 0, tok_s: 20 },
    trace: [],
    waits: { admission_sec: 0, contention_sec: 0, seat_down_sec: 0 },
    wall_ms: 1000,
    seat_pin: null,
    scripted: false,
    writ_version: "0.0.0",
    ...fields,
  };
}

/** A result of a job that was not completed. */
export function deferOf(job: Job, defer_class: WireResult["defer_class"], reason: string): WireResult {
  return wireResultOf(job, { deferred: true, defer_class, reason, output: "", stop_reason: "error" });
}
