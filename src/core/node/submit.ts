/**
 * Whether a node takes a job: every check of a submit, in order, and the first that fails answers. Nothing is stored
 * before all of them hold.
 *
 * Source: delegation run, section 7.4
 */
import { counted } from "../counted.ts";
import { canonicalContract, type DelegationContract, readContracts } from "../delegation/contract.ts";
import type { DelegationIssue } from "../delegation/issue.ts";
import { JUDGES } from "../delegation/judges.ts";
import { parseJson } from "../json/parse.ts";
import { canonicalJson, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { nearest } from "../near-miss.ts";
import { estimateTokens, reserveTokens } from "../placement/estimate.ts";
import { type JobState, MAX_DEADLINE_SEC, type NodeErrorCode } from "./job.ts";

/** What came, read and typed; the contract is valid. */
export type Submission = {
  readonly job_id: string;
  readonly contract: DelegationContract;
  /** As it is stored and run. */
  readonly contract_text: string;
  readonly contract_sha256: string;
  /** Of the contract, in tokens, before any tokenizer was asked. */
  readonly estimate_tokens: number;
  readonly seat: string;
  /** The most seconds that the sender will wait in total, at most `MAX_DEADLINE_SEC`; 0: no limit. */
  readonly deadline_sec: number;
  readonly label: string;
  readonly origin: string;
};

/** What a node knows of itself as it judges. */
export type NodeState = {
  readonly isDraining: boolean;
  readonly acceptsWrite: boolean;
  readonly profiles: readonly string[];
  /** 0: the window is not known. */
  readonly seats: readonly { readonly name: string; readonly ctx_tokens: number }[];
  /** Accepted and running jobs; and how many there may be, negative for no limit. */
  readonly backlog: number;
  readonly maxQueue: number;
  /** Null: nothing has run yet that could tell. */
  readonly newJobWaitSec: number | null;
  readonly freeBytes: number | null;
};

export type Known = { readonly contract_sha256: string; readonly state: JobState };

export type Refusal = {
  readonly kind: "refused";
  readonly code: NodeErrorCode;
  readonly path: string | null;
  readonly message: string;
  readonly hint: string | null;
  readonly issues?: readonly DelegationIssue[];
  /** For `Retry-After`, in seconds. */
  readonly retryAfterSec?: number;
};

export type SubmitVerdict =
  | { readonly kind: "taken"; readonly submission: Submission }
  /** The very same job is here already. */
  | { readonly kind: "known"; readonly job_id: string }
  | Refusal;

export const SUBMIT_BYTES = 2 * 1024 * 1024;
export const MIN_FREE_BYTES = 64 * 1024 * 1024;
export const MAX_DEPTH = 64;
const LONGEST_TEXT = 256;
const KEYS = ["job_id", "contract", "contract_sha256", "seat", "deadline_sec", "label", "origin"] as const;
const JOB_ID = /^wrt-[0-9a-f]{24}$/;
const DRAIN_RETRY_SEC = 10;
const MOST_RETRY_SEC = 300;
/** Said where nothing has run yet. */
const UNKNOWN_WAIT_SEC = 10;

/** True for the form that every job id has. */
export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

/**
 * Judges the text of a submit.
 *
 * @param find   the job of that id that is here; null where there is none
 * @param sha256 of the UTF-8 of a text, lower-case hex
 * Errors: none, whatever the text
 */
export function judgeSubmit(
  text: string,
  node: NodeState,
  { find, sha256 }: { readonly find: (job_id: string) => Known | null; readonly sha256: (text: string) => string },
): SubmitVerdict {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH });
  if (!parsed.ok) {
    const { line, column, message } = parsed.fault;
    return refused("bad_request", `The body is no JSON: line ${line}, column ${column}: ${message}`);
  }
  const envelope = readEnvelope(parsed.value);
  if ("kind" in envelope) return envelope;
  const known = find(envelope.job_id);
  if (known !== null) return judgeKnown(envelope, known);
  if (node.isDraining) {
    const message = "This node is being stopped and takes no new job";
    return { ...refused("draining", message), retryAfterSec: DRAIN_RETRY_SEC };
  }
  const contract = readContract(envelope, sha256);
  if ("kind" in contract) return contract;
  return judgeFit(envelope, contract, node) ?? taken(envelope, contract);
}

type Envelope = Omit<Submission, "contract" | "contract_text" | "estimate_tokens"> & { readonly body: JsonObject };

function readEnvelope(value: JsonValue): Envelope | Refusal {
  if (!isObject(value)) return refused("bad_request", "The body must be an object");
  const unknown = Object.keys(value).find((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, KEYS);
    const hint = near === null ? `Known are: ${KEYS.join(", ")}` : `Did you mean ${near}?`;
    return refused("bad_request", `There is no key ${JSON.stringify(unknown)} in a submit`, hint);
  }
  const texts = { seat: "", label: "", origin: "", contract_sha256: "", job_id: "" };
  for (const key of ["job_id", "contract_sha256", "seat", "label", "origin"] as const) {
    const given = valueAt(value, key) ?? "";
    if (typeof given !== "string" || given.length > LONGEST_TEXT) {
      return refused("bad_request", `${key} must be a text of at most ${LONGEST_TEXT} characters`);
    }
    texts[key] = given;
  }
  if (!isJobId(texts.job_id)) {
    return refused("bad_job_id", `${JSON.stringify(texts.job_id)} is no job id: wrt- and 24 hex digits are due`);
  }
  const deadline_sec = valueAt(value, "deadline_sec") ?? 0;
  if (!isDeadline(deadline_sec)) {
    return refused("bad_request", `deadline_sec must be a whole number from 0 to ${MAX_DEADLINE_SEC}`);
  }
  const body = valueAt(value, "contract");
  if (body === undefined || !isObject(body)) return refused("bad_request", "contract must be an object");
  return { ...texts, deadline_sec, body };
}

