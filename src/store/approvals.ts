/** The table `approvals`: consent that was asked for. */
import { type Database, SQLiteError } from "bun:sqlite";
import type { ApprovalRow, ApprovalTable } from "../core/approval/repository.ts";

type NewRow = Parameters<ApprovalTable["insert"]>[0];
type Decision = Parameters<ApprovalTable["decide"]>[1];

export function approvalTable(db: Database): ApprovalTable {
  const find = (id: string) =>
    db.query<ApprovalRow, { id: string }>("SELECT * FROM approvals WHERE id = $id").get({ id });
  return {
    statusOf(id) {
      try {
        return find(id)?.status ?? null;
      } catch (error) {
        // What cannot be looked up is not pending; a busy store is asked again by whoever began the transaction.
        if (!(error instanceof SQLiteError) || error.code?.startsWith("SQLITE_BUSY")) throw error;
        return null;
      }
    },
    find,
    findPending: (fingerprint) =>
      db
        .query<ApprovalRow, { fingerprint: string }>(
          "SELECT * FROM approvals WHERE fingerprint = $fingerprint AND status = 'pending'",
        )
        .get({ fingerprint }),
    list: (status) =>
      db
        .query<ApprovalRow, { status: string | null }>(
          `SELECT * FROM approvals WHERE $status IS NULL OR status = $status
           ORDER BY created_at DESC, rowid DESC`,
        )
        .all({ status }),
    insert: (row) => {
      db.query<never, NewRow>(
        `INSERT INTO approvals (id, agent_id, session_id, status, fingerprint, payload, created_at)
         VALUES ($id, $agent_id, $session_id, 'pending', $fingerprint, $payload, $created_at)`,
      ).run({ ...row });
    },
    decide: (id, decision) =>
      db
        .query<never, Decision & { id: string }>(
          `UPDATE approvals SET status = $status, decided_at = $decided_at, decided_by = $decided_by, reason = $reason
           WHERE id = $id AND status = 'pending'`,
        )
        .run({ ...decision, id }).changes === 1,
  };
}
