/**
 * The folder of one job on disk, `<work>/<job_id>/ctx`: what the tools of a seat see, and all that they see.
 *
 * The folder of the job is locked for as long as its process lives, so that a later start knows which ones nobody
 * works in. What is written comes to its place whole, from beside `ctx`: a full disk leaves the old file.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { quote } from "../core/acceptance/quoting.ts";
import { type Document, documentNameFault, findCollisions } from "../core/delegation/document.ts";
import { WritError } from "../core/error.ts";
import { WRITE_LIMITS } from "../core/patch/limits.ts";
import { readToolPath, readWritePath } from "../core/patch/write-path.ts";
import type { Entry, Refusal, Snapshot, SnapshotFile, Workspace } from "../core/seat/workspace.ts";
import { compareUtf8 } from "../core/utf8.ts";
import { canLock, lockFile } from "./lock.ts";
import {
  findPlace,
  isSameNode,
  kindOf,
  lookAt,
  openToRead,
  type Place,
  readPlace,
  reasonOf,
  refusal,
} from "./place.ts";
import { isAlive } from "./process-identity.ts";
import { removeTree } from "./remove-tree.ts";

const READ_BYTES = 16 * 1024 * 1024;
const MOST_FILES = 10_000;
const PIECE_BYTES = 64 * 1024;
/** Holds the id of the process, for a person and for the platforms that have no locks. */
const OWNER = "owner";
/** A folder that is being made; it takes its name when it is locked. */
const UNNAMED = ".new-";

/**
 * The workspace of a job. Nothing is on disk before `fill`.
 *
 * @param work  the folder of all jobs, `<state>/work`; made where it is missing
 * @param jobId one segment of a path
 */
export function jobFolder(work: string, jobId: string): Workspace {
  return new JobFolder(work, jobId);
}

/**
 * Removes the folders of jobs that nobody works in: at a start, after a crash.
 *
 * @param isLive whether a job is one that this process knows and will work in
 * @returns      the ids of the jobs whose folders were removed
 * Errors:       none; what cannot be removed stays until a later start
 */
export function sweepJobFolders(work: string, isLive: (jobId: string) => boolean): readonly string[] {
  const swept: string[] = [];
  for (const name of namesIn(work)) {
    const folder = join(work, name);
    const isUnnamed = name.startsWith(UNNAMED);
    if (!(isUnnamed || isJobFolder(folder)) || isLive(name)) continue;
    const release = takeOver(folder);
    if (release === null) continue;
    if (removeTree(folder) && !isUnnamed) swept.push(name);
    release();
  }
  return swept;
}

class JobFolder implements Workspace {
  readonly #work: string;
  readonly #jobId: string;
  readonly #folder: string;
  readonly #root: string;
  #release: (() => void) | null = null;

