/** The canonical form: values that are compared folded are stored folded, and nothing else changes. */
import { compactJson, isArray, isObject, type JsonObject, type JsonValue, valueAt, withKey } from "../json/value.ts";
import { REFERENCE_LISTS } from "./envelope.ts";
import { foldCommit, referenceFaults } from "./file-reference.ts";
import { foldType, foldWord } from "./fold.ts";
import { foldState } from "./state.ts";
import { SEVERITIES } from "./validate.ts";

type Canonical<T extends JsonValue> = {
  readonly envelope: T;
  /** One line a change, `<path>: <old JSON> -> <new JSON>`, in the order of the fields. */
  readonly changed: readonly string[];
};

/**
 * Folds what is compared folded. Total: parts that are missing or of another type are left alone, so a patch can be
 * folded as well as a whole envelope.
 *
 * @returns the very envelope that was given when nothing changed
 * Source:  spec/contract.md 7.9
 */
export function canonicalize(envelope: JsonObject): Canonical<JsonObject>;
export function canonicalize(envelope: JsonValue): Canonical<JsonValue>;
export function canonicalize(envelope: JsonValue): Canonical<JsonValue> {
  const changed: string[] = [];
  if (!isObject(envelope)) return { envelope, changed };
  let result = inObject(envelope, "agent_status", (status) => {
    const stated = inString(status, "agent_state", "agent_status.agent_state", foldState, changed);
    return inString(stated, "next_action", "agent_status.next_action", foldDone, changed);
  });
  result = inObject(result, "evidence_report", (evidence) => {
    let report = inObject(evidence, "verification", (verification) => {
      const path = "evidence_report.verification";
      const judged = inString(verification, "result", `${path}.result`, foldWord, changed);
      return inString(judged, "type", `${path}.type`, foldType, changed);
    });
    for (const name of REFERENCE_LISTS) report = inReferences(report, name, changed);
    return report;
  });
  result = inObject(result, "failure_report", (report) =>
    inString(report, "severity", "failure_report.severity", foldSeverity, changed),
  );
  return { envelope: result, changed };
}

function foldDone(text: string): string | null {
  return foldWord(text) === "done" ? "done" : null;
}

function foldSeverity(text: string): string | null {
  const severity = foldWord(text);
  return SEVERITIES.includes(severity) ? severity : null;
}

function inObject(object: JsonObject, key: string, edit: (inner: JsonObject) => JsonObject): JsonObject {
  const inner = valueAt(object, key);
  if (!isObject(inner)) return object;
  const edited = edit(inner);
  return edited === inner ? object : withKey(object, key, edited);
}

/** Stores the fold of a string; null means that it has none and stays. */
function inString(
  object: JsonObject,
  key: string,
  path: string,
  fold: (text: string) => string | null,
  changed: string[],
): JsonObject {
  const value = valueAt(object, key);
  const folded = typeof value === "string" ? fold(value) : null;
  if (typeof value !== "string" || folded === null || folded === value) return object;
  changed.push(`${path}: ${compactJson(value)} -> ${compactJson(folded)}`);
  return withKey(object, key, folded);
}

function inReferences(evidence: JsonObject, name: string, changed: string[]): JsonObject {
  const files = valueAt(evidence, name);
  if (!isArray(files)) return evidence;
  const before = changed.length;
  const folded = files.map((entry, index) =>
    isObject(entry) && referenceFaults(entry).length === 0
      ? inString(entry, "commit", `evidence_report.${name}[${index}].commit`, foldCommit, changed)
      : entry,
  );
  return changed.length === before ? evidence : withKey(evidence, name, folded);
}
