/**
 * What a seat reads of the workspace: numbered lines, names, matches. Plain and short, and where something is left out a
 * last line says how to get it.
 *
 * Source: delegation run, section 5.3
 */
import { utf8Length } from "../utf8.ts";
import { LOOP_LIMITS } from "./limits.ts";
import type { Entry } from "./workspace.ts";

/** The lines of a text as an editor counts them: what ends in a line end has no empty line behind it. No CR at their ends. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/**
 * `read_file`: lines from an offset on, as `N: text`.
 *
 * @param part       null where the seat named none; below 1 counts as 1, a limit below 1 as none
 * @param characters what one result keeps; it stops at a line before that, but for one line at least
 */
export function renderLines(
  text: string,
  part: { readonly offset: number | null; readonly limit: number | null },
  characters: number,
): string {
  const { read_lines, read_bytes } = LOOP_LIMITS;
  const lines = linesOf(text);
  const first = Math.max(1, part.offset ?? 1);
  if (first > lines.length) return `(end of file, ${lines.length} lines)`;
  const limit = part.limit === null || part.limit < 1 ? read_lines : part.limit;
  const shown: string[] = [];
  let [length, bytes] = [0, 0];
  for (const [index, line] of lines.slice(first - 1, first - 1 + limit).entries()) {
    const rendered = `${first + index}: ${cutLine(line)}`;
    length += rendered.length + 1;
    bytes += utf8Length(rendered) + 1;
    if (shown.length > 0 && (length > characters || bytes > read_bytes)) break;
    shown.push(rendered);
  }
  const last = first + shown.length - 1;
  if (last < lines.length) shown.push(`(lines ${first}-${last} of ${lines.length}; continue with offset=${last + 1})`);
  return shown.join("\n");
}

function cutLine(line: string): string {
  const { line_characters } = LOOP_LIMITS;
  return line.length <= line_characters ? line : `${line.slice(0, line_characters).toWellFormed()} (line cut)`;
}

/** `list_dir`: names one a line, folders with a `/`. */
export function renderEntries(entries: readonly Entry[]): string {
  if (entries.length === 0) return "(empty directory)";
  return entries.map(({ name, kind }) => (kind === "folder" ? `${name}/` : name)).join("\n");
}

export type Match = { readonly path: string; readonly line: number; readonly text: string };

/** `search_files` by content: one line a match, those of a file together. `isMore`: there are others behind them. */
export function renderMatches(matches: readonly Match[], isMore: boolean, pattern: string): string {
  if (matches.length === 0) return noMatch(pattern);
  const { matches: most } = LOOP_LIMITS;
  const shown = matches.slice(0, most).map(({ path, line, text }) => `${path}:${line}: ${cutLine(text)}`);
  return [...shown, ...(isMore || matches.length > most ? ["(more matches; narrow the pattern)"] : [])].join("\n");
}

/** `search_files` by file: one path a line. */
export function renderPaths(paths: readonly string[], isMore: boolean, pattern: string): string {
  if (paths.length === 0) return noMatch(pattern);
  const { matches: most } = LOOP_LIMITS;
  const shown = paths.slice(0, most);
  return [...shown, ...(isMore || paths.length > most ? ["(more matches; narrow the pattern)"] : [])].join("\n");
}

function noMatch(pattern: string): string {
  if (/\(\?[A-Za-z]*i/.test(pattern)) return "no match";
  return `no match; the pattern is case-sensitive, to ignore case use (?i)${pattern}`;
}
