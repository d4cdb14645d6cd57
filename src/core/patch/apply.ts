/**
 * What a patch makes of files: every line that it shows must be there, byte for byte, at the place that it states. No
 * offset, no fuzz; all of it or nothing.
 */
import { quoteBoth } from "../acceptance/quoting.ts";
import type { FilePatch, Hunk, HunkLine, Patch, PatchRefusal } from "./parse.ts";
import { isSameBytes } from "./write-set.ts";

/** What is found at a path of the patch. */
export type OldFile =
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "absent" }
  /** No regular file, or none that may be reached; `why` says so, as a sentence about the path. */
  | { readonly kind: "barred"; readonly why: string };

/** Null: no file. Never null on both sides, and never the same on both. */
export type PlannedFile = {
  readonly path: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
};

export type PatchPlan =
  | { readonly ok: true; readonly files: readonly PlannedFile[] }
  /** Every hunk that does not fit, in the order of the patch. */
  | { readonly ok: false; readonly refusals: readonly PatchRefusal[] };

/**
 * Plans a patch on the files that are there.
 *
 * @param read called once for each file of the patch
 * @returns    a file for each of the patch, in its order
 * Errors:     none; time is linear in the patch and the files
 * Source:     delegation run, section 10.6
 */
export function planPatch(patch: Patch, read: (path: string) => OldFile): PatchPlan {
  const files: PlannedFile[] = [];
  const refusals: PatchRefusal[] = [];
  for (const file of patch.files) {
    const planned = planFile(file, read(file.path));
    if ("refusals" in planned) refusals.push(...planned.refusals);
    else files.push(planned);
  }
  return refusals.length > 0 ? { ok: false, refusals } : { ok: true, files };
}

export type RestPlan =
  /**
   * `files`: what is to be done, in an order in which each beginning of it can be told from the whole where that is
   * possible; `already`: the paths at which everything is as the patch makes it.
   */
  | { readonly ok: true; readonly files: readonly PlannedFile[]; readonly already: ReadonlySet<string> }
  | { readonly ok: false; readonly refusals: readonly PatchRefusal[] };

/**
 * Plans what is left of a patch that was perhaps carried out in part, as by a process that was killed: a file that is
 * exactly as the patch makes it is left alone where the others fit. Where nothing is left to do the patch does not fit.
 *
 * @param read called once for each file of the patch
 * Errors:     none; time is linear in the patch and the files
 */
export function planRest(patch: Patch, read: (path: string) => OldFile): RestPlan {
  const found = new Map(patch.files.map(({ path }) => [path, read(path)] as const));
  const oldOf = (path: string): OldFile => found.get(path) ?? { kind: "absent" };
  const whole = planPatch(patch, oldOf);
  if (whole.ok) return { ok: true, files: inOrder(patch, whole.files), already: new Set() };
  const misfits = new Set(whole.refusals.map(({ file }) => file));
  const already = new Set(
    patch.files.filter((file) => misfits.has(file.path) && isAlready(file, oldOf(file.path))).map(({ path }) => path),
  );
  const rest = { ...patch, files: patch.files.filter(({ path }) => !already.has(path)) };
  if (already.size < misfits.size || rest.files.length === 0) return whole;
  // A line that is put among lines like it fits again: of such a file nothing says on which side of the kill it is.
  const either = rest.files.filter((file) => isAlready(file, oldOf(file.path)));
  if (either.length > 0) {
    const reason =
      "the patch fits, and may have been carried out here already, as elsewhere in this folder: which one, the file does not tell";
    return {
      ok: false,
      refusals: either.map(({ path }) => ({ file: path, hunk: null, line: null, line_of: null, reason })),
    };
  }
  const plan = planPatch(rest, oldOf);
  return plan.ok ? { ok: true, files: inOrder(rest, plan.files), already } : plan;
}

/** What would fit once more comes last: of what came before it the file itself tells that it is done. */
function inOrder(patch: Patch, files: readonly PlannedFile[]): readonly PlannedFile[] {
  const fitsAgain = files.map(({ after }, at) => {
    const file = patch.files[at];
    return file !== undefined && after !== null && "path" in planFile(file, { kind: "file", bytes: after });
  });
  return [...files.filter((_, at) => !fitsAgain[at]), ...files.filter((_, at) => fitsAgain[at])];
}

/** Whether a file is what the patch makes of some file: whether it can be taken back. */
function isAlready(file: FilePatch, now: OldFile): boolean {
  return "path" in planFile(takenBack(file), now);
}

const BACK = {
  kinds: { changed: "changed", created: "deleted", deleted: "created" },
  lines: { context: "context", added: "removed", removed: "added" },
} as const;

