/**
 * Applying a patch to a folder: everything is read and checked first, and then every file is written beside its place,
 * flushed and renamed. A fault anywhere leaves every file as it was, and so does a signal that asks to stop before the first
 * of the renames; behind it all of them happen. A process that is killed among them leaves a part, with which the same
 * patch goes on.
 */
import { type BigIntStats, mkdirSync, realpathSync, renameSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { quote } from "../core/acceptance/quoting.ts";
import { type OldFile, type PlannedFile, planRest } from "../core/patch/apply.ts";
import { type Patch, type PatchRefusal, parsePatch } from "../core/patch/parse.ts";
import { findPlace, isSameNode, lookAt, type Place, readPlace, reasonOf } from "./place.ts";
import { flushFolder, stageBeside, sweepStaged } from "./staged.ts";

/** The largest file that is patched. */
const FILE_BYTES = 64 * 1024 * 1024;

export type PatchOptions = {
  /** Everything is read and checked, and nothing written. */
  readonly dryRun?: boolean;
  /** What every file of the patch must lie under, relative to the folder; by default anywhere in it. */
  readonly writeRoot?: string;
  /** Aborted where the process is asked to end. */
  readonly signal?: AbortSignal;
  /** What brings a file to its place; a test lets it fail. */
  readonly rename?: (from: string, to: string) => void;
};

export type AppliedPatch =
  /** What was written, or would be; `already`: the paths of the patch that were as it makes them. */
  | {
      readonly ok: true;
      readonly patch: Patch;
      readonly files: readonly PlannedFile[];
      readonly already: ReadonlySet<string>;
    }
  /** Nothing was written. `patch` is null where the text is none. */
  | { readonly ok: false; readonly patch: Patch | null; readonly refusals: readonly PatchRefusal[] };

/**
 * Applies a patch.
 *
 * @param folder the root of its paths; it may be reached through links
 * @param bytes  in the format of `core/patch/render.ts`
 * Errors: the reason of the signal, where it came before the first file was brought to its place: nothing is changed then,
 *         and nothing left. A failed rename is rolled back and refused; what could not be put back is named in the refusal.
 *         What the process was told meanwhile has come to its listeners when this returns
 * Source: delegation run, section 10.6
 */
export async function applyPatch(folder: string, bytes: Uint8Array, options: PatchOptions = {}): Promise<AppliedPatch> {
  const parsed = parsePatch(bytes, options.writeRoot);
  if (!parsed.ok) return { ok: false, patch: null, refusals: [parsed.refusal] };
  const { patch } = parsed;
  const root = rootOf(folder);
  if (root === null)
    return {
      ok: false,
      patch,
      refusals: [{ file: null, hunk: null, line: null, line_of: null, reason: `${quote(folder)} is no folder` }],
    };
  const places = new Map<string, Place>();
  const plan = planRest(patch, (path) => readOld(root, path, places));
  if (!plan.ok) return { ok: false, patch, refusals: plan.refusals };
  const { files, already } = plan;
  if (options.dryRun === true) return { ok: true, patch, files, already };
  const change = new Change(files, places, options.rename ?? renameSync);
  const refusal = await change.carryOut(options.signal ?? null);
  return refusal === null ? { ok: true, patch, files, already } : { ok: false, patch, refusals: [refusal] };
}

/** Null where there is no folder that could be looked at. */
function rootOf(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null; // not there, or not ours to see
  }
}

function readOld(folder: string, path: string, places: Map<string, Place>): OldFile {
  const place = findPlace(folder, path, "as_named");
  if (!place.ok) return { kind: "barred", why: place.message };
  places.set(path, place);
  if (place.stat === null) return { kind: "absent" };
  if (!place.stat.isFile()) return { kind: "barred", why: "it is no regular file" };
  try {
    const bytes = readPlace(place.path, place.stat, FILE_BYTES);
    return bytes === null
      ? { kind: "barred", why: `it is larger than ${FILE_BYTES / 1024 / 1024} MiB` }
      : { kind: "file", bytes };
  } catch (error) {
    return { kind: "barred", why: `it cannot be read: ${reasonOf(error)}` };
  }
}

/** One file, and what undoes it. */
type Step = { readonly file: PlannedFile; readonly place: Place; readonly staged: string | null };

