/**
 * `<state>/recovered/`: results of jobs whose delegator is gone, one file a job as the node handed it out, its owner's alone.
 *
 * Source: delegation run, section 4.11
 */
import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";
import { writeFileWhole } from "./write-file.ts";

const JOB_ID = /^wrt-[0-9a-f]{24}$/;
const NAME = /^wrt-[0-9a-f]{24}\.json$/;
const DAY_MS = 86_400_000;

/** @param state `<data>/run` */
export function recoveredFolder(state: string): string {
  return join(state, "recovered");
}

/**
 * Writes a result, in one step.
 *
 * @returns the file
 * Errors: `file_unwritable`, `state_failed`
 */
export function keepRecovered(state: string, job: string, text: string): string {
  if (!JOB_ID.test(job)) throw new WritError("state_failed", `"${job}" is no id of a job`);
  const folder = recoveredFolder(state);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("state_failed", `Cannot make the folder "${folder}": ${why}`, { cause: error });
  }
  const path = join(folder, `${job}.json`);
  writeFileWhole(path, `${text}\n`, STATE_FILE_MODE);
  return path;
}

/** The file of a job's result; null where none is there. Errors: none */
export function findRecovered(state: string, job: string): string | null {
  if (!JOB_ID.test(job)) return null;
  const path = join(recoveredFolder(state), `${job}.json`);
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? path : null;
  } catch {
    return null; // a folder that cannot be looked into
  }
}

/** Removes what is older. Never throws. */
export function sweepRecovered(state: string, keepDays: number, now_ms: number): void {
  const folder = recoveredFolder(state);
  try {
    for (const name of readdirSync(folder).filter((each) => NAME.test(each))) {
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      const age_ms = now_ms - (stat?.mtimeMs ?? now_ms);
      if (!stat?.isDirectory() && age_ms > keepDays * DAY_MS) rmSync(path, { force: true });
    }
  } catch {
    // There is none yet, or a later call tidies it.
  }
}
