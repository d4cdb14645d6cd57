/** Values as the messages of this room show them: on one line, and of bounded length. */

const SHOWN_CHARACTERS = 120;

/** The text in double quotes. */
export function quoted(text: string): string {
  return `"${shortened(text)}"`;
}

/** The text on one line, trimmed, cut with an ellipsis behind 120 code units. */
export function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  if (line.length <= SHOWN_CHARACTERS) return line;
  // A whole character at the cut, not half of a pair.
  return `${line.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`;
}
