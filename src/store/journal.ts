/** The table `journal`: every accepted change of an envelope, appended and never edited. */
import type { Database } from "bun:sqlite";
import type { Change } from "../core/contract/changes.ts";
import type { JournalChange, JournalTable } from "../core/contract/repository.ts";
import type { JsonValue } from "../core/json/value.ts";

type Row = {
  readonly change_id: number;
  readonly contract_id: string;
  readonly at: string;
  readonly pid: number;
  readonly verb: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly draft_sha256: string;
  readonly undoes: number | null;
};

// The first row of a change carries its own id as change_id. The write lock is held, so the next id is known.
const INSERT = `
  INSERT INTO journal (contract_id, change_id, at, pid, verb, path, before, after, draft_sha256, undoes)
  VALUES ($contract_id, COALESCE($change_id, (SELECT COALESCE(MAX(id), 0) + 1 FROM journal)), $at, $pid, $verb, $path,
    $before, $after, $draft_sha256, $undoes)
  RETURNING change_id`;

export function journalTable(db: Database): JournalTable {
  return {
    list(contractId) {
      const rows = db
        .query<Row, { id: string }>("SELECT * FROM journal WHERE contract_id = $id ORDER BY change_id, id")
        .all({ id: contractId });
      return group(rows);
    },
    newestDigest: (contractId) =>
      db
        .query<{ draft_sha256: string }, { id: string }>(
          "SELECT draft_sha256 FROM journal WHERE contract_id = $id ORDER BY change_id DESC LIMIT 1",
        )
        .get({ id: contractId })?.draft_sha256 ?? null,
    hasDigest: (contractId, digest) =>
      db
        .query<{ found: number }, { id: string; digest: string }>(
          "SELECT 1 AS found FROM journal WHERE contract_id = $id AND draft_sha256 = $digest LIMIT 1",
        )
        .get({ id: contractId, digest }) !== null,
    append(change) {
      let changeId: number | null = null;
      const insert = db.query<{ change_id: number }, Record<string, string | number | null>>(INSERT);
      for (const { path, before, after } of change.changes) {
        const row: { change_id: number } | null = insert.get({
          contract_id: change.contract_id,
          change_id: changeId,
          at: change.at,
          pid: change.pid,
          verb: change.verb,
          path,
          before: before === undefined ? null : JSON.stringify(before),
          after: after === undefined ? null : JSON.stringify(after),
          draft_sha256: change.draft_sha256,
          undoes: change.undoes,
        });
        changeId ??= row?.change_id ?? null;
      }
      if (changeId === null) throw new Error("A change without a path cannot be journalled");
      return changeId;
    },
  };
}

function group(rows: readonly Row[]): readonly JournalChange[] {
  const changes: (JournalChange & { changes: Change[] })[] = [];
  for (const row of rows) {
    const entry: Change = { path: row.path, ...side("before", row.before), ...side("after", row.after) };
    const last = changes.at(-1);
    if (last?.change_id === row.change_id) last.changes.push(entry);
    else {
      const { change_id, contract_id, at, pid, verb, draft_sha256, undoes } = row;
      changes.push({ change_id, contract_id, at, pid, verb, draft_sha256, undoes, changes: [entry] });
    }
  }
  return changes;
}

// Our own text, written by JSON.stringify from a value that the strict reader had passed.
function side(name: "before" | "after", text: string | null): { before?: JsonValue; after?: JsonValue } {
  return text === null ? {} : { [name]: JSON.parse(text) as JsonValue };
}
