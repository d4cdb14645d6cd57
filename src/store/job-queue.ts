/**
 * The table `jobs` of a node's own database. It shares no file with the editor's store: a busy node never makes a turn
 * wait. One process has it open, so a statement never waits for another.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { WritError } from "../core/error.ts";
import type { StoredJob } from "../core/node/job.ts";
import type { JobQueue } from "../core/node/queue.ts";
import first from "./node-migrations/0001-first.sql" with { type: "text" };
import { guarded, versionOf } from "./open.ts";
import { makeRegular } from "./regular.ts";

/** In order; a file that has shipped is never edited. */
const MIGRATIONS: readonly string[] = [first];
/** A corrupt store is moved aside under the first of so many names that is free. */
const MOST_ASIDE = 1000;

export type OpenedQueue = {
  readonly queue: JobQueue;
  /** Where a store that could not be read was moved; null where none was. */
  readonly movedTo: string | null;
};

/**
 * Opens the store of a node, making it where it is missing. A corrupt one is moved aside and an empty one made.
 *
 * Errors: `store_failed`, `store_too_new`; `node_running` where another process has it open
 */
export function openJobQueue(path: string): OpenedQueue {
  try {
    return guarded(path, () => openAlone(path));
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "store_busy") throw error;
    throw new WritError(
      "node_running",
      `Another process has the store "${path}" open, and nodes share it with nobody`,
      {
        path,
        hint: "Stop that one first, or name another data folder with WRIT_DATA_DIR",
        cause: error,
      },
    );
  }
}

function openAlone(path: string): OpenedQueue {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let movedTo: string | null = null;
  let db = tryOpen(path);
  if (db === null) {
    movedTo = moveAside(path);
    db = tryOpen(path);
  }
  if (db === null) throw new WritError("store_failed", `The store "${path}" cannot be used`, { path });
  return { queue: queueOn(db, path), movedTo };
}

/** Null where the file is no database, or a damaged one. */
function tryOpen(path: string): Database | null {
  makeRegular(path);
  const db = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    // Nobody else may have it open: then no statement ever waits for another process, and the event loop with it.
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
    if (mode?.journal_mode !== "wal") db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = FULL");
    db.run("PRAGMA foreign_keys = ON");
    const check = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    if (check?.quick_check !== "ok") {
      db.close();
      return null;
    }
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    if (isDamage(error)) return null;
    throw error;
  }
}

