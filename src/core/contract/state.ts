/** The states of a turn. "Closed" and "terminal" are two questions and stay two functions. */

export const STATES = [
  "IN_PROGRESS",
  "APPROVAL_REQUEST",
  "BLOCKED",
  "NEEDS_INPUT",
  "NEEDS_VERIFICATION",
  "COMPLETE",
] as const;

/** A state that an envelope may declare. */
export type State = (typeof STATES)[number];

/** What a row may hold: born and not yet declared, or a declared state. */
export type RowState = "DISPATCHED" | State;

/** The states by which an agent declares its turn over. */
export const CLOSING_STATES: readonly State[] = STATES.filter((state) => state !== "IN_PROGRESS");

export function isState(word: string): word is State {
  return (STATES as readonly string[]).includes(word);
}

/** Did the agent declare its turn over? A further write then belongs to a new contract. */
export function isClosed(state: string): boolean {
  return (CLOSING_STATES as readonly string[]).includes(state);
}

/** Is the verdict final, so that no later one replaces it on the same row? */
export function isTerminal(state: string): boolean {
  return state === "COMPLETE";
}

/**
 * The state that a spelling stands for: trimmed, upper-cased, full stops, commas and semicolons dropped at the end.
 *
 * @returns null when it is none of the six; white space before such a mark is kept, so `"COMPLETE ."` is none
 */
export function foldState(text: string): State | null {
  const word = text.trim().toUpperCase();
  let end = word.length;
  while (end > 0 && ".,;".includes(word.charAt(end - 1))) end -= 1;
  const state = word.slice(0, end);
  return isState(state) ? state : null;
}
