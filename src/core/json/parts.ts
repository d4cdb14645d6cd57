/**
 * The parts of a JSON text one level deep, by where they stand. For a text that is judged elsewhere, or later, part by
 * part: nothing is looked at below the first level, and a key that is given twice is there twice.
 */

/** A member of an object, or an item of a list with the key "": `text.slice(start, end)` is its value as it is written. */
export type JsonPart = { readonly key: string; readonly start: number; readonly end: number };

export type JsonParts = {
  readonly kind: "object" | "list" | "scalar";
  /** In their order; none for a scalar. */
  readonly parts: readonly JsonPart[];
};

const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * @param text one that `JSON.parse` reads
 * Errors: none for such a text; its depth does not matter, and time is linear in it
 */
export function partsOf(text: string): JsonParts {
  let at = blanksBehind(text, 0);
  const open = text.charCodeAt(at);
  if (open !== OPEN_OBJECT && open !== OPEN_LIST) return { kind: "scalar", parts: [] };
  const kind = open === OPEN_OBJECT ? "object" : "list";
  const close = kind === "object" ? CLOSE_OBJECT : CLOSE_LIST;
  const parts: JsonPart[] = [];
  at = blanksBehind(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== close) {
    let key = "";
    if (kind === "object") {
      const end = stringEnd(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = blanksBehind(text, end);
      if (text.charCodeAt(at) === COLON) at = blanksBehind(text, at + 1);
    }
    const end = valueEnd(text, at);
    parts.push({ key, start: at, end });
    at = blanksBehind(text, end);
    if (text.charCodeAt(at) === COMMA) at = blanksBehind(text, at + 1);
  }
  return { kind, parts };
}

function blanksBehind(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

/** Where the value ends that begins here. Only the count of open containers is kept, however deep they are. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = stringEnd(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (unit === OPEN_OBJECT || unit === OPEN_LIST) depth += 1;
    else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (unit === COMMA || isBlank(unit))) return at;
    at += 1;
  }
  return at;
}

/** Where a string ends whose opening quote stands here, its closing quote included. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isBlank(unit: number): boolean {
  return unit === SPACE || (unit >= TAB && unit <= 0x0d && unit !== 0x0b && unit !== 0x0c);
}
