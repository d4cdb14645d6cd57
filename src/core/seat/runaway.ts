/**
 * An answer that is still being written and does nothing any more but repeat itself. It is not waited for: at the pace of
 * a small machine the rest of its token budget would take the wall of the leg.
 *
 * Far more copies are asked for than of a finished answer (`repetition.ts`), since this one might still have gone on.
 */
import { findLoop } from "./repetition.ts";

/**
 * What is looked at, and how much more has to come before it is looked at again, in characters. `each_share`: of what is
 * there, so that a long answer is not looked at without end.
 */
export const RUNAWAY = { examined: 16_384, each: 2_048, each_share: 1 / 16 } as const;

/** The size at which an answer is looked at next; `looked_at`: at which it was looked at last. */
export function lookAfter(looked_at: number): number {
  return looked_at + Math.max(RUNAWAY.each, looked_at * RUNAWAY.each_share);
}

/** Copies behind the first one, and how much they fill, in characters. */
const COPIES = 15;
const FILLED = 1_500;

/**
 * True when the end of a text is one block of lines, or of words in one line, sixteen times over and more.
 *
 * @param tail the last characters of what was written so far; it may begin in the middle of a copy
 * Errors:     none; time is linear in the tail
 */
export function isRunaway(tail: string): boolean {
  const lastLine = tail.lastIndexOf("\n") + 1;
  const [whole, open] = [tail.slice(0, lastLine), tail.slice(lastLine)];
  // A line that has begun as none before it is the way out.
  if (isLong(whole, false)) return whole.includes(open.trim());
  return isLong(open, true);
}

function isLong(text: string, is_cut: boolean): boolean {
  const loop = findLoop(text, is_cut);
  return loop !== null && loop.trimmed >= COPIES && text.length - loop.kept.length >= FILLED;
}
