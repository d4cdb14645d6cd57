/**
 * `<state>/quarantine.json`: places that answered about other documents, shared by the processes of this user.
 *
 * It protects and decides nothing else: whatever goes wrong with it, the work goes on. A file that cannot be read is moved
 * aside, once, and counts as empty.
 *
 * Source: delegation run, section 4.9
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Marks, parseMarks, renderMarks } from "../core/placement/quarantine.ts";
import { lockFile } from "./lock.ts";
import { makeStateFile, readStateFile } from "./state-file.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";
import { writeFileWhole } from "./write-file.ts";

const LOCK_MS = 500;
const MOST_BYTES = 1024 * 1024;

export type QuarantineFile = {
  /** Errors: none; what cannot be read is not known */
  read(): Marks;
  /** Reads, changes and writes as one. Errors: none; what cannot be kept is lost */
  change(work: (marks: Marks) => Marks): void;
};

/** @param state `<data>/run`, from `openStateFolder` */
export function openQuarantine(state: string): QuarantineFile {
  const path = join(state, "quarantine.json");
  return {
    read: () => readMarks(path) ?? {},
    change(work) {
      try {
        changeMarks(path, work);
      } catch {
        // A full disk, a folder that is gone: the next wrong answer counts.
      }
    },
  };
}

function changeMarks(path: string, work: (marks: Marks) => Marks): void {
  // A file of its own: what is locked must not be replaced.
  const lock = `${path}.lock`;
  makeStateFile(lock);
  const unlock = lockFile(lock, LOCK_MS);
  if (unlock === null) return;
  try {
    const found = readMarks(path);
    if (found === null) renameSync(path, `${path}.broken`);
    const before = found ?? {};
    const after = work(before);
    if (after !== before) writeFileWhole(path, renderMarks(after), STATE_FILE_MODE);
  } finally {
    unlock();
  }
}

/** Empty where there is no file; null where there is one that nobody can read. */
function readMarks(path: string): Marks | null {
  try {
    const text = readStateFile(path, MOST_BYTES);
    return text === null ? {} : parseMarks(text);
  } catch {
    return null; // not ours to read
  }
}