  constructor(work: string, jobId: string) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(jobId)) throw new Error(`"${jobId}" is no id of a job`);
    this.#work = work;
    this.#jobId = jobId;
    this.#folder = join(work, jobId);
    this.#root = join(this.#folder, "ctx");
  }

  fill(documents: readonly Document[]): void {
    const names = documents.map(({ name }) => name);
    const fault = names.map(documentNameFault).find((found) => found !== null) ?? findCollisions(names)[0];
    if (fault !== undefined) throw this.#failed(fault.message);
    try {
      this.#make();
      mkdirSync(this.#root, { mode: 0o700 });
      for (const { name, text } of documents) {
        const path = join(this.#root, ...name.split("/"));
        mkdirSync(dirname(path), { mode: 0o700, recursive: true });
        writeNew(path, new TextEncoder().encode(text));
      }
    } catch (error) {
      this.remove();
      throw error instanceof WritError ? error : this.#failed(reasonOf(error), error);
    }
  }

  makeRoot(writeRoot: string): { readonly ok: true } | Refusal {
    const place = findPlace(this.#root, writeRoot, "as_named");
    if (!place.ok) return place;
    if (place.stat?.isDirectory()) return { ok: true };
    if (place.stat !== null) return refusal("refused", `${quote(writeRoot)} is ${kindOf(place.stat)}, no folder`);
    return attempt(() => {
      makeFolders([...place.missing, place.path]);
      return { ok: true };
    });
  }

  list(path: string): { readonly ok: true; readonly entries: readonly Entry[] } | Refusal {
    const found = this.#find(path);
    if (!found.ok) return found;
    if (!found.stat.isDirectory()) return refusal("failed", `${quote(found.name)} is ${kindOf(found.stat)}, no folder`);
    return attempt(() => {
      const entries: Entry[] = [];
      for (const name of namesOf(found.path)) {
        const stat = lookAt(join(found.path, name));
        if (stat?.isDirectory()) entries.push({ name, kind: "folder" });
        else if (stat?.isFile()) entries.push({ name, kind: "file" });
      }
      return { ok: true, entries };
    });
  }

  read(path: string): { readonly ok: true; readonly bytes: Uint8Array } | Refusal {
    const found = this.#find(path);
    if (!found.ok) return found;
    const { name, stat } = found;
    if (!stat.isFile()) return refusal("failed", `${quote(name)} is ${kindOf(stat)}, no file`);
    return attempt(() => {
      const bytes = readPlace(found.path, stat, READ_BYTES);
      return bytes === null ? refusal("failed", `${quote(name)} is larger than 16 MiB`) : { ok: true, bytes };
    });
  }

  walk(path: string): { readonly ok: true; readonly paths: readonly string[] } | Refusal {
    const found = this.#find(path);
    if (!found.ok) return found;
    if (found.stat.isFile()) return { ok: true, paths: [found.name] };
    if (!found.stat.isDirectory()) return refusal("failed", `${quote(found.name)} is ${kindOf(found.stat)}`);
    return attempt(() => {
      const files = filesBelow(found.path, found.name);
      return files === null
        ? refusal("failed", `there are more than ${MOST_FILES} files below ${quote(found.name)}`)
        : { ok: true, paths: files.map(({ name }) => name) };
    });
  }

  write(path: string, bytes: Uint8Array, writeRoot: string): { readonly ok: true; readonly path: string } | Refusal {
    const read = readWritePath(path, writeRoot);
    if (!read.ok) return refusal("refused", read.reason);
    const place = findPlace(this.#root, read.path, "as_named");
    if (!place.ok) return place;
    if (place.stat !== null && !place.stat.isFile()) {
      return refusal("refused", `${quote(read.path)} is ${kindOf(place.stat)}, no file`);
    }
    return attempt(() => {
      this.#put(place, bytes);
      return { ok: true, path: read.path };
    });
  }

  snapshot(writeRoot: string): Snapshot {
    const place = findPlace(this.#root, writeRoot);
    if (!place.ok) throw this.#failed(place.message);
    if (place.stat === null) return new Map();
    if (!place.stat.isDirectory()) throw this.#failed(`${quote(writeRoot)} is ${kindOf(place.stat)}, no folder`);
    try {
      const files = filesBelow(place.path, writeRoot);
      if (files === null) throw this.#failed(`there are more than ${MOST_FILES} files in it`);
      return new Map(files.map(({ name, path, stat }) => [name, keep(path, stat)]));
    } catch (error) {
      throw error instanceof WritError ? error : this.#failed(reasonOf(error), error);
    }
  }

  remove(): void {
    if (this.#release === null) return;
    removeTree(this.#folder);
    this.#release();
    this.#release = null;
  }

  /** Makes the folder of the job, with its lock and its owner, in one step. Errors: `job_folder_failed`, file system. */
  #make(): void {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    const old = lookAt(this.#folder);
    if (old !== null) {
      // The same job, begun by a process that has died.
      const release = takeOver(this.#folder);
      if (release === null) throw this.#failed("somebody is at work in it");
      removeTree(this.#folder);
      release();
    }
    const unnamed = join(this.#work, UNNAMED + Bun.randomUUIDv7());
    mkdirSync(unnamed, { mode: 0o700 });
    const release = lockFile(unnamed, 0);
    if (release === null) throw this.#failed("it cannot be locked");
    try {
      writeFileSync(join(unnamed, OWNER), `${process.pid}\n`, { mode: 0o600, flag: "wx" });
      renameSync(unnamed, this.#folder);
      this.#release = release;
    } catch (error) {
      removeTree(unnamed);
      release();
      throw error;
    }
  }

  /** Something that is there, by the path of a tool call. */
  #find(
    path: string,
  ): { readonly ok: true; readonly name: string; readonly path: string; readonly stat: BigIntStats } | Refusal {
    const read = readToolPath(path);
    if (!read.ok) return refusal("refused", read.reason);
    const place = findPlace(this.#root, read.path);
    if (!place.ok) return place;
    if (place.stat === null) return refusal("failed", `there is no ${quote(read.path)}`);
    return { ok: true, name: read.path, path: place.path, stat: place.stat };
  }

  /** Errors: those of the file system; then the file is as it was, and no folder was made for it. */
  #put(place: Place, bytes: Uint8Array): void {
    const staged = join(this.#folder, "staged");
    try {
      writeNew(staged, bytes);
      makeFolders(place.missing);
      renameSync(staged, place.path);
    } catch (error) {
      rmSync(staged, { force: true });
      for (const folder of place.missing.toReversed()) removeEmpty(folder);
      throw error;
    }
  }

  #failed(why: string, cause?: unknown): WritError {
    return new WritError("job_folder_failed", `Cannot use the folder of job "${this.#jobId}": ${why}`, {
      hint: `Look at ${this.#work}: is its disk full, or no longer writable?`,
      cause,
    });
  }
}

/** A regular file below a folder; `name` is its path from the job's root. */
type Found = { readonly name: string; readonly path: string; readonly stat: BigIntStats };

/** In the order of the names' bytes; null when there are too many. Links and special files are left out. */
function filesBelow(folder: string, name: string): readonly Found[] | null {
  const files: Found[] = [];
  const open = [{ name, path: folder }];
  let seen = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of readdirSync(at.path)) {
      seen += 1;
      if (seen > MOST_FILES) return null;
      const path = join(at.path, entry);
      const stat = lookAt(path);
      const inner = at.name === "." ? entry : `${at.name}/${entry}`;
      if (stat?.isDirectory()) open.push({ name: inner, path });
      else if (stat?.isFile()) files.push({ name: inner, path, stat });
    }
  }
  return files.sort((left, right) => compareUtf8(left.name, right.name));
}

/** One file as a snapshot holds it. */
function keep(path: string, stat: BigIntStats): SnapshotFile {
  try {
    const bytes = readPlace(path, stat, WRITE_LIMITS.text_bytes);
    return bytes === null ? digestOf(path, stat) : { kind: "bytes", bytes };
  } catch {
    // What cannot be read is told apart by what its folder says: a write moves the times.
    const digest = `unread:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}`;
    return { kind: "opaque", size_bytes: Number(stat.size), digest };
  }
}

function digestOf(path: string, stat: BigIntStats): SnapshotFile {
  const file = openToRead(path, stat);
  try {
    const hash = new Bun.CryptoHasher("sha256");
    const piece = new Uint8Array(PIECE_BYTES);
    let size = 0;
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
      hash.update(piece.subarray(0, length));
      size += length;
    }
    return { kind: "opaque", size_bytes: size, digest: hash.digest("hex") };
  } finally {
    closeSync(file);
  }
}

/** Errors: those of the file system, also when something is there already, be it a dangling link. */
function writeNew(path: string, bytes: Uint8Array): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(path, flags, 0o600);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  } finally {
    closeSync(file);
  }
}

/** One by one, outermost first. */
function makeFolders(folders: readonly string[]): void {
  for (const folder of folders) mkdirSync(folder, { mode: 0o700 });
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // it was not made, or holds something by now
  }
}

function namesOf(folder: string): readonly string[] {
  return readdirSync(folder).sort(compareUtf8);
}

/** Names in a folder that may not be there. */
function namesIn(folder: string): readonly string[] {
  try {
    return namesOf(folder);
  } catch {
    return []; // nothing was ever made here, or it cannot be read: nothing is swept
  }
}

function isJobFolder(folder: string): boolean {
  try {
    return lstatSync(folder).isDirectory() && lstatSync(join(folder, OWNER)).isFile();
  } catch {
    return false; // none of ours, or gone
  }
}

/** Takes the lock of a folder whose process has died; null where it lives. */
function takeOver(folder: string): (() => void) | null {
  try {
    const before = lookAt(folder);
    const release = lockFile(folder, 0);
    if (release === null || before === null) return null;
    const now = lookAt(folder);
    if (now === null || !isSameNode(before, now)) {
      // What was locked is not what has the name by now.
      release();
      return null;
    }
    if (canLock()) return release;
    return isAlive(Number(readFileSync(join(folder, OWNER), "utf8"))) ? null : release;
  } catch {
    return null; // gone, or not ours
  }
}

/** What the file system refuses is an answer. */
function attempt<T>(act: () => T | Refusal): T | Refusal {
  try {
    return act();
  } catch (error) {
    return refusal("failed", reasonOf(error));
  }
}
