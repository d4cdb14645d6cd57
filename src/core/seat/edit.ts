/**
 * `edit_file`: one snippet of a text replaced by another. A snippet that is not there to the letter gets one more try
 * with the outer white space of its lines left out of account; what still does not fit is answered with the real lines,
 * so that the next try can.
 *
 * Source: delegation run, section 5.3
 */
import { isBlank } from "../delegation/blank.ts";
import { LOOP_LIMITS } from "./limits.ts";
import { linesOf } from "./tool-results.ts";

export type Edited =
  /** `note`: how the place was found, where that was not to the letter; "" otherwise. */
  | { readonly ok: true; readonly text: string; readonly note: string }
  /** `message` is the whole answer to the call. */
  | { readonly ok: false; readonly message: string };

/**
 * Plans one edit.
 *
 * Errors: none, whatever the texts; time is linear in the text, times the lines of the snippet
 */
export function planEdit(text: string, old: string, replacement: string, path: string): Edited {
  if (old === replacement) return refused("old and new are the same");
  if (old === "") return refused("old_string is empty; give the text to replace, or use write_file");
  const places = findAll(text, old);
  const [only] = places;
  if (only !== undefined && places.length === 1) {
    return { ok: true, text: text.slice(0, only) + replacement + text.slice(only + old.length), note: "" };
  }
  const loose = looseMatches(text, old);
  const [block] = loose;
  if (block !== undefined && loose.length === 1) {
    const edited = replaceBlock(text, block, old, replacement);
    if (edited === text) return refused("old and new are the same");
    return { ok: true, text: edited, note: "matched with outer white space of lines ignored" };
  }
  return refused(places.length > 1 ? ambiguous(text, places, path) : missing(text, old, path));
}

function refused(message: string): Edited {
  return { ok: false, message: `NOT performed: ${message}` };
}

/** Places that are told of a snippet that stands there more than once. */
const TOLD_PLACES = 20;

/** Where a snippet begins, also where two of them overlap. */
function findAll(text: string, old: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at >= 0 && places.length <= TOLD_PLACES; at = text.indexOf(old, at + 1)) {
    places.push(at);
  }
  return places;
}

type Row = { readonly start: number; readonly end: number; readonly indent: string; readonly core: string };

/** The lines of a text with their places; `end` is before the line's end, `core` is without outer white space. */
function rowsOf(text: string): readonly Row[] {
  const rows: Row[] = [];
  let start = 0;
  while (start < text.length) {
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(start, end);
    const core = line.trim();
    rows.push({ start, end, indent: line.slice(0, line.length - line.trimStart().length), core });
    start = end + 1;
  }
  return rows;
}

type Block = readonly Row[];

/** Places where the lines of the snippet stand with other outer white space; at most two, since two are too many. */
function looseMatches(text: string, old: string): readonly Block[] {
  const wanted = rowsOf(old).map(({ core }) => core);
  if (wanted.every((core) => core === "")) return [];
  const rows = rowsOf(text);
  const back = borders(wanted);
  const found: Block[] = [];
  let matched = 0;
  for (let at = 0; at < rows.length && found.length < 2; at += 1) {
    while (matched > 0 && (matched === wanted.length || rows[at]?.core !== wanted[matched])) {
      matched = back[matched - 1] ?? 0;
    }
    if (rows[at]?.core === wanted[matched]) matched += 1;
    if (matched === wanted.length) found.push(rows.slice(at + 1 - matched, at + 1));
  }
  return found;
}

/** For each beginning of a list, how long its longest proper beginning is that is also its end. Source: Knuth, Morris, Pratt 1977 */
function borders(list: readonly string[]): readonly number[] {
  const lengths = [0];
  let length = 0;
  for (let at = 1; at < list.length; at += 1) {
    while (length > 0 && list[at] !== list[length]) length = lengths[length - 1] ?? 0;
    if (list[at] === list[length]) length += 1;
    lengths.push(length);
  }
  return lengths;
}

