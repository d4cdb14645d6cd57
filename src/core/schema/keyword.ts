/**
 * The keywords of JSON Schema that are judged: what each holds, and what its subschemas are held against. One table,
 * read by the lint, by the copy for the validator and by the estimate of its work. What is not here is carried and
 * never judged.
 *
 * Source: JSON Schema 2020-12, Core section 10 and Validation section 6
 */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";

export type Holds =
  | "type"
  | "values"
  | "value"
  | "names"
  | "name lists"
  | "count"
  | "number"
  | "positive"
  | "flag"
  | "pattern"
  | "reference"
  | "schema"
  | "schemas"
  | "schema map"
  | "properties"
  | "pattern map";

/** Against which value a subschema is held: the same one, something inside of it, or none until a `$ref` names it. */
export type Applies = "same" | "inside" | "aside";

export type Keyword = { readonly holds: Holds; readonly applies?: Applies };

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["$ref", { holds: "reference" }],
  ["$defs", { holds: "schema map", applies: "aside" }],
  ["type", { holds: "type" }],
  ["enum", { holds: "values" }],
  ["const", { holds: "value" }],
  ["allOf", { holds: "schemas", applies: "same" }],
  ["anyOf", { holds: "schemas", applies: "same" }],
  ["oneOf", { holds: "schemas", applies: "same" }],
  ["not", { holds: "schema", applies: "same" }],
  ["if", { holds: "schema", applies: "same" }],
  ["then", { holds: "schema", applies: "same" }],
  ["else", { holds: "schema", applies: "same" }],
  ["properties", { holds: "properties", applies: "inside" }],
  ["patternProperties", { holds: "pattern map", applies: "inside" }],
  ["additionalProperties", { holds: "schema", applies: "inside" }],
  ["unevaluatedProperties", { holds: "schema", applies: "inside" }],
  ["propertyNames", { holds: "schema", applies: "inside" }],
  ["required", { holds: "names" }],
  ["dependentRequired", { holds: "name lists" }],
  ["dependentSchemas", { holds: "schema map", applies: "same" }],
  ["minProperties", { holds: "count" }],
  ["maxProperties", { holds: "count" }],
  ["items", { holds: "schema", applies: "inside" }],
  ["prefixItems", { holds: "schemas", applies: "inside" }],
  ["contains", { holds: "schema", applies: "inside" }],
  ["unevaluatedItems", { holds: "schema", applies: "inside" }],
  ["minContains", { holds: "count" }],
  ["maxContains", { holds: "count" }],
  ["minItems", { holds: "count" }],
  ["maxItems", { holds: "count" }],
  ["uniqueItems", { holds: "flag" }],
  ["minLength", { holds: "count" }],
  ["maxLength", { holds: "count" }],
  ["pattern", { holds: "pattern" }],
  ["minimum", { holds: "number" }],
  ["maximum", { holds: "number" }],
  ["exclusiveMinimum", { holds: "number" }],
  ["exclusiveMaximum", { holds: "number" }],
  ["multipleOf", { holds: "positive" }],
]);

/** A schema inside of another: where it stands below it, and what it is held against. */
export type Subschema = {
  readonly steps: readonly (string | number)[];
  readonly applies: Applies;
  readonly schema: JsonValue;
};

/**
 * The subschemas of a schema, in stored order; what does not have the form of its keyword has none. Of `properties`
 * only the compilable ones.
 */
export function subschemasOf(schema: JsonObject): readonly Subschema[] {
  const found: Subschema[] = [];
  for (const name of Object.keys(schema)) {
    const { holds, applies } = KEYWORDS.get(name) ?? { holds: "value" };
    if (applies === undefined) continue;
    const value = valueAt(schema, name) ?? null;
    if (holds === "schema") found.push({ steps: [name], applies, schema: value });
    else if (holds === "schemas") {
      if (!isArray(value)) continue;
      for (const [index, each] of value.entries()) found.push({ steps: [name, index], applies, schema: each });
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        const each = valueAt(value, key) ?? null;
        if (holds !== "properties" || isObject(each)) found.push({ steps: [name, key], applies, schema: each });
      }
    }
  }
  return found;
}

/** The names of a schema's properties whose value is an object, in stored order: the others are never looked at. */
export function compilableNames(schema: JsonObject): readonly string[] {
  const properties = valueAt(schema, "properties");
  if (!isObject(properties)) return [];
  return Object.keys(properties).filter((name) => isObject(valueAt(properties, name)));
}

/** The schema of a compilable property; null where there is none of that name. */
export function propertyOf(schema: JsonObject, name: string): JsonObject | null {
  const properties = valueAt(schema, "properties");
  const property = isObject(properties) ? valueAt(properties, name) : undefined;
  return isObject(property) ? property : null;
}

/**
 * What a `$ref` names inside of a schema: `#`, or `#/` and a JSON pointer.
 *
 * @returns the value there and its pointer; null when the reference is of another form or leads nowhere
 * Errors:  none
 * Source:  RFC 6901 section 6
 */
export function resolveReference(
  root: JsonObject,
  reference: string,
): { readonly value: JsonValue; readonly path: string } | null {
  if (reference === "#") return { value: root, path: "" };
  if (!reference.startsWith("#/")) return null;
  const path = decoded(reference.slice(1));
  if (path === null) return null;
  let at: JsonValue = root;
  for (const part of path.slice(1).split("/")) {
    const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
    let next: JsonValue | undefined;
    if (isArray(at)) next = /^(?:0|[1-9][0-9]{0,8})$/.test(step) ? at[Number(step)] : undefined;
    else if (isObject(at)) next = valueAt(at, step);
    if (next === undefined) return null;
    at = next;
  }
  return { value: at, path };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // A "%" that begins no escape: the reference names nothing.
    return null;
  }
}
