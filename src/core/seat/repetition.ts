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
  const lines = () => linesFromEnd(text);
  const found = loopIn(text, lines, LONGEST_PERIOD, COPIES);
  if (found !== null || !is_cut) return found;
  return (
    loopIn(text, () => lines().drop(1), LONGEST_PERIOD, COPIES) ??
    loopIn(text, () => wordsFromEnd(text).drop(1), LONGEST_WORDS, WORD_COPIES)
  );
}

/** A line or a word, and where it ends. */
type Unit = { readonly folded: string; readonly end: number };

/** The lines that are not blank, last one first: a long text is looked at as far back as its loop goes. */
function* linesFromEnd(text: string): Generator<Unit, void, void> {
  for (let end = text.length; end >= 0; ) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    const folded = text.slice(start, end).trim().replace(/\s+/g, " ").toLowerCase();
    if (folded !== "") yield { folded, end };
    end = start - 1;
  }
}

/** The words of the last line, last one first. */
function* wordsFromEnd(text: string): Generator<Unit, void, void> {
  const first = text.lastIndexOf("\n") + 1;
  const isBlank = (at: number) => {
    const unit = text.charCodeAt(at);
    return unit < 0x80 ? unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) : /\s/.test(text.charAt(at));
  };
  for (let end = text.length; ; ) {
    while (end > first && isBlank(end - 1)) end -= 1;
    if (end === first) return;
    let start = end;
    while (start > first && !isBlank(start - 1)) start -= 1;
    yield { folded: text.slice(start, end).toLowerCase(), end };
    end = start;
  }
}

/** @param units last one first; asked for again where a loop is found */
function loopIn(
  text: string,
  units: () => Iterator<Unit> & Iterable<Unit>,
  longest: number,
  least: number,
): Loop | null {
  const tail = [...Iterator.from(units()).take(Math.max(EXAMINED, longest * least))];
  for (let period = 1; period <= longest && period * least <= tail.length; period += 1) {
    const isLoop = tail.slice(0, period * (least - 1)).every(({ folded }, at) => folded === tail[at + period]?.folded);
    if (isLoop) return wholeLoop(text, units(), period);
  }
  return null;
}

/** How far a loop reaches back is asked of the whole text: as far as each unit is the same as the one a period before. */
function wholeLoop(text: string, units: Iterable<Unit>, period: number): Loop | null {
  /** The last units looked at, each at its number in the period. */
  const later: Unit[] = [];
  let at = 0;
  for (const unit of units) {
    const one = later[at % period];
    if (one !== undefined && one.folded !== unit.folded) break;
    later[at % period] = unit;
    at += 1;
  }
  const first = later[at % period];
  return first === undefined
    ? null
    : { kept: text.slice(0, first.end).trimEnd(), trimmed: Math.floor((at - period) / period) };
}

/** The text as it is kept when a seat loops twice. */
export function trimmedLoop({ kept, trimmed }: Loop): string {
  return `${kept}\n[repetition trimmed x${trimmed}]`;
}
