/**
 * What a schema asks of a text that is forced, token by token: the shape tree. It is coarser than the schema; what it
 * leaves open is asserted afterwards, by validation.
 *
 * The schema was read with bounded nesting; beyond that any object will do, also one that intake refuses.
 */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { compareUtf8 } from "../utf8.ts";
import { compilableNames, propertyOf } from "./keyword.ts";

export type Shape =
  | { readonly kind: "string" | "number" | "integer" | "boolean" }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly item: Shape }
  | ObjectShape;

/** Every field is required, in this order, and no other is taken. */
export type ObjectShape = { readonly kind: "object"; readonly fields: readonly Field[] };
export type Field = { readonly key: string; readonly shape: Shape };

const STRING: Shape = { kind: "string" };

/** The shape of an answer: an object of the schema's compilable properties, whatever else the top of the schema says. */
export function shapeOf(schema: JsonObject): ObjectShape {
  const fields = fieldOrder(schema).map((key) => ({ key, shape: nodeShape(propertyOf(schema, key)) }));
  return { kind: "object", fields };
}

/**
 * The order in which an answer holds its fields: the names in `required`, in that order, each once, so far as they are
 * compilable properties; then the others by code point.
 */
export function fieldOrder(schema: JsonObject): readonly string[] {
  const others = new Set(compilableNames(schema));
  const required = valueAt(schema, "required");
  const first: string[] = [];
  for (const name of isArray(required) ? required : []) {
    if (typeof name === "string" && others.delete(name)) first.push(name);
  }
  return [...first, ...[...others].sort(compareUtf8)];
}

function nodeShape(schema: JsonObject | null): Shape {
  if (schema === null) return STRING;
  const members = valueAt(schema, "enum");
  const values = isArray(members) ? members.filter((each) => typeof each === "string") : [];
  if (values.length > 0) return { kind: "enum", values };
  const type = valueAt(schema, "type");
  switch (type) {
    case "number":
    case "integer":
    case "boolean":
      return { kind: type };
    case "array": {
      const item = nodeShape(objectOrNull(valueAt(schema, "items")));
      // A list of anything smaller is written as texts, and read back by the schema.
      return { kind: "list", item: item.kind === "object" || item.kind === "list" ? item : STRING };
    }
    case "object":
      return shapeOf(schema);
    case undefined: {
      const isOpen = ["$ref", "anyOf", "oneOf"].some((name) => Object.hasOwn(schema, name));
      return isObject(valueAt(schema, "properties")) && !isOpen ? shapeOf(schema) : STRING;
    }
    default:
      return STRING;
  }
}

function objectOrNull(value: JsonValue | undefined): JsonObject | null {
  return isObject(value) ? value : null;
}
