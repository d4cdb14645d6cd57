/** A file that waits beside its place, whole and flushed, to be renamed into it in one step. */
import { closeSync, constants, fchmodSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

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
