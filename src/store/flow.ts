/**
 * The flow store: one database a worktree, in its git folder. It shares no file with the editor's store or a node's, and
 * none ever waits for another.
 *
 * A call opens it, does one thing and closes it: what a flow says is read anew each time.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { WritError } from "../core/error.ts";
import { parseJson } from "../core/json/parse.ts";
import { type Flow, flowText, INITIAL_FLOW } from "../core/tracker/flow.ts";
import { PHASE_NAMES, PHASE_STATUSES, type Phase } from "../core/tracker/phase.ts";
import type { ArchivedFlow, FlowChange, FlowRecord, FlowStore, HandoffMark } from "../core/tracker/repository.ts";
import { TASK_STATUSES } from "../core/tracker/task.ts";
import first from "./flow-migrations/0001-first.sql" with { type: "text" };
import { guarded, isThere, versionOf } from "./open.ts";

/** In order; a file that has shipped is never edited. */
const MIGRATIONS: readonly string[] = [first];
const BUSY_TIMEOUT_MS = 10_000;
/** A flow is small; what is larger was not written by writ. */
const ROWS_READ = 100_000;

const INITIAL: FlowRecord = { flow: INITIAL_FLOW, mark: null };

/**
 * The store at a path, whether or not there is one yet.
 *
 * @param waitMs how long a locked store is waited for
 */
export function flowStore(path: string, waitMs = BUSY_TIMEOUT_MS): FlowStore {
  const within = <T>(work: (db: Database) => T) => withDatabase(path, waitMs, work);
  return {
    path,
    read: () => (isThere(path) ? within((db) => db.transaction(() => readRecord(db, path)).deferred()) : INITIAL),
    write: (decide) => {
      if (!isThere(path)) {
        const change = decide(INITIAL);
        // A refusal makes no store.
        if (change.record === null) return change.value;
        guarded(path, () => makeFile(path), NAMES);
      }
      return within((db) => db.transaction(() => applyChange(db, decide(readRecord(db, path)))).immediate());
    },
    archived: () => (isThere(path) ? within((db) => readArchive(db, path)) : []),
  };
}

const NAMES = { file: "--store or WRIT_STORE", folder: "--store or WRIT_STORE" };

function withDatabase<T>(path: string, waitMs: number, work: (db: Database) => T): T {
  try {
    return guarded(
      path,
      () => {
        const db = new Database(path, { readwrite: true, create: false, strict: true });
        try {
          prepare(db, path, waitMs);
          return work(db);
        } finally {
          db.close();
        }
      },
      NAMES,
    );
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "store_busy") throw error;
    throw new WritError("store_busy", `store is locked: ${path}`, { path, cause: error });
  }
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

