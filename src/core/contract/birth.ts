/** The row of a turn that nobody dispatched: only what every row must have. */
import type { Birth } from "./repository.ts";

/** A birth with everything else null; spread it and overwrite what is known. */
export function bareBirth(
  known: Pick<Birth, "contract_id" | "agent_id" | "workspace" | "raw_handoff_json" | "created_at">,
): Birth {
  return {
    ...known,
    agent_name: null,
    session_id: null,
    harness_agent_id: null,
    kind: null,
    brief_id: null,
    plan_id: null,
    plan_task_id: null,
    parent_handoff_id: null,
    continues_handoff_id: null,
    goal: null,
    role: null,
    surface: null,
    project: null,
    project_path: null,
    goal_project_token: null,
    can_read: null,
    can_write: null,
    consolidation: 0,
  };
}
