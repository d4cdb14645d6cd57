/** The table `approvals`: consent that was asked for. */
import type { Database } from "bun:sqlite";
import type { Tables } from "../core/contract/repository.ts";

export function approvalTable(db: Database): Tables["approvals"] {
  return {
    statusOf: (id) =>
      db.query<{ status: string }, { id: string }>("SELECT status FROM approvals WHERE id = $id").get({ id })?.status ??
      null,
  };
}
