/**
 * Whether a text begins like something a shell can run. It is all that can be asked of a command when nothing of its
 * turn was recorded.
 */
import { isVerdict } from "./verdict.ts";

const MARKUP_TAG = /<\/?[A-Za-z][^<>]*>/g;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
const PATH = /^(?:\/|\.\/|\.\.\/|~\/)./s;
const SHELL_WORDS: ReadonlySet<string> = new Set(["cd", "source", "export"]);

/**
 * True when the first word behind `NAME=value` words is a path, `cd`, `source`, `export` or a program, and no verdict.
 * A path need not exist. Markup tags around the text do not count.
 *
 * @param isProgram whether a word without a slash names an executable file on PATH; asked at most once
 */
export function isRunnable(text: string, isProgram: (word: string) => boolean): boolean {
  const command = text.replace(MARKUP_TAG, "").trim();
  let word = readWord(command, 0);
  while (word !== null && ASSIGNMENT.test(word.raw)) word = readWord(command, word.end);
  if (word === null) return false;

  const name = word.value;
  if (name === "" || isVerdict(name)) return false;
  if (PATH.test(name) || SHELL_WORDS.has(name)) return true;
  return !name.includes("/") && isProgram(name);
}

type Word = { readonly raw: string; readonly value: string; readonly end: number };

/** The next word from `from` on, as written and with its quotes removed; null when there is none or a quote stays open. */
function readWord(text: string, from: number): Word | null {
  let start = from;
  while (start < text.length && isBlank(text.charAt(start))) start++;
  if (start === text.length) return null;

  const value: string[] = [];
  let at = start;
  while (at < text.length && !isBlank(text.charAt(at))) {
    const char = text.charAt(at);
    if (char === '"' || char === "'") {
      const close = text.indexOf(char, at + 1);
      if (close === -1) return null;
      value.push(text.slice(at + 1, close));
      at = close + 1;
    } else {
      value.push(char);
      at++;
    }
  }
  return { raw: text.slice(start, at), value: value.join(""), end: at };
}

function isBlank(char: string): boolean {
  return /\s/.test(char);
}
