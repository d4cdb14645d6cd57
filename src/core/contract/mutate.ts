/**
 * The three verbs on an envelope in memory: `set` replaces, `add` extends by one, `fill` merges. No input is changed;
 * what comes back is not yet validated.
 */
import { counted } from "../counted.ts";
import { WritError } from "../error.ts";
import {
  assignKey,
  compactJson,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  jsonType,
  valueAt,
  withKey,
} from "../json/value.ts";
import { canonicalize } from "./canonicalize.ts";
import { splitPath } from "./path.ts";

export type Mutation =
  | { readonly verb: "set" | "add"; readonly field: string; readonly value: JsonValue }
  | { readonly verb: "fill"; readonly patch: JsonValue };

export type Mutated =
  | { readonly ok: true; readonly envelope: JsonObject }
  | { readonly ok: false; readonly error: WritError };

/** A populated list that a patch would displace: entries stored, entries that would come in its place. */
export type Collision = { readonly field: string; readonly existing: number; readonly incoming: number };

/** Levels of containers that a write may make, those of its path counted in. */
export const MAX_WRITE_DEPTH = 100;

/**
 * Applies one verb to a copy of the envelope.
 *
 * @returns the envelope after it, sharing what did not change; or the refusal, never thrown. Codes: `empty_path`,
 *          `path_through_list`, `not_a_list` (`set`, `add`); `not_an_object`, `list_overwrite` (`fill`); `too_deep`.
 *          `list_overwrite` carries `details.collisions`; the caller adds the draft id
 * Source:  spec/contract.md 5.2 to 5.5
 */
export function mutate(envelope: JsonObject, mutation: Mutation): Mutated {
  return mutation.verb === "fill"
    ? fill(envelope, mutation.patch)
    : write(envelope, mutation.verb, mutation.field, mutation.value);
}

function write(envelope: JsonObject, verb: "set" | "add", field: string, value: JsonValue): Mutated {
  const segments = splitPath(field);
  const last = segments.at(-1);
  if (last === undefined) {
    const hint = "A field is a dotted path, for example evidence_report.key_outputs";
    return refused(new WritError("empty_path", `Field path ${JSON.stringify(field)} has no segment`, { hint }));
  }
  const path = segments.join(".");
  const room = MAX_WRITE_DEPTH - segments.length - (verb === "add" ? 1 : 0);
  if (isDeeperThan(value, room)) return refused(tooDeep(path));

  // The objects along the path, the envelope first; what is no object counts as an empty one.
  const parents: JsonObject[] = [envelope];
  let parent = envelope;
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    const next = valueAt(parent, segment);
    if (isArray(next) && next.length > 0) {
      return refused(pathThroughList(path, segments.slice(0, index + 1).join("."), next.length));
    }
    parent = isObject(next) ? next : {};
    parents.push(parent);
  }

  let written = value;
  if (verb === "add") {
    const list = valueAt(parent, last) ?? [];
    if (!isArray(list)) return refused(notAList(path, list));
    written = [...list, value];
  }
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    written = withKey(parents[index] ?? {}, segments[index] ?? last, written);
  }
  return isObject(written) ? { ok: true, envelope: written } : { ok: true, envelope };
}

function fill(envelope: JsonObject, patch: JsonValue): Mutated {
  if (!isObject(patch)) {
    const hint = `A patch looks like this: writ contract fill --json '{"evidence_report":{"key_outputs":["..."]}}'`;
    const message = `The patch of fill is not a JSON object (got ${jsonType(patch)})`;
    return refused(new WritError("not_an_object", message, { hint }));
  }
  if (isDeeperThan(patch, MAX_WRITE_DEPTH)) return refused(tooDeep(null));
  const collisions = findCollisions(envelope, patch);
  if (collisions.length > 0) return refused(listOverwrite(collisions));
  return { ok: true, envelope: merge(envelope, patch) };
}

/** Two objects merge; anything else replaces. Depth is bounded before. */
function merge(stored: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(stored)) assignKey(merged, key, value);
  for (const [key, value] of Object.entries(patch)) {
    const old = valueAt(stored, key);
    assignKey(merged, key, isObject(old) && isObject(value) ? merge(old, value) : value);
  }
  return merged;
}

/**
 * The populated lists that a patch would displace, anywhere.
 *
 * A list that is identical to the stored one, after the patch is put into canonical form, is no collision. Lists are
 * leaves: objects inside of them are not walked.
 *
 * @returns in the order of the walk: keys of the patch, depth first; inside a displaced object, stored keys
 * Source:  spec/contract.md 5.5
 */
export function findCollisions(stored: JsonObject, patch: JsonObject): readonly Collision[] {
  const collisions: Collision[] = [];
  screen(collisions, "", stored, canonicalize(patch).envelope);
  return collisions;
}

function screen(collisions: Collision[], path: string, stored: JsonValue, incoming: JsonValue): void {
  if (isArray(stored)) {
    if (stored.length === 0) return;
    if (isArray(incoming) && compactJson(incoming) === compactJson(stored)) return;
    collisions.push({ field: path, existing: stored.length, incoming: isArray(incoming) ? incoming.length : 0 });
  } else if (isObject(stored) && isObject(incoming)) {
    for (const [key, value] of Object.entries(incoming)) {
      const old = valueAt(stored, key);
      if (old !== undefined) screen(collisions, join(path, key), old, value);
    }
  } else if (isObject(stored)) listDisplaced(collisions, path, stored);
}

function listDisplaced(collisions: Collision[], path: string, stored: JsonObject): void {
  for (const [key, value] of Object.entries(stored)) {
    const at = join(path, key);
    if (isArray(value) && value.length > 0) collisions.push({ field: at, existing: value.length, incoming: 0 });
    else if (isObject(value)) listDisplaced(collisions, at, value);
  }
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** Whether a value nests more containers than `levels`; looks no deeper than that. */
function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return levels < 0;
  if (levels <= 0) return true;
  const inner = isArray(value) ? value : Object.values(value);
  return inner.some((entry) => isDeeperThan(entry, levels - 1));
}

function refused(error: WritError): Mutated {
  return { ok: false, error };
}

function tooDeep(path: string | null): WritError {
  return new WritError("too_deep", `The write would nest deeper than ${MAX_WRITE_DEPTH} levels`, { path });
}

function pathThroughList(path: string, list: string, count: number): WritError {
  return new WritError(
    "path_through_list",
    `field '${path}' runs through '${list}', a list of ${counted(count, "entry", "entries")}`,
    {
      path: list,
      hint: `A list has no keys. Extend it: writ contract add ${list} '...'; replace it whole: writ contract set ${list} '[...]'`,
    },
  );
}

function notAList(path: string, value: JsonValue): WritError {
  return new WritError("not_a_list", `field '${path}' is not a list (got ${jsonType(value)})`, {
    path,
    hint: `Replace it: writ contract set ${path} '...'`,
  });
}

function listOverwrite(collisions: readonly Collision[]): WritError {
  const lists = collisions.length === 1 ? "1 populated list" : `${collisions.length} populated lists`;
  return new WritError("list_overwrite", `fill would overwrite ${lists} -- nothing was written.`, {
    status: "refused",
    // The JSON form spells the message its own way.
    details: { collisions, message: `fill would overwrite ${lists}; nothing was written.` },
    lines: collisions.map(({ field, existing, incoming }) => `  ${field}: existing ${existing}, incoming ${incoming}`),
    hint: "Use `writ contract add` to extend a list, or `writ contract set` to replace it.",
  });
}
