/**
 * The table `jobs` of a node's own database. It shares no file with the editor's store: a busy node never makes a turn
 * wait. One process has it open, so a statement never waits for another.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { WritError } from "../core/error.ts";
import type { StoredJob } from "../core/node/job.ts";
import type { JobQueue } from "../core/node/queue.ts";
import first from "./node-migrations/0001-first.sql" with { type: "text" };
import { guarded, versionOf } from "./open.ts";

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
 * Errors: `store_failed`, `store_too_new`
 */
export function openJobQueue(path: string): OpenedQueue {
  return guarded(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    let movedTo: string | null = null;
    let db = tryOpen(path);
    if (db === null) {
      movedTo = moveAside(path);
      db = tryOpen(path);
    }
    if (db === null) throw new WritError("store_failed", `The store "${path}" cannot be used`, { path });
    return { queue: queueOn(db, path), movedTo };
  });
}

/** Null where the file is no database, or a damaged one. */
function tryOpen(path: string): Database | null {
  closeSync(openSync(path, "a", 0o600));
  const db = new Database(path, { readwrite: true, create: false, strict: true });
  try {
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

const COLUMNS = `seq, job_id, contract_sha256, seat, label, origin, deadline_sec, wall_sec, state, rev, restarts, reaped,
  age_ms, queued_ms, running_ms, ended_ms, error`;
/** With contract and result, which may be large. */
const WHOLE = `SELECT ${COLUMNS}, contract, result FROM jobs JOIN job_texts USING (seq)`;
const BRIEF = `SELECT ${COLUMNS}, NULL AS contract, NULL AS result FROM jobs`;
const OF_JOB = "seq = (SELECT seq FROM jobs WHERE job_id = $job_id)";

function queueOn(db: Database, path: string): JobQueue {
  const job = ({ reaped, ...row }: Row): StoredJob => ({ ...row, reaped: reaped === 1 });
  const changed = (sql: string, values: Record<string, string | number>) =>
    db.query<never, Record<string, string | number>>(sql).run(values).changes === 1;
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
  const find = (job_id: string) => {
    const row = db.query<Row, { job_id: string }>(`${WHOLE} WHERE job_id = $job_id`).get({ job_id });
    return row === null ? null : job(row);
  };
  const whole = <T>(work: () => T): T => guarded(path, () => db.transaction(work).immediate());
  return {
    find: (job_id) => guarded(path, () => find(job_id)),
    submit: (submission, maxQueue) =>
      whole(() => {
        if (find(submission.job_id) !== null) return "known";
        const { accepted, running } = counts();
        if (maxQueue >= 0 && accepted + running >= maxQueue) return "full";
        const { job_id, contract_sha256, contract_text, seat, label, origin, deadline_sec, contract } = submission;
        db.query<never, Record<string, string | number>>(
          `INSERT INTO jobs (job_id, contract_sha256, seat, label, origin, deadline_sec, wall_sec)
           VALUES ($job_id, $contract_sha256, $seat, $label, $origin, $deadline_sec, $wall_sec)`,
        ).run({ job_id, contract_sha256, seat, label, origin, deadline_sec, wall_sec: contract.timeout_sec });
        db.query<never, { contract: string }>(
          "INSERT INTO job_texts (seq, contract) VALUES (last_insert_rowid(), $contract)",
        ).run({ contract: contract_text });
        return "stored";
      }),
    waiting: (limit) =>
      guarded(path, () =>
        db
          .query<Row, { limit: number }>(`${WHOLE} WHERE state = 'accepted' ORDER BY at_head DESC, seq LIMIT $limit`)
          .all({ limit })
          .map(job),
      ),
    claim: (job_id) =>
      whole(() =>
        changed("UPDATE jobs SET state = 'running', rev = rev + 1 WHERE job_id = $job_id AND state = 'accepted'", {
          job_id,
        }),
      ),
    finish: (job_id, result) =>
      whole(() => {
        const isRunning = changed(
          "UPDATE jobs SET state = 'done', rev = rev + 1 WHERE job_id = $job_id AND state = 'running'",
          { job_id },
        );
        return isRunning && changed(`UPDATE job_texts SET result = $result WHERE ${OF_JOB}`, { job_id, result });
      }),
    fail: (job_id, error) =>
      whole(() =>
        changed(
          `UPDATE jobs SET state = 'error', error = $error, rev = rev + 1
           WHERE job_id = $job_id AND state = 'running'`,
          { job_id, error },
        ),
      ),
    cancel: (job_id, isReaped) =>
      whole(() =>
        changed(
          `UPDATE jobs SET state = 'canceled', reaped = $reaped, rev = rev + 1
           WHERE job_id = $job_id AND state = 'accepted'`,
          { job_id, reaped: isReaped ? 1 : 0 },
        ),
      ),
    release: (job_id) =>
      whole(() =>
        changed(
          `UPDATE jobs SET state = 'accepted', at_head = 1, rev = rev + 1
           WHERE job_id = $job_id AND state = 'running'`,
          { job_id },
        ),
      ),
    recover: (reruns, interrupted) =>
      whole(() => {
        db.run("UPDATE jobs SET restarts = restarts + 1, rev = rev + 1 WHERE state = 'running'");
        const worn = db
          .query<Row, { reruns: number }>(`${WHOLE} WHERE state = 'running' AND restarts > $reruns`)
          .all({ reruns });
        for (const row of worn) {
          const { job_id } = row;
          changed("UPDATE jobs SET state = 'done' WHERE job_id = $job_id", { job_id });
          changed(`UPDATE job_texts SET result = $result WHERE ${OF_JOB}`, { job_id, result: interrupted(job(row)) });
        }
        const requeued = db.run("UPDATE jobs SET state = 'accepted', at_head = 1 WHERE state = 'running'").changes;
        return { requeued, ended: worn.length };
      }),
    tick: (elapsed_ms) =>
      whole(() => {
        db.query<never, { elapsed: number }>(
          `UPDATE jobs SET
             age_ms = age_ms + $elapsed,
             queued_ms = queued_ms + CASE state WHEN 'accepted' THEN $elapsed ELSE 0 END,
             running_ms = running_ms + CASE state WHEN 'running' THEN $elapsed ELSE 0 END,
             ended_ms = ended_ms + CASE WHEN state IN ('done', 'error', 'canceled') THEN $elapsed ELSE 0 END`,
        ).run({ elapsed: Math.max(0, Math.round(elapsed_ms)) });
      }),
    expire: ({ job_ms, contract_ms }) =>
      whole(() => {
        const ended = "state IN ('done', 'error', 'canceled')";
        db.query<never, { most: number }>(
          `UPDATE job_texts SET contract = NULL
           WHERE contract IS NOT NULL AND seq IN (SELECT seq FROM jobs WHERE ${ended} AND ended_ms >= $most)`,
        ).run({ most: contract_ms });
        return db
          .query<never, { most: number }>(`DELETE FROM jobs WHERE ${ended} AND ended_ms >= $most`)
          .run({ most: job_ms }).changes;
      }),
    counts: () => guarded(path, counts),
    position: (job_id) =>
      guarded(
        path,
        () =>
          db
            .query<{ before: number }, { job_id: string }>(
              `SELECT count(*) AS before FROM jobs AS other, jobs AS this
               WHERE this.job_id = $job_id AND this.state = 'accepted' AND other.state = 'accepted'
                 AND (other.at_head > this.at_head OR (other.at_head = this.at_head AND other.seq < this.seq))`,
            )
            .get({ job_id })?.before ?? 0,
      ),
    recent: (limit) =>
      guarded(path, () =>
        db.query<Row, { limit: number }>(`${BRIEF} ORDER BY seq DESC LIMIT $limit`).all({ limit }).map(job),
      ),
    close: () => db.close(),
  };
}
