import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspectStore, walFault } from "../../src/store/inspect.ts";
import { LAYOUT, openStore } from "../../src/store/open.ts";

let folder = "";
let places = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-inspect-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function freshPath(): string {
  places += 1;
  mkdirSync(join(folder, `${places}`));
  return join(folder, `${places}`, "writ.db");
}

test("where there is no store, none is made", () => {
  const path = freshPath();
  expect(inspectStore(path)).toEqual({ kind: "absent" });
  expect(existsSync(path)).toBe(false);
});

test("a store is read and left as it is", () => {
  const path = freshPath();
  openStore(path).close();
  const before = readFileSync(path);
  expect(inspectStore(path)).toEqual({
    kind: "read",
    layout: LAYOUT,
    known: LAYOUT,
    journal_mode: "wal",
    complaints: [],
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("what is no regular file is not opened", () => {
  const path = freshPath();
  mkdirSync(path);
  const pipe = freshPath();
  Bun.spawnSync(["mkfifo", pipe]);
  const facts = { kind: "shut", isFile: false, reason: "it is no regular file" } as const;
  expect(inspectStore(path)).toEqual(facts);
  if (process.platform !== "win32") expect(inspectStore(pipe)).toEqual(facts);
});

test("a store that cannot be opened is not called broken", () => {
  const path = freshPath();
  openStore(path).close();
  rmSync(`${path}-wal`, { force: true });
  mkdirSync(`${path}-wal`);
  expect(inspectStore(path)).toMatchObject({ kind: "shut", isFile: true });
});

test.each([0, 1, 99])("layout %p is told and not changed", (layout) => {
  const path = freshPath();
  const db = new Database(path, { create: true });
  db.run(`PRAGMA user_version = ${layout}`);
  db.close();
  for (const _ of [1, 2]) expect(inspectStore(path)).toMatchObject({ kind: "read", layout, journal_mode: "delete" });
});

test("a page that was written over is complained of", () => {
  const path = freshPath();
  const store = openStore(path);
  store.write((tables) => {
    for (let n = 0; n < 500; n += 1) tables.workspaces.ensure(`${n}`.padStart(60, "w"), "");
  });
  store.close();
  const file = openSync(path, "r+");
  for (let page = 2; page < 60; page += 1) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, page * 4096);
  const facts = inspectStore(path);
  expect(facts.kind === "failed" ? facts.isBroken : facts.kind === "read" && facts.complaints.length > 0).toBe(true);
});

test("what is no database is broken", () => {
  const path = freshPath();
  writeFileSync(path, "this is no database, but it is long enough to be looked at\n".repeat(40));
  expect(inspectStore(path)).toMatchObject({ kind: "failed", isBroken: true });
});

test("WAL works in an ordinary folder, and nothing is left there", () => {
  const path = freshPath();
  expect(walFault(join(path, ".."))).toBeNull();
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("where no folder can be made, it is told why", () => {
  expect(walFault(join(folder, "nowhere"))).toContain("ENOENT");
});
