/** The tables `briefs`, `plans`, `tasks` and `task_gates`: what a turn is for and what a verifier settles. */
import type { Database } from "bun:sqlite";
import type { GateRow, TaskRow, TaskTable } from "../core/contract/repository.ts";

export function taskTable(db: Database): TaskTable {
  return {
    find: (id) =>
      db
        .query<TaskRow, { id: number }>(
          `SELECT tasks.id, tasks.plan_id, plans.brief_id, tasks.status, tasks.goal
           FROM tasks JOIN plans ON plans.id = tasks.plan_id WHERE tasks.id = $id`,
        )
        .get({ id }),
    listGates: (taskId) =>
      db
        .query<GateRow, { id: number }>(
          `SELECT id, task_id, verification_type, evidence_type, evidence_shape, artifact_path, status
           FROM task_gates WHERE task_id = $id ORDER BY id`,
        )
        .all({ id: taskId }),
    briefExists: (id) => db.query<unknown, { id: number }>("SELECT 1 FROM briefs WHERE id = $id").get({ id }) !== null,
    planExists: (id) => db.query<unknown, { id: number }>("SELECT 1 FROM plans WHERE id = $id").get({ id }) !== null,
  };
}
