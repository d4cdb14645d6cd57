/**
 * Strict JSON text to a value: the only reader of JSON that came from outside.
 *
 * It refuses what `JSON.parse` lets pass: a key given twice, a lone surrogate, a number that a double cannot hold, and
 * nesting without end. It keeps no call stack of its own, so that no text can overflow it, and its time is linear in
 * the text.
 */
import { mapJson } from "./edit.ts";
import { assignKey, type JsonValue } from "./value.ts";

/** Where something stands in a text: both count from 1, columns in code points. */
export type Position = { readonly line: number; readonly column: number };

/** Why a text was not read, and where: `line` and `column` count from 1, columns in code points. */
export type JsonFault = {
  readonly code: "bad_json" | "inexact_number" | "too_deep";
  /** A sentence without position and full stop. */
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** The same place as an index into the text. */
  readonly at: number;
  /** A key that is given twice in one object, and where it stood before; null for every other fault. */
  readonly duplicate: { readonly key: string; readonly first: Position } | null;
  /** "yaml" when a text that is no JSON reads like YAML: its first line that is neither blank nor a comment. */
  readonly looksLike: "yaml" | null;
};

export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: JsonFault };

/** Levels of containers that are read when nobody says otherwise; `[[1]]` has two. */
export const MAX_JSON_DEPTH = 128;

type Limits = { readonly maxDepth?: number };

/** What a reader that keeps the source text may let pass: it has no value to lose. */
export type Leniency = {
  /** "as_written" takes `1e400` and `9007199254740993`; nobody may look at their value. */
  readonly numbers?: "exact" | "as_written";
  /** "keep" takes half a surrogate pair. */
  readonly surrogates?: "refuse" | "keep";
};

/**
 * Reads one JSON text.
 *
 * @returns the value, or the first fault in the order of the text
 * Units:   `maxDepth` in containers
 * Errors:  none is thrown, whatever the text
 * Source:  RFC 8259; beyond it, names are unique and numbers are exact
 */
export function parseJson(text: string, limits: Limits = {}): ParsedJson {
  const reader = new Reader(text, limits.maxDepth ?? MAX_JSON_DEPTH, "stop");
  const { value, grammar } = reader.read();
  return grammar === null ? { ok: true, value } : { ok: false, fault: faultOf(text, grammar) };
}

/**
 * Holds a text against the rules of `parseJson` without keeping its value: for those who read the source text.
 *
 * @returns the first fault in the order of the text; null when there is none
 * Errors:  none is thrown, whatever the text
 */
export function checkJson(text: string, rules: Limits & Leniency = {}): JsonFault | null {
  const { grammar } = new Reader(text, rules.maxDepth ?? MAX_JSON_DEPTH, "stop", rules).read();
  return grammar === null ? null : faultOf(text, grammar);
}

/**
 * Reads a text that may or may not be meant as JSON, to the end.
 *
 * @returns `grammar`, what makes the text no JSON at all, or null; `content`, the first thing that this reader refuses
 *          in a text that is JSON by its grammar: a key given twice, a lone surrogate, an inexact number, nesting;
 *          `value`, to be used only when both are null
 */
export function surveyJson(
  text: string,
  limits: Limits = {},
): { readonly value: JsonValue; readonly grammar: JsonFault | null; readonly content: JsonFault | null } {
  const reader = new Reader(text, limits.maxDepth ?? MAX_JSON_DEPTH, "note");
  const { value, grammar } = reader.read();
  return {
    value,
    grammar: grammar === null ? null : faultOf(text, grammar),
    content: reader.content === null ? null : faultOf(text, reader.content),
  };
}

/**
 * The whole message about a body that was not read.
 *
 * @param what names the text, for example `the patch` or `file "notes.json"`
 */
export function bodyFaultMessage(fault: JsonFault, what: string): string {
  const place = `Cannot read ${what}: line ${fault.line}, column ${fault.column}: ${fault.message}`;
  return fault.code === "bad_json" ? `${place}. The envelope body is JSON, never YAML.` : place;
}

