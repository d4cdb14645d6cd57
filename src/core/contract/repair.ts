/**
 * Repair of an inherited draft. No verb deletes a key, so one bad key that came from elsewhere would refuse every write
 * for ever; what the call itself writes is never repaired. Missing blocks are not made up, an agent id is not invented.
 */
import {
  assignKey,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  jsonType,
  valueAt,
  withKey,
  withoutKey,
} from "../json/value.ts";
import { ALLOWED_KEYS, homeOf, type Level, pathOf, REFERENCE_LISTS, TYPED_FIELDS } from "./envelope.ts";
import { referenceFaults } from "./file-reference.ts";
import { isText } from "./fold.ts";
import { belongsAt } from "./hints.ts";
import { isWrongType } from "./validate.ts";

type Repaired<T extends JsonValue> = {
  readonly envelope: T;
  /** One line a repair, in the order in which they were made. */
  readonly lines: readonly string[];
};

/**
 * Makes what an inherited draft has beyond the vocabulary fit it.
 *
 * @returns the very envelope that was given when nothing was repaired; after it, no unknown or misplaced key, no wrong
 *          type and no malformed file reference is left
 * Source:  spec/contract.md section 8
 */
export function repair(envelope: JsonObject): Repaired<JsonObject>;
export function repair(envelope: JsonValue): Repaired<JsonValue>;
export function repair(envelope: JsonValue): Repaired<JsonValue> {
  const lines: string[] = [];
  if (!isObject(envelope)) return { envelope, lines };
  let result = inLevel(envelope, "", lines);
  for (const level of ["agent_status", "evidence_report"] as const) {
    const inner = valueAt(result, level);
    if (!isObject(inner)) continue;
    let repaired = inLevel(inner, level, lines);
    if (level === "evidence_report") for (const name of REFERENCE_LISTS) repaired = inReferences(repaired, name, lines);
    if (repaired !== inner) result = withKey(result, level, repaired);
  }
  return { envelope: result, lines };
}

const REPLACEMENTS: Readonly<Record<string, string>> = {
  "agent_status.agent_state": "IN_PROGRESS",
  "agent_status.next_action": "pending",
};

function inLevel(object: JsonObject, level: Level, lines: string[]): JsonObject {
  let result = withoutUndeclared(object, level, lines);
  for (const [key, wanted] of TYPED_FIELDS[level]) {
    const value = valueAt(result, key);
    if (!isWrongType(value, wanted)) continue;
    const path = pathOf(level, key);
    const type = jsonType(value);
    const replacement = REPLACEMENTS[path];
    if (wanted === "array") {
      result = withKey(result, key, [value]);
      lines.push(`repaired ${path}: ${type} wrapped into an array, which is what is declared`);
    } else if (replacement !== undefined) {
      result = withKey(result, key, replacement);
      lines.push(`repaired ${path}: ${type} replaced with ${replacement}`);
    } else {
      result = withoutKey(result, key);
      lines.push(`removed ${path}: ${type} where ${wanted} is declared, so that it can be written again`);
    }
  }
  return result;
}

function withoutUndeclared(object: JsonObject, level: Level, lines: string[]): JsonObject {
  const allowed = ALLOWED_KEYS[level];
  const keys = Object.keys(object);
  if (keys.every((key) => allowed.has(key))) return object;
  const kept: Record<string, JsonValue> = {};
  for (const key of keys) {
    if (allowed.has(key)) assignKey(kept, key, valueAt(object, key) ?? null);
    else lines.push(`removed ${pathOf(level, key)} (${whyUndeclared(key)})`);
  }
  return kept;
}

function whyUndeclared(key: string): string {
  if (homeOf(key) === null) return "not a field of the contract envelope";
  const place = belongsAt(key);
  return `a declared field that belongs at ${place === key ? "the root" : place}`;
}

function inReferences(evidence: JsonObject, name: string, lines: string[]): JsonObject {
  const files = valueAt(evidence, name);
  if (!isArray(files)) return evidence;
  const before = lines.length;
  const repaired = files.map((entry, index) => {
    if (!isObject(entry) || referenceFaults(entry).length === 0) return entry;
    lines.push(`repaired evidence_report.${name}[${index}]: a malformed file reference became a text`);
    return flattened(entry);
  });
  return lines.length === before ? evidence : withKey(evidence, name, repaired);
}

function flattened(reference: JsonObject): string {
  const path = valueAt(reference, "path");
  if (!isText(path)) return spacedJson(reference);
  const rest = withoutKey(reference, "path");
  return Object.keys(rest).length === 0 ? path.trim() : `${path.trim()} ${spacedJson(rest)}`;
}

/** JSON with sorted keys, `, ` between members and `: ` behind keys. */
function spacedJson(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${spacedJson(valueAt(value, key) ?? null)}`).join(", ")}}`;
}
