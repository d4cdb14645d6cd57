/** The schema that a result is validated against. */
import { isArray, type JsonObject, valueAt, withKey } from "../json/value.ts";
import { propertyOf } from "./keyword.ts";

/**
 * The schema with the fields that acceptance names added to its `required`: behind what is there, each once. A field
 * that is no compilable property is left out, since no answer could have it. Presence only: a check decides whether a
 * value says something.
 *
 * @returns the schema itself when there is nothing to add
 */
export function closeSchema(schema: JsonObject, acceptedFields: readonly string[]): JsonObject {
  const given = valueAt(schema, "required");
  const required = isArray(given) ? given : [];
  const added = new Set(acceptedFields.filter((name) => propertyOf(schema, name) !== null && !required.includes(name)));
  return added.size === 0 ? schema : withKey(schema, "required", [...required, ...added]);
}
