/**
 * A turn after its close, with the record that the close stood on: what a statement exports and what a proof repeats.
 *
 * Records that came after the close stand behind the head that it stored; they are no part of what it rested on.
 */
import { WritError } from "../error.ts";
import { parseJson } from "../json/parse.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import type { ContractStore, HandoffRow, Tables } from "./repository.ts";
import { assertWhole } from "./seal.ts";
import { isClosed } from "./state.ts";

export type ClosedTurn = {
  readonly row: HandoffRow;
  readonly envelope: JsonObject;
  /** As the close stored them; null when it stored none. */
  readonly content_checks: JsonValue;
  /** Oldest first, up to the head that the close stored. */
  readonly record: readonly ToolRecord[];
};

/**
 * Reads a closed turn by its contract id or its handoff id, and checks that its record is whole.
 *
 * @param store null when there is none yet
 * Errors: `no_row`; `not_closed`; `nothing_recoverable` when the row holds no readable envelope; `record_broken`
 */
export function readClosedTurn(store: ContractStore | null, id: string, sha256: (text: string) => string): ClosedTurn {
  const found = store?.read((tables) => {
    const row = findRow(tables, id);
    if (row === null) return null;
    const newestDigest = tables.journal.newestDigest(row.contract_id);
    return { row, records: tables.records.list(row.contract_id), newestDigest };
  });
  if (found === null || found === undefined) {
    throw new WritError("no_row", `There is no contract or row "${id}"`, {
      hint: "See the rows with: writ contract list",
    });
  }
  const { row, records } = found;
  if (!isClosed(row.agent_state)) {
    throw new WritError("not_closed", `The contract "${row.contract_id}" is not closed (${row.agent_state})`, {
      hint: "Close it first with: writ contract finalize",
    });
  }
  const envelope = parseJson(row.raw_handoff_json);
  if (!envelope.ok || !isObject(envelope.value)) {
    throw new WritError("nothing_recoverable", `The row of "${row.contract_id}" holds no readable envelope`, {
      hint: `See what it holds with: writ contract show ${row.id}`,
    });
  }
  const record = row.record_count === null ? records : records.slice(0, row.record_count);
  assertWhole({ contract_id: row.contract_id, row, records: record, newestDigest: found.newestDigest }, sha256);
  return { row, envelope: envelope.value, content_checks: readChecks(row.content_checks), record };
}

function findRow(tables: Tables, id: string): HandoffRow | null {
  return tables.handoffs.find(id) ?? (/^[1-9]\d{0,14}$/.test(id) ? tables.handoffs.findById(Number(id)) : null);
}

/** What cannot be read is handed on as its text: it was edited by hand, and that is to be seen. */
function readChecks(text: string | null): JsonValue {
  if (text === null) return null;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}
