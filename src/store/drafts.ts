/**
 * Draft files: one envelope each, `<folder>/<draft_id>.json`, for the owner alone.
 *
 * A draft is written beside its place, flushed and renamed, and the folder flushed after: a reader sees the old
 * draft or the new one, and what was acknowledged survives a power cut. The caller has checked the draft id.
 */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { DraftFolder } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { flushFolder } from "./flush-folder.ts";

/** The largest envelope on disk, in bytes. */
export const ENVELOPE_LIMIT = 16 * 1024 * 1024;
/** How old a temporary file must be before it counts as a killed process's, in milliseconds. */
const LEFTOVER_MS = 60 * 60 * 1000;
const ENDING = ".json";

export function draftFolder(folder: string): DraftFolder {
  const pathOf = (draftId: string) => join(folder, `${draftId}${ENDING}`);
  return {
    read(draftId) {
      const path = pathOf(draftId);
      const stat = lookAt(draftId, path);
      if (stat === null) return null;
      if (!stat.isFile()) throw unreadable(draftId, path, "it is no regular file");
      if (stat.size > ENVELOPE_LIMIT) throw unreadable(draftId, path, `it has ${stat.size} bytes, more than 16 MiB`);
      try {
        const bytes = readFileSync(path);
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        return { text, digest: sha256(bytes), modified_ms: stat.mtimeMs };
      } catch (error) {
        if (isCode(error, "ENOENT")) return null; // removed between the two looks
        throw unreadable(
          draftId,
          path,
          isCode(error, "ERR_ENCODING_INVALID_ENCODED_DATA") ? "it is no UTF-8 text" : reasonOf(error),
        );
      }
    },
    stage(draftId, text) {
      const path = pathOf(draftId);
      const bytes = Buffer.from(text);
      if (bytes.length > ENVELOPE_LIMIT) {
        throw new WritError(
          "envelope_too_large",
          `The envelope would have ${bytes.length} bytes, more than 16 MiB; nothing was written`,
          {
            hint: "Keep long outputs in files and name them in the envelope",
          },
        );
      }
      // Unique in this process and among all: the id of the process and randomness.
      const random = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString("hex");
      const temporary = join(folder, `.${draftId}.${process.pid}.${random}.tmp`);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const file = openSync(temporary, "wx", 0o600);
        try {
          for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
          fsyncSync(file);
        } finally {
          closeSync(file);
        }
      } catch (error) {
        removeLeftover(temporary);
        throw failed(path, error);
      }
      return {
        digest: sha256(bytes),
        publish() {
          try {
            renameSync(temporary, path);
            flushFolder(folder);
          } catch (error) {
            removeLeftover(temporary);
            throw failed(path, error);
          }
        },
        discard: () => removeLeftover(temporary),
      };
    },
    list() {
      return names(folder)
        .filter((name) => name.endsWith(ENDING) && !name.startsWith("."))
        .flatMap((name) => {
          const stat = statSync(join(folder, name), { throwIfNoEntry: false });
          return stat === undefined ? [] : [{ draft_id: name.slice(0, -ENDING.length), modified_ms: stat.mtimeMs }];
        })
        .sort((a, b) => b.modified_ms - a.modified_ms || (a.draft_id < b.draft_id ? 1 : -1));
    },
    remove: (draftId) => rmSync(pathOf(draftId), { force: true }),
    claimSweep(now_ms) {
      const mark = join(folder, ".swept");
      const stat = statSync(mark, { throwIfNoEntry: false });
      if (stat !== undefined && !isLongAgo(stat, now_ms)) return false;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (stat === undefined) closeSync(openSync(mark, "a", 0o600));
      utimesSync(mark, now_ms / 1000, now_ms / 1000);
      return true;
    },
    sweep(now_ms) {
      for (const name of names(folder)) {
        if (!name.startsWith(".") || !name.endsWith(".tmp")) continue;
        const path = join(folder, name);
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (stat?.isFile() && isLongAgo(stat, now_ms)) rmSync(path, { force: true });
      }
    },
  };
}

/** Also what is of a time to come: the clock was ahead then, and nobody is at it any more. */
function isLongAgo({ mtimeMs }: Stats, now_ms: number): boolean {
  return Math.abs(now_ms - mtimeMs) >= LEFTOVER_MS;
}

/** Null when there is nothing at the path. Errors: `draft_unreadable`. */
function lookAt(draftId: string, path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isCode(error, "ENOTDIR")) return null; // the folder is none: there cannot be a draft in it
    throw unreadable(draftId, path, reasonOf(error));
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isCode(error, "ENOENT")) return []; // no draft was ever written
    throw failed(folder, error);
  }
}

/** What cannot be removed now is an hour later housekeeping's; the error that led here is the one to tell. */
function removeLeftover(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // the folder is none, or cannot be written: there is nothing of ours in it, or nothing we can do
  }
}

/** Lower-case hex SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function unreadable(draftId: string, path: string, why: string): WritError {
  return new WritError("draft_unreadable", `The draft of "${draftId}" cannot be read: ${why}`, {
    path,
    hint: `Nothing was changed. Move ${path} away, and the next write starts from what the store holds`,
  });
}

function failed(path: string, error: unknown): WritError {
  return new WritError("store_failed", `Cannot write "${path}": ${reasonOf(error)}; nothing was written`, {
    path,
    hint: isCode(error, "ENOSPC")
      ? "Free some space on its disk and repeat the command"
      : "Make the data folder writable, or name another with WRIT_DATA_DIR",
    cause: error,
  });
}
