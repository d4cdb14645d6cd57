/**
 * The statement about a closed turn: its row, its envelope, what was checked, and its record.
 *
 * It is made of stored values alone, so that the same turn gives the same bytes whoever exports it and whenever.
 *
 * Source: in-toto Attestation Framework, Statement v1
 */
import type { ClosedTurn } from "../contract/closed-turn.ts";
import { canonicalJson, type JsonObject, type JsonValue, withKey } from "../json/value.ts";
import { recordText } from "../record/digest.ts";
import type { ToolRecord } from "../record/tool-record.ts";

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const PREDICATE_TYPE = "urn:writ:turn:v1";

/**
 * The statement as a value; its canonical JSON is what is printed and signed.
 *
 * @param sha256 of a text's UTF-8, in lower-case hex
 * Errors: none
 */
export function statementOf(turn: ClosedTurn, sha256: (text: string) => string): JsonObject {
  const { row, envelope, content_checks, record } = turn;
  const { raw_handoff_json: _, content_checks: __, ...columns } = row;
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: row.contract_id, digest: { sha256: sha256(canonicalJson(envelope)) } }],
    predicateType: PREDICATE_TYPE,
    predicate: {
      handoff: columns,
      envelope,
      content_checks,
      record: { head: record.at(-1)?.digest ?? null, count: record.length, runs: record.map(recordJson) },
    },
  };
}

/** What the record's digest covers, and the digest. */
function recordJson(record: ToolRecord): JsonObject {
  const covered: JsonValue = JSON.parse(recordText(record));
  return withKey(covered as JsonObject, "digest", record.digest);
}
