/** The chain that makes a record tamper-evident: each record's digest covers the digest of the one before. */
import { canonicalJson } from "../json/value.ts";
import type { ToolRecord } from "./tool-record.ts";

/** What the first record of a contract follows. */
export const GENESIS = "0".repeat(64);

/**
 * The canonical JSON whose SHA-256 (of its UTF-8, in lower-case hex) is the record's digest. Other keys of a
 * stored row take no part.
 */
export function recordText(record: Omit<ToolRecord, "digest">): string {
  return canonicalJson({
    argv: record.argv,
    command: record.command,
    contract_id: record.contract_id,
    cwd: record.cwd,
    ended_at: record.ended_at,
    exit_code: record.exit_code,
    exit_note: record.exit_note,
    failed: record.failed,
    harness: record.harness,
    ordered: record.ordered,
    output: record.output,
    output_bytes: record.output_bytes,
    output_sha256: record.output_sha256,
    path: record.path,
    prev_digest: record.prev_digest,
    seq: record.seq,
    signal: record.signal,
    source: record.source,
    started_at: record.started_at,
    tail: record.tail,
    tool: record.tool,
    tool_use_id: record.tool_use_id,
    truncated: record.truncated,
  } satisfies Record<Exclude<keyof ToolRecord, "digest">, unknown>);
}

export type ChainCheck =
  | {
      readonly ok: true;
      readonly count: number;
      /** The digest of the last record; null when there is none. */
      readonly head: string | null;
    }
  | {
      readonly ok: false;
      /** The first record that does not fit. */
      readonly seq: number;
      /** What it should say, and what it says: a digest, or `seq N` where the count is broken. */
      readonly expected: string;
      readonly found: string;
    };

/**
 * Recomputes the chain of one contract.
 *
 * @param records all of them, by `seq`
 * @param sha256  of a text's UTF-8, in lower-case hex
 * Errors: none
 */
export function verifyChain(records: Iterable<ToolRecord>, sha256: (text: string) => string): ChainCheck {
  let count = 0;
  let head = GENESIS;
  for (const record of records) {
    const { seq } = record;
    count += 1;
    if (record.prev_digest !== head) return { ok: false, seq, expected: head, found: record.prev_digest };
    head = sha256(recordText(record));
    if (record.digest !== head) return { ok: false, seq, expected: head, found: record.digest };
    // Only a chain that was computed anew can fit and still miscount.
    if (seq !== count) return { ok: false, seq, expected: `seq ${count}`, found: `seq ${seq}` };
  }
  return { ok: true, count, head: count === 0 ? null : head };
}