/** Puts the new lines in the place of whole old ones, with the line ends of these. */
function replaceBlock(text: string, rows: Block, old: string, replacement: string): string {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return text;
  const isWhole = old.endsWith("\n");
  const isGone = isWhole && replacement === "";
  const isCrLf = rows.some(({ end }) => text[end - 1] === "\r" && text[end] === "\n");
  // The line end behind the last line is the file's own, and stays.
  const end = isGone ? last.end + 1 : isCrLf && text[last.end - 1] === "\r" ? last.end - 1 : last.end;
  const unix = replacement.replaceAll("\r\n", "\n");
  const body = isWhole && unix.endsWith("\n") ? unix.slice(0, -1) : unix;
  const lines = indented(body, old, rows.find(({ core }) => core !== "")?.indent ?? "");
  return text.slice(0, first.start) + (isCrLf ? lines.replaceAll("\n", "\r\n") : lines) + text.slice(end);
}

/**
 * The new lines as deep as the old ones stand in the file, where both snippets begin at one depth: a model that leaves
 * out the indentation leaves it out of both.
 */
function indented(replacement: string, old: string, indent: string): string {
  const [oldIndent, newIndent] = [firstIndent(old), firstIndent(replacement)];
  if (oldIndent !== newIndent || !indent.endsWith(oldIndent)) return replacement;
  const missing = indent.slice(0, indent.length - oldIndent.length);
  if (missing === "") return replacement;
  return replacement
    .split("\n")
    .map((line) => (isBlank(line) ? line : missing + line))
    .join("\n");
}

function firstIndent(text: string): string {
  return rowsOf(text).find(({ core }) => core !== "")?.indent ?? "";
}

function ambiguous(text: string, places: readonly number[], path: string): string {
  const lines = places.slice(0, TOLD_PLACES).map((at) => text.slice(0, at).split("\n").length);
  const count = places.length > TOLD_PLACES ? `more than ${TOLD_PLACES}` : String(places.length);
  const where = [...new Set(lines)].slice(0, 8).join(", ");
  return `old_string occurs ${count} times in ${path} (lines ${where}); add the lines around it to make it unique`;
}

function missing(text: string, old: string, path: string): string {
  const lines = linesOf(text);
  if (lines.length === 0) return `old_string is not in ${path}, which is empty; use write_file`;
  const near = nearestLines(lines, linesOf(old));
  const shown = near.map(({ number, line }) => `${number}: ${line.slice(0, 200).toWellFormed()}`);
  return [
    `old_string is not in ${path}. The nearest lines are:`,
    ...shown,
    "Send the call again with old_string copied from these lines, without the numbers.",
  ].join("\n");
}

type Numbered = { readonly number: number; readonly line: string };

/** The lines around the place that is most like the snippet's longest line. */
function nearestLines(lines: readonly string[], wanted: readonly string[]): readonly Numbered[] {
  const { near_lines } = LOOP_LIMITS;
  const longest = wanted.reduce((best, line, index) => {
    return line.trim().length > (wanted[best] ?? "").trim().length ? index : best;
  }, 0);
  const pairs = pairsOf(wanted[longest] ?? "");
  let [best, likeness] = [0, -1];
  for (const [index, line] of lines.entries()) {
    const score = likenessOf(pairs, line);
    if (score > likeness) [best, likeness] = [index, score];
  }
  const start = Math.max(0, Math.min(best - Math.min(longest, near_lines - 1), lines.length - near_lines));
  const from = Math.max(0, Math.min(start, best));
  return lines.slice(from, from + near_lines).map((line, index) => ({ number: from + index + 1, line }));
}

/** Characters of a line that are compared. */
const COMPARED = 200;

/** The pairs of neighbouring characters of a line, with how often each stands there. */
function pairsOf(line: string): ReadonlyMap<string, number> {
  const text = line.trim().slice(0, COMPARED);
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** How much of two lines is the same: from 0 to 1. Source: Dice 1945, over pairs of characters */
function likenessOf(wanted: ReadonlyMap<string, number>, line: string): number {
  const pairs = pairsOf(line);
  let [shared, all] = [0, 0];
  for (const [pair, count] of wanted) {
    shared += Math.min(count, pairs.get(pair) ?? 0);
    all += count;
  }
  for (const count of pairs.values()) all += count;
  return all === 0 ? 0 : (2 * shared) / all;
}
