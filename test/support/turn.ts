/** Turns in a scripted world: born, worked on, closed; and what a refusal must leave as it was. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HandoffRow, JournalChange } from "../../src/core/contract/repository.ts";
import { WritError } from "../../src/core/error.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import type { Capture } from "../../src/core/record/tool-record.ts";
import { type Dispatch, dispatchTurn } from "../../src/editor/dispatch.ts";
import { mutateDraft } from "../../src/editor/edit.ts";
import { type CloseRequest, type Closing, finalizeContract } from "../../src/editor/finalize.ts";
import type { Address } from "../../src/editor/target.ts";
import type { Written } from "../../src/editor/write.ts";
import { keepRun } from "../../src/record/keep.ts";
import type { ScriptedWorld } from "./world.ts";

const DISPATCH: Dispatch = {
  agent: "backend-dev",
  goal: null,
  workspace: "me",
  project: null,
  role: null,
  surface: null,
  kind: null,
  plan_task_id: null,
  plan_id: null,
  parent_handoff_id: null,
  brief_id: null,
  session_id: null,
  harness_agent_id: null,
  can_read: null,
  can_write: null,
  consolidation: false,
};

export function dispatch(world: ScriptedWorld, more: Partial<Dispatch> = {}) {
  return dispatchTurn(world, { ...DISPATCH, ...more });
}

/** Dispatches a turn and answers its contract id. */
export function born(world: ScriptedWorld, more: Partial<Dispatch> = {}): string {
  return dispatch(world, more).contract_id;
}

export function at(draftId: string | null): Address {
  return { draft_id: draftId, agent_id: null };
}

export function set(world: ScriptedWorld, draftId: string, field: string, value: JsonValue): Written {
  return mutateDraft(world, at(draftId), { verb: "set", field, value });
}

export function add(world: ScriptedWorld, draftId: string, field: string, value: JsonValue): Written {
  return mutateDraft(world, at(draftId), { verb: "add", field, value });
}

export function fill(world: ScriptedWorld, draftId: string, patch: JsonValue): Written {
  return mutateDraft(world, at(draftId), { verb: "fill", patch });
}

export function finalize(world: ScriptedWorld, draftId: string | null, more: Partial<CloseRequest> = {}): Closing {
  const request = { workspace: null, session_id: null, plan_task_id: null, strict: false };
  return finalizeContract(world, { address: at(draftId), ...request, ...more });
}

/** The patch that makes a draft ready to close in a state; `COMPLETE` with a self review, so that nothing was run. */
export function closing(state: string, more: JsonObject = {}): JsonObject {
  const isComplete = state === "COMPLETE";
  const patch = {
    agent_status: { agent_state: state, next_action: isComplete ? "done" : "wait" },
    conclusion: "It holds.",
  };
  const verification = { type: "self_review", reviewed: "the diff", result: "pass" };
  return { ...patch, ...(isComplete ? { evidence_report: { verification } } : {}), ...more };
}

/** A contract that was dispatched and closed. */
export function closed(world: ScriptedWorld, state = "BLOCKED", more: Partial<Dispatch> = {}): string {
  const id = born(world, more);
  fill(world, id, closing(state));
  finalize(world, id);
  return id;
}

export function capture(command: string, more: Partial<Capture> = {}): Capture {
  return {
    source: "run",
    harness: null,
    tool: "bash",
    tool_use_id: null,
    command,
    argv: null,
    path: null,
    cwd: "/work",
    exit_code: 0,
    signal: null,
    failed: false,
    exit_note: null,
    started_at: null,
    ended_at: "2026-01-01T00:00:00Z",
    output: "3 pass\n",
    tail: null,
    output_bytes: 7,
    output_sha256: null,
    truncated: false,
    ordered: true,
    ...more,
  };
}

export function ran(world: ScriptedWorld, contractId: string, command: string, more: Partial<Capture> = {}): void {
  keepRun(world, contractId, capture(command, more));
}

export function rowOf(world: ScriptedWorld, contractId: string): HandoffRow {
  const row = world.store.read((tables) => tables.handoffs.find(contractId));
  if (row === null) throw new Error(`there is no row of ${contractId}`);
  return row;
}

