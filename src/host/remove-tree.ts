/** Removing a folder that writ made, with all that is in it. */
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Removes a folder; a link in it is removed and not followed. Folders that their owner may not write are made writable
 * first.
 *
 * @returns false when something of it stays
 * Errors:  none
 */
export function removeTree(folder: string): boolean {
  for (const prepare of [() => {}, () => openFolders(folder)]) {
    try {
      prepare();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      return true;
    } catch {
      // tried once more with folders opened, then said
    }
  }
  return false;
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
  }
}
