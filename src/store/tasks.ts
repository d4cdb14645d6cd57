/** The tables `briefs`, `plans`, `tasks` and `task_gates`: what a turn is for and what a verifier settles. */
import type { Database } from "bun:sqlite";
import type { Actor, BriefRow, GateRow, NewGate, TaskRow, TaskTable } from "../core/task/repository.ts";

const TASKS = `
  SELECT tasks.id, tasks.plan_id, plans.brief_id, tasks.order_num, tasks.status, tasks.goal
  FROM tasks JOIN plans ON plans.id = tasks.plan_id`;

const GATE_COLUMNS = `id, task_id, verification_type, evidence_type, evidence_shape, artifact_path, status,
  settled_by_handoff_id, settled_at`;

type Settled = Parameters<TaskTable["settleGate"]>[1];

export function taskTable(db: Database): TaskTable {
  const find = (id: number) => db.query<TaskRow, { id: number }>(`${TASKS} WHERE tasks.id = $id`).get({ id });
  return {
    find,
    listGates: (taskId) =>
      db
        .query<GateRow, { id: number }>(`SELECT ${GATE_COLUMNS} FROM task_gates WHERE task_id = $id ORDER BY id`)
        .all({ id: taskId }),
    briefExists: (id) => db.query<unknown, { id: number }>("SELECT 1 FROM briefs WHERE id = $id").get({ id }) !== null,
    planExists: (id) => db.query<unknown, { id: number }>("SELECT 1 FROM plans WHERE id = $id").get({ id }) !== null,

    findBrief: (workspace, name) =>
      db
        .query<BriefRow, { workspace: string; name: string }>(
          "SELECT * FROM briefs WHERE workspace = $workspace AND name = $name",
        )
        .get({ workspace, name }),
    listBriefs: (workspace) =>
      db
        .query<BriefRow, { workspace: string | null }>(
          "SELECT * FROM briefs WHERE $workspace IS NULL OR workspace = $workspace ORDER BY id",
        )
        .all({ workspace }),
    insertBrief: (brief) =>
      db
        .query<BriefRow, Pick<BriefRow, "workspace" | "name" | "created_at">>(
          `INSERT INTO briefs (workspace, name, created_at) VALUES ($workspace, $name, $created_at)
           ON CONFLICT (workspace, name) DO NOTHING RETURNING *`,
        )
        .get({ ...brief }),
    list: (briefId) =>
      db
        .query<TaskRow, { brief: number }>(`${TASKS} WHERE plans.brief_id = $brief ORDER BY tasks.order_num`)
        .all({ brief: briefId }),
    insert(briefId, goal, at) {
      db.query<never, { brief: number; at: string }>(
        "INSERT INTO plans (brief_id, created_at) VALUES ($brief, $at) ON CONFLICT (brief_id) DO NOTHING",
      ).run({ brief: briefId, at });
      // The write lock is held, so the next place in the plan is known.
      const made = db
        .query<{ id: number }, { brief: number; goal: string }>(
          `INSERT INTO tasks (plan_id, order_num, goal)
           SELECT plans.id, (SELECT COALESCE(MAX(order_num), 0) + 1 FROM tasks WHERE plan_id = plans.id), $goal
           FROM plans WHERE plans.brief_id = $brief RETURNING id`,
        )
        .get({ brief: briefId, goal });
      const task = made === null ? null : find(made.id);
      if (task === null) throw new Error("A task is missing after its insert");
      return task;
    },
    setStatus: (id, status) => {
      db.query<never, { id: number; status: string }>("UPDATE tasks SET status = $status WHERE id = $id").run({
        id,
        status,
      });
    },

    findGate: (id) =>
      db.query<GateRow, { id: number }>(`SELECT ${GATE_COLUMNS} FROM task_gates WHERE id = $id`).get({ id }),
    insertGate(gate) {
      const made = db
        .query<GateRow, NewGate>(
          `INSERT INTO task_gates (task_id, verification_type, evidence_type, evidence_shape, artifact_path)
           VALUES ($task_id, $verification_type, $evidence_type, $evidence_shape, $artifact_path)
           RETURNING ${GATE_COLUMNS}`,
        )
        .get({ ...gate });
      if (made === null) throw new Error("A gate is missing after its insert");
      return made;
    },
    settleGate: (id, settled) => {
      db.query<never, Settled & { id: number }>(
        `UPDATE task_gates SET status = $status, settled_by_handoff_id = $settled_by_handoff_id,
           settled_at = $settled_at WHERE id = $id`,
      ).run({ ...settled, id });
    },
    hasProducer: (taskId, actor) =>
      db
        .query<{ found: number }, Actor & { task: number }>(
          `SELECT 1 AS found FROM handoffs
           WHERE plan_task_id = $task AND (agent_id = $agent_id OR agent_name = $agent_name) LIMIT 1`,
        )
        .get({ ...actor, task: taskId }) !== null,
  };
}