export function rowJson(world: ScriptedWorld, contractId: string): JsonObject {
  return JSON.parse(rowOf(world, contractId).raw_handoff_json) as JsonObject;
}

export function journalOf(world: ScriptedWorld, contractId: string): readonly JournalChange[] {
  return world.store.read((tables) => tables.journal.list(contractId));
}

export function verbsOf(world: ScriptedWorld, contractId: string): readonly string[] {
  return journalOf(world, contractId).map((change) => change.verb);
}

export function fileOf(world: ScriptedWorld, draftId: string): string {
  return join(world.draftsPath, `${draftId}.json`);
}

export function draftOf(world: ScriptedWorld, draftId: string): JsonObject {
  return JSON.parse(readFileSync(fileOf(world, draftId), "utf8")) as JsonObject;
}

/** All that a world holds: each row of each table with all its columns, each file with its text. */
export function everything(world: ScriptedWorld): { readonly tables: JsonObject; readonly files: JsonObject } {
  const names = world.sql<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return {
    tables: Object.fromEntries(names.map(({ name }) => [name, world.sql<JsonObject>(`SELECT * FROM "${name}"`)])),
    files: Object.fromEntries(filesIn(world).map((name) => [name, readFileSync(join(world.draftsPath, name), "utf8")])),
  };
}

/** The names in the folder of drafts, hidden ones too, but for housekeeping's own mark. */
export function filesIn(world: ScriptedWorld): readonly string[] {
  if (!existsSync(world.draftsPath)) return [];
  return readdirSync(world.draftsPath)
    .filter((name) => name !== ".swept")
    .sort();
}

/** The error that an act is refused with. */
export function refusalOf(act: () => unknown): WritError {
  try {
    act();
  } catch (error) {
    if (error instanceof WritError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** The same, for a refusal that must leave draft, rows and journal as they were. */
export function cleanRefusalOf(world: ScriptedWorld, act: () => unknown): WritError {
  const before = everything(world);
  const error = refusalOf(act);
  const after = everything(world);
  for (const part of ["tables", "files"] as const) {
    for (const name of new Set([...Object.keys(before[part]), ...Object.keys(after[part])])) {
      const [was, is] = [before[part][name], after[part][name]];
      if (Bun.deepEquals(was, is, true)) continue;
      throw new Error(`${error.code} changed ${part} ${name}: ${JSON.stringify(was)}\nto ${JSON.stringify(is)}`);
    }
  }
  return error;
}

/** A brief with a plan of one task, made by hand; the ids of the brief and of the task. */
export function task(world: ScriptedWorld, name: string, status = "pending"): { brief_id: number; task_id: number } {
  world.sql("INSERT INTO workspaces (name, created_at) VALUES ('me', '') ON CONFLICT DO NOTHING");
  const [brief] = world.sql<{ id: number }>(
    "INSERT INTO briefs (workspace, name, created_at) VALUES ('me', ?, '') RETURNING id",
    name,
  );
  const brief_id = brief?.id ?? 0;
  const [plan] = world.sql<{ id: number }>(
    "INSERT INTO plans (brief_id, created_at) VALUES (?, '') RETURNING id",
    brief_id,
  );
  const [made] = world.sql<{ id: number }>(
    "INSERT INTO tasks (plan_id, order_num, status) VALUES (?, 1, ?) RETURNING id",
    plan?.id ?? 0,
    status,
  );
  return { brief_id, task_id: made?.id ?? 0 };
}

export function evidence(
  world: ScriptedWorld,
  briefId: number,
  more: { task_id?: number; polarity?: string } = {},
): number {
  const [row] = world.sql<{ id: number }>(
    `INSERT INTO evidence (brief_id, ac_id, task_id, type, polarity, text, created_at)
     VALUES (?, 'AC-1', ?, 'text', ?, 'seen', '') RETURNING id`,
    briefId,
    more.task_id ?? null,
    more.polarity ?? "positive",
  );
  return row?.id ?? 0;
}
