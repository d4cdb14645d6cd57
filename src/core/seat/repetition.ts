/**
 * An answer that ends in a loop: the same lines over and over, as small models write when they find no end.
 *
 * Source: delegation run, section 5.5
 */

/** Lines looked at from the end, lines of one copy, and copies that make a loop. */
const EXAMINED = 400;
const LONGEST_PERIOD = 32;
const COPIES = 4;

export type Loop = {
  /** The text up to the end of the first copy. */
  readonly kept: string;
  /** Copies behind the first one. */
  readonly trimmed: number;
};

/**
 * Finds the loop at the end of a text: a block of non-blank lines that stands there at least four times in a row, the
 * shortest such block. Lines are compared trimmed, with white space collapsed and case folded.
 *
 * @param is_cut the text was cut by its token budget: its last line may be half a line and is then passed over
 * @returns      null where there is none. Errors: none; time is linear in the text
 */
export function findLoop(text: string, is_cut: boolean): Loop | null {
  const lines = linesOf(text);
  return loopIn(text, lines) ?? (is_cut ? loopIn(text, lines.slice(0, -1)) : null);
}

type Line = { readonly folded: string; readonly end: number };

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const folded = line.trim().replace(/\s+/g, " ").toLowerCase();
    if (folded !== "") lines.push({ folded, end });
    start = end + 1;
  }
  return lines;
}

function loopIn(text: string, lines: readonly Line[]): Loop | null {
  const tail = lines.slice(-EXAMINED);
  for (let period = 1; period <= LONGEST_PERIOD && period * COPIES <= tail.length; period += 1) {
    if (repeated(tail, period) < period * (COPIES - 1)) continue;
    // How far the loop reaches back is asked of the whole text.
    const count = repeated(lines, period);
    const first = lines[lines.length - count - 1];
    if (first === undefined) return null;
    return { kept: text.slice(0, first.end).trimEnd(), trimmed: Math.floor(count / period) };
  }
  return null;
}

/** How many lines from the end on are the same as the line one period before them. */
function repeated(lines: readonly Line[], period: number): number {
  let count = 0;
  for (let at = lines.length - 1; at >= period && lines[at]?.folded === lines[at - period]?.folded; at -= 1) count += 1;
  return count;
}

/** The text as it is kept when a seat loops twice. */
export function trimmedLoop({ kept, trimmed }: Loop): string {
  return `${kept}\n[repetition trimmed x${trimmed}]`;
}
