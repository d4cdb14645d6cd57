/** The table `proposals`: what a turn proposed to project context, why it was not applied, and who decided. */
import type { Database } from "bun:sqlite";
import type { Decision, ProposalRow, ProposalTable } from "../core/context/repository.ts";
import { isArray, isObject, type JsonValue } from "../core/json/value.ts";

type Row = Omit<ProposalRow, "payload" | "drift" | "failed_guards"> & {
  readonly payload: string;
  readonly drift: string | null;
  readonly failed_guards: string | null;
};

const INSERT = `
  INSERT INTO proposals (handoff_id, contract_id, entry_index, entry_hash, section, payload, drift, workspace, project,
    goal_project_token, created_at)
  VALUES ($handoff_id, $contract_id, $entry_index, $entry_hash, $section, $payload, $drift, $workspace, $project,
    $goal_project_token, $created_at)
  RETURNING id`;

const LIST = `
  SELECT * FROM proposals
  WHERE ($contract_id IS NULL OR contract_id = $contract_id) AND ($status IS NULL OR status = $status)
  ORDER BY id DESC`;

export function proposalTable(db: Database): ProposalTable {
  return {
    list: (filter) => db.query<Row, typeof filter>(LIST).all(filter).map(proposalOf),
    listOf: (contractId) =>
      db
        .query<Row, { id: string }>("SELECT * FROM proposals WHERE contract_id = $id ORDER BY entry_index, id")
        .all({ id: contractId })
        .map(proposalOf),
    insert(proposal) {
      const row = db.query<{ id: number }, Record<string, string | number | null>>(INSERT).get({
        ...proposal,
        payload: JSON.stringify(proposal.payload),
        drift: proposal.drift === null ? null : JSON.stringify(proposal.drift),
      });
      if (row === null) throw new Error("A proposal is missing after its insert");
      return row.id;
    },
    decide: (id, decision) => {
      db.query<never, Decision & { id: number }>(
        `UPDATE proposals SET status = $status, decided_by = $decided_by, decided_at = $decided_at,
           decision_note = $decision_note WHERE id = $id`,
      ).run({ ...decision, id });
    },
    stampFailedGuards: (id, guards) => {
      db.query<never, { id: number; guards: string }>(
        "UPDATE proposals SET failed_guards = $guards WHERE id = $id",
      ).run({
        id,
        guards: JSON.stringify(guards),
      });
    },
  };
}

function proposalOf(row: Row): ProposalRow {
  const payload = read(row.payload);
  const guards = read(row.failed_guards);
  return {
    ...row,
    payload: isObject(payload) ? payload : {},
    drift: read(row.drift),
    failed_guards: isArray(guards) ? guards.map(String) : null,
  };
}

// A hand-edited column must not stop the reading of the others.
function read(text: string | null): JsonValue {
  if (text === null) return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