function isDeadline(value: JsonValue): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_DEADLINE_SEC;
}

function judgeKnown({ job_id, contract_sha256 }: Envelope, known: Known): SubmitVerdict {
  if (known.contract_sha256 !== contract_sha256) {
    return refused("id_conflict", `Job ${job_id} is here with another contract`);
  }
  if (known.state === "error" || known.state === "canceled") {
    return refused("previously_failed", `Job ${job_id} ended here as ${known.state}`, "Submit it under a new id");
  }
  return { kind: "known", job_id };
}

function readContract({ body, contract_sha256 }: Envelope, sha256: (text: string) => string) {
  const version = valueAt(body, "schema_version") ?? 1;
  if (version !== 1) {
    return refused(
      "schema_version",
      `Contracts of schema_version ${JSON.stringify(version)} are not spoken here: 1 is`,
    );
  }
  const depth = valueAt(body, "depth") ?? 0;
  if (depth !== 0) return refused("hop", "A contract travels once: its depth must be 0");
  const canonical = canonicalJson(body);
  if (sha256(canonical) !== contract_sha256) {
    return refused("hash_mismatch", "contract_sha256 is not the SHA-256 of the contract's canonical JSON");
  }
  const paths = valueAt(body, "context_paths");
  const read = readContracts(canonical, { ...JUDGES, base: "/contract" });
  const [draft] = read.subtasks;
  if (read.issues.length > 0 || draft === undefined || !draft.isComplete) {
    const unread = paths === undefined ? "" : "; a node reads no files: send documents inline";
    const message = `The contract is not valid: ${counted(read.issues.length, "issue")}${unread}`;
    return { ...refused("bad_contract", message), issues: read.issues };
  }
  if (draft.contract.output_schema === null) {
    const issue: DelegationIssue = {
      code: "output_schema",
      path: "/contract/output_schema",
      message: "A contract that travels needs an output_schema",
      hint: null,
    };
    return { ...refused("bad_contract", "The contract is not valid: 1 issue"), issues: [issue] };
  }
  return draft.contract;
}

function judgeFit(envelope: Envelope, contract: DelegationContract, node: NodeState): Refusal | null {
  if (contract.write_root !== "" && !node.acceptsWrite) {
    return refused("write_door_closed", "agent_allow_write is false here: contracts with a write_root are not taken");
  }
  if (contract.profile !== "" && !node.profiles.includes(contract.profile)) {
    return refused(
      "seat_unfit",
      `There is no profile "${contract.profile}" here; known are: ${node.profiles.join(", ")}`,
    );
  }
  const seats = node.seats.filter(({ name }) => envelope.seat === "" || name === envelope.seat);
  if (seats.length === 0) {
    const known = node.seats.map(({ name }) => name).join(", ");
    const message = envelope.seat === "" ? "No seat is configured here" : `There is no seat "${envelope.seat}" here`;
    return refused("seat_unfit", message, known === "" ? null : `Seats here: ${known}`);
  }
  const estimate = estimateTokens(contract);
  const fits = seats.some(({ ctx_tokens: ctx }) => ctx === 0 || estimate + reserveTokens(ctx) <= ctx);
  if (!fits) {
    const largest = Math.max(...seats.map(({ ctx_tokens }) => ctx_tokens));
    const need = estimate + reserveTokens(largest);
    return refused("seat_unfit", `The contract needs about ${need} tokens; the largest window here has ${largest}`);
  }
  if (node.maxQueue >= 0 && node.backlog >= node.maxQueue) {
    const retryAfterSec = Math.min(MOST_RETRY_SEC, Math.max(1, Math.ceil(node.newJobWaitSec ?? UNKNOWN_WAIT_SEC)));
    return { ...refused("queue_full", `The backlog is full: ${node.backlog} of ${node.maxQueue}`), retryAfterSec };
  }
  if (node.freeBytes !== null && node.freeBytes < MIN_FREE_BYTES) {
    return refused("storage", `Fewer than ${MIN_FREE_BYTES / 1024 / 1024} MiB are free for the store of this node`);
  }
  return null;
}

function taken({ body: _, ...envelope }: Envelope, contract: DelegationContract): SubmitVerdict {
  const contract_text = canonicalJson(canonicalContract(contract));
  const estimate_tokens = estimateTokens(contract);
  return { kind: "taken", submission: { ...envelope, contract, contract_text, estimate_tokens } };
}

function refused(code: NodeErrorCode, message: string, hint: string | null = null): Refusal {
  return { kind: "refused", code, path: null, message, hint };
}
