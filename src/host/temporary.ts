/**
 * Private temporary folders, `<tmp>/writ-<kind>-<pid>-<random>`, which outlive no process for long: each is locked for as
 * long as its process lives, and whoever opens one of its kind removes those that a killed process has left, with what
 * still runs in them.
 */
import { lstatSync, mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canLock, lockFile } from "./lock.ts";
import { killMarked } from "./marked.ts";
import { isAlive } from "./process-identity.ts";
import { removeTree } from "./remove-tree.ts";

export type TemporaryKind = "gate" | "prove" | "parallel";

export type Temporary = {
  /** Without links in its path. */
  readonly folder: string;
  /** Removes it; false when something of it stays. */
  remove(): boolean;
};

/** Another process that sweeps holds the lock of a new folder for a moment, in milliseconds; and how often one is made. */
const SWEEPER_MS = 1_000;
const ROUNDS = 8;
/** The most that one call takes away for others. */
const MOST_SWEPT = 64;

/** Opens one, when it has swept. Errors: those of the file system */
export function openTemporary(kind: TemporaryKind): Temporary {
  const place = realpathSync(tmpdir());
  sweep(place, kind);
  for (let round = 1; ; round += 1) {
    const folder = mkdtempSync(join(place, `writ-${kind}-${process.pid}-`));
    const release = lockOf(folder, SWEEPER_MS);
    // A sweeper that came between the two took it for a dead one's.
    if (release === null && round < ROUNDS) continue;
    return {
      folder,
      remove() {
        const isGone = removeTree(folder);
        release?.();
        return isGone;
      },
    };
  }
}

/** What cannot be taken away is left to a later call. */
function sweep(place: string, kind: TemporaryKind): void {
  const name = new RegExp(`^writ-${kind}-(\\d{1,10})-[^-]{6}$`);
  let swept = 0;
  for (const entry of namesIn(place)) {
    const pid = name.exec(entry)?.[1];
    if (pid === undefined) continue;
    if (swept === MOST_SWEPT) return;
    if (takeAway(join(place, entry), Number(pid))) swept += 1;
  }
}

function takeAway(folder: string, pid: number): boolean {
  if (!isOurs(folder) || (!canLock() && isAlive(pid))) return false;
  const release = lockOf(folder, 0);
  if (release === null) return false;
  // What left the group of a killed gate runs on until somebody ends it; its environment names the folder.
  killMarked(`TMPDIR=${folder}/`);
  removeTree(folder);
  release();
  return true;
}

/** Null when somebody else has it, or it is gone. */
function lockOf(folder: string, waitMs: number): (() => void) | null {
  try {
    const release = lockFile(folder, waitMs);
    if (release === null || isOurs(folder)) return release;
    release();
    return null;
  } catch {
    return null; // removed meanwhile
  }
}

/** The folder of all temporary files is everybody's. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && (process.getuid === undefined || stat.uid === process.getuid());
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it may be written, and not be listed
  }
}
