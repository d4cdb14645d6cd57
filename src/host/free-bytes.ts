import { statfsSync } from "node:fs";

/** What a user may still write on the disk that a folder is on, in bytes; null where that is not told. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null; // a platform or a file system that does not tell
  }
}
