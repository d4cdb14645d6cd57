/**
 * Builds the artefact of every platform and starts each one that this machine can start: one session of a user
 * (platforms/session.ts), and the time that `--version` takes. For each artefact it prints PASS, FAIL, or SKIP with why.
 *
 * Run: npm run platforms                   build, then start
 *      npm run platforms -- --no-build     start what lies in dist/
 *      npm run platforms -- --write        and write the table of docs/platforms.md
 *
 * Environment: WRIT_PLATFORM_ROOTS (default tmp/platforms/): a folder for each target, with what its artefact needs and
 * this machine has not (docs/platforms.md says what that is).
 *
 * Ends in 0 when one or more were started and none failed, in 1 when one failed, in 4 when none could be started.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { spreadOf } from "./bench/measure.ts";
import { readHeader } from "./platforms/header.ts";
import { type Finding, renderTable, replaceTable } from "./platforms/report.ts";
import { playSession } from "./platforms/session.ts";
import { findStart, isHeaderOf, type Machine } from "./platforms/start.ts";
import { judgeSignature } from "./signature.ts";
import { artefactOf, TARGETS, type Target } from "./targets.ts";

const ROOT = join(import.meta.dir, "..");
const PAGE = join(ROOT, "docs", "platforms.md");
const HEADER_BYTES = 65_536;
/** Of `--version`, for each artefact; what is emulated takes a hundred times as long. */
const STARTS = 31;
const STARTS_EMULATED = 5;

type Timed = {
  readonly target: Target;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly starts: number;
};

const machine: Machine = {
  platform: process.platform,
  arch: process.arch,
  roots: resolve(process.env.WRIT_PLATFORM_ROOTS ?? join(ROOT, "tmp", "platforms")),
  exists: existsSync,
  which: Bun.which,
};

async function main(argv: readonly string[]): Promise<number> {
  if (argv.some((word) => word !== "--no-build" && word !== "--write")) {
    console.error("Usage: npm run platforms [-- --no-build] [-- --write]");
    return 2;
  }
  if (!argv.includes("--no-build")) {
    // What could not be built is not there afterwards, and is told of below.
    await Bun.spawn([process.execPath, join(ROOT, "scripts", "build.ts"), "--all"], { stdout: 2, stderr: 2 }).exited;
  }
  const findings: Finding[] = [];
  const toTime: Timed[] = [];
  for (const target of TARGETS) {
    const finding = await look(target, toTime);
    findings.push(finding);
    const size = finding.size_bytes === null ? "" : `, ${(finding.size_bytes / 1e6).toFixed(1)} MB`;
    console.log(`${finding.outcome} ${target.padEnd(16)} ${finding.detail}${size}`);
  }
  const timed = timeStarts(toTime);
  const base = timed.get("linux-x64")?.median ?? null;
  const measured = findings.map((finding) => {
    const start_ms = timed.get(finding.target) ?? null;
    return { ...finding, start_ms, start_ratio: start_ms === null || base === null ? null : start_ms.median / base };
  });
  for (const { target, start_ms, start_ratio } of measured) {
    if (start_ms === null) continue;
    const ratio = start_ratio === null ? "" : `, ${start_ratio.toFixed(2)} times that of linux-x64`;
    console.log(`     ${target.padEnd(16)} starts in ${start_ms.median.toFixed(1)} ms${ratio}`);
  }
  if (argv.includes("--write")) {
    const gib = Math.round(totalmem() / 2 ** 30);
    const where = `${process.platform} ${process.arch}, ${cpus().length} cores, ${gib} GiB of memory; Bun ${Bun.version}`;
    writeFileSync(PAGE, replaceTable(readFileSync(PAGE, "utf8"), renderTable(measured, where)));
  }
  if (findings.some(({ outcome }) => outcome === "FAIL")) return 1;
  return findings.some(({ outcome }) => outcome === "PASS") ? 0 : 4;
}

/** Looks at one artefact and plays the session where it can be started. */
async function look(target: Target, toTime: Timed[]): Promise<Finding> {
  const path = join(ROOT, "dist", artefactOf(target));
  if (!existsSync(path)) {
    return {
      target,
      outcome: "SKIP",
      how: "not built",
      detail: "it is not built: npm run build:all",
      size_bytes: null,
    };
  }
  const size_bytes = statSync(path).size;
  const header = readHeader(beginningOf(path));
  if (header === null || !isHeaderOf(target, header)) {
    const detail = `its header is of something else: ${JSON.stringify(header)}`;
    return { target, outcome: "FAIL", how: "not started", detail, size_bytes };
  }
  if (header.format === "mach-o" && judgeSignature(readFileSync(path)) !== "fits") {
    const detail = "its signature does not fit its pages: macOS would end it";
    return { target, outcome: "FAIL", how: "not started", detail, size_bytes };
  }
  const start = findStart(target, header, machine);
  if (!start.ok) return { target, outcome: "SKIP", how: "never run", detail: start.why, size_bytes };
  const words = [...start.before, path];
  const { steps, fault } = await playSession({ words, isEmulated: start.isEmulated });
  if (fault !== null) return { target, outcome: "FAIL", how: start.how, detail: `step ${steps}: ${fault}`, size_bytes };
  const { before, env } = start.timed;
  toTime.push({ target, words: [...before, path], env, starts: start.isEmulated ? STARTS_EMULATED : STARTS });
  return { target, outcome: "PASS", how: start.how, detail: `${steps} steps, ${start.how}`, size_bytes };
}

function beginningOf(path: string): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const handle = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(handle, bytes));
  } finally {
    closeSync(handle);
  }
}

/** In turn, so that whatever else the machine does meets all of them. */
function timeStarts(toTime: readonly Timed[]): ReadonlyMap<Target, ReturnType<typeof spreadOf>> {
  const times = new Map<Target, number[]>(toTime.map(({ target }) => [target, []]));
  for (let round = 0; round < STARTS; round++) {
    for (const { target, words, env, starts } of toTime) {
      if (round >= starts) continue;
      const call = { env: { ...process.env, ...env }, stdout: "ignore", stderr: "ignore" } as const;
      const began = performance.now();
      const { exitCode } = Bun.spawnSync([...words, "--version"], call);
      if (exitCode !== 0) throw new Error(`${target} answered --version with status ${exitCode}`);
      times.get(target)?.push(performance.now() - began);
    }
  }
  return new Map([...times].map(([target, each]) => [target, spreadOf(each)]));
}

process.exitCode = await main(process.argv.slice(2));