function takenBack({ path, kind, hunks }: FilePatch): FilePatch {
  return {
    path,
    kind: BACK.kinds[kind],
    hunks: hunks.map((hunk) => ({
      old_start: hunk.new_start,
      new_start: hunk.old_start,
      old_count: hunk.new_count,
      new_count: hunk.old_count,
      lines: hunk.lines.map(({ kind: line, bytes }) => ({ kind: BACK.lines[line], bytes })),
      reaches_end: hunk.reaches_end,
    })),
  };
}

/** The lines that a patch adds to a file and removes from it, in its order, without their ends. */
export function changedLines({ hunks }: FilePatch): {
  readonly added: readonly string[];
  readonly removed: readonly string[];
} {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const of = (kind: HunkLine["kind"]) => lines.filter((line) => line.kind === kind).map(({ bytes }) => textOf(bytes));
  return { added: of("added"), removed: of("removed") };
}

function planFile(file: FilePatch, old: OldFile): PlannedFile | { readonly refusals: readonly PatchRefusal[] } {
  const { path, kind, hunks } = file;
  const refused = (reason: string) => ({ refusals: [{ file: path, hunk: null, line: null, line_of: null, reason }] });
  if (old.kind === "barred") return refused(old.why);
  if (kind === "created" && old.kind === "file") return refused("the file is there, and the patch makes it anew");
  if (kind !== "created" && old.kind === "absent") return refused("there is no such file");
  const before = old.kind === "file" ? old.bytes : null;
  const lines = new Lines(before ?? new Uint8Array());
  const refusals = hunks.flatMap((hunk, at): PatchRefusal[] => {
    const misfit = misfitOf(hunk, lines);
    return misfit === null ? [] : [{ file: path, hunk: at + 1, line_of: "file", ...misfit }];
  });
  if (refusals.length > 0) return { refusals };
  if (kind === "deleted") {
    return lines.count > 0 && hunks.length === 0
      ? refused("the file is not empty, and the patch shows no line of it")
      : { path, before, after: null };
  }
  const after = patched(lines, hunks);
  if (before !== null && isSameBytes(before, after)) return refused("the patch leaves the file as it was");
  return { path, before, after };
}

type Misfit = { readonly line: number; readonly reason: string };

/** Why a hunk does not fit, and at which line of the file, from 1; null when it does. */
function misfitOf(hunk: Hunk, old: Lines): Misfit | null {
  let at = hunk.old_start;
  for (const { kind, bytes } of hunk.lines) {
    if (kind === "added") continue;
    if (at >= old.count) {
      return { line: at + 1, reason: `the file ends after line ${old.count}, and line ${at + 1} of it is due` };
    }
    const line = old.slice(at, at + 1);
    at += 1;
    if (!isSameBytes(line, bytes)) return { line: at, reason: `line ${at} of the file ${difference(line, bytes)}` };
  }
  if (!hunk.reaches_end || at >= old.count) return null;
  return { line: at, reason: `the file goes on behind line ${at}, where the hunk shows its end` };
}

/** How a line of the file differs from the one that is due. */
function difference(line: Uint8Array, due: Uint8Array): string {
  const texts = [textOf(line), textOf(due)] as const;
  if (texts[0] !== texts[1]) {
    const [found, wanted] = quoteBoth(...texts);
    return `is ${found}, and ${wanted} is due`;
  }
  if (line.at(-1) === LF && due.at(-1) !== LF) return "has a line end, and none is due";
  if (line.at(-1) !== LF && due.at(-1) === LF) return "has no line end, and one is due";
  return "is other bytes than those that are due";
}

function patched(old: Lines, hunks: readonly Hunk[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const hunk of hunks) {
    pieces.push(old.slice(at, hunk.old_start));
    for (const { kind, bytes } of hunk.lines) if (kind !== "removed") pieces.push(bytes);
    at = hunk.old_start + hunk.old_count;
  }
  pieces.push(old.slice(at, old.count));
  return joined(pieces);
}

const LF = 0x0a;

/** The lines of a file, each with its LF, the last one perhaps without. */
class Lines {
  readonly #bytes: Uint8Array;
  /** Where each line begins, and where the last one ends. */
  readonly #starts: number[] = [0];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    for (let at = 0; at < bytes.length; ) {
      at = bytes.indexOf(LF, at) + 1 || bytes.length;
      this.#starts.push(at);
    }
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** The bytes of the lines from one place to another, from 0. */
  slice(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[from], this.#starts[to]);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** A line as a person reads it: without its end, with U+FFFD for what is no UTF-8. */
function textOf(line: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(line.at(-1) === LF ? line.subarray(0, -1) : line);
}
