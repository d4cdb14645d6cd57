/**
 * What a write changed, path by path, and how to do it again or take it back. The journal stores these changes; the
 * store and the command line decide which.
 */
import { assignKey, compactJson, isObject, type JsonObject, type JsonValue, sameJson, valueAt } from "../json/value.ts";

/** One changed path. `before` or `after` is absent where the path did not exist on that side. */
export type Change = {
  /** Dotted; `""` is the whole envelope. */
  readonly path: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
};

/**
 * The changes that lead from one envelope to another.
 *
 * Objects are entered, lists and scalars compared whole. A key that a dotted path cannot name (empty, or with a dot in
 * it) is recorded with the object around it. No path lies above another one, so their order does not matter.
 *
 * @param before null for a birth, which is one change of the path `""`
 * @returns      in the order of the stored keys, new ones last; none when nothing changed. The order of keys in an
 *               object is no change
 */
export function findChanges(before: JsonObject | null, after: JsonObject): readonly Change[] {
  if (before === null) return [{ path: "", after }];
  const changes: Change[] = [];
  compare(changes, "", before, after);
  return changes;
}

/** The net change between two states. */
export const netChanges = findChanges;

function compare(changes: Change[], path: string, before: JsonObject, after: JsonObject): void {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    if (isNameable(key) || isSame(valueAt(before, key), valueAt(after, key))) continue;
    changes.push({ path, before, after });
    return;
  }
  for (const key of keys) {
    if (!isNameable(key)) continue;
    const old = valueAt(before, key);
    const now = valueAt(after, key);
    const at = path === "" ? key : `${path}.${key}`;
    if (isObject(old) && isObject(now)) compare(changes, at, old, now);
    else if (!isSame(old, now)) {
      changes.push({
        path: at,
        ...(old === undefined ? {} : { before: old }),
        ...(now === undefined ? {} : { after: now }),
      });
    }
  }
}

function isNameable(key: string): boolean {
  return key !== "" && !key.includes(".");
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  // In a list the order of keys counts, as it does for the overwrite screen.
  return isObject(left) || isObject(right) ? sameJson(left, right) : compactJson(left) === compactJson(right);
}

/**
 * Carries changes out: every path gets its `after`, or goes where there is none.
 *
 * @param envelope null before a birth
 * @returns        null only when there was no envelope and no change makes one
 * Errors: none; a path that does not fit is made to
 */
export function applyChanges(envelope: JsonObject | null, changes: readonly Change[]): JsonObject | null {
  return edit(envelope, changes, (change) => change.after);
}

/**
 * Takes changes back: every path gets its `before`, or goes where there was none.
 *
 * @returns an empty object when a birth is taken back; whoever undoes refuses that first
 * Errors: none; a path that does not fit is made to
 */
export function revertChanges(envelope: JsonObject, changes: readonly Change[]): JsonObject {
  return edit(envelope, changes.toReversed(), (change) => change.before) ?? {};
}

type Building = Record<string, JsonValue>;

function edit(
  envelope: JsonObject | null,
  changes: readonly Change[],
  sideOf: (change: Change) => JsonValue | undefined,
): JsonObject | null {
  let root: JsonObject | null = envelope;
  // Objects made here may be written to; each object along the paths is copied once, however many changes touch it.
  const own = new Set<JsonObject>();
  const copyOf = (object: JsonObject): Building => {
    if (own.has(object)) return object as Building;
    const copy: Building = {};
    for (const [key, value] of Object.entries(object)) assignKey(copy, key, value);
    own.add(copy);
    return copy;
  };

  for (const change of changes) {
    const value = sideOf(change);
    if (change.path === "") {
      root = isObject(value) ? value : null;
      continue;
    }
    const segments = change.path.split(".");
    const last = segments.pop() ?? "";
    if (value === undefined && !hasPath(root, segments, last)) continue;
    let parent = copyOf(root ?? {});
    root = parent;
    for (const segment of segments) {
      const next = valueAt(parent, segment);
      const copy = copyOf(isObject(next) ? next : {});
      assignKey(parent, segment, copy);
      parent = copy;
    }
    if (value === undefined) delete parent[last];
    else assignKey(parent, last, value);
  }
  return root;
}

function hasPath(root: JsonObject | null, segments: readonly string[], last: string): boolean {
  let object: JsonValue | undefined = root ?? undefined;
  for (const segment of segments) object = isObject(object) ? valueAt(object, segment) : undefined;
  return isObject(object) && Object.hasOwn(object, last);
}

/** Whether two paths touch: they are equal, or one lies above the other. `""` lies above every path. */
export function overlaps(left: string, right: string): boolean {
  return left === right || isAbove(left, right) || isAbove(right, left);
}

function isAbove(upper: string, lower: string): boolean {
  return upper === "" || lower.startsWith(`${upper}.`);
}
