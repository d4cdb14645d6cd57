/**
 * The contracts that writ ships, and folders of fixtures: listing and reading, nothing else.
 *
 * In the executable the shipped ones are embedded: their files exist inside this process only, so that no child can
 * open them. They have neither mode bits nor links.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { readAll } from "./file.ts";

/** Where the shipped `contracts/` lies: inside the executable, or in the source tree. To be read from only. */
export function shippedContracts(): string {
  // In the executable every module has the root of the embedded files as its folder.
  return Bun.isStandaloneExecutable
    ? join(import.meta.dir, "contracts")
    : join(import.meta.dir, "..", "..", "contracts");
}

/** `path` is relative to the folder that was listed, with `/` between segments. */
export type ListedFile = { readonly path: string; readonly kind: "file" | "link" | "other" };

/**
 * Everything below a folder that is no folder, sorted by path; no link is followed.
 *
 * Errors: `file_unreadable`
 */
export function listFiles(folder: string): readonly ListedFile[] {
  const found: ListedFile[] = [];
  const open = [""];
  for (let below = open.pop(); below !== undefined; below = open.pop()) {
    for (const entry of entriesOf(folder, below)) {
      const path = below + entry.name;
      // A name that is no UTF-8 comes with U+FFFD in it, and nothing can be opened by that.
      if (path.includes("\ufffd") && !isThere(join(folder, path))) {
        throw unreadable(join(folder, path), new Error("its name is no UTF-8"));
      }
      if (entry.isDirectory()) open.push(`${path}/`);
      else found.push({ path, kind: entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "other" });
    }
  }
  return found.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** `text` has U+FFFD where the bytes are no UTF-8; a byte order mark stays in it. */
export type FileText = { readonly bytes: Uint8Array; readonly text: string; readonly isUtf8: boolean };

/**
 * A regular file, whole.
 *
 * Errors: `file_unreadable`, also for a link; `body_too_large`
 */
export function readFileText(path: string, maxBytes: number): FileText {
  // Embedded files can be read but not opened.
  if (Bun.isStandaloneExecutable && path.startsWith(import.meta.dir)) return textOf(readEmbedded(path));
  let file: number;
  try {
    // No link, and no waiting for the writer of a pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    if (!fstatSync(file).isFile()) throw unreadable(path, new Error("it is no regular file"));
    return textOf(readAll(file, maxBytes, `"${path}"`));
  } catch (error) {
    throw error instanceof WritError ? error : unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function readEmbedded(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function textOf(bytes: Uint8Array): FileText {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return { bytes, text, isUtf8: !text.includes("\ufffd") || Buffer.from(text).equals(bytes) };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function entriesOf(folder: string, below: string) {
  try {
    return readdirSync(join(folder, below), { withFileTypes: true });
  } catch (error) {
    throw unreadable(join(folder, below), error);
  }
}

function unreadable(path: string, cause: unknown): WritError {
  return new WritError("file_unreadable", `Cannot read "${path}": ${readFault(cause)}`, { cause });
}
