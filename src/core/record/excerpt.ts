/**
 * Whether a quoted excerpt stands in the output that was kept of a run.
 *
 * An excerpt is cut at its elisions into fragments; these must occur in the output in order, without overlap, each on
 * whole tokens. Escape sequences, line ends and the width of white space do not count; case and everything else do.
 * Excerpts come here redacted: the record holds nothing else. What a mark of redaction hides nobody knows any more: a
 * quote that would stand there is neither found nor refuted.
 */
import { REDACTED } from "./redact.ts";
import type { RecordedRun } from "./tool-record.ts";

/** What of a run an excerpt is held against. */
export type ComparedRun = Pick<RecordedRun, "output" | "tail" | "truncated" | "ordered">;

/**
 * What one run says of an excerpt. Only `not_found` refutes it; the reasons in between say why this run cannot: a part
 * of its output is missing, none was kept, its two streams may stand in another order than the quote, or what was quoted
 * may be what a mark hides.
 */
export type ExcerptOutcome =
  | "found"
  | "output_truncated"
  | "output_not_kept"
  | "order_not_kept"
  | "output_redacted"
  | "not_found";

/** An excerpt made ready to be looked for in many outputs. */
export type Excerpt = {
  /** In order, white space folded, none blank. Empty when the excerpt shows nothing. */
  readonly fragments: readonly string[];
  /** The distinct lines of the fragments, folded the same way. */
  readonly lines: readonly string[];
  /** Search tables by fragment, filled as they are first needed. */
  readonly borders: Map<string, Int32Array>;
  /** How many characters may still be searched for single lines, and behind marks, over all outputs. */
  lineBudget: number;
};

/** An output made ready to be searched. */
export type SearchableOutput = {
  readonly kept: boolean;
  readonly truncated: boolean;
  readonly ordered: boolean;
  /** The kept text: one page when it is whole, else what was kept of its start and of its end. */
  readonly pages: readonly Page[];
};

type Page = {
  readonly text: string;
  /** The text goes on before this page: a word at its very start may have begun earlier. */
  readonly cutBefore: boolean;
  /** The text goes on behind this page: a word at its very end may go on. */
  readonly cutBehind: boolean;
};

// CSI sequences, and OSC sequences up to BEL or to the ST that many programs write instead.
const ESCAPE_SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
const LINE_END = /\r\n?/g;
const ELISION = /\[\s*(?:\.{3,}|\u2026)\s*\]|\.{3,}|\u2026/;
const WHITE_SPACE = /\s+/g;
const WORD = /[\p{L}\p{N}_]/u;
const DIGIT = /\p{Nd}/u;

// Kept outputs have at most 1,000 characters, so no honest excerpt comes near it. It bounds what a made-up one costs.
const LINE_BUDGET = 1 << 26;

/** Longer fragments are not thought to be behind a mark. */
const MARKED_FRAGMENT = 1 << 16;

/** A text without ANSI escape sequences, its line ends all LF. */
export function plainText(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, "").replace(LINE_END, "\n");
}

/**
 * The pieces between the elisions of an excerpt (three dots or more, `…`, either of them in brackets), trimmed, white
 * space folded to one blank, blank pieces dropped. Empty when the excerpt shows nothing.
 */
export function fragmentsOf(excerpt: string): readonly string[] {
  return piecesOf(excerpt).map(folded);
}

/** An excerpt ready to be looked for. Empty `fragments` are found nowhere. */
export function parseExcerpt(excerpt: string): Excerpt {
  const pieces = piecesOf(excerpt);
  const lines = new Set<string>();
  for (const piece of pieces) {
    for (const line of piece.split("\n")) {
      const text = folded(line.trim());
      if (text !== "") lines.add(text);
    }
  }
  return { fragments: pieces.map(folded), lines: [...lines], borders: new Map(), lineBudget: LINE_BUDGET };
}

/** An output ready to be searched: head and tail are one text where nothing is missing between them. */
export function searchableOutput(run: ComparedRun): SearchableOutput {
  const head = run.output ?? "";
  const tail = run.tail ?? "";
  const kept = run.output !== null || tail !== "";
  const ordered = run.ordered ?? true;
  if (!run.truncated) {
    const whole = { text: folded(plainText(head + tail)), cutBefore: false, cutBehind: false };
    return { kept, truncated: false, ordered, pages: [whole] };
  }
  const pages = [
    { text: folded(plainText(head)), cutBefore: false, cutBehind: true },
    { text: folded(plainText(tail)), cutBefore: true, cutBehind: false },
  ];
  return { kept, truncated: true, ordered, pages };
}

/** Holds an excerpt against what was kept of one run. Linear in the output, whatever the excerpt. */
export function findExcerpt(excerpt: string, run: ComparedRun): ExcerptOutcome {
  return findIn(parseExcerpt(excerpt), searchableOutput(run));
}

/** `findExcerpt` for an excerpt and an output that are used more than once. */
export function findIn(excerpt: Excerpt, output: SearchableOutput): ExcerptOutcome {
  if (inOrder(excerpt, output.pages)) return "found";
  if (output.truncated) return "output_truncated";
  if (!output.kept) return "output_not_kept";
  if (!output.ordered && everyLineIn(excerpt, output.pages)) return "order_not_kept";
  return mayBeMarked(excerpt, output.pages) ? "output_redacted" : "not_found";
}

function inOrder(excerpt: Excerpt, pages: readonly Page[]): boolean {
  if (excerpt.fragments.length === 0) return false;
  let page = 0;
  let from = 0;
  for (const fragment of excerpt.fragments) {
    let start = -1;
    for (; page < pages.length; page++, from = 0) {
      start = indexOnTokens(excerpt, fragment, pages[page] as Page, from);
      if (start !== -1) break;
    }
    if (start === -1) return false;
    from = start + fragment.length;
  }
  return true;
}