class Change {
  readonly #files: readonly PlannedFile[];
  readonly #places: ReadonlyMap<string, Place>;
  readonly #rename: (from: string, to: string) => void;
  readonly #madeFolders: string[] = [];
  readonly #steps: Step[] = [];
  /** How many steps have come to their place. */
  #done = 0;
  /** What the fault is about that ends it. */
  #path = "";

  constructor(
    files: readonly PlannedFile[],
    places: ReadonlyMap<string, Place>,
    rename: (from: string, to: string) => void,
  ) {
    this.#files = files;
    this.#places = places;
    this.#rename = rename;
  }

  /** Null when all is done. Errors: the reason of the signal */
  async carryOut(signal: AbortSignal | null): Promise<PatchRefusal | null> {
    this.#sweep();
    try {
      for (const file of this.#files) {
        await signalsCome();
        signal?.throwIfAborted();
        this.#stage(file);
      }
      await signalsCome();
      signal?.throwIfAborted();
      // From here to the end nothing is waited for: no listener of a signal runs, and none of them ends the process.
      for (const step of this.#steps) this.#put(step);
      for (const folder of new Set(this.#steps.map(({ place }) => dirname(place.path)))) flushFolder(folder);
    } catch (error) {
      const left = this.#rollBack();
      if (this.#done === 0 && signal?.aborted === true) throw signal.reason;
      const lost = left.length === 0 ? "nothing was changed" : `and these could not be put back: ${left.join(", ")}`;
      return { file: this.#path, hunk: null, line: null, line_of: null, reason: `${reasonOf(error)}; ${lost}` };
    }
    await signalsCome();
    return null;
  }

  /** What a killed call left beside the files. */
  #sweep(): void {
    const there = [...this.#places.values()].filter(({ missing }) => missing.length === 0);
    for (const folder of new Set(there.map(({ path }) => dirname(path)))) sweepStaged(folder, Date.now());
  }

  #stage(file: PlannedFile): void {
    this.#path = file.path;
    const place = this.#places.get(file.path);
    if (place === undefined) throw new Error("it was never looked at");
    for (const folder of place.missing) {
      if (this.#madeFolders.includes(folder)) continue;
      mkdirSync(folder);
      this.#madeFolders.push(folder);
    }
    const staged = file.after === null ? null : stage(place, file.after);
    this.#steps.push({ file, place, staged });
  }

  #put(step: Step): void {
    const { file, place, staged } = step;
    this.#path = file.path;
    if (!isAsFound(place)) throw new Error("it changed while the patch was applied");
    if (staged === null) unlinkSync(place.path);
    else this.#rename(staged, place.path);
    this.#done += 1;
  }

  /** The files that could not be put back. */
  #rollBack(): readonly string[] {
    const left: string[] = [];
    for (const { file, place } of this.#steps.slice(0, this.#done).toReversed()) {
      try {
        if (file.before === null) unlinkSync(place.path);
        else this.#rename(stage(place, file.before), place.path);
      } catch {
        left.push(quote(file.path)); // said with the fault that began it
      }
    }
    for (const { staged } of this.#steps.slice(this.#done)) if (staged !== null) rmSync(staged, { force: true });
    for (const folder of this.#madeFolders.toReversed()) removeEmpty(folder);
    return left;
  }
}

/** A turn of the event loop, in which the signals that came are told to who listens. */
function signalsCome(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A new file is 0644 where the mask allows it; another keeps its mode. Errors: file system */
function stage({ path, stat }: Place, bytes: Uint8Array): string {
  return stageBeside(path, [bytes], stat === null ? { created: 0o644 } : { kept: Number(stat.mode) & 0o7777 });
}

/** Whether what stands on the way and at the place is what was read. */
function isAsFound({ path, stat, folders }: Place): boolean {
  const isSameWay = folders.every((folder) => isStill(folder.path, folder.stat));
  const now = lookAt(path);
  if (stat === null || now === null) return isSameWay && stat === now;
  return isSameWay && isSameNode(now, stat) && now.mtimeNs === stat.mtimeNs && now.size === stat.size;
}

function isStill(path: string, stat: BigIntStats): boolean {
  const now = lookAt(path);
  return now !== null && isSameNode(now, stat);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // it holds something that is not ours
  }
}
