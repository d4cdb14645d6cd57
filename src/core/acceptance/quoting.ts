/** Texts as reasons and messages of this room show them: on one line. */

/** Quotations longer than this are cut, in characters. */
const SHOWN_CHARACTERS = 120;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with line ends and controls spelled out; nothing else is escaped, so that a pattern reads as it was typed. */
export function oneLine(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (found) => NAMED[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The text in double quotes, on one line, cut with an ellipsis. */
export function quote(text: string): string {
  return `"${cut(text)}"`;
}

/** The text on one line, cut with an ellipsis. */
export function cut(text: string): string {
  // Only the beginning is looked at: at most two code units a character.
  const beginning = [...text.slice(0, 2 * SHOWN_CHARACTERS + 2)];
  return beginning.length <= SHOWN_CHARACTERS
    ? oneLine(beginning.join(""))
    : `${oneLine(beginning.slice(0, SHOWN_CHARACTERS).join(""))}…`;
}
