/**
 * Evidence that is too large for its row, or no text: `<data>/evidence/<workspace>/<brief>/<ac_id>/<uuid4><ext>`.
 *
 * No link is followed below the data folder, neither while a file is written nor while one is looked up: what counts is
 * the real path. Folders and files are for the owner alone.
 */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { WritError } from "../core/error.ts";
import type { ArtifactPath, EvidenceFolder } from "../core/evidence/repository.ts";
import { flushFolder } from "./flush-folder.ts";

/** How often a folder is made again that another process, taking its own back, removed meanwhile. */
const FOLDER_ROUNDS = 8;

/**
 * The folder of evidence in a data folder.
 *
 * @param home what `~/` stands for in a path that is looked up
 */
export function evidenceFolder(data: string, home: string): EvidenceFolder {
  return {
    keep(place, pieces) {
      const made: string[] = [];
      let temporary: string | null = null;
      try {
        const { folder, file, path } = openBeside(data, place, made, (at) => {
          temporary = at;
        });
        let size_bytes = 0;
        try {
          for (const piece of pieces) {
            for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done);
            size_bytes += piece.length;
          }
          fsyncSync(file);
        } finally {
          closeSync(file);
        }
        // The folder was swapped for a link meanwhile: then the file is not where it is said to be.
        if (realpathSync(folder) !== folder) throw refused(folder, "is a link");
        renameSync(temporary ?? "", path);
        temporary = path;
        for (const each of [folder, ...made.map((one) => dirname(one))]) flushFolder(each);
        return { path, size_bytes, discard: () => takeBack(path, made) };
      } catch (error) {
        takeBack(temporary, made);
        throw error instanceof WritError ? error : failed(data, error);
      }
    },
    resolveArtifactPath: (path) => resolveArtifactPath(data, home, path),
  };
}

type Opened = { readonly folder: string; readonly file: number; readonly path: string };

/** Makes the folders that are missing and opens a temporary file in the last. */
function openBeside(
  data: string,
  place: { readonly workspace: string; readonly brief: string; readonly ac_id: string; readonly name: string },
  made: string[],
  opening: (temporary: string) => void,
): Opened {
  for (let round = 1; ; round++) {
    try {
      const folder = makeFolders(data, ["evidence", place.workspace, place.brief, place.ac_id], made);
      sweepLeftovers(folder);
      const temporary = join(folder, `.${place.name}.${process.pid}.tmp`);
      const file = openSync(temporary, "wx", 0o600);
      opening(temporary);
      return { folder, file, path: join(folder, place.name) };
    } catch (error) {
      if (!isCode(error, "ENOENT") || round === FOLDER_ROUNDS) throw error;
    }
  }
}

/** How old a temporary file must be before it counts as a killed process's, in milliseconds. */
const LEFTOVER_MS = 60 * 60 * 1000;

/** Removes what killed processes left in this folder. Whatever cannot be removed is no concern of this write. */
function sweepLeftovers(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(".") || !name.endsWith(".tmp")) continue;
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      // Of a time to come, too: the clock was ahead then.
      if (stat?.isFile() && Math.abs(Date.now() - stat.mtimeMs) > LEFTOVER_MS) rmSync(path, { force: true });
    }
  } catch {
    // somebody else removed it first, or may not be asked
  }
}

/**
 * The real path of `parts` under the data folder, each part a real folder.
 *
 * @param made gets the folders that were not there before, outermost first
 * Errors: `evidence_refused` for a link or anything else that is no folder
 */
function makeFolders(data: string, parts: readonly string[], made: string[]): string {
  makeWhole(data, made);
  let folder = realpathSync(data);
  for (const part of parts) {
    folder = join(folder, part);
    if (makeOne(folder)) made.push(folder);
    const stat = lstatSync(folder);
    if (stat.isSymbolicLink()) throw refused(folder, "is a link");
    if (!stat.isDirectory()) throw refused(folder, "is no folder");
  }
  return folder;
}

function makeWhole(folder: string, made: string[]): void {
  if (isThere(folder)) return;
  makeWhole(dirname(folder), made);
  if (makeOne(folder)) made.push(folder);
}

/** False when something of that name is there already. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Removes the file and those of the folders that nobody else uses. What cannot be removed is left: no row names it. */
function takeBack(path: string | null, made: readonly string[]): void {
  const attempts = made.toReversed().map((folder) => () => rmdirSync(folder));
  for (const attempt of [() => path !== null && rmSync(path, { force: true }), ...attempts]) {
    try {
      attempt();
    } catch {
      // not empty: another process put its own evidence there; or the disk is broken, which the first error tells
    }
  }
}

function resolveArtifactPath(data: string, home: string, named: string): ArtifactPath {
  const path = named === "~" || named.startsWith("~/") ? join(home, named.slice(1)) : named;
  if (path.trim() === "") return { ok: false, why: "is blank" };
  if (path.includes("\0")) return { ok: false, why: "holds a NUL" };
  if (!isAbsolute(path)) return { ok: false, why: `is not absolute; it must lie under "${join(data, "evidence")}"` };
  try {
    const real = realpathSync(path);
    const root = join(realpathSync(data), "evidence");
    if (!real.startsWith(`${root}${sep}`)) {
      return { ok: false, why: `${real === path ? "lies" : `leads to "${real}",`} outside of "${root}"` };
    }
    const stat = lstatSync(real);
    return stat.isFile() ? { ok: true, path: real, size_bytes: stat.size } : { ok: false, why: "is no regular file" };
  } catch (error) {
    // Where a missing file would lie is not asked: it is none either way.
    return { ok: false, why: isCode(error, "ENOENT") ? "names no file" : `cannot be looked up: ${reasonOf(error)}` };
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refused(path: string, why: string): WritError {
  return new WritError("evidence_refused", `Evidence cannot be kept: "${path}" ${why}; nothing was recorded`, {
    path,
    hint: "Below the data folder, evidence lies in real folders only: move this away",
  });
}

function failed(data: string, error: unknown): WritError {
  return new WritError(
    "store_failed",
    `Cannot write evidence under "${data}": ${reasonOf(error)}; nothing was written`,
    {
      path: data,
      hint: isCode(error, "ENOSPC")
        ? "Free some space on its disk and repeat the command"
        : "Make the data folder writable, or name another with WRIT_DATA_DIR",
      cause: error,
    },
  );
}
