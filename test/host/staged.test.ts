import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stageBeside, sweepStaged } from "../../src/host/staged.ts";

const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const HOUR_MS = 3_600_000;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-staged-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function aged(path: string, age_ms: number): string {
  const time = (NOW_MS - age_ms) / 1000;
  utimesSync(path, time, time);
  return path;
}

test("what was staged an hour ago and never came into its place is swept; everything else stays", () => {
  const staged = () => stageBeside(join(folder, "report.json"), [new Uint8Array([1])], { created: 0o600 });
  aged(staged(), HOUR_MS + 1000);
  // Made while the clock was ahead.
  aged(staged(), -HOUR_MS - 1000);
  const young = aged(staged(), HOUR_MS - 1000);
  for (const name of ["report.json", ".writ-1-abc.tmp", "x.writ-1-0123456789abcdef.tmp"]) {
    writeFileSync(join(folder, name), "");
    aged(join(folder, name), 9 * HOUR_MS);
  }
  mkdirSync(join(folder, ".writ-1-0123456789abcdef.tmp"));
  aged(join(folder, ".writ-1-0123456789abcdef.tmp"), 9 * HOUR_MS);
  sweepStaged(folder, NOW_MS);
  const names = readdirSync(folder).sort();
  renameSync(young, join(dirname(young), "young"));
  expect(names).toHaveLength(5);
  expect(readdirSync(folder).sort()).toEqual([
    ".writ-1-0123456789abcdef.tmp",
    ".writ-1-abc.tmp",
    "report.json",
    "x.writ-1-0123456789abcdef.tmp",
    "young",
  ]);
});

test("what a process staged that has ended is swept at once, and that of a living one stays", async () => {
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const name = (pid: number) => `.writ-${pid}-0123456789abcdef.tmp`;
  for (const pid of [ended.pid, process.pid, process.ppid]) writeFileSync(join(folder, name(pid)), "");
  sweepStaged(folder, Date.now());
  expect(readdirSync(folder).sort()).toEqual([name(process.pid), name(process.ppid)].sort());
});

test("a folder that is not there is no fault", () => {
  expect(() => sweepStaged(join(folder, "none"), NOW_MS)).not.toThrow();
});
