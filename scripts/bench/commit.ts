/**
 * The least that can be compared with a command that keeps something: opens a store and commits one durable row,
 * with the pragmas of `src/store/open.ts`. With "--stdin" the row's text is what comes on standard input.
 *
 * Usage: commit DATABASE [--stdin]
 */
import { Database } from "bun:sqlite";

const [path = "", source] = process.argv.slice(2);
const text = source === "--stdin" ? await Bun.stdin.text() : "one entry";

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
database.close();
