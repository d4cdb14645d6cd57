/** Every key of the config, as the schema says it: what a page about them is held against. */
import { ConfigFile, RemoteFields } from "../../src/core/config/config.ts";
import type { Shape } from "../../src/core/config/decode.ts";
import { CONFIG_VARIABLES } from "../../src/core/config/environment.ts";
import { SeatFields } from "../../src/core/config/seat.ts";

export type ConfigKey = {
  /** `seats[].name` */
  readonly key: string;
  /** As JSON; null where the key has to be given. */
  readonly default: string | null;
  /** `1 to 8`, the words there are, or `true or false`; null for a text that has its own rules. */
  readonly range: string | null;
  /** Variables that stand for it. */
  readonly variables: readonly string[];
};

export function configKeys(): readonly ConfigKey[] {
  return Object.entries(ConfigFile.entries).flatMap(([key, shape]) => (key === "$schema" ? [] : keysAt(key, shape)));
}

function keysAt(key: string, shape: Shape): readonly ConfigKey[] {
  if (key === "seats")
    return [listOf(key), ...Object.entries(SeatFields.entries).map(([name, entry]) => keyOf(`seats[].${name}`, entry))];
  if (key === "remotes")
    return [
      listOf(key),
      ...Object.entries(RemoteFields.entries).map(([name, entry]) => keyOf(`remotes[].${name}`, entry)),
    ];
  const inner = bare(shape);
  if (inner.type === "strict_object" && key !== "env_rules.max_calls_per_tool") {
    return Object.entries(inner.entries).flatMap(([name, entry]) => keysAt(`${key}.${name}`, entry));
  }
  return [keyOf(key, shape)];
}

function listOf(key: string): ConfigKey {
  return { key, default: "[]", range: null, variables: variablesOf(key) };
}

function keyOf(key: string, shape: Shape): ConfigKey {
  const preset = shape.type === "optional" ? JSON.stringify(shape.default) : null;
  return { key, default: preset, range: rangeOf(bare(shape)), variables: variablesOf(key) };
}

function bare(shape: Shape): Shape {
  return shape.type === "optional" || shape.type === "exact_optional" || shape.type === "nullable"
    ? bare(shape.wrapped)
    : shape;
}

function rangeOf(shape: Shape): string | null {
  if (shape.type === "boolean") return "true or false";
  if (shape.type === "picklist")
    return shape.options.map((option) => (option === "" ? "empty" : `\`${option}\``)).join(", ");
  if (shape.type !== "number") return null;
  const bound = (type: string) => shape.pipe?.find((action) => action.type === type)?.requirement;
  return `${bound("min_value")} to ${bound("max_value")}`;
}

function variablesOf(key: string): readonly string[] {
  return Object.entries(CONFIG_VARIABLES).flatMap(([name, each]) => (each === key ? [name] : []));
}
