/** How values are folded before they are compared; the canonical form stores the same folds. */
import type { JsonValue } from "../json/value.ts";
import { isArray, isObject } from "../json/value.ts";

/** A string with something other than white space in it. */
export function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Absent, null, or a string of white space. Any other value counts as present. */
export function isMissing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

/** Trimmed and lower-cased. */
export function foldWord(text: string): string {
  return text.trim().toLowerCase();
}

/**
 * The word of a `verification.type`: lower-cased, each run of white space, `-` and `_` one `_`, none at the ends.
 *
 * @returns null when nothing is left: such a type declares nothing
 */
export function foldType(text: string): string | null {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/gu, "_");
  const start = word.startsWith("_") ? 1 : 0;
  const end = word.length > start && word.endsWith("_") ? word.length - 1 : word.length;
  return start < end ? word.slice(start, end) : null;
}

/** False for absent, null, `false`, 0, `""`, `[]` and `{}`; the text `"false"` is true. */
export function isTruthy(value: JsonValue | undefined): boolean {
  if (isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
