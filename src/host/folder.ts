/** Whether a folder that somebody named is there. */
import { statSync } from "node:fs";

/** False also for a path that leads below a file, or that may not be followed: there is no folder to work in. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // nothing there that can be looked at
  }
}
