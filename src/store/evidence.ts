/** The table `evidence`: citable proofs with polarity and scope. */
import type { Database } from "bun:sqlite";
import type { EvidenceScope, Tables } from "../core/contract/repository.ts";

export function evidenceTable(db: Database): Tables["evidence"] {
  return {
    find: (id) =>
      db
        .query<EvidenceScope, { id: number }>("SELECT id, brief_id, task_id, polarity FROM evidence WHERE id = $id")
        .get({ id }),
  };
}