function migrate(db: Database, path: string): void {
  const version = versionOf(db);
  if (version > MIGRATIONS.length) {
    const message = `The store "${path}" has layout ${version}; this writ knows ${MIGRATIONS.length}`;
    throw new WritError("store_too_new", message, { path, hint: "Use the writ that wrote it, or a newer one" });
  }
  if (version === MIGRATIONS.length) return;
  db.transaction(() => {
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^SQLITE_(NOTADB|CORRUPT)/.test(code);
}

function moveAside(path: string): string {
  for (let count = 1; count <= MOST_ASIDE; count += 1) {
    const aside = `${path}.corrupt-${count}`;
    if (existsSync(aside)) continue;
    renameSync(path, aside);
    for (const tail of ["-wal", "-shm"]) if (existsSync(path + tail)) renameSync(path + tail, aside + tail);
    return aside;
  }
  throw new WritError("store_failed", `"${path}" is damaged, and ${MOST_ASIDE} damaged ones lie beside it`, { path });
}

/** A row as SQLite gives it. */
type Row = Omit<StoredJob, "reaped"> & { readonly reaped: number };
type Values = Readonly<Record<string, string | number>>;

const COLUMNS = `seq, job_id, contract_sha256, seat, label, origin, deadline_sec, wall_sec, estimate_tokens, state, rev,
  restarts, reaped, accepted_ms, since_ms, queued_ms, running_ms, error`;
const LISTED = `SELECT ${COLUMNS}, NULL AS result FROM jobs`;
const WHOLE = `SELECT ${COLUMNS}, result FROM jobs JOIN job_texts USING (seq) WHERE job_id = $job_id`;

/** What every change of a state does to a row, by the state that is left. */
const LEAVING = {
  accepted: "rev = rev + 1, queued_ms = queued_ms + max(0, $now - since_ms), since_ms = $now",
  running: "rev = rev + 1, running_ms = running_ms + max(0, $now - since_ms), since_ms = $now",
} as const;
const CLAIM = `UPDATE jobs SET state = 'running', ${LEAVING.accepted}
  WHERE job_id = $job_id AND state = 'accepted'`;
const CANCEL = `UPDATE jobs SET state = 'canceled', reaped = $reaped, ${LEAVING.accepted}
  WHERE job_id = $job_id AND state = 'accepted'`;
const FINISH = `UPDATE jobs SET state = 'done', ${LEAVING.running} WHERE job_id = $job_id AND state = 'running'`;
const FAIL = `UPDATE jobs SET state = 'error', error = $error, ${LEAVING.running}
  WHERE job_id = $job_id AND state = 'running'`;
const RELEASE = `UPDATE jobs SET state = 'accepted', at_head = 1, ${LEAVING.running}
  WHERE job_id = $job_id AND state = 'running'`;
const KEEP_RESULT = `UPDATE job_texts SET result = $result
  WHERE seq = (SELECT seq FROM jobs WHERE job_id = $job_id)`;
const ENDED = "state IN ('done', 'error', 'canceled')";

function queueOn(db: Database, path: string): JobQueue {
  const job = ({ reaped, ...row }: Row): StoredJob => ({ ...row, reaped: reaped === 1 });
  const run = (sql: string, values: Values) => db.query<never, Values>(sql).run(values).changes;
  const jobs = (sql: string, values: Values = {}) => db.query<Row, Values>(sql).all(values).map(job);
  const find = (job_id: string) => jobs(WHOLE, { job_id })[0] ?? null;
  const counts = () => {
    const row = db
      .query<{ accepted: number; running: number }, []>(
        `SELECT count(*) FILTER (WHERE state = 'accepted') AS accepted,
           count(*) FILTER (WHERE state = 'running') AS running
         FROM jobs WHERE state IN ('accepted', 'running')`,
      )
      .get();
    return row ?? { accepted: 0, running: 0 };
  };
  /** One transaction has one time, and keeps it. */
  const change = <T>(now_ms: number, work: (now: number) => T): T =>
    guarded(path, () =>
      db
        .transaction(() => {
          const now = Math.max(0, Math.round(now_ms));
          const result = work(now);
          run("UPDATE served SET ms = max(ms, $now)", { now });
          return result;
        })
        .immediate(),
    );
  return {
    servedMs: () =>
      guarded(path, () => db.query<{ ms: number }, []>("SELECT ms FROM served WHERE id = 1").get()?.ms ?? 0),
    find: (job_id) => guarded(path, () => find(job_id)),
    contract: (job_id) =>
      guarded(path, () => {
        const sql = "SELECT contract FROM jobs JOIN job_texts USING (seq) WHERE job_id = $job_id";
        return db.query<{ contract: string | null }, Values>(sql).get({ job_id })?.contract ?? null;
      }),
    submit: (submission, maxQueue, now_ms) =>
      change(now_ms, (now) => {
        const { contract, contract_text, ...said } = submission;
        if (find(said.job_id) !== null) return "known";
        const { accepted, running } = counts();
        if (maxQueue >= 0 && accepted + running >= maxQueue) return "full";
        run(
          `INSERT INTO jobs (job_id, contract_sha256, seat, label, origin, deadline_sec, wall_sec, estimate_tokens,
             accepted_ms, since_ms)
           VALUES ($job_id, $contract_sha256, $seat, $label, $origin, $deadline_sec, $wall_sec, $estimate_tokens,
             $now, $now)`,
          { ...said, wall_sec: contract.timeout_sec, now },
        );
        run("INSERT INTO job_texts (seq, contract) VALUES (last_insert_rowid(), $contract_text)", { contract_text });
        return "stored";
      }),
    waiting: () => guarded(path, () => jobs(`${LISTED} WHERE state = 'accepted' ORDER BY at_head DESC, seq`)),
    claim: (job_id, now_ms) => change(now_ms, (now) => run(CLAIM, { job_id, now }) === 1),
    finish: (job_id, result, now_ms) =>
      change(now_ms, (now) => run(FINISH, { job_id, now }) === 1 && run(KEEP_RESULT, { job_id, result }) === 1),
    fail: (job_id, error, now_ms) => change(now_ms, (now) => run(FAIL, { job_id, error, now }) === 1),
    cancel: (job_id, isReaped, now_ms) =>
      change(now_ms, (now) => run(CANCEL, { job_id, reaped: isReaped ? 1 : 0, now }) === 1),
    release: (job_id, now_ms) => change(now_ms, (now) => run(RELEASE, { job_id, now }) === 1),
    recover: (reruns, interrupted, now_ms) =>
      change(now_ms, (now) => {
        db.run("UPDATE jobs SET restarts = restarts + 1 WHERE state = 'running'");
        const ran = jobs(`${LISTED} WHERE state = 'running'`);
        for (const row of ran) {
          const { job_id, restarts } = row;
          run(restarts > reruns ? FINISH : RELEASE, { job_id, now });
          if (restarts > reruns) run(KEEP_RESULT, { job_id, result: interrupted(row) });
        }
        const ended = ran.filter(({ restarts }) => restarts > reruns).length;
        return { requeued: ran.length - ended, ended };
      }),
    tick: (now_ms) => change(now_ms, () => {}),
    expire: ({ job_ms, contract_ms }, now_ms) =>
      change(now_ms, (now) => {
        run(
          `UPDATE job_texts SET contract = NULL
           WHERE contract IS NOT NULL AND seq IN (SELECT seq FROM jobs WHERE ${ENDED} AND since_ms <= $before)`,
          { before: now - contract_ms },
        );
        return run(`DELETE FROM jobs WHERE ${ENDED} AND since_ms <= $before`, { before: now - job_ms });
      }),
    counts: () => guarded(path, counts),
    position: (job_id) =>
      guarded(
        path,
        () =>
          db
            .query<{ before: number }, Values>(
              `SELECT count(*) AS before FROM jobs AS other, jobs AS this
               WHERE this.job_id = $job_id AND this.state = 'accepted' AND other.state = 'accepted'
                 AND (other.at_head > this.at_head OR (other.at_head = this.at_head AND other.seq < this.seq))`,
            )
            .get({ job_id })?.before ?? 0,
      ),
    recent: (limit) => guarded(path, () => jobs(`${LISTED} ORDER BY seq DESC LIMIT $limit`, { limit })),
    close: () => db.close(),
  };
}
