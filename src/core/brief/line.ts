/** A text as lines that know their number. */

export type BriefLine = { readonly text: string; readonly number: number };

/** The lines of a text that is split at LF, each without one trailing CR; numbers count from 1. */
export function briefLines(text: string): readonly BriefLine[] {
  return text.split("\n").map((line, index) => ({
    text: line.endsWith("\r") ? line.slice(0, -1) : line,
    number: index + 1,
  }));
}

export function isBlankLine(text: string): boolean {
  return text.trim() === "";
}

/** Three backticks, with nothing but white space before them. */
export function isFenceMark(text: string): boolean {
  return text.trimStart().startsWith("```");
}
