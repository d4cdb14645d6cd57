import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRunRecords } from "../../src/host/run-records.ts";

const id = (digit: string) => `run-${digit.repeat(24)}`;

let state: string;
let folder: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-runs-"));
  folder = join(state, "runs");
});
afterEach(() => rmSync(state, { recursive: true }));

function aged(name: string, ms: number): void {
  mkdirSync(folder, { recursive: true });
  const at = new Date(Date.now() - ms);
  writeFileSync(join(folder, name), "{}");
  utimesSync(join(folder, name), at, at);
}

describe("records of calls", () => {
  test("are kept whole, for their owner alone, and nothing is left beside them", async () => {
    const records = openRunRecords(state);
    await records.save(id("a"), ['{"first":1}']);
    await records.save(id("a"), ['{"second":2}']);
    expect(records.read(id("a"))).toBe('{"second":2}');
    expect(readdirSync(folder)).toEqual([`${id("a")}.json`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, `${id("a")}.json`)).mode & 0o777).toBe(0o600);
  });

  test("are listed newest first, and nothing else of the folder is", () => {
    aged(`${id("a")}.json`, 5000);
    aged(`${id("b")}.json`, 1000);
    aged("notes.json", 0);
    aged(`.${id("c")}.1-ff.tmp`, 0);
    mkdirSync(join(folder, `${id("d")}.json`));
    expect(
      openRunRecords(state)
        .list()
        .map(({ run_id }) => run_id),
    ).toEqual([id("b"), id("a")]);
  });

  test("that are not there are none: no folder, no file, no link to elsewhere", () => {
    const records = openRunRecords(state);
    expect(records.list()).toEqual([]);
    expect(records.read(id("a"))).toBeNull();
    expect(existsSync(folder)).toBe(false);
    aged("elsewhere.txt", 0);
    symlinkSync(join(folder, "elsewhere.txt"), join(folder, `${id("e")}.json`));
    expect(records.read(id("e"))).toBeNull();
  });

  test("that are too old are swept, and what a dead process left half written", () => {
    const day = 86_400_000;
    aged(`${id("a")}.json`, 31 * day);
    aged(`${id("b")}.json`, 29 * day);
    aged(`.${id("c")}.1-ff.tmp`, day);
    aged(`.${id("d")}.1-ff.tmp`, 1000);
    aged("notes.json", 400 * day);
    const records = openRunRecords(state);
    records.sweep(30, Date.now());
    expect(readdirSync(folder).sort()).toEqual([`.${id("d")}.1-ff.tmp`, "notes.json", `${id("b")}.json`]);
  });

  test("cannot be kept where a file stands in the place of their folder, and that is told", async () => {
    writeFileSync(folder, "");
    const records = openRunRecords(state);
    await expect(records.save(id("a"), ["{}"])).rejects.toThrow();
    records.sweep(30, Date.now());
  });
});
