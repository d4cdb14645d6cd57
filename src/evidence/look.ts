/** Looking at evidence. All of it reads and nothing writes. */
import { WritError } from "../core/error.ts";
import type { EvidenceRow } from "../core/evidence/repository.ts";
import { seekBrief } from "../core/task/brief.ts";
import type { ReadingWorld } from "./world.ts";

export type EvidenceFilter = {
  readonly brief: string;
  /** Null: of every acceptance criterion. */
  readonly ac_id: string | null;
  readonly workspace: string | null;
};

/** The evidence of a brief, oldest first. Errors: `no_row` when there is no such brief. */
export function listEvidence(world: ReadingWorld, filter: EvidenceFilter): readonly EvidenceRow[] {
  const name = { name: filter.brief, workspace: filter.workspace };
  const found = world.store?.read((tables) => {
    const { workspace, brief } = seekBrief(tables, world, name);
    return { workspace, rows: brief === null ? null : tables.evidence.list(brief.id, filter.ac_id) };
  });
  const { workspace, rows } = found ?? { ...seekBrief(null, world, name), rows: null };
  if (rows !== null) return rows;
  throw new WritError("no_row", `There is no brief "${filter.brief}" in workspace "${workspace}"`, {
    path: "--brief",
    hint: "See what there is with: writ task brief list",
  });
}

/** One row whole. Errors: `no_row`. */
export function showEvidence(world: ReadingWorld, id: number): EvidenceRow {
  const row = world.store?.read((tables) => tables.evidence.findRow(id)) ?? null;
  if (row !== null) return row;
  throw new WritError("no_row", `There is no evidence ${id}`, {
    hint: "See what there is with: writ evidence list --brief NAME",
  });
}
