import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareBirth } from "../../src/core/contract/birth.ts";
import { WritError } from "../../src/core/error.ts";
import { openAside, openStore, openStoreToRead } from "../../src/store/open.ts";
import { refusalOf } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

let folder = "";
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-store-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function freshPath(): string {
  files += 1;
  return join(folder, `${files}`, "writ.db");
}

function rawDatabase(path: string, ...statements: string[]): void {
  openStore(path).close();
  rmSync(path);
  const db = new Database(path, { create: true });
  for (const statement of statements) db.run(statement);
  db.close();
}

function inDatabase<T>(path: string, look: (db: Database) => T): T {
  const db = new Database(path, { readonly: true });
  try {
    return look(db);
  } finally {
    db.close();
  }
}

const TABLES = [
  "approvals",
  "briefs",
  "context_history",
  "context_sections",
  "evidence",
  "handoffs",
  "journal",
  "plans",
  "proposals",
  "send_backs",
  "task_gates",
  "tasks",
  "tool_bindings",
  "tool_records",
  "workspaces",
];

test("a new store has every table, STRICT, at layout 2 and in WAL mode", () => {
  const path = freshPath();
  openStore(path).close();
  inDatabase(path, (db) => {
    const tables = db
      .query<{ name: string; strict: number }, []>(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all();
    expect(tables).toEqual(TABLES.map((name) => ({ name, strict: 1 })));
    expect(db.query("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });
});

test("the file is for its owner alone, and so is the folder made for it", () => {
  const path = freshPath();
  openStore(path).close();
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  expect((statSync(join(path, "..")).mode & 0o777).toString(8)).toBe("700");
});

test("what the write-ahead log keeps beside it is for its owner alone too", () => {
  const path = freshPath();
  const store = openStore(path);
  store.write((tables) => tables.workspaces.ensure("w", ""));
  for (const ending of ["-wal", "-shm"]) expect(statSync(path + ending).mode & 0o077).toBe(0);
  store.close();
});

test("a file of layout 0 with nothing in it gets the tables", () => {
  const path = freshPath();
  rawDatabase(path, "CREATE TABLE other (a TEXT)", "DROP TABLE other");
  const store = openStore(path);
  store.write((tables) => tables.workspaces.ensure("w", "2026-01-01T00:00:00Z"));
  store.close();
  expect(inDatabase(path, (db) => db.query("SELECT name FROM workspaces").all())).toEqual([{ name: "w" }]);
});

test("a store of the first layout gets what came later, and keeps what it holds", () => {
  const path = freshPath();
  const first = readFileSync(join(import.meta.dir, "..", "..", "src", "store", "migrations", "0001-first.sql"), "utf8");
  openStore(path).close();
  rmSync(path);
  const db = new Database(path, { create: true });
  db.exec(`${first}; INSERT INTO workspaces VALUES ('w', ''); PRAGMA user_version = 1`);
  db.close();
  const store = openStore(path);
  store.write((tables) => tables.sendBacks.add("a0000000000000001.1", "2026-01-01T00:00:00Z"));
  expect(store.read((tables) => tables.sendBacks.count("a0000000000000001.1"))).toBe(1);
  store.close();
  expect(inDatabase(path, (open) => open.query("SELECT name FROM workspaces").all())).toEqual([{ name: "w" }]);
});

test("a migration that fails leaves nothing of itself", () => {
  const path = freshPath();
  rawDatabase(path, "CREATE TABLE evidence (mine TEXT)"); // in the way of the first migration
  expect(() => openStore(path)).toThrow();
  const names = inDatabase(path, (db) => db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all());
  expect(names).toEqual([{ name: "evidence" }]);
  expect(inDatabase(path, (db) => db.query("PRAGMA user_version").get())).toEqual({ user_version: 0 });
});

test("an open store is opened again as it is: what it holds stays", () => {
  const path = freshPath();
  const one = openStore(path);
  one.write((tables) => tables.workspaces.ensure("w", ""));
  const two = openStore(path);
  two.write((tables) => tables.workspaces.ensure("w", "later"));
  one.close();
  two.close();
  expect(inDatabase(path, (db) => db.query("SELECT * FROM workspaces").all())).toEqual([{ name: "w", created_at: "" }]);
});

test.each(["wal", "delete"])("a store of a newer layout is refused and not written, in mode %s", (mode) => {
  const path = freshPath();
  rawDatabase(path, `PRAGMA journal_mode = ${mode}`, "CREATE TABLE later (a TEXT) STRICT", "PRAGMA user_version = 3");
  const before = readFileSync(path);
  for (const open of [openStore, openStoreToRead]) {
    const error = refusalOf(() => open(path));
    expect(error).toMatchObject({ code: "store_too_new", path });
    expect(error.message).toBe(`The store "${path}" has layout 3; this writ knows 2`);
    expect(readFileSync(path).equals(before)).toBe(true);
  }
});

test("a file that is no database is refused and left as it is", () => {
  const path = freshPath();
  rawDatabase(path);
  writeFileSync(path, "this is no database, but it is long enough to be looked at\n".repeat(4));
  const before = readFileSync(path);
  for (const open of [openStore, openStoreToRead]) {
    expect(refusalOf(() => open(path))).toMatchObject({ code: "store_failed", path });
    expect(readFileSync(path).equals(before)).toBe(true);
  }
});

test("a place below a regular file is a store that cannot be used", () => {
  const file = join(folder, "regular");
  writeFileSync(file, "");
  const path = join(file, "data", "writ.db");
  expect(refusalOf(() => openStore(path))).toMatchObject({ code: "store_failed", path });
  expect(openStoreToRead(path)).toBeNull();
});

test("reading makes no store, and no folder for one", () => {
  const path = freshPath();
  expect(openStoreToRead(path)).toBeNull();
  expect(existsSync(join(path, ".."))).toBe(false);
});

test("reading opens a store that is there", () => {
  const path = freshPath();
  openStore(path).close();
  const store = openStoreToRead(path);
  expect(store?.read((tables) => tables.handoffs.find("x"))).toBeNull();
  store?.close();
});

test("what a process that only leaves has committed is there for the next one", () => {
  const path = freshPath();
  const one = openStore(path);
  one.write((tables) => tables.workspaces.ensure("w", ""));
  one.leave();
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  const two = openStore(path);
  two.write((tables) => tables.workspaces.ensure("v", ""));
  two.close();
  one.close();
  expect(inDatabase(path, (db) => db.query("SELECT name FROM workspaces ORDER BY name").all())).toEqual([
    { name: "v" },
    { name: "w" },
  ]);
});

/** Root writes wherever it wants. */
const isRoot = process.getuid?.() === 0;

test.skipIf(isRoot).each([false, true])(
  "a store on a medium that cannot be written is read; unmerged writes: %s (not as root)",
  (isUnmerged) => {
    const path = freshPath();
    const place = join(path, "..");
    const store = openStore(path);
    store.write((tables) => tables.workspaces.ensure("w", ""));
    store.write((tables) => tables.records.bind("c", "run", ""));
    if (!isUnmerged) store.close();
    chmodSync(path, 0o400);
    chmodSync(place, 0o500);
    try {
      const before = readdirSync(place);
      const reading = openStoreToRead(path);
      expect(reading?.read((tables) => tables.records.isBound(["c"]))).toBe(true);
      reading?.close();
      expect(readdirSync(place)).toEqual(before);
      const writing = () => {
        const other = openStore(path);
        try {
          other.write((tables) => tables.workspaces.ensure("v", ""));
        } finally {
          other.close();
        }
      };
      expect(refusalOf(writing)).toMatchObject({ code: "store_failed", path });
    } finally {
      chmodSync(place, 0o700);
      chmodSync(path, 0o600);
      if (isUnmerged) store.close();
    }
  },
);

test("foreign keys hold on every connection", () => {
  using world = scriptedWorld();
  const act = () =>
    world.store.write((tables) =>
      tables.handoffs.insertBirth(
        bareBirth({
          contract_id: "a0000000000000001.1",
          agent_id: "a0000000000000001",
          workspace: "nowhere",
          raw_handoff_json: "{}",
          created_at: "",
        }),
      ),
    );
  expect(act).toThrow(/FOREIGN KEY/);
  expect(world.sql("SELECT id FROM handoffs")).toEqual([]);
});

test("STRICT columns refuse a value of another type", () => {
  using world = scriptedWorld();
  expect(() =>
    world.sql(
      "INSERT INTO tool_records (contract_id, seq, source, tool, prev_digest, digest) VALUES ('c', 'one', 'run', 'bash', '', '')",
    ),
  ).toThrow(/cannot store TEXT value in INTEGER column/);
});

test("what a unit throws comes out after a rollback", () => {
  using world = scriptedWorld();
  const act = () =>
    world.store.write((tables) => {
      tables.workspaces.ensure("w", "");
      throw new WritError("no_row", "stop");
    });
  expect(refusalOf(act).code).toBe("no_row");
  expect(world.sql("SELECT name FROM workspaces")).toEqual([]);
});

test("a unit that found the store busy is run again from its beginning", () => {
  using world = scriptedWorld();
  let runs = 0;
  const answer = world.store.write((tables) => {
    runs += 1;
    tables.workspaces.ensure(`run ${runs}`, "");
    if (runs < 3) throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY_SNAPSHOT" });
    return runs;
  });
  expect(answer).toBe(3);
  expect(world.sql("SELECT name FROM workspaces")).toEqual([{ name: "run 3" }]);
});

test("a read sees one state, whatever another connection commits meanwhile", () => {
  using one = scriptedWorld();
  using two = scriptedWorld({ folder: one.folder });
  const section = (tables: { context: { listWorkspaces(name: string): readonly unknown[] } }) =>
    tables.context.listWorkspaces("s").length;
  one.store.read((tables) => {
    expect(section(tables)).toBe(0);
    two.store.write((others) => others.workspaces.ensure("w", ""));
    two.sql("INSERT INTO context_sections (workspace, section, payload, updated_at) VALUES ('w', 's', '{}', '')");
    expect(section(tables)).toBe(0);
  });
  expect(one.store.read(section)).toBe(1);
});

test.each([
  { driver: "SQLITE_FULL", code: "store_failed", hint: "Free some space" },
  { driver: "SQLITE_IOERR_WRITE", code: "store_failed", hint: "Free some space" },
  { driver: "SQLITE_READONLY", code: "store_failed", hint: "writable" },
  { driver: "SQLITE_CORRUPT", code: "store_failed", hint: "Restore" },
  { driver: "ENOSPC", code: "store_failed", hint: "Free some space" },
  { driver: "EROFS", code: "store_failed", hint: "writable" },
])("$driver is $code, with a hint", ({ driver, code, hint }) => {
  using world = scriptedWorld();
  const act = () =>
    world.store.write(() => {
      throw Object.assign(new Error("the driver says so"), { code: driver });
    });
  const error = refusalOf(act);
  expect(error).toMatchObject({ code, path: world.databasePath });
  expect(error.hint).toContain(hint);
});

test("an error of SQL is a defect and stays what it is", () => {
  using world = scriptedWorld();
  const act = () =>
    world.store.write(() => {
      throw Object.assign(new Error("no such column"), { code: "SQLITE_ERROR" });
    });
  expect(act).toThrow("no such column");
});

test("a copy for reading goes with its reader; one that a killed reader left goes an hour later", () => {
  const path = freshPath();
  const writer = openStore(path);
  writer.write((tables) => tables.workspaces.ensure("w", "2026-01-01T00:00:00Z"));
  const [temporary, before] = [join(folder, "tmp"), process.env.TMPDIR];
  const names = ["writ-read-AAAAAA", "writ-read-BBBBBB", "writ-read-else", "writ-other-AAAA"];
  const now = Date.now() / 1000;
  for (const name of names) {
    mkdirSync(join(temporary, name, "deep"), { recursive: true });
    const age = name.endsWith("BBBBBB") ? 3000 : 4000;
    utimesSync(join(temporary, name), now - age, now - age);
  }
  process.env.TMPDIR = temporary;
  try {
    const { close } = openAside(path);
    expect(readdirSync(temporary)).toHaveLength(names.length);
    expect(readdirSync(temporary)).not.toContain("writ-read-AAAAAA");
    close();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    writer.close();
  }
  expect(readdirSync(temporary).sort()).toEqual(names.slice(1).sort());
});