function prepare(db: Database, path: string, waitMs: number): void {
  db.run(`PRAGMA busy_timeout = ${waitMs}`);
  const version = versionOf(db);
  // Before anything is written: a newer store stays as it is.
  checkVersion(version, path);
  const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  if (mode?.journal_mode !== "wal") db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  if (version === MIGRATIONS.length) return;
  // IMMEDIATE, and the version read again inside: of two processes that make the store, one does.
  db.transaction(() => {
    const present = versionOf(db);
    checkVersion(present, path);
    for (const migration of MIGRATIONS.slice(present)) db.exec(migration);
    db.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function checkVersion(version: number, path: string): void {
  if (version <= MIGRATIONS.length) return;
  const message = `The store "${path}" has layout ${version}; this writ knows ${MIGRATIONS.length}`;
  throw new WritError("store_too_new", message, { path, hint: "Use the writ that wrote it, or a newer one" });
}

const FlowRow = v.object({
  armed: v.picklist([0, 1]),
  reviewed: v.picklist([0, 1]),
  plan_path: v.nullable(v.string()),
  plan_sha256: v.nullable(v.string()),
  spec_path: v.nullable(v.string()),
  spec_sha256: v.nullable(v.string()),
});
const PhaseRow = v.object({
  name: v.picklist(PHASE_NAMES),
  status: v.picklist(PHASE_STATUSES),
  reason: v.nullable(v.string()),
  substep: v.nullable(v.string()),
});
const TaskRow = v.object({ name: v.string(), status: v.picklist(TASK_STATUSES) });
const StoredFlow = v.object({
  phases: v.pipe(
    v.array(
      v.object({
        name: v.picklist(PHASE_NAMES),
        status: v.picklist(PHASE_STATUSES),
        reason: v.exactOptional(v.string()),
        substep: v.exactOptional(v.string()),
      }),
    ),
    v.length(PHASE_NAMES.length),
  ),
  armed: v.boolean(),
  reviewed: v.boolean(),
  stamp: v.nullable(
    v.object({ plan_path: v.string(), plan_sha256: v.string(), spec_path: v.string(), spec_sha256: v.string() }),
  ),
  tasks: v.array(TaskRow),
});

function readRecord(db: Database, path: string): FlowRecord {
  const row = db.query("SELECT armed, reviewed, plan_path, plan_sha256, spec_path, spec_sha256 FROM flow").get();
  if (row === null) return INITIAL;
  const flow = parsed(FlowRow, row, path);
  const phases = db
    .query("SELECT name, status, reason, substep FROM phases")
    .all()
    .map((each) => phaseOf(parsed(PhaseRow, each, path)));
  const tasks = db
    .query("SELECT name, status FROM tasks ORDER BY place LIMIT $limit")
    .all({ limit: ROWS_READ })
    .map((each) => parsed(TaskRow, each, path));
  const { plan_path, plan_sha256, spec_path, spec_sha256 } = flow;
  const isStamped = plan_path !== null && plan_sha256 !== null && spec_path !== null && spec_sha256 !== null;
  return {
    flow: {
      phases: PHASE_NAMES.map((name) => phases.find((phase) => phase.name === name) ?? { name, status: "pending" }),
      armed: flow.armed === 1,
      reviewed: flow.reviewed === 1,
      stamp: isStamped ? { plan_path, plan_sha256, spec_path, spec_sha256 } : null,
      tasks,
    },
    mark: db.query<HandoffMark, []>("SELECT state_sha256, brief_path, block_sha256, at FROM mark").get(),
  };
}

function phaseOf({ name, status, reason, substep }: v.InferOutput<typeof PhaseRow>): Phase {
  return { name, status, ...(reason === null ? {} : { reason }), ...(substep === null ? {} : { substep }) };
}

function applyChange<T>(db: Database, { record, archive, value }: FlowChange<T>): T {
  if (record === null) return value;
  if (archive !== undefined) {
    db.query("INSERT INTO archive (at, brief_path, flow) VALUES ($at, $brief_path, $flow)").run({
      at: archive.at,
      brief_path: archive.brief_path,
      flow: flowText(archive.flow),
    });
  }
  writeFlow(db, record.flow);
  db.run("DELETE FROM mark");
  if (record.mark !== null) {
    const { state_sha256, brief_path, block_sha256, at } = record.mark;
    db.query(
      `INSERT INTO mark (id, state_sha256, brief_path, block_sha256, at)
       VALUES (1, $state_sha256, $brief_path, $block_sha256, $at)`,
    ).run({ state_sha256, brief_path, block_sha256, at });
  }
  return value;
}

/** The whole flow anew: it is a few rows, and what is not written cannot be left over. */
function writeFlow(db: Database, { armed, reviewed, stamp, phases, tasks }: Flow): void {
  db.query(
    `INSERT OR REPLACE INTO flow (id, armed, reviewed, plan_path, plan_sha256, spec_path, spec_sha256)
     VALUES (1, $armed, $reviewed, $plan_path, $plan_sha256, $spec_path, $spec_sha256)`,
  ).run({
    armed: armed ? 1 : 0,
    reviewed: reviewed ? 1 : 0,
    plan_path: stamp?.plan_path ?? null,
    plan_sha256: stamp?.plan_sha256 ?? null,
    spec_path: stamp?.spec_path ?? null,
    spec_sha256: stamp?.spec_sha256 ?? null,
  });
  db.run("DELETE FROM phases");
  const phase = db.query(
    "INSERT INTO phases (name, status, reason, substep) VALUES ($name, $status, $reason, $substep)",
  );
  for (const { name, status, reason, substep } of phases) {
    phase.run({ name, status, reason: reason ?? null, substep: substep ?? null });
  }
  db.run("DELETE FROM tasks");
  const task = db.query("INSERT INTO tasks (place, name, status) VALUES ($place, $name, $status)");
  for (const [place, { name, status }] of tasks.entries()) task.run({ place, name, status });
}

function readArchive(db: Database, path: string): readonly ArchivedFlow[] {
  const rows = db
    .query<{ at: string; brief_path: string | null; flow: string }, { limit: number }>(
      "SELECT at, brief_path, flow FROM archive ORDER BY seq DESC LIMIT $limit",
    )
    .all({ limit: ROWS_READ });
  return rows.map(({ at, brief_path, flow }) => {
    const read = parseJson(flow);
    if (!read.ok) throw damaged(path);
    return { at, brief_path, flow: parsed(StoredFlow, read.value, path) };
  });
}

function parsed<S extends v.GenericSchema>(schema: S, row: unknown, path: string): v.InferOutput<S> {
  const read = v.safeParse(schema, row);
  if (read.success) return read.output;
  throw damaged(path);
}

function damaged(path: string): WritError {
  return new WritError("store_failed", `The store "${path}" holds what no writ wrote`, {
    path,
    hint: "Move the file away: writ phase status then begins anew",
  });
}
