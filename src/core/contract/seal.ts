/**
 * Whether a turn is still what it was: each record fits the one before it, the head that a clean close stored is still
 * there and is the one that its checks name, and the row's envelope is the state that the journal saw last.
 *
 * Nobody who may write the whole store is stopped by this; whoever changes a part of it is seen.
 */
import { counted } from "../counted.ts";
import { WritError } from "../error.ts";
import { canonicalJson, isObject, type JsonObject, type JsonValue, prettyJson, valueAt } from "../json/value.ts";
import { verifyChain } from "../record/digest.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import type { HandoffRow } from "./repository.ts";
import { isClosed } from "./state.ts";

export type Sealed = {
  readonly contract_id: string;
  /** Null for a record without a row. */
  readonly row: HandoffRow | null;
  /** From the first one on, by `seq`. */
  readonly records: readonly ToolRecord[];
  /** The digest of the draft after its newest change; null when nothing was journalled. */
  readonly newestDigest: string | null;
};

/** Errors: `record_broken`, with what does not fit, what it should be and what it is. */
export function assertWhole(
  { contract_id, row, records, newestDigest }: Sealed,
  sha256: (text: string) => string,
): { readonly count: number; readonly head: string | null } {
  const chain = verifyChain(records, sha256);
  if (!chain.ok) throw broken(contract_id, chain.seq, chain.expected, chain.found);
  if (row !== null && isClosed(row.agent_state) && row.cut_reason === null) {
    checkHead(row, records);
    checkEnvelope(row, newestDigest, sha256);
  }
  return { count: chain.count, head: chain.head };
}

/** The head and the count stand twice: in the row and in its checks. A row from elsewhere may have neither. */
function checkHead(row: HandoffRow, records: readonly ToolRecord[]): void {
  const checks = parsed(row.content_checks);
  const runs = numberAt(checks, "runs");
  const count = row.record_count ?? runs;
  if (count === null) return;
  if (runs !== null && runs !== count)
    throw broken(row.contract_id, "record_head", counted(count, "record"), counted(runs, "record"));
  const stored = row.record_head ?? textAt(checks, "record_head");
  const claimed = checks === null ? stored : textAt(checks, "record_head");
  const head = count === 0 ? null : (records[count - 1]?.digest ?? "nothing");
  for (const wanted of [stored, claimed]) {
    if (head !== wanted) throw broken(row.contract_id, "record_head", wanted ?? "nothing", head ?? "nothing");
  }
}

function checkEnvelope(row: HandoffRow, newestDigest: string | null, sha256: (text: string) => string): void {
  const envelope = parsed(row.raw_handoff_json);
  if (newestDigest === null || envelope === null) return;
  const digest = sha256(`${prettyJson(envelope)}\n`);
  if (digest !== newestDigest) throw broken(row.contract_id, "envelope", newestDigest, digest);
  for (const [seq, said, stands] of columnsSaid(row, envelope)) {
    if (said !== stands) throw broken(row.contract_id, seq, said ?? "nothing", stands ?? "nothing");
  }
}

/** What the row says in columns and its envelope says too. */
function columnsSaid(
  row: HandoffRow,
  envelope: JsonObject,
): readonly (readonly [string, string | null, string | null])[] {
  const status = valueAt(envelope, "agent_status");
  const checks = valueAt(envelope, "content_checks");
  const stored = parsed(row.content_checks);
  return [
    ["conclusion", textAt(envelope, "conclusion"), row.conclusion],
    ["agent_state", isObject(status) ? textAt(status, "agent_state") : null, row.agent_state],
    ["agent_name", textAt(envelope, "agent_name"), row.agent_name],
    ["content_checks", isObject(checks) ? canonicalJson(checks) : null, stored === null ? null : canonicalJson(stored)],
  ];
}

const PLACES: Readonly<Record<string, string>> = {
  record_head: "at the head that its close stored",
  envelope: "in the envelope that its close stored",
  conclusion: "in the conclusion that its close stored",
  agent_state: "in the state that its close stored",
  agent_name: "in the name of its agent",
  content_checks: "in the checks that its close stored",
};

function broken(contractId: string, seq: number | string, expected: string, found: string): WritError {
  const where = typeof seq === "number" ? `at ${seq}` : (PLACES[seq] ?? `at ${seq}`);
  return new WritError(
    "record_broken",
    `The record of "${contractId}" does not fit ${where}: expected ${expected}, found ${found}`,
    {
      status: "broken",
      path: "tool_record",
      details: { contract_id: contractId, seq, expected, found },
      hint: "Something was changed, removed or put in after it was written",
    },
  );
}

// Our own text: one that cannot be read was edited by hand, and then the digests say so, or there is nothing to hold.
function parsed(text: string | null): JsonObject | null {
  if (text === null) return null;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function textAt(object: JsonObject | null, key: string): string | null {
  const value = object === null ? undefined : valueAt(object, key);
  return typeof value === "string" ? value : null;
}

function numberAt(object: JsonObject | null, key: string): number | null {
  const value = object === null ? undefined : valueAt(object, key);
  return typeof value === "number" ? value : null;
}
