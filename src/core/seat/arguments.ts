/**
 * The arguments of a call: from the text that a model wrote to values that a tool can take, or to what the model is told.
 *
 * Source: delegation run, section 5.4
 */
import { type JsonFault, parseJson } from "../json/parse.ts";
import { compactJson, isArray, isObject, type JsonObject, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import { findBalanced, isUnterminated } from "./balanced.ts";
import type { ToolSpec } from "./endpoint.ts";

export type ReadArguments =
  /** `sent`: the arguments as they may stand in a history. `notes`: what was changed on the way. */
  | { readonly kind: "ok"; readonly values: JsonObject; readonly sent: string; readonly notes: readonly string[] }
  /** Nothing is run; the model is told `message`. `sent` as above. */
  | { readonly kind: "refused"; readonly message: string; readonly sent: string }
  /** The text breaks off: the turn was cut inside of the call. */
  | { readonly kind: "cut" };

/** What stands in a history for arguments that are none: a server refuses one in which they are no JSON object. */
export const NO_ARGUMENTS = "{}";

/**
 * Reads the arguments of one call.
 *
 * @param text   as it came; "" counts as `{}`
 * @param is_cut the turn ended by its token budget
 * Errors: none, whatever the text
 */
export function readArguments(text: string, spec: ToolSpec, is_cut: boolean): ReadArguments {
  const whole = text.trim() === "" ? NO_ARGUMENTS : text;
  const parsed = parseJson(whole);
  if (parsed.ok) return checked(parsed.value, whole, spec, []);
  if (is_cut || breaksOff(whole, parsed.fault.at)) return { kind: "cut" };
  const repaired = repair(whole);
  const read = repaired === null ? null : checked(repaired, compactJson(repaired), spec, ["arguments repaired"]);
  return read?.kind === "ok" ? read : refused(`arguments are not valid JSON (${placeOf(parsed.fault)})`);
}

/** A text or a word of JSON that ends in its middle. */
const BEGUN = /^(?:"(?:[^"\\]|\\[\s\S])*\\?|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\\(?:u[0-9a-fA-F]{0,3})?)$/;

/** True when all that is wrong with a text is that it ends too early. @param at the place of its first fault */
function breaksOff(text: string, at: number): boolean {
  const rest = text.slice(at).trimEnd();
  return isUnterminated(text) && (rest === "" || BEGUN.test(rest));
}

function refused(message: string, sent = NO_ARGUMENTS): ReadArguments {
  return { kind: "refused", message: `NOT performed: ${message}`, sent };
}

function placeOf({ line, column, message }: JsonFault): string {
  return `line ${line}, column ${column}: ${message}`;
}

/** The one object in a text that holds more, such as a code fence. */
function repair(text: string): JsonValue | null {
  const found = findBalanced(text, "{");
  const parsed = found === null ? null : parseJson(text.slice(found.start, found.end));
  return parsed?.ok === true ? parsed.value : null;
}

/** Holds arguments against the schema of their tool. Nothing is converted. */
function checked(value: JsonValue, text: string, spec: ToolSpec, notes: readonly string[]): ReadArguments {
  const misfit = (path: string, expected: string, sent: string) =>
    refused(`arguments of ${spec.name} do not match its schema (${path}: expected ${expected}); resend the call`, sent);
  if (!isObject(value)) return misfit("arguments", "object", NO_ARGUMENTS);
  const properties = valueAt(spec.parameters, "properties");
  const required = valueAt(spec.parameters, "required");
  const values: Record<string, JsonValue> = {};
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      const given = valueAt(value, name);
      const isRequired = isArray(required) && required.includes(name);
      // A model that fills in every argument writes null where it has none.
      if (!isRequired && (given === undefined || given === null)) continue;
      const expected = misfitOf(given, property);
      if (expected !== null) return misfit(name, expected, text);
      if (given !== undefined) values[name] = given;
    }
  }
  const dropped = Object.keys(value).filter((name) => !Object.hasOwn(values, name) && valueAt(value, name) !== null);
  const note = dropped.length === 0 ? [] : [`unknown arguments dropped: ${dropped.slice(0, 8).join(", ")}`];
  return { kind: "ok", values, sent: text, notes: [...notes, ...note] };
}

/** What was expected in place of a value; null where it fits. */
function misfitOf(given: JsonValue | undefined, property: JsonValue): string | null {
  if (!isObject(property)) return null;
  const type = valueAt(property, "type");
  const options = valueAt(property, "enum");
  const fits =
    given !== undefined &&
    (type === "integer" ? Number.isSafeInteger(given) : typeof type === "string" && jsonType(given) === type);
  if (!fits) return typeof type === "string" ? type : "value";
  return isArray(options) && !options.includes(given) ? `one of ${options.join(", ")}` : null;
}
