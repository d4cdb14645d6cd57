/** Dotted paths into an envelope. Every segment is an object key: there is no index, and no escape for a dot. */
import { isObject, type JsonValue, valueAt } from "../json/value.ts";

/** The segments of a path; empty ones are dropped, so `a..b` is `a.b`. May be empty. */
export function splitPath(field: string): readonly string[] {
  return field.split(".").filter((segment) => segment !== "");
}

export type PathReading =
  | { readonly found: true; readonly value: JsonValue }
  | {
      readonly found: false;
      /** The first segment that names nothing. */
      readonly segment: string;
      /** The path it was looked for under; `""` is the root. */
      readonly under: string;
      readonly message: string;
    };

/**
 * Reads the value at a path. What is there is found, also when it is `[]` or null: empty and absent are two answers.
 *
 * @param segments may be empty: the whole value
 */
export function readPath(envelope: JsonValue, segments: readonly string[]): PathReading {
  let value = envelope;
  for (const [index, segment] of segments.entries()) {
    const next = isObject(value) ? valueAt(value, segment) : undefined;
    if (next === undefined) {
      const under = segments.slice(0, index).join(".");
      const message = `no such field '${segments.join(".")}': no key '${segment}' under ${under === "" ? "(root)" : under}`;
      return { found: false, segment, under, message };
    }
    value = next;
  }
  return { found: true, value };
}
