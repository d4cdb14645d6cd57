/** The table `workspaces`: the scope that every other fact belongs to. */
import type { Database } from "bun:sqlite";
import type { WorkspaceTable } from "../core/workspace/repository.ts";

export function workspaceTable(db: Database): WorkspaceTable {
  return {
    ensure: (name, at) => {
      db.query<never, { name: string; at: string }>(
        "INSERT INTO workspaces (name, created_at) VALUES ($name, $at) ON CONFLICT (name) DO NOTHING",
      ).run({ name, at });
    },
  };
}
