/** `<data>/run/`: what delegation keeps on this machine, apart from the store of turns. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";

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
    const why = error instanceof Error ? error.message : String(error);
    throw new WritError("state_failed", `Cannot make the folder "${folder}": ${why}`, {
      hint: "Name another place with WRIT_DATA_DIR",
      cause: error,
    });
  }
}
