/**
 * Finding JSON in text that is more than JSON: what a model wrote around it, and whether it broke off inside.
 *
 * These scans know strings and brackets and nothing else; what they find is parsed by others.
 */

export type Balanced = { readonly start: number; readonly end: number };

/**
 * The first object or list from a place on that is closed by its own bracket.
 *
 * @param open the bracket that it begins with
 * @returns    null where there is none, or where the text ends before it is closed. Time is linear in the text
 */
export function findBalanced(text: string, open: "{" | "[", from = 0): Balanced | null {
  const start = text.indexOf(open, from);
  if (start < 0) return null;
  const { end } = scan(text, start);
  return end === null ? null : { start, end };
}

/** True when a text begins as a JSON object or list and ends before that is closed. Time is linear in the text. */
export function isUnterminated(text: string): boolean {
  const start = text.search(/\S/);
  if (start < 0) return false;
  const first = text.charAt(start);
  return (first === "{" || first === "[") && scan(text, start).end === null;
}

/** Where a broken-off JSON text may be cut and closed without keeping a part of a value. */
export type Opening = {
  readonly at: number;
  /** The brackets that close what is open there, innermost first. */
  readonly closers: string;
};

/**
 * The last place in a broken-off text behind a whole element of a list.
 *
 * @returns null where the text is no JSON object that breaks off, or has no such element. Time is linear in the text
 */
export function lastWholeElement(text: string): Opening | null {
  const start = text.search(/\S/);
  if (start < 0 || text.charAt(start) !== "{") return null;
  const { end, element } = scan(text, start);
  return end === null ? element : null;
}

type Scan = {
  /** Behind the bracket that closes the first one; null where the text ends before. */
  readonly end: number | null;
  readonly element: Opening | null;
};

/** Reads from an opening bracket to the one that closes it. A bracket of the wrong kind closes all the same. */
function scan(text: string, start: number): Scan {
  const closers: string[] = [];
  let element: Opening | null = null;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') isInString = false;
      continue;
    }
    if (character === '"') isInString = true;
    else if (character === "{") closers.push("}");
    else if (character === "[") closers.push("]");
    else if (character === "}" || character === "]") {
      closers.pop();
      if (closers.length === 0) return { end: at + 1, element };
      // An object or a list inside of a list ended here.
      if (closers.at(-1) === "]") element = { at: at + 1, closers: closing(closers) };
    } else if (character === "," && closers.at(-1) === "]") element = { at, closers: closing(closers) };
  }
  return { end: null, element };
}

/** Nesting beyond this is no answer to close: it would be copied at every element. */
const DEEPEST = 64;

function closing(closers: readonly string[]): string {
  return closers.length > DEEPEST ? "" : closers.toReversed().join("");
}
