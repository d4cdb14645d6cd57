/**
 * A harness's settings file, which others write as well: the harness itself, an editor, a second writ.
 *
 * Calls of writ go one after the other, by a lock on the folder. Somebody who takes no lock is noticed by a second look
 * just before the rename. A link is followed to a regular file of the same owner and stays a link; anything else behind
 * a link is refused, since a link in a project may have come with it.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { WritError } from "../core/error.ts";
import { readFault, writeFault } from "../core/file-fault.ts";
import { lockFile } from "./lock.ts";
import { flushFolder } from "./staged.ts";

/** The largest settings file, in bytes. */
const LIMIT = 8 * 1024 * 1024;
/** How long the lock is waited for, in milliseconds, and how often somebody quicker is given way to. */
const LOCK_MS = 10_000;
const ATTEMPTS = 5;

type Found = { readonly target: string; readonly text: string; readonly stat: Stats };

/** Errors: `settings_refused` for what writ may not change, `file_unreadable`. */
export function readSettingsFile(path: string): string | null {
  return find(path)?.text ?? null;
}

/**
 * Changes a file as a whole, making it where it is missing (mode 0644 less the umask).
 *
 * @param change is given the text, null where there is none; answering the same text writes nothing
 * Errors: as `readSettingsFile`; `file_unwritable`, `settings_busy`
 */
export function changeSettingsFile<T extends { readonly text: string | null }>(
  path: string,
  change: (text: string | null) => T,
): T {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = find(path);
    const plan = change(first?.text ?? null);
    if (plan.text === null || plan.text === (first?.text ?? null)) return plan;
    const target = first?.target ?? path;
    const unlock = locked(target);
    try {
      // Planned again under the lock, on what lies there now.
      const found = find(path);
      if ((found?.target ?? path) !== target) continue;
      const { text, ...rest } = change(found?.text ?? null);
      if (text !== null && text !== (found?.text ?? null) && !replace(path, target, found, text)) continue;
      return { text, ...rest } as T;
    } finally {
      unlock();
    }
  }
  throw busy(path);
}

/** Null where there is nothing. Errors: `settings_refused`, `file_unreadable`. */
function find(path: string): Found | null {
  let target = path;
  try {
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return null;
    if (link.isSymbolicLink()) target = followed(path);
    const stat = statSync(target);
    if (!stat.isFile()) throw refused(path, "it is no regular file");
    if (stat.size > LIMIT) throw refused(path, `it has ${stat.size} bytes, more than 8 MiB`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(target));
    return { target, text, stat };
  } catch (error) {
    if (error instanceof WritError) throw error;
    if (codeOf(error) === "ENOTDIR") throw refused(path, "its folder is no folder");
    const why = codeOf(error) === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "it is no UTF-8 text" : readFault(error);
    throw new WritError("file_unreadable", `Cannot read "${path}": ${why}`, { path, cause: error });
  }
}

/** Where a link leads. Errors: `settings_refused`. */
function followed(path: string): string {
  let target: string;
  try {
    target = realpathSync(path);
  } catch (error) {
    throw refused(path, `it is a link that leads nowhere (${readFault(error)})`);
  }
  const stat = statSync(target);
  if (!stat.isFile()) throw refused(path, `it is a link to "${target}", which is no regular file`);
  if (process.getuid !== undefined && stat.uid !== process.getuid()) {
    throw refused(path, `it is a link to "${target}", which is not yours`);
  }
  return target;
}

/** False when somebody else was quicker. Errors: `file_unwritable`, `settings_refused`. */
function replace(path: string, target: string, found: Found | null, text: string): boolean {
  const folder = dirname(target);
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString("hex");
  const temporary = join(folder, `.${basename(target).slice(0, 100)}.${process.pid}.${random}.tmp`);
  try {
    if (found !== null) accessSync(target, constants.W_OK); // a rename would not ask
    stage(temporary, text, found?.stat ?? null);
    const now = find(path);
    if ((now?.text ?? null) !== (found?.text ?? null) || (now?.target ?? path) !== target) return false;
    renameSync(temporary, target);
    flushFolder(folder);
    return true;
  } catch (error) {
    if (error instanceof WritError) throw error;
    throw new WritError("file_unwritable", `Cannot write "${path}": ${writeFault(error)}; nothing was changed`, {
      path,
      hint: "Make the file and its folder writable, or see what belongs into it: writ hooks print claude-code",
      cause: error,
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Writes and flushes a file beside its place, with the mode and the owner of the one that it is to replace. */
function stage(temporary: string, text: string, old: Stats | null): void {
  const bytes = Buffer.from(text);
  const file = openSync(temporary, "wx", old === null ? 0o644 : 0o600);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (old === null) return;
  const made = statSync(temporary);
  if (made.uid !== old.uid || made.gid !== old.gid) chownSync(temporary, old.uid, old.gid);
  chmodSync(temporary, old.mode & 0o7777);
}

/** Errors: `file_unwritable` where the folder cannot be made, `settings_busy`. */
function locked(target: string): () => void {
  const folder = dirname(target);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new WritError("file_unwritable", `Cannot make the folder "${folder}": ${writeFault(error)}`, {
      path: target,
      hint: "Make it by hand, or see what belongs into the file: writ hooks print claude-code",
      cause: error,
    });
  }
  const unlock = lockFile(folder, LOCK_MS);
  if (unlock === null) throw busy(target);
  return unlock;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

function refused(path: string, why: string): WritError {
  return new WritError("settings_refused", `Cannot use the settings file "${path}": ${why}; nothing was changed`, {
    path,
    hint: "Put the hooks in by hand: writ hooks print claude-code",
  });
}

function busy(path: string): WritError {
  return new WritError("settings_busy", `The settings file "${path}" is being changed by others; nothing was changed`, {
    path,
    hint: "Try again",
  });
}
