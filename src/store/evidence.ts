/** The table `evidence`: citable proofs with polarity and scope. */
import type { Database } from "bun:sqlite";
import type { EvidenceRow, EvidenceScope, EvidenceTable, NewEvidence } from "../core/evidence/repository.ts";

const SELECT = `
  SELECT evidence.id, evidence.brief_id, briefs.name AS brief, briefs.workspace, evidence.ac_id, evidence.task_id,
    evidence.type, evidence.polarity, evidence.text, evidence.artifact_path, evidence.size_bytes,
    evidence.created_by_agent, evidence.source_contract_id, evidence.source_entry_hash, evidence.created_at
  FROM evidence JOIN briefs ON briefs.id = evidence.brief_id`;

const INSERT = `
  INSERT INTO evidence (brief_id, ac_id, task_id, type, polarity, text, artifact_path, size_bytes, created_by_agent,
    source_contract_id, source_entry_hash, created_at)
  VALUES ($brief_id, $ac_id, $task_id, $type, $polarity, $text, $artifact_path, $size_bytes, $created_by_agent,
    $source_contract_id, $source_entry_hash, $created_at)
  RETURNING id`;

export function evidenceTable(db: Database): EvidenceTable {
  return {
    find: (id) =>
      db
        .query<EvidenceScope, { id: number }>("SELECT id, brief_id, task_id, polarity FROM evidence WHERE id = $id")
        .get({ id }),
    findRow: (id) => db.query<EvidenceRow, { id: number }>(`${SELECT} WHERE evidence.id = $id`).get({ id }),
    list: (briefId, acId) =>
      db
        .query<EvidenceRow, { brief: number; ac: string | null }>(
          `${SELECT} WHERE evidence.brief_id = $brief AND ($ac IS NULL OR evidence.ac_id = $ac) ORDER BY evidence.id`,
        )
        .all({ brief: briefId, ac: acId }),
    hasEntry: (contractId, entryHash) =>
      db
        .query<{ found: number }, { contract: string; hash: string }>(
          "SELECT 1 AS found FROM evidence WHERE source_contract_id = $contract AND source_entry_hash = $hash",
        )
        .get({ contract: contractId, hash: entryHash }) !== null,
    insert(evidence) {
      const row = db.query<{ id: number }, NewEvidence>(INSERT).get({ ...evidence });
      if (row === null) throw new Error("A row of evidence is missing after its insert");
      return row.id;
    },
  };
}
