/** How a payload comes into stored project context: the deep merge, and who owns a key of `project_identity`. */
import type { UpdateRefusal } from "../contract/updates.ts";
import { assignKey, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { quoted } from "../record/quoted.ts";

/** The section whose payloads are split by project key. */
export const PROJECT_IDENTITY = "project_identity";

/**
 * Merges a payload into a stored section: two objects merge, any other value replaces, a list whole; null is a value.
 * Keys that the payload does not mention stay, a stored key keeps its place.
 *
 * @param stored absent, or no object: the section is the payload
 * Errors: none
 * Source: spec/contract.md 13.5
 */
export function mergeContext(stored: JsonValue | undefined, payload: JsonObject): JsonObject {
  if (!isObject(stored)) return payload;
  const merged: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(stored)) assignKey(merged, key, value);
  for (const [key, value] of Object.entries(payload)) {
    assignKey(merged, key, isObject(value) ? mergeContext(valueAt(stored, key), value) : value);
  }
  return merged;
}

/** A workspace with the top-level keys of its stored `project_identity`, as spelled there. */
export type ProjectOwner = { readonly workspace: string; readonly keys: readonly string[] };

/** What of a payload goes to one workspace. */
export type OwnedPayload = {
  readonly workspace: string;
  /** Under the stored spelling of the keys. */
  readonly payload: JsonObject;
  /** Each key as the payload spells it, and as it is stored. */
  readonly keys: readonly { readonly given: string; readonly stored: string }[];
};

const SHOWN_OWNERS = 5;

const OWNER_HINT =
  'The legal shape: {"contract":"project_identity","payload":{"<project>":{"<key>":"<value>"}}}, where exactly one workspace\'s stored project_identity has <project>';

/**
 * Splits a `project_identity` payload by the workspace that owns each top-level key. `_` and `-` count as the same;
 * where one payload spells a key both ways, the two values merge in their order.
 *
 * @param index  the entry's place in `update_contracts`, for the refusals
 * @returns      what goes where, in the order of the first key of each; and one refusal for each key without exactly
 *               one owner, `project_unowned` or `project_ambiguous`
 * Errors: none
 * Source: spec/contract.md 13.5
 */
export function splitByOwner(
  index: number,
  payload: JsonObject,
  owners: readonly ProjectOwner[],
): { readonly owned: readonly OwnedPayload[]; readonly refused: readonly UpdateRefusal[] } {
  const places = placesBySpelling(owners);
  const shares = new Map<string, Share>();
  const refused: UpdateRefusal[] = [];
  for (const [given, value] of Object.entries(payload)) {
    const found = places.get(spelling(given)) ?? [];
    const owner = onlyOwner(given, found);
    if (owner === null) {
      refused.push(ownerRefusal(index, given, found));
      continue;
    }
    const { workspace, stored } = owner;
    const share: Share = shares.get(workspace) ?? { workspace, payload: {}, keys: [] };
    shares.set(workspace, share);
    share.keys.push({ given, stored });
    assignKey(share.payload, stored, isObject(value) ? mergeContext(valueAt(share.payload, stored), value) : value);
  }
  return { owned: [...shares.values()], refused };
}

/** An `OwnedPayload` under construction. */
type Share = {
  readonly workspace: string;
  readonly payload: Record<string, JsonValue>;
  readonly keys: { readonly given: string; readonly stored: string }[];
};

type Place = { readonly workspace: string; readonly stored: string };

function placesBySpelling(owners: readonly ProjectOwner[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const { workspace, keys } of owners) {
    for (const stored of keys) {
      const known = places.get(spelling(stored));
      if (known === undefined) places.set(spelling(stored), [{ workspace, stored }]);
      else known.push({ workspace, stored });
    }
  }
  return places;
}

/** The one place that a key means; null when there is none, or more than one. */
function onlyOwner(given: string, found: readonly Place[]): Place | null {
  const [first, ...more] = found;
  if (first === undefined) return null;
  if (more.length === 0) return first;
  // Two spellings in one workspace: the exact one is meant. Two workspaces: nobody can tell.
  if (more.some(({ workspace }) => workspace !== first.workspace)) return null;
  return found.find(({ stored }) => stored === given) ?? null;
}

function spelling(key: string): string {
  return key.replaceAll("_", "-");
}

function ownerRefusal(index: number, key: string, found: readonly Place[]): UpdateRefusal {
  const about = { index, contract: PROJECT_IDENTITY, key, hint: OWNER_HINT };
  if (found.length === 0) {
    return { ...about, code: "project_unowned", reason: `No workspace owns the project ${quoted(key)}` };
  }
  const named = found.slice(0, SHOWN_OWNERS).map((place) => `${quoted(place.workspace)} as ${quoted(place.stored)}`);
  const more = found.length > SHOWN_OWNERS ? `, and ${found.length - SHOWN_OWNERS} more` : "";
  return {
    ...about,
    code: "project_ambiguous",
    reason: `The project ${quoted(key)} has more than one owner: ${named.join(", ")}${more}`,
  };
}
