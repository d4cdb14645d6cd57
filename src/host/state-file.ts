/**
 * Files of the state folder, opened one way: never through a link, and nothing but regular ones. Something else in the
 * place of one (a pipe, a device, a folder) neither holds a command up nor is read.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { readAll } from "./file.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;
/** A link is not followed, and a pipe is not waited for. Windows has neither. */
const GUARDED = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The text of a file, as UTF-8; what is none of it is replaced.
 *
 * @returns null where there is nothing of that name
 * Errors: `body_too_large`; an `Error` that says what it is, where that is no regular file; those of the file system
 */
export function readStateFile(path: string, maxBytes: number): string | null {
  let file: number;
  try {
    file = openRegular(path, O_RDONLY);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  try {
    return new TextDecoder().decode(readAll(file, maxBytes, `"${path}"`));
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file to read it and to append to it; it is made where it is missing.
 *
 * Errors: as of `readStateFile`
 */
export function openStateFile(path: string): number {
  return openRegular(path, O_RDWR | O_APPEND | O_CREAT);
}

/** Makes a file, for a lock, where it is missing. Errors: as of `readStateFile` */
export function makeStateFile(path: string): void {
  closeSync(openStateFile(path));
}

function openRegular(path: string, flags: number): number {
  // Asked before and after: opening a device may do something.
  assertRegular(lstatSync(path, { throwIfNoEntry: false }) ?? null);
  const file = openSync(path, flags | GUARDED, STATE_FILE_MODE);
  try {
    assertRegular(fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

type Kind = Pick<ReturnType<typeof fstatSync>, "isFile" | "isDirectory" | "isFIFO" | "isSymbolicLink">;

function assertRegular(stat: Kind | null): void {
  if (stat === null || stat.isFile()) return;
  const what = stat.isDirectory()
    ? "a folder"
    : stat.isFIFO()
      ? "a pipe"
      : stat.isSymbolicLink()
        ? "a link"
        : "no file";
  throw new Error(what === "no file" ? "it is no regular file" : `it is ${what}, and no regular file`);
}
