/**
 * Fresh copies: a tree made for one proof alone, removed when it is over.
 *
 * Of a git work tree it is the present state: what git tracks or would track, as it lies there now. Of any other
 * folder it is everything. Nothing in the copy leads back: files are copied byte by byte, a link is made anew with the
 * text it has, and one that leaves the copy refuses it. The platform's own copying would turn a relative link into an
 * absolute one that points into the original.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  symlinkSync,
  writeSync,
} from "node:fs";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import { WritError } from "../core/error.ts";
import type { FreshCopy } from "../core/prove/fresh-copy.ts";
import { GIT, gitEnvironment } from "./git-call.ts";
import { openTemporary, type Temporary } from "./temporary.ts";

export type CopyLimits = { readonly files: number; readonly bytes: number };

export type CopyOptions = {
  /** Ends the copying; what was copied is removed, and the signal's reason thrown. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly limits?: CopyLimits;
};

/** A larger tree is not copied. */
export const COPY_LIMITS: CopyLimits = { files: 50_000, bytes: 1024 * 1024 * 1024 };

const GIT_MS = 60_000;
const PIECE_BYTES = 1024 * 1024;
/** Files, or pieces of a file, between two looks at the signal. */
const STEPS_AT_ONCE = 64;
/** As many links are followed one after another as the system itself follows. */
const LINKS_FOLLOWED = 40;
const NAMED = 5;

/**
 * Copies the tree that a folder belongs to into a new temporary folder.
 *
 * Errors: `copy_failed`, and then nothing is left behind: the folder is not there, the tree is too large, a link
 * leaves it, a file cannot be read, the disk is full; the reason of the signal
 */
export async function copyFolder(folder: string, options: CopyOptions): Promise<FreshCopy> {
  const asked = realFolder(folder);
  const copier = new Copier(asked, options);
  let place: Temporary | null = null;
  try {
    const source = await copier.survey(asked);
    const made = openTemporary("prove");
    place = made;
    // Its own name, since some tools go by it, unless a shell would read more into it.
    const name = basename(source.root);
    const root = join(made.folder, /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) ? name : "copy");
    await copier.copy(source.root, root);
    return {
      kind: source.kind,
      source: source.root,
      commit: source.commit,
      dirty: source.dirty,
      files: copier.files,
      bytes: copier.bytes,
      skipped: copier.skipped,
      ignored: source.ignored,
      root,
      folder: join(root, relative(source.root, asked)),
      remove: () => (made.remove() ? null : `The copy in ${made.folder} could not be removed`),
    };
  } catch (error) {
    place?.remove();
    if (error instanceof WritError || options.signal.aborted) throw error;
    throw failed(folder, reasonOf(error), error);
  }
}

type Source = Pick<FreshCopy, "kind" | "commit" | "dirty" | "ignored"> & { readonly root: string };

/** One file or link to copy, by its path from the root. */
type Entry = { readonly path: string; readonly stat: Stats };

class Copier {
  files = 0;
  bytes = 0;
  readonly skipped: string[] = [];
  readonly #asked: string;
  readonly #signal: AbortSignal;
  readonly #onProgress: (text: string) => void;
  readonly #limits: CopyLimits;
  readonly #entries: Entry[] = [];
  /** Folders of the source by path, with their permissions; null: it is no folder, or a link to one. */
  readonly #folders = new Map<string, number | null>();
  readonly #made = new Set<string>();
  #plannedBytes = 0;
  #steps = 0;

  constructor(asked: string, { signal, onProgress, limits = COPY_LIMITS }: CopyOptions) {
    this.#asked = asked;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#limits = limits;
  }

