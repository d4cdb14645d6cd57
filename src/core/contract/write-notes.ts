/**
 * What a write is told of that is accepted and most often not what was meant: it refuses nothing, and is said while it can
 * still be mended. Codes and refusals are `validate.ts`'s business, what a close compares is `record/content-checks.ts`'s.
 */
import { isArray, isObject, type JsonObject, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import { LIST_PATHS } from "./envelope.ts";
import { isText } from "./fold.ts";
import { aType } from "./hints.ts";
import type { Mutation } from "./mutate.ts";
import { splitPath } from "./path.ts";
import { refusalNotice } from "./proposal-notices.ts";
import { systemKeyNotes } from "./system-keys.ts";
import { readUpdates } from "./updates.ts";

const MOST_NOTES = 10;
const VERBATIM = "evidence_report.verbatim_outputs";
/** Its entries are read as what they propose. */
const UPDATES = "update_contracts";

/** One line each, at most ten and one that counts the others. */
export function writeNotes(mutation: Mutation): readonly string[] {
  const notes = [
    ...systemKeyNotes(mutation),
    ...conclusionNotes(writtenAt(mutation, "conclusion")),
    ...LIST_PATHS.filter((path) => path !== UPDATES).flatMap((path) => listNotes(path, writtenAt(mutation, path))),
    ...updateNotes(writtenAt(mutation, UPDATES)),
  ];
  const further = notes.length - MOST_NOTES;
  return further <= 0 ? notes : [...notes.slice(0, MOST_NOTES), `${further} more of this kind`];
}

/** What a write brings to a path: for `add` a list of the one entry. Undefined where it does not touch it. */
function writtenAt(mutation: Mutation, path: string): JsonValue | undefined {
  const wanted = path.split(".");
  if (mutation.verb === "fill") return memberAt(mutation.patch, wanted);
  const field = splitPath(mutation.field);
  if (field.some((segment, index) => segment !== wanted[index])) return undefined;
  const rest = wanted.slice(field.length);
  if (mutation.verb === "set") return memberAt(mutation.value, rest);
  return rest.length === 0 ? [mutation.value] : undefined;
}

function memberAt(value: JsonValue, segments: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const segment of segments) found = found !== undefined && isObject(found) ? valueAt(found, segment) : undefined;
  return found;
}

function conclusionNotes(value: JsonValue | undefined): readonly string[] {
  if (typeof value !== "string" || isText(value)) return [];
  return ["conclusion is blank, and a close is refused without one; a - alone reads standard input"];
}

function listNotes(path: string, value: JsonValue | undefined): readonly string[] {
  if (!isArray(value)) return [];
  return value.flatMap((entry) => {
    const note = entryNote(path, entry);
    return note === null ? [] : [`${path}: ${note}`];
  });
}

function entryNote(path: string, entry: JsonValue): string | null {
  if (typeof entry === "string") {
    if (entry.trim() === "") return "the entry is blank";
    if (!/^\s*(?:\{\s*["}]|\[\s*[[{"])/.test(entry)) return null;
    return "the entry begins like JSON and is none: it was kept as a text; --json-file - says where it breaks";
  }
  if (entry === null || typeof entry === "number" || typeof entry === "boolean") {
    return `the entry is ${aType(jsonType(entry))} and says nothing by itself`;
  }
  return path === VERBATIM ? quoteNote(entry) : null;
}

/** Why a close would compare a quote with nothing. */
function quoteNote(entry: JsonValue): string | null {
  const wants = 'a close compares {"command":"...","excerpt":"..."}';
  if (!isObject(entry)) return `the entry is ${aType(jsonType(entry))}, and ${wants}`;
  if (typeof valueAt(entry, "excerpt") !== "string" && typeof valueAt(entry, "output") !== "string") {
    return `the entry has no excerpt, and ${wants}`;
  }
  return isAttributed(entry) ? null : `the entry has no command, and ${wants}`;
}

function isAttributed(entry: JsonObject): boolean {
  return isText(valueAt(entry, "command")) || (valueAt(entry, "evidence_id") ?? null) !== null;
}

/** What a close would stamp as refused without being refused itself. */
function updateNotes(value: JsonValue | undefined): readonly string[] {
  return readUpdates(value).refused.map((refusal) => `${refusalNotice(refusal)}. ${refusal.hint}`);
}
