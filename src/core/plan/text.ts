/** How plans and specs are read as text: lines, fences, code literals, anchors. Everything takes linear time. */

/** A document split at LF; a final LF yields a last, empty line. Line n of the document is `lines[n - 1]`. */
export type DocumentText = {
  readonly lines: readonly string[];
  /** Whether the line stands inside a fence: its opening line does not, its closing line does. */
  readonly fenced: readonly boolean[];
};

/** A place in a document that quotes a section of a spec: `§ "Cache" L15-L16`. */
export type Anchor = {
  readonly heading: string;
  readonly start: number;
  readonly end: number;
  /** Where it stands in its text, from 0, and how long it is. */
  readonly at: number;
  readonly length: number;
};

const LITERAL = /`([^`]+)`/g;
const ANCHOR = /§\s*"([^"]+)"\s*L(\d+)(?:-L(\d+))?/g;

/** Source: flow state, section 5.1 */
export function readDocument(text: string): DocumentText {
  const lines = text.split("\n");
  let inside = false;
  const fenced = lines.map((line) => {
    const before = inside;
    if (line.trimStart().startsWith("```")) inside = !inside;
    return before;
  });
  return { lines, fenced };
}

/** The texts between pairs of backticks, in order; one given twice comes twice. A literal may span lines. */
export function literalsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(LITERAL), (match) => match[1] ?? "");
}

/** A literal with a `<...>` pair stands for what is to be filled in, and is never required to the letter. */
export function isTemplate(literal: string): boolean {
  const close = literal.lastIndexOf(">");
  for (let open = literal.indexOf("<"); open >= 0 && open < close - 1; open = literal.indexOf("<", open + 1)) {
    if (literal.charAt(open + 1) !== ">") return true;
  }
  return false;
}

/** The anchors of a text, in order; the short form has its one line as start and end. */
export function anchorsOf(text: string): readonly Anchor[] {
  return Array.from(text.matchAll(ANCHOR), (match) => {
    const start = Number(match[2]);
    const end = match[3] === undefined ? start : Number(match[3]);
    return { heading: match[1] ?? "", start, end, at: match.index, length: match[0].length };
  });
}

export function sameAnchor(left: Anchor, right: Anchor): boolean {
  return left.heading === right.heading && left.start === right.start && left.end === right.end;
}

/** `§ "Cache" L15-L16`. */
export function anchorText({ heading, start, end }: Pick<Anchor, "heading" | "start" | "end">): string {
  return `§ "${heading}" L${start}-L${end}`;
}

/** The text without one leading and one trailing backtick, and without white space around it. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const opened = trimmed.startsWith("`") ? trimmed.slice(1) : trimmed;
  return opened.endsWith("`") ? opened.slice(0, -1) : opened;
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}
