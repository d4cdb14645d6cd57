/**
 * Which writ this is. Loads nothing, so that the entry file can answer `writ --version` by itself.
 */
import { version } from "../../package.json" with { type: "json" };

export type Release = { readonly version: string; readonly bun: string; readonly sqlite: string };

export async function releaseOf(): Promise<Release> {
  return { version, bun: Bun.version, sqlite: await sqliteVersion() };
}

/** `writ 0.1.0 (Bun 1.4.5, SQLite 3.54.1)`. */
export function releaseText(release: Release): string {
  return `writ ${release.version} (Bun ${release.bun}, SQLite ${release.sqlite})`;
}

async function sqliteVersion(): Promise<string> {
  const builtIn = process.versions.sqlite;
  // On macOS Bun uses the SQLite of the system; only that one can tell its version.
  if (builtIn !== undefined && process.platform !== "darwin") return builtIn;
  const { Database } = await import("bun:sqlite");
  const database = new Database(":memory:");
  const row: unknown = database.query("SELECT sqlite_version() AS version").get();
  database.close();
  return typeof row === "object" && row !== null && "version" in row ? String(row.version) : "unknown";
}
