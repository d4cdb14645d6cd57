/**
 * The strict reader of a diff in exactly the format of `render.ts`. Whatever else programs take for a diff is refused,
 * with the file, the hunk and the line: what is applied without a look must leave nothing to guess.
 *
 * `delegation/diff-files.ts` reads the paths of any diff that git can read: there a saved answer is graded, and nothing
 * is applied.
 */
import { cut, quote, spelledOut } from "../acceptance/quoting.ts";
import { counted } from "../counted.ts";
import { findPathCollisions } from "../delegation/path-name.ts";
import { decodeUtf8 } from "../utf8.ts";
import type { PatchSize } from "./caps.ts";
import { WRITE_LIMITS } from "./limits.ts";
import { readWritePath } from "./write-path.ts";

export type HunkLine = {
  readonly kind: "context" | "removed" | "added";
  /** With its LF, which the last line of a file may lack. */
  readonly bytes: Uint8Array;
};

export type Hunk = {
  /** Lines before the hunk, on either side. */
  readonly old_start: number;
  readonly new_start: number;
  readonly old_count: number;
  readonly new_count: number;
  readonly lines: readonly HunkLine[];
  /** It shows fewer lines behind its last change than it would if there were more: the old file ends with it. */
  readonly reaches_end: boolean;
};

export type FilePatch = {
  readonly path: string;
  readonly kind: "changed" | "created" | "deleted";
  /** In ascending order, none overlapping; none for an empty file that comes or goes. */
  readonly hunks: readonly Hunk[];
};

export type Patch = { readonly files: readonly FilePatch[]; readonly size: PatchSize };

/** Why a patch is refused. */
export type PatchRefusal = {
  /** Null before the first section, and for the whole patch. */
  readonly file: string | null;
  /** From 1. */
  readonly hunk: number | null;
  /** From 1; null where no single line is meant. */
  readonly line: number | null;
  /** Where that line stands: in a patch that cannot be read, or in a file that it does not fit. */
  readonly line_of: "patch" | "file" | null;
  readonly reason: string;
};

export type ParsedPatch =
  | { readonly ok: true; readonly patch: Patch }
  | { readonly ok: false; readonly refusal: PatchRefusal };

/**
 * Reads a patch. The first thing that is wrong ends it: what stands behind cannot be told.
 *
 * @param writeRoot what every file must lie under; `.` for anywhere
 * Errors: none, whatever the bytes; time is linear in them
 * Source: delegation run, sections 6.2, 6.4 and 10.6
 */
