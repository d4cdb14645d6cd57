/**
 * An answer that ends in a loop: the same lines over and over, as small models write when they find no end.
 *
 * Source: delegation run, section 5.5
 */

/** Lines looked at from the end, lines of one copy, and copies that make a loop. */
const EXAMINED = 400;
const LONGEST_PERIOD = 32;
const COPIES = 4;
/** Words of one copy inside of a line, and copies that make a loop there. */
const LONGEST_WORDS = 32;
const WORD_COPIES = 16;

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
 * @param is_cut the text was cut by its token budget: its last line may be half a line and is then passed over, and a
 *               line that the cut ended may itself be a loop of words
 * @returns      null where there is none. Errors: none; time is linear in the text
 */
export function findLoop(text: string, is_cut: boolean): Loop | null {
  const lines = linesOf(text);
  const found = loopIn(text, lines, LONGEST_PERIOD, COPIES);
  if (found !== null || !is_cut) return found;
  return (
    loopIn(text, lines.slice(0, -1), LONGEST_PERIOD, COPIES) ??
    loopIn(text, wordsOfLastLine(text).slice(0, -1), LONGEST_WORDS, WORD_COPIES)
  );
}

/** A line or a word, and where it ends. */
type Unit = { readonly folded: string; readonly end: number };

function linesOf(text: string): readonly Unit[] {
  const lines: Unit[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const folded = line.trim().replace(/\s+/g, " ").toLowerCase();
    if (folded !== "") lines.push({ folded, end });
    start = end + 1;
  }
  return lines;
}

function wordsOfLastLine(text: string): readonly Unit[] {
  const start = text.lastIndexOf("\n") + 1;
  const words = text.slice(start).matchAll(/\S+/g);
  return [...words].map((word) => ({ folded: word[0].toLowerCase(), end: start + word.index + word[0].length }));
}

function loopIn(text: string, units: readonly Unit[], longest: number, least: number): Loop | null {
  const tail = units.slice(-Math.max(EXAMINED, longest * least));
  for (let period = 1; period <= longest && period * least <= tail.length; period += 1) {
    if (repeated(tail, period) < period * (least - 1)) continue;
    // How far the loop reaches back is asked of the whole text.
    const count = repeated(units, period);
    const first = units[units.length - count - 1];
    if (first === undefined) return null;
    return { kept: text.slice(0, first.end).trimEnd(), trimmed: Math.floor(count / period) };
  }
  return null;
}

/** How many units from the end on are the same as the one a period before them. */
function repeated(units: readonly Unit[], period: number): number {
  let count = 0;
  for (let at = units.length - 1; at >= period && units[at]?.folded === units[at - period]?.folded; at -= 1) count += 1;
  return count;
}

/** The text as it is kept when a seat loops twice. */
export function trimmedLoop({ kept, trimmed }: Loop): string {
  return `${kept}\n[repetition trimmed x${trimmed}]`;
}
