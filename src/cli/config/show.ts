/** `writ config show`: the config in effect, each value with where it comes from. */
import { type Source, valuesOf } from "../../core/config/merge.ts";
import { WritError } from "../../core/error.ts";
import { compactJson, type JsonObject, type JsonValue } from "../../core/json/value.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION, type LoadedConfig, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { tableLines } from "../table.ts";

export const command = defineCommand({
  meta: { name: "config show", description: "Show the config in effect, and where each value comes from" },
  args: { ...CONFIG_OPTION, ...JSON_SWITCH },
  examples: ["writ config show", "writ config show --json"],
  notes: [
    "A value comes from an option, else from a variable, else from the file, else it is the default. Keys and tokens are never shown: only which variable is meant to hold one, and whether it does.",
  ],
  exits: { 0: "shown", 2: "the config is not valid" },
  async run({ args, json, out }) {
    const { config, sources, file } = await loaded(args.config, (text) => out.talk(text));
    const rows = valuesOf(config).map(({ path, value }) => ({
      key: path,
      value,
      secret: VARIABLE.test(path) ? secretOf(String(value)) : null,
      source: sources.get(path) ?? ({ kind: "default" } as const),
    }));
    if (json) {
      const values = rows.map(({ key, value, secret, source }) => ({
        key,
        value,
        ...(secret === null ? {} : { secret }),
        source: { ...source },
      }));
      out.document({ ok: true, status: "ok", file, config: config as unknown as JsonObject, values });
      return 0;
    }
    out.line(file === null ? "no config file; the built-in config" : `config ${file}`);
    const cells = rows.map(({ key, value, secret, source }) => [
      key,
      secret ?? textOf(value, source),
      sourceText(source),
    ]);
    for (const line of tableLines(["key", "value", "source"], cells, out.columns())) out.line(line);
    return 0;
  },
});

/** Keys that name a variable with a secret in it. */
const VARIABLE = /(?:^|\.)(?:api_key_env|token_env)$/;

function secretOf(name: string): string {
  if (name === "") return "unset";
  return (process.env[name] ?? "") === "" ? `unset (env ${name})` : `set (env ${name})`;
}

function textOf(value: JsonValue, source: Source): string {
  if (source.kind === "unknown") return "not known";
  return typeof value === "string" && value !== "" ? value : compactJson(value);
}

function sourceText(source: Source): string {
  switch (source.kind) {
    case "default":
      return "default";
    case "file":
      return `file, line ${source.line}`;
    case "environment":
      return `env ${source.name}`;
    case "option":
      return `option ${source.name}`;
    case "server":
    case "unknown":
      return "its server";
    default:
      return source satisfies never;
  }
}

/** A server that is down is no reason to show nothing. */
async function loaded(config: string | undefined, talk: (text: string) => void): Promise<LoadedConfig> {
  try {
    return await loadConfig({ config });
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "seat_unavailable") throw error;
    talk(error.message);
    return await loadConfig({ config, find: null });
  }
}