  /** Finds everything that is to be copied. Nothing is written. */
  async survey(asked: string): Promise<Source> {
    const root = await workTreeOf(asked, this.#signal);
    const names = root === null ? null : await listWorkTree(root, this.#signal);
    if (root !== null && names !== null && holds(names, relative(root, asked))) {
      for (const name of names) await this.#planTracked(root, name);
      const [head, status, ignored] = [
        await git(root, ["rev-parse", "--verify", "--quiet", "HEAD"], this.#signal),
        await git(root, ["status", "--porcelain", "-z"], this.#signal),
        await git(root, ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"], this.#signal),
      ];
      return {
        kind: "git",
        root,
        commit: head?.trim() ?? null,
        dirty: status === null ? null : status !== "",
        ignored: namesOf(ignored ?? "").slice(0, NAMED),
      };
    }
    await this.#planFolder(asked);
    return { kind: "folder", root: asked, commit: null, dirty: null, ignored: [] };
  }

  /** Copies what was found. Errors: besides `copy_failed` those of the file system. */
  async copy(source: string, target: string): Promise<void> {
    mkdirSync(target, { mode: 0o700 });
    for (const [path, mode] of this.#folders) if (mode !== null) this.#makeFolder(target, path);
    const links: string[] = [];
    for (const { path, stat } of this.#entries) {
      if (stat.isSymbolicLink()) {
        symlinkSync(readlinkSync(join(source, path)), join(target, path));
        links.push(path);
      } else await this.#copyFile(join(source, path), join(target, path), path);
      this.files += 1;
      this.#onProgress(`copying: ${this.files} of ${this.#entries.length} files`);
      await this.#step();
    }
    const leaving = links.find((path) => leaves(target, path));
    if (leaving === undefined) return;
    const to = readlinkSync(join(target, leaving));
    throw failed(source, `the link "${leaving}" leaves it, to "${to}"`);
  }

  /** A path that git lists: a file, a link, or a repository of its own. */
  async #planTracked(root: string, listed: string): Promise<void> {
    const path = listed.replace(/\/$/, "");
    // Git's list may be older than the tree: what lies behind a link now is not the file that it lists.
    if (!this.#isInFolders(root, parentOf(path))) return;
    const stat = lookAt(join(root, path));
    if (stat === null) {
      if (path.includes("\ufffd")) this.skipped.push(`${path}: its name is no UTF-8`);
    } else if (!stat.isDirectory()) await this.#plan(path, stat);
    else if (this.#isInFolders(root, path)) {
      const inner = join(root, path);
      if ((await workTreeOf(inner, this.#signal)) !== inner) return;
      const names = await listWorkTree(inner, this.#signal);
      if (names === null) this.skipped.push(`${path}: a repository whose files git does not list`);
      for (const name of names ?? []) await this.#planTracked(root, `${path}/${name}`);
    }
  }

  async #planFolder(root: string): Promise<void> {
    const folders = [""];
    for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
      this.#isInFolders(root, path);
      this.#checkSize(this.#entries.length + folders.length);
      for (const name of readdirSync(join(root, path))) {
        const inner = path === "" ? name : `${path}/${name}`;
        const stat = lookAt(join(root, inner));
        if (stat === null) {
          if (name.includes("\ufffd")) this.skipped.push(`${inner}: its name is no UTF-8`);
        } else if (stat.isDirectory()) folders.push(inner);
        // It names the repository by its path: git in the copy would work on the original.
        else if (name === ".git") this.skipped.push(`${inner}: it leads to a repository elsewhere`);
        else await this.#plan(inner, stat);
      }
    }
  }

  async #plan(path: string, stat: Stats): Promise<void> {
    if (stat.isFile() || stat.isSymbolicLink()) {
      this.#entries.push({ path, stat });
      this.#plannedBytes += stat.isFile() ? stat.size : 0;
      this.#checkSize(this.#entries.length);
    } else this.skipped.push(`${path}: ${kindOf(stat)}`);
    this.#onProgress(`looking: ${this.#entries.length} files`);
    await this.#step();
  }

  #checkSize(files: number): void {
    const { files: mostFiles, bytes: mostBytes } = this.#limits;
    const what =
      files > mostFiles
        ? `more than ${mostFiles} files`
        : this.#plannedBytes > mostBytes
          ? `more than ${Math.floor(mostBytes / 1024 / 1024)} MiB`
          : null;
    if (what === null) return;
    throw failed(this.#asked, `its tree has ${what}, too much for a fresh copy`, null, {
      hint: "Cite a command that runs in a smaller folder, or name one with --cwd",
    });
  }

  /** Whether a path of the source is a folder, and every folder above it is one too: no link among them. */
  #isInFolders(root: string, path: string): boolean {
    const known = this.#folders.get(path);
    if (known !== undefined) return known !== null;
    if (path !== "" && !this.#isInFolders(root, parentOf(path))) {
      this.#folders.set(path, null);
      return false;
    }
    const stat = lookAt(join(root, path));
    this.#folders.set(path, stat?.isDirectory() ? stat.mode & 0o777 : null);
    return stat?.isDirectory() ?? false;
  }

  #makeFolder(target: string, path: string): void {
    if (path === "" || this.#made.has(path)) return;
    this.#makeFolder(target, parentOf(path));
    mkdirSync(join(target, path), { mode: 0o700 | (this.#folders.get(path) ?? 0) });
    this.#made.add(path);
  }

  async #copyFile(from: string, to: string, path: string): Promise<void> {
    let source: number;
    try {
      source = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (!isCode(error, "ENOENT")) throw error;
      this.skipped.push(`${path}: it went away while the folder was copied`);
      return;
    }
    try {
      const stat = fstatSync(source);
      if (!stat.isFile()) {
        this.skipped.push(`${path}: ${kindOf(stat)}`);
        return;
      }
      const target = openSync(to, "wx", 0o600);
      try {
        await this.#copyBytes(source, target);
        fchmodSync(target, 0o600 | (stat.mode & 0o777));
        // What make goes by.
        futimesSync(target, stat.atimeMs / 1000, stat.mtimeMs / 1000);
      } finally {
        closeSync(target);
      }
    } finally {
      closeSync(source);
    }
  }

  async #copyBytes(source: number, target: number): Promise<void> {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let length = readSync(source, piece); length > 0; length = readSync(source, piece)) {
      for (let done = 0; done < length; ) done += writeSync(target, piece, done, length - done);
      this.bytes += length;
      // A file may grow while it is copied.
      if (this.bytes > this.#limits.bytes) throw failed(this.#asked, "its tree grew too large for a fresh copy");
      await this.#step();
    }
  }

  /** Lets signals and the progress come through, from time to time. */
  async #step(): Promise<void> {
    this.#steps += 1;
    if (this.#steps % STEPS_AT_ONCE !== 0) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
  }
}

/**
 * Whether a link in a tree, followed as the system would, leaves the tree at any step. One that leads nowhere, or in
 * a circle, does not.
 */
function leaves(root: string, link: string): boolean {
  let ahead = link.split("/");
  const at: string[] = [];
  for (let followed = 0; ahead.length > 0; ) {
    const [part = "", ...rest] = ahead;
    ahead = rest;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.pop() === undefined) return true;
      continue;
    }
    at.push(part);
    const path = join(root, ...at);
    if (!lookAt(path)?.isSymbolicLink()) continue;
    followed += 1;
    if (followed > LINKS_FOLLOWED) return false;
    const target = readlinkSync(path);
    if (isAbsolute(target)) return true;
    at.pop();
    ahead = [...target.split("/"), ...rest];
  }
  return false;
}

/** The root of the git work tree that a folder lies in; null where there is none, or no git. */
async function workTreeOf(folder: string, signal: AbortSignal): Promise<string | null> {
  const said = await git(folder, ["rev-parse", "--show-toplevel"], signal);
  const root = said?.replace(/\n$/, "") ?? "";
  return root === "" ? null : realpathSync(root);
}

/** Paths that git tracks or would track, each once; null when git does not say. */
async function listWorkTree(root: string, signal: AbortSignal): Promise<readonly string[] | null> {
  const listing = await git(root, ["ls-files", "-z", "-co", "--exclude-standard"], signal);
  return listing === null ? null : namesOf(listing);
}

function namesOf(listing: string): readonly string[] {
  return [...new Set(listing.split("\0"))].filter((name) => name !== "");
}

/** Whether one of the paths lies in a folder, by its path from the root. */
function holds(names: readonly string[], folder: string): boolean {
  const inside = folder === "" ? "" : `${folder.split(sep).join("/")}/`;
  return names.some((name) => name.startsWith(inside));
}

/** What git prints; null when it fails, is missing, or takes too long. */
async function git(cwd: string, args: readonly string[], signal: AbortSignal): Promise<string | null> {
  signal.throwIfAborted();
  try {
    const child = Bun.spawn([...GIT, "-C", cwd, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: GIT_MS,
      signal,
      env: gitEnvironment(cwd, args),
    });
    const text = await new Response(child.stdout).text();
    return (await child.exited) === 0 ? text : null;
  } catch {
    return null; // there is no git
  } finally {
    signal.throwIfAborted();
  }
}

/** The folder without links in its path. Errors: `copy_failed`. */
function realFolder(folder: string): string {
  let real: string;
  try {
    real = realpathSync(folder);
    if (!lstatSync(real).isDirectory()) throw failed(folder, "it is no folder", null, { hint: CWD_HINT });
  } catch (error) {
    if (error instanceof WritError) throw error;
    const why = isCode(error, "ENOENT") || isCode(error, "ENOTDIR") ? "it is not there" : reasonOf(error);
    throw failed(folder, why, error, { hint: CWD_HINT });
  }
  return real;
}

const CWD_HINT = "Where the folder is another now, name it with --cwd DIR";

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** Null when nothing is there. */
function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isCode(error, "ENOTDIR")) return null;
    throw error;
  }
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return "a socket";
  if (stat.isFIFO()) return "a named pipe";
  return stat.isDirectory() ? "a folder" : "a device";
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function failed(folder: string, why: string, cause?: unknown, more: { readonly hint?: string } = {}): WritError {
  return new WritError("copy_failed", `Cannot make a fresh copy of "${folder}": ${why}; nothing was run`, {
    hint: more.hint ?? null,
    cause,
  });
}
