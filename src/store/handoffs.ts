/** The table `handoffs`: one row a turn. */
import type { Database } from "bun:sqlite";
import { CLOSING_STATES } from "../core/contract/envelope.ts";
import type { Birth, Close, HandoffFilter, HandoffRow, HandoffTable } from "../core/contract/repository.ts";

const CLOSED = CLOSING_STATES.map((state) => `'${state}'`).join(", ");

const INSERT_BIRTH = `
  INSERT INTO handoffs (contract_id, agent_id, agent_name, workspace, session_id, harness_agent_id, kind, brief_id,
    plan_id, plan_task_id, parent_handoff_id, continues_handoff_id, goal, role, surface, project, project_path,
    goal_project_token, can_read, can_write, consolidation, agent_state, cut_reason, raw_handoff_json, created_at)
  VALUES ($contract_id, $agent_id, $agent_name, $workspace, $session_id, $harness_agent_id, $kind, $brief_id,
    $plan_id, $plan_task_id, $parent_handoff_id, $continues_handoff_id, $goal, $role, $surface, $project, $project_path,
    $goal_project_token, $can_read, $can_write, $consolidation, 'DISPATCHED', 'never_finalized', $raw_handoff_json, $created_at)
  ON CONFLICT (contract_id) DO NOTHING`;

// COALESCE(new, old): a caller that lacks one of the three never clears it.
const CLOSE = `
  UPDATE handoffs SET agent_id = $agent_id, agent_state = $agent_state, cut_reason = $cut_reason,
    raw_handoff_json = $raw_handoff_json, conclusion = $conclusion, content_checks = $content_checks,
    update_contracts_refused = $update_contracts_refused, record_head = $record_head, record_count = $record_count,
    closed_at = $closed_at, session_id = COALESCE($session_id, session_id),
    plan_task_id = COALESCE($plan_task_id, plan_task_id), brief_id = COALESCE($brief_id, brief_id)
  WHERE id = $id AND agent_state <> 'COMPLETE'`;

const MATCHES = `
  WHERE ($agent_id IS NULL OR agent_id = $agent_id)
    AND ($agent_name IS NULL OR agent_name = $agent_name)
    AND ($agent_state IS NULL OR agent_state = $agent_state)
    AND ($cut_reason IS NULL OR cut_reason = $cut_reason OR ($cut_reason = 'any' AND cut_reason IS NOT NULL))
    AND ($session_id IS NULL OR session_id = $session_id)
    AND ($contract_id IS NULL OR contract_id = $contract_id)
    AND ($harness_agent_id IS NULL OR harness_agent_id = $harness_agent_id)
    AND ($workspace IS NULL OR workspace = $workspace)
    AND ($since IS NULL OR created_at >= $since)
    AND ($until IS NULL OR created_at <= $until)`;

const LIST = `SELECT * FROM handoffs ${MATCHES} ORDER BY id DESC LIMIT $limit`;
const COUNT = `SELECT count(*) AS n FROM handoffs ${MATCHES}`;

export function handoffTable(db: Database): HandoffTable {
  return {
    find: (contractId) =>
      db.query<HandoffRow, { id: string }>("SELECT * FROM handoffs WHERE contract_id = $id").get({ id: contractId }),
    findById: (id) => db.query<HandoffRow, { id: number }>("SELECT * FROM handoffs WHERE id = $id").get({ id }),
    findByHarness: (harnessAgentId) =>
      db
        .query<HandoffRow, { id: string }>(
          "SELECT * FROM handoffs WHERE harness_agent_id = $id ORDER BY id DESC LIMIT 1",
        )
        .get({ id: harnessAgentId }),
    findContinuation: (id) =>
      db.query<HandoffRow, { id: number }>("SELECT * FROM handoffs WHERE continues_handoff_id = $id").get({ id }),
    listUnclaimed: (sessionId, limit) =>
      db
        .query<HandoffRow, { session: string; limit: number }>(
          `SELECT * FROM handoffs
           WHERE session_id = $session AND agent_state = 'DISPATCHED' AND harness_agent_id IS NULL
           ORDER BY id LIMIT $limit`,
        )
        .all({ session: sessionId, limit }),
    count: ({ limit: _, ...filter }) =>
      db.query<{ n: number }, Omit<HandoffFilter, "limit">>(COUNT).get({ ...filter, until: wholeDay(filter.until) })
        ?.n ?? 0,
    list: (filter) => db.query<HandoffRow, HandoffFilter>(LIST).all({ ...filter, until: wholeDay(filter.until) }),
    insertBirth(birth: Birth) {
      const created = db.query<never, Birth>(INSERT_BIRTH).run({ ...birth }).changes === 1;
      const row = db
        .query<{ id: number }, { id: string }>("SELECT id FROM handoffs WHERE contract_id = $id")
        .get({ id: birth.contract_id });
      if (row === null) throw new Error(`The row of "${birth.contract_id}" is missing after its insert`);
      return { id: row.id, created };
    },
    mirror: (id, json) => {
      db.query<never, { id: number; json: string }>(
        `UPDATE handoffs SET raw_handoff_json = $json WHERE id = $id AND agent_state NOT IN (${CLOSED})`,
      ).run({ id, json });
    },
    close: (id, close) => {
      db.query<never, Close & { id: number }>(CLOSE).run({ ...close, id });
    },
    stampHarness: (id, harnessAgentId) => {
      db.query<never, { id: number; harness: string }>(
        "UPDATE handoffs SET harness_agent_id = $harness WHERE id = $id AND harness_agent_id IS NULL",
      ).run({ id, harness: harnessAgentId });
    },
    stampRefused: (id, refused) => {
      db.query<never, { id: number; refused: string }>(
        "UPDATE handoffs SET update_contracts_refused = $refused WHERE id = $id",
      ).run({ id, refused });
    },
    listClosed: (contractIds) =>
      new Set(
        db
          .query<{ contract_id: string }, { ids: string }>(
            `SELECT contract_id FROM handoffs
             WHERE contract_id IN (SELECT value FROM json_each($ids)) AND agent_state IN (${CLOSED})`,
          )
          .all({ ids: JSON.stringify(contractIds) })
          .map((row) => row.contract_id),
      ),
  };
}

function wholeDay(until: string | null): string | null {
  return until !== null && /^\d{4}-\d{2}-\d{2}$/.test(until) ? `${until}T23:59:59Z` : until;
}
