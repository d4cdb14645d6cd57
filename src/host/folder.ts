/** A folder that somebody named: whether it is there, and whose it is. */
import { statSync } from "node:fs";

/** False also for a path that leads below a file, or that may not be followed: there is no folder to work in. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // nothing there that can be looked at
  }
}

const OTHERS = 0o077;

/** The permission bits of a folder that others may use, as chmod takes them; null where it is its owner's alone, or not there. */
export function modeForOthers(path: string): string | null {
  // Windows has none of these bits.
  if (process.platform === "win32") return null;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & OTHERS) === 0 ? null : (mode & 0o777).toString(8);
}
