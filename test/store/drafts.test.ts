import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { draftFolder, ENVELOPE_LIMIT, sha256 } from "../../src/store/drafts.ts";
import { refusalOf } from "../support/turn.ts";

const ID = "a0123456789abcdef.0a1b2c3d4e5f";
const HOUR = 3600;
let root = "";
let folders = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "writ-drafts-"));
});
afterAll(() => rmSync(root, { recursive: true }));

function fresh(): string {
  folders += 1;
  return join(root, `${folders}`, "contract_drafts");
}

test("a draft is staged beside its place and renamed into it", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  const staged = drafts.stage(ID, "{}\n");
  const [name = ""] = readdirSync(folder);
  expect(name).toMatch(new RegExp(`^\\.${ID}\\.${process.pid}\\.[0-9a-f]{8}\\.tmp$`));
  expect(drafts.read(ID)).toBeNull();
  expect(staged.digest).toBe(sha256("{}\n"));
  staged.publish();
  expect(readdirSync(folder)).toEqual([`${ID}.json`]);
  expect(drafts.read(ID)).toMatchObject({ text: "{}\n", digest: sha256("{}\n") });
});

test("the file is for its owner alone, and so is the folder made for it, also over a file that was not", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  drafts.stage(ID, "1").publish();
  chmodSync(join(folder, `${ID}.json`), 0o644);
  drafts.stage(ID, "2").publish();
  expect((statSync(join(folder, `${ID}.json`)).mode & 0o777).toString(8)).toBe("600");
  expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
});

test("what was discarded leaves the draft as it was and nothing beside it", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  drafts.stage(ID, "old").publish();
  drafts.stage(ID, "new").discard();
  expect(readdirSync(folder)).toEqual([`${ID}.json`]);
  expect(drafts.read(ID)?.text).toBe("old");
});

test("a rename that fails is said, removes the temporary file and leaves the target as it was", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  const staged = drafts.stage(ID, "new");
  mkdirSync(join(folder, `${ID}.json`, "in the way"), { recursive: true });
  expect(refusalOf(() => staged.publish())).toMatchObject({ code: "store_failed" });
  expect(readdirSync(folder)).toEqual([`${ID}.json`]);
});

test("a folder that cannot be made is said", () => {
  const file = join(root, "regular");
  writeFileSync(file, "");
  const drafts = draftFolder(join(file, "contract_drafts"));
  expect(refusalOf(() => drafts.stage(ID, "x"))).toMatchObject({ code: "store_failed" });
  expect(drafts.read(ID)).toBeNull();
});

test("an envelope of 16 MiB is the largest", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  drafts.stage(ID, "x".repeat(ENVELOPE_LIMIT)).publish();
  expect(drafts.read(ID)?.text.length).toBe(ENVELOPE_LIMIT);
  expect(refusalOf(() => drafts.stage(ID, "x".repeat(ENVELOPE_LIMIT + 1)))).toMatchObject({
    code: "envelope_too_large",
  });
  expect(readdirSync(folder)).toEqual([`${ID}.json`]);
});

test.each([
  { what: "a folder", make: (path: string) => mkdirSync(path) },
  { what: "a link", make: (path: string) => symlinkSync("/etc/hostname", path) },
  { what: "no UTF-8", make: (path: string) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])) },
  {
    what: "larger than an envelope",
    make: (path: string) => writeFileSync(path, Buffer.alloc(ENVELOPE_LIMIT + 1, 0x20)),
  },
])("a draft that is $what cannot be read", ({ make }) => {
  const folder = fresh();
  mkdirSync(folder, { recursive: true });
  make(join(folder, `${ID}.json`));
  expect(refusalOf(() => draftFolder(folder).read(ID))).toMatchObject({ code: "draft_unreadable" });
});

test("drafts are listed newest first, ties by name from the end, and hidden names are not", () => {
  const folder = fresh();
  mkdirSync(folder, { recursive: true });
  const names = { "a.1.json": 10, "b.1.json": 20, "c.1.json": 20, ".d.1.json": 30, ".e.1.5.0.tmp": 30, "f.txt": 30 };
  for (const [name, time] of Object.entries(names)) {
    writeFileSync(join(folder, name), "{}");
    utimesSync(join(folder, name), time, time);
  }
  expect(draftFolder(folder).list()).toEqual([
    { draft_id: "c.1", modified_ms: 20_000 },
    { draft_id: "b.1", modified_ms: 20_000 },
    { draft_id: "a.1", modified_ms: 10_000 },
  ]);
});

test("a folder that is not there lists nothing", () => {
  expect(draftFolder(fresh()).list()).toEqual([]);
});

test("removing a draft that is not there is no error", () => {
  const drafts = draftFolder(fresh());
  drafts.stage(ID, "x").publish();
  drafts.remove(ID);
  drafts.remove(ID);
  expect(drafts.read(ID)).toBeNull();
});

test("temporary files older than an hour are swept, younger ones and everything else stay", () => {
  const folder = fresh();
  mkdirSync(folder, { recursive: true });
  const now = 1_000_000;
  const ages = {
    ".a.1.7.00000000.tmp": 3601,
    ".b.1.7.00000000.tmp": 3599,
    // Made while the clock was ahead.
    ".d.1.7.00000000.tmp": -3601,
    ".kept": 9999,
    "c.tmp": 9999,
  };
  for (const [name, age] of Object.entries(ages)) {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), now - age, now - age);
  }
  draftFolder(folder).sweep(now * 1000);
  expect(readdirSync(folder).sort()).toEqual([".b.1.7.00000000.tmp", ".kept", "c.tmp"]);
});

test("a sweep is claimed at most once an hour, by one of all", () => {
  const folder = fresh();
  const [one, two] = [draftFolder(folder), draftFolder(folder)];
  const start = 1_000_000_000;
  expect(one.claimSweep(start)).toBe(true);
  expect(two.claimSweep(start + 1)).toBe(false);
  expect(one.claimSweep(start + HOUR * 1000 - 1)).toBe(false);
  expect(two.claimSweep(start + HOUR * 1000)).toBe(true);
});

test("a sweep that was claimed while the clock was ahead keeps nobody from the next one", () => {
  const drafts = draftFolder(fresh());
  const start = 1_000_000_000;
  expect(drafts.claimSweep(start + 400 * 24 * HOUR * 1000)).toBe(true);
  expect(drafts.claimSweep(start)).toBe(true);
  expect(drafts.claimSweep(start + 1)).toBe(false);
});

test.skipIf(process.platform === "win32")("a pipe in the place of the mark of a sweep holds nobody up", () => {
  const folder = fresh();
  mkdirSync(folder, { recursive: true });
  expect(Bun.spawnSync(["mkfifo", join(folder, ".swept")]).exitCode).toBe(0);
  const later = Date.now() + 2 * HOUR * 1000;
  expect(draftFolder(folder).claimSweep(later)).toBe(true);
  expect(draftFolder(folder).claimSweep(later + 1)).toBe(false);
});

test("the digest is of the bytes of the file", () => {
  const folder = fresh();
  const drafts = draftFolder(folder);
  const text = "{“é”: 1}\n";
  expect(drafts.stage(ID, text).digest).toBe(sha256(Buffer.from(text)));
  drafts.stage(ID, text).publish();
  expect(drafts.read(ID)?.digest).toBe(sha256(readFileSync(join(folder, `${ID}.json`))));
});
