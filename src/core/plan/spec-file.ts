/** A spec as plan check sees it: its lines, its headings and their sections. */
import { type DocumentText, readDocument } from "./text.ts";

export type SpecHeading = {
  readonly title: string;
  readonly level: number;
  /** Its section, from its own line to the last one before the next heading of its level or above. */
  readonly start: number;
  readonly end: number;
};

export type SpecFile = {
  readonly text: DocumentText;
  readonly headings: ReadonlyMap<string, readonly SpecHeading[]>;
};

/** Source: flow state, section 5.2 */
export function parseSpec(source: string): SpecFile {
  const text = readDocument(source);
  const found: { readonly title: string; readonly level: number; readonly start: number; end: number }[] = [];
  /** Headings whose section is still open, each deeper than the one before it. */
  const open: (typeof found)[number][] = [];
  for (const [index, line] of text.lines.entries()) {
    if (text.fenced[index] === true) continue;
    const match = /^(#{1,6})\s+(.*)$/s.exec(line);
    if (match === null) continue;
    const [, marks = "", title = ""] = match;
    const heading = { title: title.trim(), level: marks.length, start: index + 1, end: text.lines.length };
    for (let last = open.at(-1); last !== undefined && last.level >= heading.level; last = open.at(-1)) {
      last.end = index;
      open.pop();
    }
    open.push(heading);
    found.push(heading);
  }
  const headings = new Map<string, SpecHeading[]>();
  for (const heading of found) {
    const same = headings.get(heading.title);
    if (same === undefined) headings.set(heading.title, [heading]);
    else same.push(heading);
  }
  return { text, headings };
}

/** Whether a range of lines stands in the document and is not empty. */
export function isInBounds(spec: SpecFile, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return start >= 1 && start <= end && end <= spec.text.lines.length;
}

/** The lines of a range, joined; the range must be in bounds. */
export function linesOf(spec: SpecFile, { start, end }: { readonly start: number; readonly end: number }): string {
  return spec.text.lines.slice(start - 1, end).join("\n");
}
