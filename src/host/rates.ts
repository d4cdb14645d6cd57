/**
 * `<state>/rates.json`: how fast the seats were, shared by the processes of this user.
 *
 * It is advice: whatever goes wrong with it, the work goes on. A file that cannot be read is moved aside, once.
 *
 * Source: delegation run, section 5.10
 */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addSample, parseRates, type RateFile, type Rates, ratesOf, renderRates } from "../core/seat/rates.ts";
import { lockFile } from "./lock.ts";
import { makeStateFile, readStateFile } from "./state-file.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";

const LOCK_MS = 500;
const MOST_BYTES = 1024 * 1024;
const NOTHING: RateFile = new Map();

/** @param state `<data>/run`, from `openStateFolder` */
export function openRates(state: string): Rates {
  const path = join(state, "rates.json");
  return {
    read: (seat_key) => ratesOf(readRates(path) ?? NOTHING, seat_key),
    add(seat_key, sample) {
      try {
        change(path, (file) => addSample(file, seat_key, sample));
      } catch {
        // A full disk, a folder that is gone: the next run measures again.
      }
    },
  };
}

/** Reads, changes and writes as one: of two runs that end at once, both count. */
function change(path: string, work: (file: RateFile) => RateFile): void {
  // A file of its own: what is locked must not be replaced.
  const lock = `${path}.lock`;
  makeStateFile(lock);
  const unlock = lockFile(lock, LOCK_MS);
  if (unlock === null) return;
  try {
    const found = readRates(path);
    if (found === null) renameSync(path, `${path}.broken`);
    const before = found ?? NOTHING;
    const after = work(before);
    if (after !== before) replaceRates(path, renderRates(after));
  } finally {
    unlock();
  }
}

/** Not flushed: a leg does not wait for the disk so that advice survives a power cut. Its lock is held. */
function replaceRates(path: string, text: string): void {
  const next = `${path}.next`;
  // What a process that died left there, or what is none of ours.
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: STATE_FILE_MODE, flag: "wx" });
  renameSync(next, path);
}

/** Empty where there is no file; null where there is one that nobody can read. */
function readRates(path: string): RateFile | null {
  try {
    const text = readStateFile(path, MOST_BYTES);
    return text === null ? NOTHING : parseRates(text);
  } catch {
    return null; // not ours to read
  }
}
