/**
 * The only way into the editor's store: `openStore`, and its twin for verbs that only read.
 *
 * SQLite gives up at once on a locked file and leaves foreign keys unchecked unless each connection is told
 * otherwise; both are told here, before any other statement.
 */
import { constants, Database } from "bun:sqlite";
import {
  accessSync,
  closeSync,
  copyFileSync,
  existsSync,
  constants as fsConstants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ContractStore, Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";
import { approvalTable } from "./approvals.ts";
import { contextTable } from "./context.ts";
import { evidenceTable } from "./evidence.ts";
import { handoffTable } from "./handoffs.ts";
import { journalTable } from "./journal.ts";
import first from "./migrations/0001-first.sql" with { type: "text" };
import sendBacks from "./migrations/0002-send-backs.sql" with { type: "text" };
import { proposalTable } from "./proposals.ts";
import { recordTable } from "./records.ts";
import { assertRegular } from "./regular.ts";
import { sendBackTable } from "./send-backs.ts";
import { taskTable } from "./tasks.ts";
import { workspaceTable } from "./workspaces.ts";

/** In order; a file that has shipped is never edited. */
const MIGRATIONS: readonly string[] = [first, sendBacks];

/** The layout that this writ makes and reads: the `user_version` of the database. */
export const LAYOUT = MIGRATIONS.length;

/** How long a locked store is waited for, by SQLite and then by us, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
const STORE_WAIT_MS = 30_000;

/** Pages of the log after which a commit merges it into the database: what a process that opens the store reads. */
const LOG_PAGES = 250;

/** Opens the store at `path`, making file, folder and tables where they are missing. */
export function openStore(path: string): ContractStore {
  return guarded(path, () => {
    makeFile(path);
    return storeOn(openPrepared(path), path);
  });
}

function openPrepared(path: string): Database {
  const db = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    prepare(db, path);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/**
 * Opens an existing store for a verb that only reads; null when there is none: reading never makes one.
 * On a medium that cannot be written, where a WAL database does not open, the file is read as it lies.
 */
export function openStoreToRead(path: string): ContractStore | null {
  if (!isThere(path)) return null;
  if (isWritable(path)) return openStore(path);
  return guarded(path, () => readAside(path));
}

/**
 * A store on a medium that cannot be written, where a WAL database does not open: the file as it lies, or, when it has
 * writes that are not merged yet, a copy of both files in a folder of our own.
 */
function readAside(path: string): ContractStore {
  const { db, close } = openAside(path);
  return { ...storeOn(db, path), close, leave: close };
}

/** The database of `readAside`; `close` closes it and takes the copy away. */
export function openAside(path: string): { readonly db: Database; close(): void } {
  // Opened to read, a pipe would wait for whoever writes to it.
  assertRegular(path, statSync(path, { throwIfNoEntry: false }));
  const log = `${path}-wal`;
  if (!existsSync(log) || statSync(log).size === 0) {
    const uri = `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;
    const db = new Database(uri, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
    checkVersion(versionOf(db), path);
    return { db, close: () => db.close() };
  }
  sweepCopies();
  const folder = mkdtempSync(join(tmpdir(), "writ-read-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, "writ.db");
    copyFileSync(path, copy);
    copyFileSync(log, `${copy}-wal`);
    const db = openPrepared(copy);
    const close = () => {
      db.close();
      remove();
    };
    return { db, close };
  } catch (error) {
    remove();
    throw error;
  }
}

/** How old a copy must be before it counts as a killed process's, in milliseconds. */
const LEFTOVER_MS = 60 * 60 * 1000;

/** Removes the copies that killed processes of this user left. What cannot be removed is no concern of this read. */
function sweepCopies(): void {
  try {
    for (const name of readdirSync(tmpdir()).filter((each) => /^writ-read-[^-]{6}$/.test(each))) {
      const path = join(tmpdir(), name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      const isOurs = stat?.isDirectory() === true && (process.getuid === undefined || stat.uid === process.getuid());
      // Of a time to come, too: the clock was ahead then.
      if (isOurs && Math.abs(Date.now() - stat.mtimeMs) > LEFTOVER_MS) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // somebody else removed it first, or the folder may not be listed
  }
}

/** A folder that cannot be looked into is no folder without a store. Errors: `store_failed`. */
export function isThere(path: string): boolean {
  return guarded(path, () => {
    try {
      return statSync(path, { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      if (codeOf(error) === "ENOTDIR") return false; // below a file: there is nothing
      throw error;
    }
  });
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, fsConstants.R_OK | fsConstants.W_OK);
    accessSync(dirname(path), fsConstants.W_OK);
    return true;
  } catch {
    return false; // whichever of the two it was: SQLite needs both
  }
}

/** The file and its folder, for the owner alone: excerpts may hold what is nobody else's business. */
function makeFile(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

export function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/** Errors: `store_too_new`. */
export function checkVersion(version: number, path: string): void {
  if (version <= MIGRATIONS.length) return;
  throw new WritError(
    "store_too_new",
    `The store "${path}" has layout ${version}; this writ knows ${MIGRATIONS.length}`,
    {
      path,
      hint: "Use the writ that wrote it, or a newer one",
    },
  );
}

function prepare(db: Database, path: string): void {
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  checkVersion(versionOf(db), path); // before the mode is set: a newer store is not written
  const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  if (mode?.journal_mode !== "wal") db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA foreign_keys = ON");
  db.run("PRAGMA synchronous = FULL");
  db.run(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
  if (versionOf(db) === MIGRATIONS.length) return;
  // IMMEDIATE, and the version read again inside: of two processes that open a new store, one makes it.
  db.transaction(() => {
    const version = versionOf(db);
    checkVersion(version, path);
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function storeOn(db: Database, path: string): ContractStore {
  const tables: Tables = {
    handoffs: handoffTable(db),
    journal: journalTable(db),
    records: recordTable(db),
    sendBacks: sendBackTable(db),
    tasks: taskTable(db),
    workspaces: workspaceTable(db),
    approvals: approvalTable(db),
    evidence: evidenceTable(db),
    context: contextTable(db),
    proposals: proposalTable(db),
    nested: (unit) => guarded(path, () => db.transaction(unit)()),
  };
  return {
    write: (unit) =>
      guarded(path, () => {
        const began = Date.now();
        for (;;) {
          try {
            return db.transaction(() => unit(tables)).immediate();
          } catch (error) {
            if (!isBusy(error) || Date.now() - began >= STORE_WAIT_MS) throw error;
          }
        }
      }),
    read: (unit) => guarded(path, () => db.transaction(() => unit(tables)).deferred()),
    close: () => db.close(),
    leave: () => {},
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** With what another file, and another folder for it, are named. */
export type StoreNames = { readonly file: string; readonly folder: string };
const USUAL_NAMES: StoreNames = { file: "WRIT_DB", folder: "WRIT_DATA_DIR" };

/** Driver and file codes become ours in this one place. */
export function guarded<T>(path: string, act: () => T, names: StoreNames = USUAL_NAMES): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof WritError) throw error;
    const code = codeOf(error);
    if (isBusy(error)) {
      throw new WritError(
        "store_busy",
        `The store "${path}" stayed locked for ${STORE_WAIT_MS / 1000} seconds; nothing was written`,
        {
          path,
          hint: "Try again; if it stays so, look for a process that holds the file open",
          cause: error,
        },
      );
    }
    if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT|PERM|PROTOCOL)/.test(code) || /^E[A-Z]+$/.test(code)) {
      const reason = code.startsWith("SQLITE_") && error instanceof Error ? error.message : writeFault(error);
      throw new WritError("store_failed", `The store "${path}" cannot be used: ${reason}; nothing was written`, {
        path,
        hint: hintOf(path, code, names),
        cause: error,
      });
    }
    throw error;
  }
}

function hintOf(path: string, code: string, { file, folder }: StoreNames): string | null {
  if (isNoFile(path)) return `It is no regular file: move it away, or name another with ${file}`;
  if (/^(?:SQLITE_FULL|SQLITE_IOERR|ENOSPC)/.test(code)) return "Free some space on its disk and repeat the command";
  if (/^(?:SQLITE_READONLY|SQLITE_CANTOPEN|EACCES|EROFS)/.test(code)) {
    return `Make the folder of the store writable, or name another with ${folder}`;
  }
  if (/^(?:ENOENT|ENOTDIR|EEXIST)$/.test(code)) return `Its folder cannot be made: name another with ${folder}`;
  if (code.startsWith("SQLITE_NOTADB")) {
    return `The file is no database of writ: move it away, or name another with ${file}`;
  }
  if (code.startsWith("SQLITE_CORRUPT")) {
    return "Restore the file from a copy; the drafts under contract_drafts/ still hold every open turn";
  }
  return null;
}

/** A folder, a device or a pipe, whatever the driver makes of it. */
function isNoFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  } catch {
    return false; // it cannot be looked at
  }
}
