/** The table `approvals`: consent that was asked for. */
import { type Database, SQLiteError } from "bun:sqlite";
import type { Tables } from "../core/contract/repository.ts";

export function approvalTable(db: Database): Tables["approvals"] {
  return {
    statusOf(id) {
      try {
        return find(db, id);
      } catch (error) {
        // What cannot be looked up is not pending; a busy store is asked again by whoever began the transaction.
        if (!(error instanceof SQLiteError) || error.code?.startsWith("SQLITE_BUSY")) throw error;
        return null;
      }
    },
  };
}

function find(db: Database, id: string): string | null {
  const row = db.query<{ status: string }, { id: string }>("SELECT status FROM approvals WHERE id = $id").get({ id });
  return row?.status ?? null;
}
