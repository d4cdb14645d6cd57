/**
 * Files that somebody named: on the command line, in a variable, in the config. A name may lead to something that never
 * ends or never begins.
 *
 * A regular file is read, and so is a pipe, which a shell makes of `<(…)`. A device is not, but for those a shell hands
 * over by its own names. Each up to a number of bytes; a pipe that nobody opens for writing up to a time.
 */
import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from "node:fs";
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { decodeBody, readAll } from "./file.ts";

/** How long a named pipe may be without a writer, in milliseconds. */
export const WRITER_MS = 5_000;
const LOOK_MS = 10;

/** What a shell opened before: its end is its end, and it may be a terminal. `/dev/null` is empty at once. */
const FROM_SHELL = /^\/(?:dev\/(?:stdin|null|fd\/\d{1,9})|proc\/(?:self|\d{1,9})\/fd\/\d{1,9})$/;

/**
 * The text of a file, whole. See `readNamedFile`.
 *
 * Errors: `file_unreadable`, `body_too_large`, `bad_json` when it is no UTF-8
 */
export async function readBodyFile(path: string, maxBytes: number): Promise<string> {
  try {
    return decodeBody(readNamedFile(path, maxBytes), `"${path}"`);
  } catch (error) {
    if (error instanceof WritError) throw error;
    throw new WritError("file_unreadable", `Cannot read "${path}": ${readFault(error)}`, {
      hint: "Name a readable file, or - for standard input",
      cause: error,
    });
  }
}

/**
 * A file whole, up to a limit. Waits for a slow writer as long as there is one.
 *
 * @param what how a message calls it
 * Errors: `body_too_large`; a system error where it cannot be opened or read; an `Error` that says what it is, where that
 *         is nothing to be read
 */
export function readNamedFile(path: string, maxBytes: number, what = `"${path}"`, writerMs = WRITER_MS): Uint8Array {
  const isFromShell = FROM_SHELL.test(path);
  // Asked before and after: opening a device may do something.
  assertReadable(statSync(path), isFromShell);
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    assertReadable(stat, isFromShell);
    if (!stat.isFIFO() || isFromShell) return readAll(file, maxBytes, what);
    const end = performance.now() + writerMs;
    for (;;) {
      // Nothing at once is what a pipe without a writer gives; where there is one, it is waited for.
      const bytes = readAll(file, maxBytes, what);
      if (bytes.length > 0) return bytes;
      if (performance.now() >= end) {
        throw new Error(`it is a pipe that nobody wrote to for ${writerMs / 1000} s`);
      }
      Bun.sleepSync(LOOK_MS);
    }
  } finally {
    closeSync(file);
  }
}

function assertReadable(stat: Stats, isFromShell: boolean): void {
  if (stat.isDirectory()) throw new Error("it is a folder");
  if (stat.isFile() || stat.isFIFO() || isFromShell) return;
  throw new Error(stat.isSocket() ? "it is a socket" : "it is a device");
}
