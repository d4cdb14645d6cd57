/**
 * Speed terms in acceptance lines. Acceptance carries no time criterion: no verb reads a clock, and no line of a
 * fixture may quote a speed.
 *
 * This is a lint and no proof: a figure spelled `\d+`, `[0-9]+` or `(?:90|95)` evades it. The closed list of verbs is
 * the defence that does not depend on spelling.
 */
import { compilePattern, type Pattern } from "../pattern/re2.ts";

/**
 * T1 to T6, in order. Word edges are ASCII, so that `fast_path` and `latency_p95` are identifiers and pass.
 * `\x{B5}` is the micro sign: the bundler spells a character outside of ASCII as `\u` in a raw template, too.
 */
const SOURCES: readonly string[] = [
  String.raw`(?i)\b(?:fast(?:er|est)?|quick(?:er|est|ly)?|slow(?:er|est|ly|ness)?|speed(?:s|y|ier|iest|up|ups)?|rapid(?:ly)?|swift(?:ly)?|latenc(?:y|ies)|throughput|elapsed|durations?|deadlines?|time-?outs?|ttft)\b`,
  String.raw`(?i)(?:\b|_)wall[ _-]?(?:time|clock|ms|secs?|seconds?)\b|\b(?:run|response|turnaround|completion|execution|processing)[ _-]?times?\b|\btime[ _-]?(?:limit|budget|taken)\b|\bin[ ]+time\b|\bon[ ]+time\b`,
  String.raw`(?i)(?:^|[^A-Za-z0-9_.])[0-9]+(?:[.,][0-9]+)?\s*(?:ns|us|\x{B5}s|ms|msecs?|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?)(?:$|[^A-Za-z0-9_])`,
  String.raw`(?i)\b(?:tok|toks|tokens?|t|its?|iterations?|req|reqs|requests?|rows?|docs?|items?|ops?|words?|chars?|bytes?|[kmg]i?b)\s*/\s*(?:s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?)\b`,
  String.raw`(?i)\b(?:tps|qps|rps)\b|\bper\s+(?:ns|ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?)\b|\b(?:a|each|every)\s+(?:second|minute|hour)\b`,
  String.raw`(?i)\b(?:milliseconds|seconds|minutes|hours)\b`,
];

let compiled: readonly Pattern[] | null = null;

/**
 * What every speed term has in it, and far more texts than those: a text without it need not wait for the patterns to be
 * compiled. Of any other the patterns alone decide.
 */
const MAY_BE =
  /fast|quick|slow|speed|rapid|swift|latenc|throughput|elapsed|duration|deadline|time|ttft|wall|[0-9]\s*[nu\u{b5}msh]|\/|[tqr]ps|per\s|(?:a|each|every)\s+(?:second|minute|hour)|(?:second|minute|hour)s/iu;

/**
 * The speed term that an acceptance line quotes.
 *
 * What is scanned is the text behind the first colon, qualifier and field name included; for `regex:` also the same
 * text with its escapes undone.
 *
 * @returns the matched text of the first pattern that matches, without the punctuation around it; null when there is
 *          none, and for a line without a colon, which is no check
 * Errors: none. Time is linear in the line
 * Source: delegation contract, section 8.3
 */
export function speedTerm(line: string): string | null {
  const colon = line.indexOf(":");
  if (colon < 0) return null;
  const text = line.slice(colon + 1);
  const plain = termIn(text);
  return plain !== null || line.slice(0, colon) !== "regex" ? plain : termIn(undoEscapes(text));
}

function termIn(text: string): string | null {
  if (!MAY_BE.test(text)) return null;
  compiled ??= SOURCES.map(compileOwn);
  for (const pattern of compiled) {
    const found = pattern.first(text);
    if (found !== null) return found.replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]+$/, "");
  }
  return null;
}

function compileOwn(source: string): Pattern {
  const result = compilePattern(source);
  if (result.ok) return result.pattern;
  throw new Error(`a speed pattern does not compile: ${result.reason}`);
}

/** What an escape of a blank or of a place in the text stands for here. */
const UNDONE: Readonly<Record<string, string>> = {
  a: " ",
  f: " ",
  t: " ",
  n: " ",
  r: " ",
  v: " ",
  s: " ",
  b: "",
  B: "",
  A: "",
  z: "",
  E: "",
};

const QUANTIFIERS = "+*?";

/**
 * The text of a pattern, nearer to what it matches: escapes undone, classes of one character opened, and the
 * quantifiers behind a space dropped. For scanning only; the answer is no pattern.
 */
export function undoEscapes(pattern: string): string {
  const pieces: string[] = [];
  let afterSpace = false;
  const put = (text: string) => {
    pieces.push(text);
    if (text !== "") afterSpace = text.endsWith(" ");
  };
  let at = 0;
  while (at < pattern.length) {
    const char = pattern[at] ?? "";
    if (afterSpace && QUANTIFIERS.includes(char)) at += 1;
    else if (pattern.startsWith("\\Q", at)) {
      const end = pattern.indexOf("\\E", at);
      put(pattern.slice(at + 2, end < 0 ? pattern.length : end));
      at = end < 0 ? pattern.length : end + 2;
    } else if (char === "\\") {
      const { text, length } = escapeAt(pattern, at);
      put(text);
      at += length;
    } else {
      const single = char === "[" ? singleClassAt(pattern, at) : null;
      put(single?.text ?? char);
      at += single?.length ?? 1;
    }
  }
  return pieces.join("");
}

type Undone = { readonly text: string; readonly length: number };

function escapeAt(pattern: string, at: number): Undone {
  const letter = pattern[at + 1] ?? "";
  const literal = literalEscapeAt(pattern, at);
  if (literal !== null) return literal;
  const undone = Object.hasOwn(UNDONE, letter) ? UNDONE[letter] : undefined;
  return undone === undefined ? { text: `\\${letter}`, length: 1 + letter.length } : { text: undone, length: 2 };
}

/** An escape of one character: `\x2f`, `\x{2F}`, `\057`, `\/`. */
function literalEscapeAt(pattern: string, at: number): Undone | null {
  const part = pattern.slice(at, at + 14);
  const hex = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\})/.exec(part);
  if (hex !== null) return character(Number.parseInt(hex[1] ?? hex[2] ?? "", 16), hex[0]);
  const octal = /^\\([0-7]{1,3})/.exec(part);
  if (octal !== null) return character(Number.parseInt(octal[1] ?? "", 8), octal[0]);
  const mark = /^\\([ -/:-@[-`{-~])/.exec(part);
  return mark === null ? null : { text: mark[1] ?? "", length: 2 };
}

function character(code: number, spelling: string): Undone {
  return { text: code > 0x10ffff ? spelling : String.fromCodePoint(code).toWellFormed(), length: spelling.length };
}

/** `[/]`, `[ ]`, `[\/]`: a class of exactly one literal character. */
function singleClassAt(pattern: string, at: number): Undone | null {
  const code = pattern.codePointAt(at + 1);
  if (code === undefined) return null;
  const char = String.fromCodePoint(code);
  const member = char === "\\" ? literalEscapeAt(pattern, at + 1) : { text: char, length: char.length };
  if (member === null || char === "^" || pattern[at + 1 + member.length] !== "]") return null;
  return { text: member.text, length: member.length + 2 };
}
