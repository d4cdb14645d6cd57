/**
 * The diff of a write set, to the byte: what `git apply -p1`, `patch -p1` and the strict applier take. The line edits
 * come from the `diff` library; what is written is written here.
 */
import { diffArrays } from "diff";
import type { SnapshotFile } from "../seat/workspace.ts";
import { compareUtf8, decodeUtf8, utf8Length } from "../utf8.ts";
import { WRITE_LIMITS } from "./limits.ts";
import type { FileChange } from "./write-set.ts";

export type RenderedPatch = {
  /** "" where nothing was changed, and where a side is opaque: such a set has no diff. */
  readonly diff: string;
  /** In the order of the sections. */
  readonly diff_files: readonly string[];
  /** Of the added lines, with their line ends and without the `+`. */
  readonly added_bytes: number;
  readonly diff_bytes: number;
  /** Files with a side that is no text: larger than 1 MiB, unreadable, or no UTF-8. */
  readonly opaque_files: number;
};

/**
 * Renders a write set.
 *
 * A side that is no well-formed UTF-8 counts as opaque: nothing that a seat can write is such, and a diff travels as text.
 *
 * @param changes   in any order
 * @param lineEdits past so many in one file its change becomes one block; all files together take no more time than one
 *                  file at this bound, which grows with its square
 * Errors: none
 * Source: delegation run, section 6.4
 */
export function renderPatch(
  changes: readonly FileChange[],
  lineEdits: number = WRITE_LIMITS.line_edits,
): RenderedPatch {
  const sorted = changes.toSorted((left, right) => compareUtf8(left.path, right.path));
  const effort = { left: lineEdits ** 2 };
  const sections: Section[] = [];
  for (const { path, before, after } of sorted) {
    const [old, now] = [textOf(before), textOf(after)];
    if (old !== undefined && now !== undefined) sections.push(renderSection(path, old, now, effort));
  }
  const opaqueFiles = sorted.length - sections.length;
  const diff = opaqueFiles > 0 ? "" : sections.map(({ text }) => text).join("");
  return {
    diff,
    diff_files: sorted.map(({ path }) => path),
    added_bytes: sections.reduce((sum, { addedBytes }) => sum + addedBytes, 0),
    diff_bytes: utf8Length(diff),
    opaque_files: opaqueFiles,
  };
}

type Section = { readonly text: string; readonly addedBytes: number };

/** Edits are found in time that grows with their square; `left` of it is for the files that follow. */
type Effort = { left: number };

/** The text of a side; null where there is no file, undefined where it is no text. */
function textOf(side: SnapshotFile | null): string | null | undefined {
  if (side === null) return null;
  if (side.kind === "opaque") return undefined;
  const decoded = decodeUtf8(side.bytes);
  return decoded.ok ? decoded.text : undefined;
}

function renderSection(path: string, old: string | null, now: string | null, effort: Effort): Section {
  const out = [`diff --git a/${path} b/${path}\n`];
  if (old === null) out.push("new file mode 100644\n");
  if (now === null) out.push("deleted file mode 100644\n");
  const [oldLines, newLines] = [splitLines(old ?? ""), splitLines(now ?? "")];
  // An empty file that comes or goes has no lines to show.
  if (oldLines.length === 0 && newLines.length === 0) return { text: out.join(""), addedBytes: 0 };
  // Behind a name with a blank a tab says where it ends.
  const end = path.includes(" ") ? "\t\n" : "\n";
  out.push(old === null ? "--- /dev/null\n" : `--- a/${path}${end}`);
  out.push(now === null ? "+++ /dev/null\n" : `+++ b/${path}${end}`);
  const blocks = findBlocks(oldLines, newLines, effort);
  for (const hunk of hunksOf(blocks)) renderHunk(hunk, oldLines, newLines, out);
  let addedBytes = 0;
  for (const { newStart, newEnd } of blocks) {
    for (let at = newStart; at < newEnd; at += 1) addedBytes += utf8Length(newLines[at] ?? "");
  }
  return { text: out.join(""), addedBytes };
}

/** Lines with their LF, the last one perhaps without. No other character ends a line. */
function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\n", at) + 1 || text.length;
    lines.push(text.slice(at, next));
    at = next;
  }
  return lines;
}

/** Lines of the old side that the lines of the new side take the place of; from 0, the end not included. */
type Block = {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
};

