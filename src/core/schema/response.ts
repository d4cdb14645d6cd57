/**
 * The schema as servers get it that force an answer by JSON Schema. They answer what they do not know with a refusal,
 * with free text or with nonsense, each in its own way, so only a common core is sent; the whole schema is asserted
 * here, on the answer.
 */
import { pointerTo } from "../delegation/pointer.ts";
import { assignKey, isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { propertyOf, resolveReference } from "./keyword.ts";
import { fieldOrder } from "./shape.ts";

export type ResponseSchema = {
  readonly schema: JsonObject;
  /** The same, compact, with properties in field order: an object in memory would move a name like "10" to the front. */
  readonly text: string;
  /** JSON pointers into the contract's schema of what was left out, in the order of the walk. */
  readonly removed: readonly string[];
};

const KEPT = new Set([
  "type",
  "properties",
  "required",
  "enum",
  "const",
  "items",
  "prefixItems",
  "anyOf",
  "oneOf",
  "$ref",
  "$defs",
  "title",
  "description",
]);

/**
 * The reduced and closed form of a schema: every object that is reached through `properties`, `items` and `$defs` and has
 * compilable properties requires them all and takes no other. A `$ref` to a place that is not sent finds it in `$defs`.
 *
 * @param schema accepted by `lintSchema`
 */
export function responseSchemaOf(schema: JsonObject): ResponseSchema {
  const reducer = new Reducer(schema);
  const reduced = reducer.root();
  return { schema: reduced, text: textOf(reduced, reducer.closed), removed: reducer.removed };
}

class Reducer {
  readonly removed: string[] = [];
  /** The objects that were closed, with their fields in order. */
  readonly closed = new Map<JsonObject, readonly string[]>();
  /** Places that stay where they are; a `$ref` to one is kept as it is written. */
  private readonly kept = new Set<JsonValue>();
  private readonly moved = new Map<JsonValue, string>();
  private readonly waiting: { readonly schema: JsonValue; readonly path: string; readonly name: string }[] = [];

  constructor(private readonly schema: JsonObject) {
    this.keep(schema);
  }

  root(): JsonObject {
    const reduced = this.reduce(this.schema, "", true);
    if (!isObject(reduced)) return {};
    const given = valueAt(reduced, "$defs");
    const $defs: Record<string, JsonValue> = {};
    if (isObject(given)) for (const name of Object.keys(given)) assignKey($defs, name, valueAt(given, name) ?? null);
    let count = 0;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      assignKey($defs, next.name, this.reduce(next.schema, next.path, true));
      count += 1;
    }
    if (count === 0) return reduced;
    const fields = this.closed.get(reduced);
    const whole: Record<string, JsonValue> = { ...reduced, $defs };
    if (fields !== undefined) this.closed.set(whole, fields);
    return whole;
  }

  /** Marks a place and those inside of it that are sent. */
  private keep(schema: JsonValue): void {
    if (!isObject(schema) || this.kept.has(schema)) return;
    this.kept.add(schema);
    for (const name of fieldOrder(schema)) this.keep(propertyOf(schema, name));
    const $defs = valueAt(schema, "$defs");
    if (isObject($defs)) for (const name of Object.keys($defs)) this.keep(valueAt($defs, name) ?? null);
    this.keep(valueAt(schema, "items") ?? null);
    for (const name of ["prefixItems", "anyOf", "oneOf"]) {
      const list = valueAt(schema, name);
      if (isArray(list)) for (const each of list) this.keep(each);
    }
  }

  private reduce(schema: JsonValue, path: string, isClosing: boolean): JsonValue {
    if (!isObject(schema)) return schema;
    const fields = fieldOrder(schema);
    const isClosed = isClosing && fields.length > 0;
    const reduced: Record<string, JsonValue> = {};
    for (const name of Object.keys(schema)) {
      const at = pointerTo(path, name);
      const value = valueAt(schema, name) ?? null;
      if (!KEPT.has(name)) {
        if (!(isClosed && name === "additionalProperties" && value === false)) this.removed.push(at);
      } else reduced[name] = this.keyword(schema, name, value, at, isClosing);
    }
    if (!isClosed) return reduced;
    if (!Object.hasOwn(reduced, "type")) reduced.type = "object";
    reduced.required = fields;
    reduced.additionalProperties = false;
    this.closed.set(reduced, fields);
    return reduced;
  }

  private keyword(schema: JsonObject, name: string, value: JsonValue, at: string, isClosing: boolean): JsonValue {
    switch (name) {
      case "properties":
        return this.properties(schema, value, at, isClosing);
      case "$defs": {
        const map: Record<string, JsonValue> = {};
        if (!isObject(value)) return map;
        for (const key of Object.keys(value)) {
          assignKey(map, key, this.reduce(valueAt(value, key) ?? null, pointerTo(at, key), isClosing));
        }
        return map;
      }
      case "items":
        return this.filled(this.reduce(value, at, isClosing));
      case "prefixItems":
        return isArray(value)
          ? value.map((each, index) => this.filled(this.reduce(each, pointerTo(at, index), false)))
          : value;
      case "anyOf":
      case "oneOf":
        return isArray(value) ? value.map((each, index) => this.reduce(each, pointerTo(at, index), false)) : value;
      case "$ref":
        return typeof value === "string" ? this.reference(value) : value;
      default:
        return value;
    }
  }

  private properties(schema: JsonObject, value: JsonValue, at: string, isClosing: boolean): JsonObject {
    const map: Record<string, JsonValue> = {};
    for (const name of fieldOrder(schema)) {
      const property = this.reduce(propertyOf(schema, name), pointerTo(at, name), isClosing);
      assignKey(map, name, this.filled(property));
    }
    if (!isObject(value)) return map;
    for (const name of Object.keys(value)) if (!Object.hasOwn(map, name)) this.removed.push(pointerTo(at, name));
    return map;
  }

  /** A value that nothing is asked of runs away on some servers. */
  private filled(schema: JsonValue): JsonValue {
    return schema === true || (isObject(schema) && Object.keys(schema).length === 0) ? { type: "string" } : schema;
  }

  private reference(reference: string): string {
    const found = resolveReference(this.schema, reference);
    if (found === null || this.kept.has(found.value)) return reference;
    let name = this.moved.get(found.value);
    if (name === undefined) {
      const taken = valueAt(this.schema, "$defs");
      let number = this.moved.size + 1;
      while (isObject(taken) && Object.hasOwn(taken, `moved-${number}`)) number += 1;
      name = `moved-${number}`;
      this.moved.set(found.value, name);
      this.waiting.push({ schema: found.value, path: found.path, name });
    }
    return `#/$defs/${name}`;
  }
}

/** Compact JSON, with the properties of closed objects in their order. */
function textOf(value: JsonValue, closed: ReadonlyMap<JsonObject, readonly string[]>): string {
  if (isArray(value)) return `[${value.map((each) => textOf(each, closed)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = closed.get(value);
  const members = Object.keys(value).map((key) => {
    const each = valueAt(value, key) ?? null;
    const isOrdered = key === "properties" && fields !== undefined && isObject(each);
    return member(key, isOrdered ? ordered(each, fields, closed) : textOf(each, closed));
  });
  return `{${members.join(",")}}`;
}

function ordered(
  properties: JsonObject,
  fields: readonly string[],
  closed: ReadonlyMap<JsonObject, readonly string[]>,
): string {
  const members = fields.map((key) => member(key, textOf(valueAt(properties, key) ?? null, closed)));
  return `{${members.join(",")}}`;
}

function member(key: string, text: string): string {
  return `${JSON.stringify(key)}:${text}`;
}
