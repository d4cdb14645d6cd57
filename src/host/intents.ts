/**
 * `<state>/intents.jsonl`: the jobs that were handed to nodes. Every process of this user appends to it; nobody rewrites
 * it. A file that has grown is left, and a new one begun beside it; one whose rows are all closed and old is removed.
 *
 * Source: delegation run, section 4.11
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { INTENT_AGE_SEC, type IntentLedger, openIntents, renderIntent } from "../core/node/intents.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";

/** A file past this size is not appended to, and one past the other is not read, in bytes. */
const FULL_BYTES = 4 * 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
const NAME = /^intents(?:-(\d{1,6}))?\.jsonl$/;

/** @param state `<data>/run`, from `openStateFolder` */
export function openIntentLedger(state: string): IntentLedger {
  return {
    append(row) {
      try {
        appendDurably(fileToAppend(state), renderIntent(row));
        return true;
      } catch {
        return false; // a full disk, a folder that is gone: the call goes on and says so
      }
    },
  };
}

/** The texts of all files, the oldest first. One that cannot be read is passed over. */
export function readIntentFiles(state: string): readonly string[] {
  return filesOf(state).flatMap((path) => {
    const text = readText(path);
    return text === null ? [] : [text];
  });
}

/** Removes the files in which nothing is open and that nobody wrote to for longer than an intent lives. */
export function tidyIntents(state: string, now_ms: number): void {
  const files = filesOf(state);
  const open = new Set(openIntents(readIntentFiles(state)).map(({ job }) => job));
  for (const path of files.slice(0, -1)) {
    const text = readText(path);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (text === null || stat === undefined || now_ms - stat.mtimeMs < INTENT_AGE_SEC * 1000) continue;
    if (![...open].some((job) => text.includes(JSON.stringify(job)))) rmSync(path, { force: true });
  }
}

function filesOf(state: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(state);
  } catch {
    return []; // no state yet
  }
  const numberOf = (name: string) => Number(NAME.exec(name)?.[1] ?? 0);
  return names
    .filter((name) => NAME.test(name))
    .sort((left, right) => numberOf(left) - numberOf(right))
    .map((name) => join(state, name));
}

function fileToAppend(state: string): string {
  const files = filesOf(state);
  const last = files.at(-1);
  if (last === undefined) return join(state, "intents.jsonl");
  const size = statSync(last, { throwIfNoEntry: false })?.size ?? 0;
  if (size < FULL_BYTES) return last;
  const count = Number(NAME.exec(last.slice(state.length + 1))?.[1] ?? 0);
  return join(state, `intents-${count + 1}.jsonl`);
}

/** One write of the whole line: two processes never mix theirs. */
function appendDurably(path: string, line: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(path, flags, STATE_FILE_MODE);
  try {
    // A line that a killed process left unfinished must not swallow this one.
    const isCut = fstatSync(file).size > 0 && !endsInNewline(path);
    const bytes = new TextEncoder().encode(isCut ? `\n${line}` : line);
    if (writeSync(file, bytes) !== bytes.length) throw new Error("the line was not written whole");
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function endsInNewline(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const last = new Uint8Array(1);
    return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
  } finally {
    closeSync(file);
  }
}

function readText(path: string): string | null {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(path, "utf8") : null;
  } catch {
    return null; // not ours to read, or gone meanwhile
  }
}