function everyLineIn(excerpt: Excerpt, pages: readonly Page[]): boolean {
  return excerpt.lines.every((line) =>
    pages.some((page) => {
      // A line that was not searched for is not missing: a quote is refused only for what is known.
      if (excerpt.lineBudget <= 0) return true;
      excerpt.lineBudget -= page.text.length;
      return indexOnTokens(excerpt, line, page, 0) !== -1;
    }),
  );
}

/** Whether each fragment stands in the output, in whatever order, and one or more only with what marks may hide. */
function mayBeMarked(excerpt: Excerpt, pages: readonly Page[]): boolean {
  const marked = pages.filter(({ text }) => text.includes(REDACTED));
  if (marked.length === 0 || excerpt.fragments.length === 0) return false;
  return excerpt.fragments.every((fragment) => {
    if (pages.some((page) => indexOnTokens(excerpt, fragment, page, 0) !== -1)) return true;
    return marked.some(({ text }) => {
      // As with lines: what was not searched for is not refuted.
      if (excerpt.lineBudget <= 0) return true;
      excerpt.lineBudget -= text.length + fragment.length;
      return standsOverMark(fragment, text);
    });
  });
}

const MARK = -1;

/**
 * Whether a fragment stands in a text in which a mark is any word, or a part of one, and on one mark at least. All places
 * of the text are followed at once, character by character of the fragment.
 */
function standsOverMark(fragment: string, text: string): boolean {
  if (fragment.length > MARKED_FRAGMENT) return false;
  const cells = text.split(REDACTED).flatMap((part, at) => [...(at === 0 ? [] : [MARK]), ...unitsOf(part)]);
  // By where the fragment has come to so far: whether a mark is behind it on the way there.
  let ways: ReadonlyMap<number, boolean> = new Map(cells.map((_, at) => [at - 1, false]));
  for (const unit of unitsOf(fragment)) {
    const next = new Map<number, boolean>();
    const isBlank = unit === BLANK;
    for (const [at, isMarked] of ways) {
      if (cells[at] === MARK && !isBlank && isMarked) next.set(at, true);
      const cell = cells[at + 1];
      if (cell === MARK ? !isBlank : cell === unit) {
        next.set(at + 1, isMarked || cell === MARK || next.get(at + 1) === true);
      }
    }
    ways = next;
    if (ways.size === 0) return false;
  }
  return [...ways.values()].includes(true);
}

const BLANK = 0x20;

function unitsOf(text: string): readonly number[] {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

/** The first place from `from` on where the fragment stands on whole tokens, or -1. */
function indexOnTokens(excerpt: Excerpt, fragment: string, page: Page, from: number): number {
  if (fragment.length > page.text.length - from) return -1;
  const borders = bordersOf(excerpt, fragment);
  let matched = 0;
  for (let at = from; at < page.text.length; at++) {
    const unit = page.text.charCodeAt(at);
    while (matched > 0 && unit !== fragment.charCodeAt(matched)) matched = borders[matched - 1] as number;
    if (unit === fragment.charCodeAt(matched)) matched++;
    if (matched < fragment.length) continue;
    const start = at + 1 - fragment.length;
    if (standsOnTokens(fragment, page, start)) return start;
    matched = borders[matched - 1] as number;
  }
  return -1;
}

/**
 * For each position of a fragment, how much of its start also ends there (Knuth, Morris, Pratt 1977). Made when the
 * fragment is first looked for: most fragments of a made-up excerpt never are.
 */
function bordersOf(excerpt: Excerpt, fragment: string): Int32Array {
  const known = excerpt.borders.get(fragment);
  if (known !== undefined) return known;
  const borders = new Int32Array(fragment.length);
  let matched = 0;
  for (let at = 1; at < fragment.length; at++) {
    const unit = fragment.charCodeAt(at);
    while (matched > 0 && unit !== fragment.charCodeAt(matched)) matched = borders[matched - 1] as number;
    if (unit === fragment.charCodeAt(matched)) matched++;
    borders[at] = matched;
  }
  excerpt.borders.set(fragment, borders);
  return borders;
}

function standsOnTokens(fragment: string, page: Page, start: number): boolean {
  const { text } = page;
  const end = start + fragment.length;
  const first = charFrom(fragment, 0);
  const last = charBefore(fragment, fragment.length);
  const before = charBefore(text, start);
  const behind = charFrom(text, end);

  // Half a character is no occurrence: comparison is by code point.
  if (splitsPair(text, start) || splitsPair(text, end)) return false;

  if (WORD.test(first)) {
    if (WORD.test(before) || (page.cutBefore && start === 0)) return false;
    if (DIGIT.test(first) && isPoint(before) && DIGIT.test(charBefore(text, start - 1))) return false;
  }
  if (WORD.test(last)) {
    if (WORD.test(behind) || (page.cutBehind && end === text.length)) return false;
    if (DIGIT.test(last) && isPoint(behind) && DIGIT.test(charFrom(text, end + 1))) return false;
  }
  return true;
}

function piecesOf(excerpt: string): readonly string[] {
  return plainText(excerpt)
    .split(ELISION)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
}

function folded(text: string): string {
  return text.replace(WHITE_SPACE, " ");
}

function isPoint(char: string): boolean {
  return char === "." || char === ",";
}

/** The character that begins at `at`, or "" behind the end. */
function charFrom(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** The character that ends at `at`, or "" at the start. */
function charBefore(text: string, at: number): string {
  if (at <= 0) return "";
  return at >= 2 && splitsPair(text, at - 1) ? text.slice(at - 2, at) : text.charAt(at - 1);
}

function splitsPair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
