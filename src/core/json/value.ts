/**
 * JSON as writ handles it: plain readonly data, read by `core/json/parse.ts`, compared and printed here.
 *
 * A key may be `__proto__`: objects are only ever read with `Object.hasOwn` and written with `withKey`,
 * so that no document reaches a prototype.
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** The JSON type of a value, by the names that messages use. `undefined` counts as `null`. */
export function jsonType(value: JsonValue | undefined): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "boolean" | "number" | "string" | "object";
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** True for a JSON object; an array is none. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at an own key, or `undefined` where there is none. Never looks at a prototype. */
export function valueAt(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own key, whatever it is called, on an object under construction. */
export function assignKey(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** A copy of the object with one key set: a stored key keeps its place, a new one comes last. */
export function withKey(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const [name, old] of Object.entries(object)) assignKey(copy, name, old);
  assignKey(copy, key, value);
  return copy;
}

/** A copy of the object without one key. */
export function withoutKey(object: JsonObject, key: string): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const [name, old] of Object.entries(object)) if (name !== key) assignKey(copy, name, old);
  return copy;
}

/** The compact text: no blanks, keys in stored order. Two values are identical when these are equal. */
export function compactJson(value: JsonValue): string {
  return JSON.stringify(value);
}

/** The text of a document a person reads: two-space indent, no final newline. */
export function prettyJson(value: JsonValue): string {
  return JSON.stringify(value, null, 2);
}

/** The canonical text that digests are taken of: keys sorted by code unit at every depth, no blanks. */
export function canonicalJson(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(valueAt(value, key) ?? null)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Equal as JSON values: key order does not count, array order does. */
export function sameJson(left: JsonValue, right: JsonValue): boolean {
  return left === right || canonicalJson(left) === canonicalJson(right);
}
