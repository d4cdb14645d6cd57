/** A recogniser of the texts that a shape takes, written from the description of the language and not from a grammar. */
import type { Shape } from "../../src/core/schema/shape.ts";

/** True when the whole text is in the language of the shape. */
export function isInLanguage(shape: Shape, text: string): boolean {
  return endOf(shape, text, 0) === text.length;
}

/** Where the value that begins at `at` ends; null when there is none. No text of a shape is the beginning of another. */
function endOf(shape: Shape, text: string, at: number): number | null {
  switch (shape.kind) {
    case "string":
      return sticky(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y, text, at);
    case "number":
      return sticky(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y, text, at);
    case "integer":
      return sticky(/-?(?:0|[1-9][0-9]*)/y, text, at);
    case "boolean":
      return sticky(/true|false/y, text, at);
    case "enum": {
      const found = shape.values.map((value) => JSON.stringify(value)).find((value) => text.startsWith(value, at));
      return found === undefined ? null : at + found.length;
    }
    case "list":
      return listEnd(shape.item, text, at);
    case "object": {
      if (text[at] !== "{") return null;
      let next: number | null = blanksEnd(text, at + 1);
      for (const [index, { key, shape: inner }] of shape.fields.entries()) {
        if (index > 0) next = signEnd(text, next, ",");
        const name = JSON.stringify(key);
        if (next === null || !text.startsWith(name, next)) return null;
        next = signEnd(text, blanksEnd(text, next + name.length), ":");
        const end = next === null ? null : endOf(inner, text, next);
        next = end === null ? null : blanksEnd(text, end);
      }
      return next !== null && text[next] === "}" ? next + 1 : null;
    }
  }
}

function listEnd(item: Shape, text: string, at: number): number | null {
  if (text[at] !== "[") return null;
  let next: number | null = blanksEnd(text, at + 1);
  if (text[next] === "]") return next + 1;
  // The rule for lists of strings is fixed to the letter, with white space at both ends of nothing.
  const far = blanksEnd(text, next);
  if (item.kind === "string" && text[far] === "]") return far + 1;
  while (next !== null) {
    const end = endOf(item, text, next);
    next = end === null ? null : blanksEnd(text, end);
    if (next === null) return null;
    if (text[next] === "]") return next + 1;
    next = signEnd(text, next, ",");
  }
  return null;
}

function sticky(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Behind at most twenty blanks. A value never begins with one, so one more makes the rest fail. */
function blanksEnd(text: string, at: number): number {
  let end = at;
  while (end < at + 20 && " \t\n".includes(text[end] ?? "x")) end += 1;
  return end;
}

function signEnd(text: string, at: number | null, sign: string): number | null {
  return at !== null && text[at] === sign ? blanksEnd(text, at + 1) : null;
}