type Found = {
  readonly code: JsonFault["code"];
  readonly message: string;
  readonly at: number;
  readonly duplicate?: { readonly key: string; readonly at: number };
};

/** Leaves the reader; never seen outside of this file. */
class Stop extends Error {
  constructor(readonly found: Found) {
    super(found.message);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const END = -1;

type Building = Record<string, JsonValue>;
type Container = JsonValue[] | Building;

class Reader {
  content: Found | null = null;
  private at = 0;
  private readonly end: number;
  /** The containers around `at`, outermost first; for each the key it will have in the one before it, and its start. */
  private readonly open: Container[] = [];
  private readonly keys: string[] = [];
  private readonly starts: number[] = [];

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    private readonly onContent: "stop" | "note",
    private readonly leniency: Leniency = {},
  ) {
    this.end = text.length;
  }

  read(): { value: JsonValue; grammar: Found | null } {
    try {
      return { value: this.document(), grammar: null };
    } catch (error) {
      if (error instanceof Stop) return { value: null, grammar: error.found };
      throw error;
    }
  }

  private document(): JsonValue {
    if (this.text.charCodeAt(0) === 0xfeff) this.fail("a byte order mark stands before the JSON", 0);
    if (this.peek() === END) this.fail("the text is empty");
    let key = "";
    for (;;) {
      let value: JsonValue;
      const first = this.peek();
      if (first === OPEN_OBJECT || first === OPEN_LIST) {
        const container: Container = first === OPEN_LIST ? [] : {};
        if (this.open.length >= this.maxDepth) {
          this.refuse("too_deep", `nested deeper than ${this.maxDepth} levels`, this.at);
        }
        const start = this.at;
        this.at += 1;
        const next = this.peek();
        if (next === (first === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) {
          this.at += 1;
          value = container;
        } else {
          this.open.push(container);
          this.keys.push(key);
          this.starts.push(start);
          key = first === OPEN_LIST ? "" : this.key(container as Building);
          continue;
        }
      } else value = this.scalar(first);

      // The value is whole: put it into its container, and close every container that ends behind it.
      for (;;) {
        const container = this.open.at(-1);
        if (container === undefined) {
          if (this.peek() !== END) this.fail("there is text behind the JSON value");
          return value;
        }
        const isList = Array.isArray(container);
        if (isList) container.push(value);
        else assignKey(container, key, value);
        const next = this.peek();
        if (next === COMMA) {
          const comma = this.at;
          this.at += 1;
          if (this.peek() === (isList ? CLOSE_LIST : CLOSE_OBJECT)) this.fail("a trailing comma is not JSON", comma);
          if (!isList) key = this.key(container);
          break;
        }
        if (next !== (isList ? CLOSE_LIST : CLOSE_OBJECT)) this.failExpecting(isList ? '"," or "]"' : '"," or "}"');
        this.at += 1;
        value = container;
        this.open.pop();
        this.starts.pop();
        key = this.keys.pop() ?? "";
      }
    }
  }

  /** The next code unit that is no blank, or END; `at` stands on it. */
  private peek(): number {
    while (this.at < this.end) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return unit;
      this.at += 1;
    }
    return END;
  }

  /** A key and its colon. */
  private key(container: Building): string {
    if (this.peek() !== QUOTE) this.failExpecting("a key in double quotes");
    const start = this.at;
    const key = this.string();
    if (Object.hasOwn(container, key)) this.refuseSecond(key, start);
    if (this.peek() !== COLON) this.failExpecting('":"');
    this.at += 1;
    return key;
  }

  private scalar(first: number): JsonValue {
    if (first === QUOTE) return this.string();
    if (first === MINUS || (first >= ZERO && first <= NINE)) return this.number();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at) && !isWordUnit(this.text.charCodeAt(this.at + word.length))) {
        this.at += word.length;
        return value;
      }
    }
    return this.failExpecting("a value");
  }

  /** A string; `at` stands on its opening quote. */
  private string(): string {
    const { text, end } = this;
    const start = this.at;
    let hasEscapes = false;
    let at = start + 1;
    while (at < end) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.at = at + 1;
        // What the escapes stand for is left to the runtime: their form has been checked on the way.
        return hasEscapes ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at);
      }
      if (unit === BACKSLASH) {
        hasEscapes = true;
        at = this.escape(at);
      } else if (unit < 0x20) {
        const name = unit.toString(16).toUpperCase().padStart(4, "0");
        this.fail(`a string holds the control character U+${name} as itself; write it as an escape`, at);
      } else if (unit >= 0xd800 && unit <= 0xdfff) {
        if (unit <= 0xdbff && isLow(text.charCodeAt(at + 1))) at += 2;
        else {
          this.refuseHalf(at);
          at += 1;
        }
      } else at += 1;
    }
    return this.fail("a string is not closed", start);
  }

  /** Checks the escape at `at` and answers where it ends. A pair of surrogates is one escape. */
  private escape(at: number): number {
    const { text } = this;
    const letter = text.charAt(at + 1);
    if (letter !== "u") {
      if (letter === "" || !'"\\/bfnrt'.includes(letter)) this.fail("a string holds an escape that JSON has not", at);
      return at + 2;
    }
    const unit = hexAt(text, at + 2);
    if (unit === null) return this.fail("\\u needs four hexadecimal digits", at);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    if (unit <= 0xdbff && text.startsWith("\\u", at + 6) && isLow(hexAt(text, at + 8) ?? 0)) return at + 12;
    this.refuseHalf(at);
    return at + 6;
  }

  private number(): number {
    const { text } = this;
    const start = this.at;
    let at = start;
    if (text.charCodeAt(at) === MINUS) at += 1;
    const whole = at;
    at = this.digits(at, "a number needs a digit here");
    if (text.charCodeAt(whole) === ZERO && at > whole + 1) this.fail("a number does not begin with 0", whole);
    let isInteger = true;
    if (text.charCodeAt(at) === POINT) {
      isInteger = false;
      at = this.digits(at + 1, "a number needs a digit behind its point");
    }
    const unit = text.charCodeAt(at);
    if (unit === 0x65 || unit === 0x45) {
      isInteger = false;
      const sign = text.charCodeAt(at + 1);
      at = this.digits(sign === 0x2b || sign === MINUS ? at + 2 : at + 1, "a number needs a digit in its exponent");
    }
    this.at = at;
    if (this.leniency.numbers === "as_written") return 0;
    const literal = text.slice(start, at);
    const value = Number(literal);
    // Fifteen significant digits always fit; what is longer, or has an exponent, is compared.
    if (literal.length <= 15 && unit !== 0x65 && unit !== 0x45) return value === 0 ? 0 : value;
    if (isInteger ? !Number.isSafeInteger(value) : !isExact(literal, value) || printsUnreadable(value)) {
      this.refuse("inexact_number", `the number ${clip(literal, 40)} cannot be held exactly`, start);
    }
    return value === 0 ? 0 : value;
  }

  private digits(from: number, message: string): number {
    let at = from;
    while (at < this.end) {
      const unit = this.text.charCodeAt(at);
      if (unit < ZERO || unit > NINE) break;
      at += 1;
    }
    if (at > from) return at;
    return this.text.startsWith("Infinity", from) ? this.fail("Infinity is not JSON", from) : this.fail(message, from);
  }

  private refuse(code: JsonFault["code"], message: string, at: number): void {
    this.note({ code, message, at });
  }

  private refuseSecond(key: string, at: number): void {
    const message = `key ${excerptOf(key)} is given twice in one object`;
    // Where the key stood before is looked for in the object as far as it was read; only for the fault that is told.
    if (this.content !== null) return;
    const start = this.starts.at(-1) ?? at;
    const read = mapJson(this.text.slice(start, at));
    const before = read.kind === "object" ? read.children.find((child) => child.key === key) : undefined;
    this.note({ code: "bad_json", message, at, duplicate: { key, at: start + (before?.start ?? 0) } });
  }

  private note(found: Found): void {
    if (this.onContent === "stop") throw new Stop(found);
    this.content ??= found;
  }

  private refuseHalf(at: number): void {
    if (this.leniency.surrogates !== "keep") this.refuse("bad_json", LONE_SURROGATE, at);
  }

  private fail(message: string, at: number = this.at): never {
    throw new Stop({ code: "bad_json", message, at });
  }

  private failExpecting(wanted: string): never {
    if (this.at >= this.end) this.fail(`the text ends where ${wanted} is due`);
    const rest = this.text.slice(this.at, this.at + 24);
    const word = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(rest)?.[0];
    if (word === "NaN" || word === "Infinity") this.fail(`${word} is not JSON`);
    if (rest.startsWith("//") || rest.startsWith("/*") || rest.startsWith("#")) this.fail("comments are not JSON");
    if (rest.startsWith("'")) this.fail("single quotes are not JSON; texts stand in double quotes");
    this.fail(`expected ${wanted}, found ${excerptOf(word ?? String.fromCodePoint(rest.codePointAt(0) ?? 0))}`);
  }
}

