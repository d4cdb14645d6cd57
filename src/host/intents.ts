/**
 * `<state>/intents.jsonl`: the jobs that were handed to nodes. Every process of this user appends to it; nobody rewrites
 * it. A file that has grown is left, and a new one begun beside it; one whose rows are all closed and old is removed.
 *
 * Source: delegation run, section 4.11
 */
import { closeSync, fstatSync, fsyncSync, lstatSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { INTENT_AGE_SEC, type IntentLedger, openIntents, renderIntent } from "../core/node/intents.ts";
import { openStateFile, readStateFile } from "./state-file.ts";

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

/** A part of the ledger that cannot be read: nobody can say then whether something in it is open. */
export type LedgerFault = { readonly path: string; readonly why: string };

export type ReadIntents = {
  /** The oldest first. */
  readonly texts: readonly string[];
  readonly faults: readonly LedgerFault[];
};

/** Reads all files of the ledger. Errors: none */
export function readIntents(state: string): ReadIntents {
  const { paths, fault } = filesOf(state);
  const texts: string[] = [];
  const faults = fault === null ? [] : [{ path: state, why: fault }];
  for (const path of paths) {
    try {
      const text = readStateFile(path, MOST_BYTES);
      if (text !== null) texts.push(text);
    } catch (error) {
      faults.push({ path, why: reasonOf(error) });
    }
  }
  return { texts, faults };
}

/** Removes the files in which nothing is open and that nobody wrote to for longer than an intent lives. */
export function tidyIntents(state: string, now_ms: number): void {
  const open = new Set(openIntents(readIntents(state).texts).map(({ job }) => job));
  for (const path of filesOf(state).paths.slice(0, -1)) {
    try {
      const age_ms = now_ms - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now_ms);
      if (age_ms < INTENT_AGE_SEC * 1000) continue;
      const text = readStateFile(path, MOST_BYTES);
      if (text !== null && ![...open].some((job) => text.includes(JSON.stringify(job)))) rmSync(path, { force: true });
    } catch {
      // What cannot be read is no file of ours to remove.
    }
  }
}

function filesOf(state: string): { readonly paths: readonly string[]; readonly fault: string | null } {
  let names: readonly string[];
  try {
    names = readdirSync(state);
  } catch (error) {
    const isNone = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { paths: [], fault: isNone ? null : reasonOf(error) };
  }
  const numberOf = (name: string) => Number(NAME.exec(name)?.[1] ?? 0);
  const paths = names
    .filter((name) => NAME.test(name))
    .sort((left, right) => numberOf(left) - numberOf(right))
    .map((name) => join(state, name));
  return { paths, fault: null };
}

function fileToAppend(state: string): string {
  const last = filesOf(state).paths.at(-1);
  if (last === undefined) return join(state, "intents.jsonl");
  const size = lstatSync(last, { throwIfNoEntry: false })?.size ?? 0;
  if (size < FULL_BYTES) return last;
  const count = Number(NAME.exec(last.slice(state.length + 1))?.[1] ?? 0);
  return join(state, `intents-${count + 1}.jsonl`);
}

/** One write of the whole line: two processes never mix theirs. */
function appendDurably(path: string, line: string): void {
  const file = openStateFile(path);
  try {
    // A line that a killed process left unfinished must not swallow this one.
    const bytes = new TextEncoder().encode(endsInNewline(file) ? line : `\n${line}`);
    if (writeSync(file, bytes) !== bytes.length) throw new Error("the line was not written whole");
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** An empty file does. */
function endsInNewline(file: number): boolean {
  const { size } = fstatSync(file);
  const last = new Uint8Array(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
