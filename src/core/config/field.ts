/** Kinds of keys that the config has several of: their schema with range, default and description in one place. */
import * as v from "valibot";

/** A name of a seat or of a node. */
export const NAME_PATTERN = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  rule: "a name of 1 to 64 letters, digits, dots, underscores and hyphens that begins with a letter or a digit",
} as const;

/** A name of an environment variable, or nothing. */
export const VARIABLE_PATTERN = {
  pattern: /^(?:[A-Za-z_][A-Za-z0-9_]{0,127})?$/,
  rule: "the NAME of an environment variable; a secret itself never stands in the file",
} as const;

/** An integer, written as digits, inside a range with both ends; outside of it it is an error, never clamped. */
export function integerIn(preset: number, [least, most]: readonly [number, number], description: string) {
  return v.pipe(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most)), preset),
    v.description(description),
  );
}

export function switchOf(preset: boolean, description: string) {
  return v.pipe(v.optional(v.boolean(), preset), v.description(description));
}

export function variableName(preset: string, description: string) {
  return v.pipe(
    v.optional(v.pipe(v.string(), v.regex(VARIABLE_PATTERN.pattern, VARIABLE_PATTERN.rule)), preset),
    v.description(description),
  );
}

/** A path on this machine. */
export function pathOf(description: string) {
  return v.pipe(v.optional(v.pipe(v.string(), v.maxLength(4096)), ""), v.description(description));
}