const LONE_SURROGATE = "a string holds a lone surrogate, which no UTF-8 file can hold";

const WORDS: readonly (readonly [string, JsonValue])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function isWordUnit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= ZERO && unit <= NINE);
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The value of four hexadecimal digits, or null. */
function hexAt(text: string, at: number): number | null {
  const digits = text.slice(at, at + 4);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}

/** True when the number prints as the decimal value that was written. */
function isExact(literal: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(literal) === decimalOf(String(value));
}

/** True for `1e20`: it prints as an integer that is refused, and what is written must be read again. */
function printsUnreadable(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
}

/** The magnitude of a decimal literal as digits without outer zeros and a power of ten. */
function decimalOf(literal: string): string {
  const mark = literal.search(/[eE]/);
  const mantissa = (mark < 0 ? literal : literal.slice(0, mark)).replace("-", "");
  const power = mark < 0 ? 0 : Number(literal.slice(mark + 1));
  const point = mantissa.indexOf(".");
  const digits = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let first = 0;
  while (first < digits.length && digits.charCodeAt(first) === ZERO) first += 1;
  let last = digits.length;
  while (last > first && digits.charCodeAt(last - 1) === ZERO) last -= 1;
  if (first === last) return "0";
  const places = point < 0 ? 0 : mantissa.length - point - 1;
  return `${digits.slice(first, last)}e${power - places + (digits.length - last)}`;
}

