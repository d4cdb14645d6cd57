/**
 * Writing a file that somebody named: whole or not at all.
 *
 * It is written beside its place, flushed, and put there in one step: a reader sees the old file or the new one.
 */
import { constants, copyFileSync, linkSync, lstatSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";
import { utf8Chunks } from "../core/utf8.ts";
import { flushFolder, stageBeside } from "./staged.ts";

/**
 * Writes a text to a path; what was there is replaced. A link is replaced too, and its target left alone.
 *
 * Errors: `file_unwritable`, and then the old file is as it was; what is no regular file is not replaced
 */
export function writeFileWhole(path: string, text: string, mode = 0o666): void {
  writePiecesWhole(path, [text], mode);
}

/** The same for a text in pieces. */
export function writePiecesWhole(path: string, pieces: Iterable<string>, mode = 0o666): void {
  const old = lookAt(path);
  if (old !== null && !old.isFile() && !old.isSymbolicLink()) {
    throw unwritable(path, old.isDirectory() ? "it is a folder" : "it is no regular file");
  }
  const temporary = stage(path, pieces, mode);
  try {
    renameSync(temporary, path);
    flushFolder(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw unwritable(path, writeFault(error), error);
  }
}

/**
 * Writes a text to a path where nothing is.
 *
 * @returns false when something is there, be it a dangling link; nothing was written then
 * Errors: `file_unwritable`
 */
export function createFileWhole(path: string, text: string, mode: number): boolean {
  const temporary = stage(path, [text], mode);
  try {
    putInto(temporary, path);
    flushFolder(dirname(path));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unwritable(path, writeFault(error), error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Unlike a rename, a hard link replaces nothing. */
function putInto(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    // A file system without hard links.
    copyFileSync(temporary, path, constants.COPYFILE_EXCL);
  }
}

function stage(path: string, pieces: Iterable<string>, mode: number): string {
  try {
    return stageBeside(path, utf8Chunks(pieces), { created: mode });
  } catch (error) {
    throw unwritable(path, writeFault(error), error);
  }
}

function lookAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    throw unwritable(path, writeFault(error), error);
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

function unwritable(path: string, why: string, cause?: unknown): WritError {
  return new WritError("file_unwritable", `Cannot write "${path}": ${why}; nothing was written`, {
    hint: "Name a file in a folder that is there and can be written",
    cause,
  });
}
