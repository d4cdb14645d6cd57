/** A file that waits beside its place, whole and flushed, to be renamed into it in one step. */
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isAlive } from "./process-identity.ts";

/** The mode of a file that is made: `created` as the process's mask leaves it, `kept` to the bit. */
export type StagedMode = { readonly created: number } | { readonly kept: number };

/**
 * Writes bytes, which come in chunks, into the folder of a path, under a name that nobody else has.
 *
 * @returns where they are; the caller renames or removes it
 * Errors:  those of the file system, and then nothing is left
 */
export function stageBeside(path: string, chunks: Iterable<Uint8Array>, mode: StagedMode): string {
  // Unique in this process and among all: the id of the process and randomness.
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
  const staged = join(dirname(path), `.writ-${process.pid}-${random}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(staged, flags, "created" in mode ? mode.created : 0o600);
  try {
    for (const bytes of chunks) {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    }
    if ("kept" in mode) fchmodSync(file, mode.kept);
    fsyncSync(file);
  } catch (error) {
    rmSync(staged, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return staged;
}

/** No write takes that long, in milliseconds. */
const LEFT_BEHIND_MS = 3_600_000;
const STAGED = /^\.writ-(\d+)-[0-9a-f]{16}\.tmp$/;

/**
 * Removes what killed processes left in a folder: at once where nobody has the id in its name, else when it is old.
 *
 * Errors: none; what cannot be removed stays until a later call
 */
export function sweepStaged(folder: string, now_ms: number): void {
  try {
    for (const name of readdirSync(folder)) {
      const pid = STAGED.exec(name)?.[1];
      if (pid === undefined) continue;
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat?.isFile()) continue;
      // Of a time to come, too: the clock was ahead then.
      const isOld = Math.abs(now_ms - stat.mtimeMs) > LEFT_BEHIND_MS;
      if (isOld || !isAlive(Number(pid))) rmSync(path, { force: true });
    }
  } catch {
    // somebody else removed it first, or the folder may not be listed
  }
}

/** Makes what was renamed in a folder survive a power cut. Errors: those of the file system */
export function flushFolder(folder: string): void {
  // Windows has no such thing: it refuses to flush a folder, and keeps the names of files in its own journal.
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
