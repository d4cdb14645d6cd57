/** The tables `tool_records` and `tool_bindings`: what a turn ran and read, in order. */
import type { Database } from "bun:sqlite";
import type { RecordTable } from "../core/contract/repository.ts";
import type { ToolRecord } from "../core/record/tool-record.ts";

type Row = Omit<ToolRecord, "argv" | "failed" | "truncated" | "ordered"> & {
  readonly id: number;
  readonly argv: string | null;
  readonly failed: number;
  readonly truncated: number;
  readonly ordered: number;
};

const INSERT = `
  INSERT INTO tool_records (contract_id, seq, source, harness, tool, tool_use_id, command, argv, path, cwd, exit_code,
    signal, failed, exit_note, started_at, ended_at, output, tail, output_bytes, output_sha256, truncated, ordered,
    prev_digest, digest)
  VALUES ($contract_id, $seq, $source, $harness, $tool, $tool_use_id, $command, $argv, $path, $cwd, $exit_code,
    $signal, $failed, $exit_note, $started_at, $ended_at, $output, $tail, $output_bytes, $output_sha256, $truncated,
    $ordered, $prev_digest, $digest)`;

export function recordTable(db: Database): RecordTable {
  return {
    isBound: (contractIds) =>
      db
        .query<{ found: number }, { ids: string }>(
          "SELECT 1 AS found FROM tool_bindings WHERE contract_id IN (SELECT value FROM json_each($ids)) LIMIT 1",
        )
        .get({ ids: JSON.stringify(contractIds) }) !== null,
    bind: (contractId, source, at) => {
      db.query<never, { contract_id: string; source: string; at: string }>(
        `INSERT INTO tool_bindings (contract_id, source, bound_at) VALUES ($contract_id, $source, $at)
         ON CONFLICT (contract_id) DO NOTHING`,
      ).run({ contract_id: contractId, source, at });
    },
    list: (contractId) =>
      db
        .query<Row, { id: string }>("SELECT * FROM tool_records WHERE contract_id = $id ORDER BY seq")
        .all({ id: contractId })
        .map(recordOf),
    newest: (contractId) =>
      db
        .query<{ seq: number; digest: string }, { id: string }>(
          "SELECT seq, digest FROM tool_records WHERE contract_id = $id ORDER BY seq DESC LIMIT 1",
        )
        .get({ id: contractId }),
    hasToolUse: (contractId, toolUseId) =>
      db
        .query<{ found: number }, { id: string; use: string }>(
          "SELECT 1 AS found FROM tool_records WHERE contract_id = $id AND tool_use_id = $use",
        )
        .get({ id: contractId, use: toolUseId }) !== null,
    insert: (record) => {
      db.query<never, Record<string, string | number | null>>(INSERT).run({
        ...record,
        argv: record.argv === null ? null : JSON.stringify(record.argv),
        failed: Number(record.failed),
        truncated: Number(record.truncated),
        ordered: Number(record.ordered),
      });
    },
  };
}

function recordOf({ id: _, ...row }: Row): ToolRecord {
  return {
    ...row,
    argv: readArgv(row.argv),
    failed: row.failed !== 0,
    truncated: row.truncated !== 0,
    ordered: row.ordered !== 0,
  };
}

// A hand-edited row must not stop the reading of the others: its digest no longer fits, and `record verify` says so.
function readArgv(text: string | null): readonly string[] | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : null;
  } catch {
    return null;
  }
}
