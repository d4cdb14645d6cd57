/** The words of a command line: split as a POSIX shell would where that needs no shell, and joined again. */

const BLANK = /[ \t]/;
/** Unquoted, these ask a shell to do more than split words. */
const SHELL_ONLY = /[|&;<>()`$\n*?[]/;
const SHELL_ONLY_AT_START = /[#~]/;
const ESCAPED_IN_DOUBLE = /["\\$`]/;
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Splits a command into words: blanks separate, `'…'` is literal, `"…"` lets `\"`, `\\`, `\$` and `` \` ``
 * escape, a backslash outside quotes escapes the next character.
 *
 * @returns null when only a shell can tell the words: an unclosed quote, an operator, an expansion
 * Errors: none
 */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    if (BLANK.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return null;
      word = (word ?? "") + text.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if (quoted === null) return null;
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (char === "\\") {
      if (at + 1 === text.length) return null;
      word = (word ?? "") + text.charAt(at + 1);
      at += 2;
    } else {
      if (SHELL_ONLY.test(char) || (word === null && SHELL_ONLY_AT_START.test(char))) return null;
      word = (word ?? "") + char;
      at += 1;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** From behind the opening quote to behind the closing one; null when it never closes. */
function readDoubleQuoted(source: string, from: number): { readonly text: string; readonly end: number } | null {
  let text = "";
  for (let at = from; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (char === '"') return { text, end: at + 1 };
    if (char === "\\" && ESCAPED_IN_DOUBLE.test(source.charAt(at + 1))) at += 1;
    text += source.charAt(at);
  }
  return null;
}

/**
 * The text under which `writ run -- WORD…` is recorded: a word with an unusual character, or an empty one, in
 * single quotes. `splitWords` gives the words back.
 */
export function quoteWords(argv: readonly string[]): string {
  return argv.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
}