export function parsePatch(bytes: Uint8Array, writeRoot = "."): ParsedPatch {
  try {
    return { ok: true, patch: new Reader(bytes, writeRoot).read() };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** A refusal as one line: `src/a.ts, hunk 2, line 17 of the patch: …`. A line of the file is named by its reason. */
export function refusalText({ file, hunk, line, line_of, reason }: PatchRefusal): string {
  const places = [file === null ? null : cut(spelledOut(file)), hunk === null ? null : `hunk ${hunk}`];
  if (line_of === "patch") places.push(`line ${line} of the patch`);
  const where = places.filter((place) => place !== null).join(", ");
  return where === "" ? reason : `${where}: ${reason}`;
}

/** Leaves the reader; never seen outside of this file. */
class Refused extends Error {
  constructor(readonly refusal: PatchRefusal) {
    super(refusal.reason);
  }
}

/** Lines of one side: how many stand before them, and how many they are. */
type Range = { readonly start: number; readonly count: number };

/** Null for what is none. A count of 1 is left out; an empty range is named by the line before it. */
function readHunkHead(line: string): { readonly old: Range; readonly now: Range } | null {
  const head = HUNK_HEAD.exec(line);
  if (head === null || head[2] === "1" || head[4] === "1") return null;
  const range = (first: string | undefined, count: string | undefined): Range => ({
    start: Number(first) - (count === "0" ? 0 : 1),
    count: Number(count ?? 1),
  });
  return { old: range(head[1], head[2]), now: range(head[3], head[4]) };
}

const LF = 0x0a;
const SIGNS: Readonly<Record<number, HunkLine["kind"]>> = { 32: "context", 45: "removed", 43: "added" };
const NUMBER = "(0|[1-9]\\d{0,8})";
const HUNK_HEAD = new RegExp(`^@@ -${NUMBER}(?:,${NUMBER})? \\+${NUMBER}(?:,${NUMBER})? @@$`);
const NO_NEWLINE = "\\ No newline at end of file";

/** What git writes, and this format does not have. */
const FOREIGN: readonly (readonly [start: RegExp, what: string])[] = [
  [/^index /, 'an "index" line'],
  [/^(old|new) mode /, "a change of mode"],
  [/^rename |^similarity index |^dissimilarity index /, "a rename"],
  [/^copy /, "a copy"],
  [/^GIT binary patch|^Binary files |^(literal|delta) \d/, "a binary patch"],
];

class Reader {
  readonly #bytes: Uint8Array;
  readonly #writeRoot: string;
  #at = 0;
  /** Of the line that begins at `#at`, from 1. */
  #line = 1;
  #file: string | null = null;
  #hunk: number | null = null;
  #addedBytes = 0;

  constructor(bytes: Uint8Array, writeRoot: string) {
    this.#bytes = bytes;
    this.#writeRoot = writeRoot;
  }

  read(): Patch {
    const { patch_bytes } = WRITE_LIMITS;
    if (this.#bytes.length === 0) throw this.#refused("the patch is empty", null);
    if (this.#bytes.length > patch_bytes) {
      throw this.#refused(`the patch has ${this.#bytes.length} bytes; at most ${patch_bytes} are read`, null);
    }
    if (this.#bytes[this.#bytes.length - 1] !== LF)
      throw this.#refused("the patch does not end with a line end: it was cut", null);
    const files: FilePatch[] = [];
    const places: number[] = [];
    while (!this.#isAtEnd()) {
      places.push(this.#line);
      files.push(this.#section());
    }
    const collision = findPathCollisions(files.map(({ path }) => path))[0];
    if (collision !== undefined) {
      const other = files[collision.other]?.path ?? "";
      this.#file = files[collision.index]?.path ?? null;
      this.#hunk = null;
      throw this.#refused(`it collides with ${quote(other)}: ${collision.why}`, places[collision.index] ?? null);
    }
    const size = {
      files: files.length,
      added_bytes: this.#addedBytes,
      diff_bytes: this.#bytes.length,
      opaque_files: 0,
    };
    return { files, size };
  }

  #section(): FilePatch {
    const path = this.#header();
    const mode = /^(new|deleted) file mode (.*)$/.exec(this.#peek());
    if (mode !== null) {
      if (mode[2] !== "100644") throw this.#refused(`the mode is ${quote(mode[2] ?? "")}, and only 100644 is taken`);
      this.#next();
    }
    const kind = mode === null ? "changed" : mode[1] === "new" ? "created" : "deleted";
    if (this.#isAtEnd() || this.#peek().startsWith("diff --git ")) {
      if (kind === "changed") throw this.#refused("the section changes nothing");
      return { path, kind, hunks: [] };
    }
    const end = path.includes(" ") ? "\t" : "";
    this.#expect(kind === "created" ? "--- /dev/null" : `--- a/${path}${end}`);
    this.#expect(kind === "deleted" ? "+++ /dev/null" : `+++ b/${path}${end}`);
    const hunks: Hunk[] = [];
    while (!this.#isAtEnd() && this.#peek().startsWith("@@")) {
      this.#hunk = hunks.length + 1;
      hunks.push(this.#hunkAfter(hunks.at(-1), kind));
    }
    if (hunks.length === 0) throw this.#refused("the section changes nothing");
    if (!this.#isAtEnd() && !this.#peek().startsWith("diff --git ")) throw this.#refusedLine();
    return { path, kind, hunks };
  }

  /** The path of `diff --git a/P b/P`. */
  #header(): string {
    this.#file = null;
    this.#hunk = null;
    const line = this.#peek();
    const start = "diff --git ";
    if (!line.startsWith(start)) throw this.#refusedLine();
    const sides = line.slice(start.length);
    if (sides.endsWith("\r")) throw this.#refused("the line ends with CR LF, and the lines of a patch end with LF");
    if (sides.includes('"')) throw this.#refused("a name is quoted");
    // Both sides name one path, so that the blank between them stands in the middle.
    const half = (sides.length - 1) / 2;
    const path = sides.slice(2, Math.max(2, half));
    if (!Number.isInteger(half) || sides !== `a/${path} b/${path}`) {
      throw this.#refused(`the names of the two sides differ: ${cut(sides)}`);
    }
    this.#file = path;
    const read = readWritePath(path, this.#writeRoot);
    if (!read.ok) throw this.#refused(read.reason);
    if (read.path !== path) throw this.#refused(`the path ${quote(path)} is another way to write ${quote(read.path)}`);
    this.#next();
    return path;
  }

  #hunkAfter(before: Hunk | undefined, kind: FilePatch["kind"]): Hunk {
    const head = readHunkHead(this.#peek());
    if (head === null) {
      const form = '"@@ -START,COUNT +START,COUNT @@", a count of 1 left out';
      throw this.#refused(`${quote(this.#peek())} is no head of a hunk: ${form}`);
    }
    const { old, now } = head;
    if (old.start < 0 || now.start < 0) throw this.#refused("lines are counted from 1");
    // With lines around every change, a side without lines is that of an empty file.
    if (old.count === 0 && old.start > 0) throw this.#refused("a hunk without old lines is one of an empty file: -0,0");
    if (now.count === 0 && now.start > 0) throw this.#refused("a hunk without new lines leaves an empty file: +0,0");
    if (kind === "created" && old.count > 0) throw this.#refused("a new file has no old lines: -0,0");
    if (kind === "deleted" && now.count > 0) throw this.#refused("a deleted file has no new lines: +0,0");
    const oldEnd = before === undefined ? 0 : before.old_start + before.old_count;
    const newEnd = before === undefined ? 0 : before.new_start + before.new_count;
    if (old.start < oldEnd) throw this.#refused("it overlaps the hunk before it, or stands before that");
    if (before?.reaches_end) throw this.#refused("the hunk before it shows the end of the file");
    if (now.start - newEnd !== old.start - oldEnd) {
      throw this.#refused("the start of its new lines does not fit that of its old lines and the hunks before it");
    }
    const place = this.#line;
    this.#next();
    const lines = this.#hunkLines(old.count, now.count);
    if (lines.every((line) => line.kind === "context")) throw this.#refused("it changes nothing", place);
    const reachesEnd = this.#reachesEnd(lines, old.start, place);
    const [old_start, new_start, old_count, new_count] = [old.start, now.start, old.count, now.count];
    return { old_start, new_start, old_count, new_count, lines, reaches_end: reachesEnd };
  }

  #hunkLines(oldCount: number, newCount: number): readonly HunkLine[] {
    const lines: HunkLine[] = [];
    const left = { old: oldCount, new: newCount };
    /** Sides whose last line has been shown to have no end. */
    const ended = { old: false, new: false };
    while (left.old > 0 || left.new > 0) {
      const kind = this.#isAtEnd() ? undefined : SIGNS[this.#bytes[this.#at] ?? 0];
      if (kind === undefined) {
        throw this.#refused(`${left.old} old and ${left.new} new lines are missing that its head counts`);
      }
      const [isOld, isNew] = [kind !== "added", kind !== "removed"];
      if ((isOld && left.old === 0) || (isNew && left.new === 0)) {
        throw this.#refused(`it has more ${isOld && left.old === 0 ? "old" : "new"} lines than its head counts`);
      }
      if ((isOld && ended.old) || (isNew && ended.new)) throw this.#refused("a line stands behind the end of the file");
      const start = this.#at + 1;
      this.#next();
      const hasEnd = !this.#isMarked();
      if (!hasEnd) {
        this.#next();
        ended.old ||= isOld;
        ended.new ||= isNew;
      }
      const end = this.#bytes.indexOf(LF, start) + (hasEnd ? 1 : 0);
      if (!hasEnd && end === start) throw this.#refused("a line without an end and without a character is no line");
      if (isOld) left.old -= 1;
      if (isNew) left.new -= 1;
      if (kind === "added") this.#addedBytes += end - start;
      lines.push({ kind, bytes: this.#bytes.subarray(start, end) });
    }
    if (!this.#isAtEnd() && SIGNS[this.#bytes[this.#at] ?? 0] !== undefined) {
      throw this.#refused("it has more lines than its head counts");
    }
    return lines;
  }

  /**
   * Holds the lines around the changes against the format, and says whether the old file must end here.
   *
   * @param place of the hunk in the patch
   */
  #reachesEnd(lines: readonly HunkLine[], oldStart: number, place: number): boolean {
    const most = WRITE_LIMITS.context_lines;
    const before = lines.findIndex(({ kind }) => kind !== "context");
    const behind = lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== "context");
    if (before > most || behind > most) {
      throw this.#refused(`it shows more than ${most} lines around its changes`, place);
    }
    if (before < most && oldStart > 0) {
      throw this.#refused(`it shows ${counted(before, "line")} before its first change, and more are there`, place);
    }
    return behind < most || lines.at(-1)?.bytes.at(-1) !== LF;
  }

  /** Whether the line here says that the one before it has no end. */
  #isMarked(): boolean {
    return !this.#isAtEnd() && this.#bytes[this.#at] === 0x5c && this.#peek() === NO_NEWLINE;
  }

  #isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The text of the line here, without its end; "" at the end of the patch. Refuses what is no UTF-8. */
  #peek(): string {
    if (this.#isAtEnd()) return "";
    const decoded = decodeUtf8(this.#bytes.subarray(this.#at, this.#bytes.indexOf(LF, this.#at)));
    if (!decoded.ok) throw this.#refused("the line is no UTF-8");
    return decoded.text;
  }

  #next(): void {
    this.#at = this.#bytes.indexOf(LF, this.#at) + 1;
    this.#line += 1;
  }

  #expect(wanted: string): void {
    if (this.#peek() !== wanted) {
      const foreign = FOREIGN.find(([start]) => start.test(this.#peek()));
      if (foreign !== undefined) throw this.#refusedLine();
      throw this.#refused(`${this.#isAtEnd() ? "the patch ends" : quote(this.#peek())} where ${quote(wanted)} is due`);
    }
    this.#next();
  }

  /** The line here, by what it is. */
  #refusedLine(): Refused {
    const line = this.#peek();
    const foreign = FOREIGN.find(([start]) => start.test(line));
    return this.#refused(`${foreign === undefined ? quote(line) : foreign[1]} is nothing that this format has here`);
  }

  #refused(reason: string, line: number | null = this.#line): Refused {
    return new Refused({ file: this.#file, hunk: this.#hunk, line, line_of: line === null ? null : "patch", reason });
  }
}
