/** `<data>/run/`: what delegation keeps on this machine, apart from the store of turns. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";

/** The mode of every file in it. */
export const STATE_FILE_MODE = 0o600;

/** @param data the data folder */
export function stateFolder(data: string): string {
  return join(data, "run");
}

/**
 * The folder, made where it is missing, its owner's alone.
 *
 * Errors: `state_failed` when it cannot be made, or something else is in its place
 * Source: delegation run, section 2.1
 */
export function openStateFolder(data: string): string {
  const folder = stateFolder(data);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // One that is there may have been made by hand.
    if ((statSync(folder).mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(folder, 0o700);
    return folder;
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("state_failed", `Cannot make the folder "${folder}": ${why}`, {
      hint: "Name another place with WRIT_DATA_DIR",
      cause: error,
    });
  }
}

/**
 * Tries the folder: a file is written, flushed, renamed and removed. What was not there before is gone afterwards.
 *
 * @returns why that does not work; null where it does
 */
export function stateFault(data: string): string | null {
  const missing = [data, stateFolder(data)].filter((folder) => !existsSync(folder));
  const probe = join(stateFolder(data), `.probe-${process.pid}`);
  try {
    openStateFolder(data);
    const file = openSync(probe, "wx", STATE_FILE_MODE);
    try {
      writeSync(file, "probe\n");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(probe, `${probe}.renamed`);
    return null;
  } catch (error) {
    return writeFault(error);
  } finally {
    for (const path of [probe, `${probe}.renamed`]) attempt(() => unlinkSync(path));
    for (const folder of missing.toReversed()) attempt(() => rmdirSync(folder));
  }
}

/** For what was perhaps never made, or is no longer ours alone: a folder that somebody put something into stays. */
function attempt(remove: () => void): void {
  try {
    remove();
  } catch {
    // nothing that could be told beside the fault itself
  }
}
