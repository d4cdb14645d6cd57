/**
 * `<state>/runs/`: one file a call, its owner's alone. A file is replaced in one step, so that a delegator that is killed
 * leaves the last whole one.
 *
 * Source: delegation run, section 16
 */
import { constants, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { utf8Chunks } from "../core/utf8.ts";
import { readStateFile } from "./state-file.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";

export type RunFile = {
  /** `run-<24 hex>` */
  readonly run_id: string;
  /** Wall clock, milliseconds. */
  readonly modified_ms: number;
};

export type RunRecords = {
  /** Writes a record, whose text comes in pieces. Errors: those of the file system */
  save(runId: string, pieces: Iterable<string>): Promise<void>;
  /** Last written first, regular files alone; none where the folder is not there. Errors: `state_failed` */
  list(): readonly RunFile[];
  /** The text of a record; null where there is none, or none that can be read. Errors: none */
  read(runId: string): string | null;
  /** Removes what is older, and what a process that died left half written. Never throws. */
  sweep(keepDays: number, now_ms: number): void;
};

const NAME = /^(run-[0-9a-f]{24})\.json$/;
const HALF_WRITTEN = /^\.run-[0-9a-f]{24}\..*\.tmp$/;
const MOST_BYTES = 256 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** No write takes that long. */
const LEFT_BEHIND_MS = 3_600_000;

/** @param state `<data>/run` */
export function openRunRecords(state: string): RunRecords {
  const folder = join(state, "runs");
  return {
    save: (runId, pieces) => save(folder, runId, pieces),
    list: () => listRuns(folder),
    read: (runId) => readRun(join(folder, `${runId}.json`)),
    sweep: (keepDays, now_ms) => sweep(folder, keepDays, now_ms),
  };
}

/** Asynchronous: other legs of the call go on while the disk works. */
async function save(folder: string, runId: string, pieces: Iterable<string>): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
  const staged = join(folder, `.${runId}.${process.pid}-${random}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  try {
    const file = await open(staged, flags, STATE_FILE_MODE);
    try {
      for (const bytes of utf8Chunks(pieces)) {
        for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staged, join(folder, `${runId}.json`));
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}

function listRuns(folder: string): readonly RunFile[] {
  const found: RunFile[] = [];
  for (const name of namesIn(folder)) {
    const run_id = NAME.exec(name)?.[1];
    const stat = run_id === undefined ? undefined : lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (run_id !== undefined && stat?.isFile()) found.push({ run_id, modified_ms: stat.mtimeMs });
  }
  return found.sort((left, right) => right.modified_ms - left.modified_ms || (left.run_id < right.run_id ? -1 : 1));
}

function readRun(path: string): string | null {
  try {
    return readStateFile(path, MOST_BYTES);
  } catch {
    return null; // a link, a pipe, not ours to read, far too large: as little of a record as a torn one
  }
}

function sweep(folder: string, keepDays: number, now_ms: number): void {
  try {
    for (const name of namesIn(folder)) {
      const isRun = NAME.test(name);
      if (!isRun && !HALF_WRITTEN.test(name)) continue;
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      const age_ms = now_ms - (stat?.mtimeMs ?? now_ms);
      if (!stat?.isDirectory() && age_ms > (isRun ? keepDays * DAY_MS : LEFT_BEHIND_MS)) rmSync(path, { force: true });
    }
  } catch {
    // A folder that cannot be tidied is tidied by a later call.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    const why = error instanceof Error ? error.message : String(error);
    throw new WritError("state_failed", `Cannot read the folder "${folder}": ${why}`, {
      hint: "Move away what is there, or name another place with WRIT_DATA_DIR",
      cause: error,
    });
  }
}
