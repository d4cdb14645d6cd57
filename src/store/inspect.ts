/** Looking at a store without using it: nothing is made, migrated or mended here. */
import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StoreFacts } from "../core/contract/store-facts.ts";
import { LAYOUT } from "./open.ts";

/** How long a locked store is waited for, in milliseconds, and how many complaints are read. */
const BUSY_MS = 2_000;
const COMPLAINTS = 10;

/** Errors: none. */
export function inspectStore(path: string): StoreFacts {
  let db: Database | null = null;
  try {
    if (!existsSync(path)) return { kind: "absent" };
    // Opened to read, a pipe would wait for whoever writes to it.
    if (!statSync(path).isFile()) return { kind: "shut", isFile: false, reason: "it is no regular file" };
    db = new Database(path, { readonly: true });
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const layout = db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
    const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get()?.journal_mode ?? "unknown";
    const checked = db.query<{ quick_check: string }, []>(`PRAGMA quick_check(${COMPLAINTS})`).all();
    const complaints = checked.map((row) => row.quick_check).filter((line) => line !== "ok");
    return { kind: "read", layout, known: LAYOUT, journal_mode: mode, complaints };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const reason = error instanceof Error ? error.message : String(error);
    if (/^(?:SQLITE_(?:CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(code)) return { kind: "shut", isFile: true, reason };
    return { kind: "failed", isBroken: !/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code), reason };
  } finally {
    db?.close();
  }
}

/** Why a WAL database does not work in a folder; null when it does. Makes one there and removes it. Errors: none */
export function walFault(folder: string): string | null {
  let scratch: string | null = null;
  try {
    scratch = mkdtempSync(join(folder, ".doctor-"));
    const path = join(scratch, "probe.db");
    const [writer, reader] = [new Database(path), new Database(path)];
    try {
      const mode = writer.query<{ journal_mode: string }, []>("PRAGMA journal_mode = WAL").get()?.journal_mode;
      if (mode !== "wal") return `the journal mode stays ${mode}`;
      writer.run("CREATE TABLE probe (a INTEGER) STRICT");
      writer.run("INSERT INTO probe VALUES (7)");
      const seen = reader.query<{ a: number }, []>("SELECT a FROM probe").get();
      return seen?.a === 7 ? null : "a second connection does not see what was written";
    } finally {
      reader.close();
      writer.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  }
}
