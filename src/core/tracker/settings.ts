/** The settings of a checkout that steer its flow. Whatever is not understood reads as the default. */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";

export type FlowSettings = {
  /** The guards of the stamp and of unfinished tasks. */
  readonly guards: boolean;
  /** The guard of the closure review. */
  readonly closureReview: boolean;
  /** Relative to the toplevel; never empty. */
  readonly specDirs: readonly string[];
  /** Repository id to clone URL. */
  readonly siblings: ReadonlyMap<string, string>;
};

export const DEFAULT_SETTINGS: FlowSettings = {
  guards: true,
  closureReview: true,
  specDirs: ["doc/specs", "docs/specs"],
  siblings: new Map(),
};

/**
 * Settings from the object of a settings file.
 *
 * Source: flow state, section 2.2
 */
export function flowSettings(value: JsonObject): FlowSettings {
  return {
    guards: inside(value, "flowGuards", "enforce") !== false,
    closureReview: inside(value, "closureReview", "enforce") !== false,
    specDirs: specDirs(inside(value, "flowGuards", "specDirs")),
    siblings: siblings(valueAt(value, "siblings")),
  };
}

/** The plans directory beside a spec directory: its last component becomes `plans`. */
export function plansDir(specDir: string): string {
  const parts = specDir.replace(/\/+$/, "").split("/");
  return [...parts.slice(0, -1), "plans"].join("/");
}

function inside(value: JsonObject, first: string, second: string): JsonValue | undefined {
  const part = valueAt(value, first);
  return isObject(part) ? valueAt(part, second) : undefined;
}

function specDirs(value: JsonValue | undefined): readonly string[] {
  if (!isArray(value) || value.length === 0) return DEFAULT_SETTINGS.specDirs;
  const names = value.flatMap((entry) => (typeof entry === "string" && entry.trim() !== "" ? [entry.trim()] : []));
  return names.length === value.length ? names : DEFAULT_SETTINGS.specDirs;
}

function siblings(value: JsonValue | undefined): ReadonlyMap<string, string> {
  if (!isObject(value)) return new Map();
  return new Map(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
