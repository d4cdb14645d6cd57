/**
 * The least that can be compared with a command that keeps something: opens a store and commits one durable row,
 * with the pragmas of `src/store/open.ts`. With "--stdin" the row's text is what comes on standard input; with
 * "--file" a file beside the database is replaced as well, in a way that survives a power cut.
 *
 * Usage: commit DATABASE [--stdin | --file]
 */
import { Database } from "bun:sqlite";

const [path = "", option] = process.argv.slice(2);
const text = option === "--stdin" ? await Bun.stdin.text() : "one entry";

const database = new Database(path, { readwrite: true, strict: true });
database.run("PRAGMA busy_timeout = 10000");
const { journal_mode } = database.query("PRAGMA journal_mode").get() as { journal_mode: string };
if (journal_mode !== "wal") database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA foreign_keys = ON");
database.run("PRAGMA synchronous = FULL");
database
  .transaction(() => {
    database.query("INSERT INTO entries (text) VALUES ($text)").run({ text });
  })
  .immediate();
if (option === "--file") await replaceFile(`${path}.json`);
database.close();

async function replaceFile(target: string): Promise<void> {
  const { closeSync, fsyncSync, openSync, renameSync, writeSync } = await import("node:fs");
  const file = openSync(`${target}.tmp`, "w", 0o600);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${target}.tmp`, target);
  const folder = openSync(target.slice(0, target.lastIndexOf("/") + 1), "r");
  fsyncSync(folder);
  closeSync(folder);
}
