/** Lines of texts that a pattern matches: what `search_files` finds. */
import { compilePattern } from "./re2.ts";

export type SearchRequest = {
  readonly pattern: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Matches that are wanted at most. */
  readonly most: number;
  /** By line: every line that matches. By file: the first one of each file. */
  readonly by: "line" | "file";
};

/** A line without its end, from 1; cut where nobody would read on. */
export type LineMatch = { readonly path: string; readonly line: number; readonly text: string };

export type SearchOutcome =
  /** In the order of the files. `isMore`: there are others behind them. */
  | { readonly ok: true; readonly matches: readonly LineMatch[]; readonly isMore: boolean }
  /** One sentence. */
  | { readonly ok: false; readonly message: string };

const PATTERN_CHARACTERS = 4096;
const LINE_CHARACTERS = 4096;

/**
 * Searches texts line by line, so that `^` and `$` are the ends of a line; a line ends at LF, or at CR LF.
 *
 * Errors: none; a pattern that is none is an answer. Time is linear in pattern × texts, which may still be long
 * Source: delegation run, section 5.3
 */
export function searchLines({ pattern, files, most, by }: SearchRequest): SearchOutcome {
  if (pattern.length > PATTERN_CHARACTERS) {
    return { ok: false, message: `bad pattern: it has more than ${PATTERN_CHARACTERS} characters` };
  }
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return { ok: false, message: `bad pattern: ${compiled.reason}` };
  const matches: LineMatch[] = [];
  for (const { path, text } of files) {
    for (const [at, line] of linesOf(text).entries()) {
      if (!compiled.pattern.test(line)) continue;
      if (matches.length >= most) return { ok: true, matches, isMore: true };
      matches.push({ path, line: at + 1, text: line.slice(0, LINE_CHARACTERS) });
      if (by === "file") break;
    }
  }
  return { ok: true, matches, isMore: false };
}

/** The end of the last line begins no further one. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}