function faultOf(text: string, found: Found): JsonFault {
  const { code, message, duplicate } = found;
  const looksLike = code === "bad_json" && yamlStart(text) !== null ? "yaml" : null;
  return {
    code,
    message,
    ...positionOf(text, found.at),
    at: found.at,
    duplicate: duplicate === undefined ? null : { key: duplicate.key, first: positionOf(text, duplicate.at) },
    looksLike,
  };
}

/** The place of a code unit. Time is linear in the text before it. */
export function positionOf(text: string, at: number): Position {
  let line = 1;
  let lineStart = 0;
  for (let next = text.indexOf("\n"); next >= 0 && next < at; next = text.indexOf("\n", lineStart)) {
    line += 1;
    lineStart = next + 1;
  }
  let column = 1;
  for (let index = lineStart; index < at; column += 1) index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  return { line, column };
}

/**
 * Where a text begins that reads like YAML: its first line that is neither blank nor a comment.
 *
 * @returns an index into the text; null when that line is no document mark, no `key:` and no `- item`
 */
export function yamlStart(text: string): number | null {
  const first = /[^\s\ufeff]/g;
  for (let found = first.exec(text); found !== null; found = first.exec(text)) {
    const start = found.index;
    const lineEnd = text.indexOf("\n", start);
    const end = lineEnd < 0 ? text.length : lineEnd;
    if (found[0] !== "#") return readsLikeYaml(text.slice(start, end).trimEnd()) ? start : null;
    first.lastIndex = end;
  }
  return null;
}

function readsLikeYaml(line: string): boolean {
  return line === "---" || /^(?:[\p{L}_][\p{L}\p{N}_.-]*:(?: |$)|- +\S)/u.test(line);
}

function excerptOf(text: string): string {
  return JSON.stringify(clip(text, 40));
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
