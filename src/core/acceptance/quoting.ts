/** Texts as reasons and messages of this room show them: on one line. */
import { replaceControls } from "../terminal.ts";

/** Quotations longer than this are cut, in characters. */
const SHOWN_CHARACTERS = 120;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with line ends and controls spelled out; nothing else is escaped, so that a pattern reads as it was typed. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (found) => NAMED[found] ?? signOf(found));
}

/** `\u200b`; of a pair of surrogates both halves. */
function signOf(found: string): string {
  let sign = "";
  for (let at = 0; at < found.length; at += 1) sign += `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return sign;
}

/** The text in double quotes, on one line, cut with an ellipsis. */
export function quote(text: string): string {
  return `"${cut(text)}"`;
}

/** Of two texts that differ so much is shown before the first difference, in code units. */
const SHOWN_BEFORE = 60;

/**
 * Two texts that differ, quoted so that it is seen how: what is invisible, or looks like a blank, is spelled out, and what
 * both begin with is left out where the difference would be cut off.
 */
export function quoteBoth(one: string, other: string): readonly [string, string] {
  const spelled = [spelledOut(one), spelledOut(other)] as const;
  // What is spelled out may stand there so: then each sign of its own is doubled.
  const doubled = (text: string) => spelledOut(text.replaceAll("\\", "\\\\"));
  const [left, right] = spelled[0] === spelled[1] ? ([doubled(one), doubled(other)] as const) : spelled;
  if (quote(left) !== quote(right)) return [quote(left), quote(right)];
  let alike = 0;
  while (alike < left.length && left[alike] === right[alike]) alike += 1;
  const tail = (text: string) => quote(`…${text.slice(Math.max(0, alike - SHOWN_BEFORE)).toWellFormed()}`);
  return [tail(left), tail(right)];
}

/**
 * The text on one line with all that is invisible, turns the reading direction, or is a blank other than the common one
 * spelled out.
 */
export function spelledOut(text: string): string {
  return replaceControls(oneLine(text), signOf).replace(/[^\S ]/g, signOf);
}

/** The text on one line, cut with an ellipsis. */
export function cut(text: string): string {
  // Only the beginning is looked at: at most two code units a character.
  const beginning = [...text.slice(0, 2 * SHOWN_CHARACTERS + 2)];
  return beginning.length <= SHOWN_CHARACTERS
    ? oneLine(beginning.join(""))
    : `${oneLine(beginning.slice(0, SHOWN_CHARACTERS).join(""))}…`;
}