/** What differs, in order; between two blocks lies at least one equal line. */
function findBlocks(old: readonly string[], now: readonly string[], effort: Effort): readonly Block[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const oldEnd = old.length - tail;
  const newEnd = now.length - tail;
  const blocks: Block[] = [];
  let [oldAt, newAt] = [head, head];
  const closeAt = (oldStop: number, newStop: number) => {
    if (oldAt < oldStop || newAt < newStop) {
      blocks.push({ oldStart: oldAt, oldEnd: oldStop, newStart: newAt, newEnd: newStop });
    }
    [oldAt, newAt] = [oldStop + 1, newStop + 1];
  };
  for (const [left, right] of findPairs(old.slice(head, oldEnd), now.slice(head, newEnd), effort)) {
    closeAt(head + left, head + right);
  }
  closeAt(oldEnd, newEnd);
  return blocks;
}

/** An old and a new line that are kept as one, by their places. */
type Pair = readonly [old: number, now: number];

/** The pairs of a longest common subsequence; none past the bound of edits. */
function findPairs(old: readonly string[], now: readonly string[], effort: Effort): readonly Pair[] {
  const numbers = new Map<string, number>();
  const numbered = (line: string) => {
    const number = numbers.get(line) ?? numbers.size + 1;
    numbers.set(line, number);
    return number;
  };
  const oldNumbers = old.map(numbered);
  const newNumbers = now.map(numbered);
  // A line that the other side does not have is an edit in any case, and need not be looked at again.
  const oldPlaces = placesIn(oldNumbers, new Set(newNumbers));
  const newPlaces = placesIn(newNumbers, new Set(oldNumbers));
  const certain = old.length - oldPlaces.length + (now.length - newPlaces.length);
  const open = Math.floor(Math.sqrt(effort.left)) - certain;
  if (open < 0 || oldPlaces.length === 0 || newPlaces.length === 0) return [];
  const changes = diffArrays(
    oldPlaces.map((place) => oldNumbers[place]),
    newPlaces.map((place) => newNumbers[place]),
    { maxEditLength: open },
  );
  if (changes === undefined) {
    effort.left -= open ** 2;
    return [];
  }
  const pairs: Pair[] = [];
  let [oldAt, newAt] = [0, 0];
  let edits = 0;
  for (const { added, removed, count } of changes) {
    if (added || removed) edits += count;
    else for (let at = 0; at < count; at += 1) pairs.push([oldPlaces[oldAt + at] ?? 0, newPlaces[newAt + at] ?? 0]);
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  effort.left -= edits ** 2;
  return pairs;
}

function placesIn(numbers: readonly number[], others: ReadonlySet<number>): readonly number[] {
  return [...numbers.keys()].filter((place) => others.has(numbers[place] ?? 0));
}

/** Blocks whose lines of context would touch are shown together. */
function hunksOf(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const hunks: Block[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const block of blocks) {
    if (block.oldStart - end <= 2 * WRITE_LIMITS.context_lines) hunks.at(-1)?.push(block);
    else hunks.push([block]);
    end = block.oldEnd;
  }
  return hunks;
}

function renderHunk(blocks: readonly Block[], old: readonly string[], now: readonly string[], out: string[]): void {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  const before = Math.min(WRITE_LIMITS.context_lines, first.oldStart);
  const behind = Math.min(WRITE_LIMITS.context_lines, old.length - last.oldEnd);
  const [oldStart, newStart] = [first.oldStart - before, first.newStart - before];
  const [oldEnd, newEnd] = [last.oldEnd + behind, last.newEnd + behind];
  out.push(`@@ -${range(oldStart, oldEnd)} +${range(newStart, newEnd)} @@\n`);
  let at = oldStart;
  for (const block of blocks) {
    renderLines(" ", old, at, block.oldStart, out);
    renderLines("-", old, block.oldStart, block.oldEnd, out);
    renderLines("+", now, block.newStart, block.newEnd, out);
    at = block.oldEnd;
  }
  renderLines(" ", old, at, oldEnd, out);
}

/** `start,count` from 1; an empty range is named by the line before it. */
function range(start: number, end: number): string {
  const count = end - start;
  if (count === 1) return `${start + 1}`;
  return `${count === 0 ? start : start + 1},${count}`;
}

function renderLines(sign: string, lines: readonly string[], from: number, to: number, out: string[]): void {
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    out.push(sign, line);
    if (!line.endsWith("\n")) out.push("\n\\ No newline at end of file\n");
  }
}
