/** Makes what was renamed or removed in a folder survive a power cut. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Errors: those of the file system */
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
