/** The folder in which briefs are left: for its owner alone. */
import { lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";

/** More files are not listed. */
const MOST_FILES = 10_000;

/**
 * Makes the folder where it is missing.
 *
 * @returns "another user's" for one that, or whose link, belongs to somebody else: it is not written into
 * Errors: `file_unwritable` when it cannot be made, or is no folder
 */
export function openMailbox(path: string): "ours" | "another user's" {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const mine = process.getuid?.();
    const stats = [lstatSync(path), statSync(path)];
    if (!stats.every((stat) => stat.isDirectory() || stat.isSymbolicLink())) throw new Error("it is no folder");
    return mine === undefined || stats.every(({ uid }) => uid === mine) ? "ours" : "another user's";
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("file_unwritable", `Cannot write "${path}": ${why}; nothing was written`, {
      path,
      cause: error,
    });
  }
}

type Found = { readonly path: string; readonly modified_at: string };

/**
 * The briefs of a mailbox as `markdownIn` lists them, those of this user alone: it stands in a folder where everybody may
 * leave something, and a brief is what an agent goes by.
 */
export function mailedTo(mailbox: string, user = process.getuid?.()): readonly Found[] {
  return markdownIn(mailbox, user);
}

/**
 * The regular Markdown files directly in a folder, newest first, those of one time by name.
 *
 * @param owner whose they are; left out: anybody's
 */
export function markdownIn(folder: string, owner?: number): readonly Found[] {
  const files = namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = name.endsWith(".md") ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    return stat?.isFile() === true && (owner === undefined || stat.uid === owner)
      ? [{ path, name, at: stat.mtimeMs }]
      : [];
  });
  files.sort((one, other) => other.at - one.at || (one.name < other.name ? -1 : 1));
  return files.map(({ path, at }) => ({ path, modified_at: `${new Date(at).toISOString().slice(0, 19)}Z` }));
}

/** The folders directly in a folder, links to folders among them, by name. */
export function foldersIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true)
    .sort();
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, MOST_FILES);
  } catch {
    return []; // not there, or not ours to read
  }
}
