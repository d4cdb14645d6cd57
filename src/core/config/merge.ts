/**
 * The config in effect: option over environment over file over default, each value with where it comes from.
 *
 * Source: delegation run, section 2.1
 */
import type { JsonObject, JsonValue } from "../json/value.ts";
import { type Config, NODE_TOKEN, type Remote, RemoteFields } from "./config.ts";
import { presetOf } from "./decode.ts";
import {
  type ConfigOptions,
  ENV_SEAT,
  type Environment,
  type EnvSeat,
  readEnvironment,
  readOptions,
} from "./environment.ts";
import type { ConfigIssue } from "./issue.ts";
import type { ReadConfig } from "./read.ts";
import { checkRemotes, checkSeats, checkTokens, type Tell, tidyBaseUrl, tidyUrl } from "./rules.ts";
import { type FoundSeat, MODEL_PATTERN, type Seat } from "./seat.ts";
import { OLLAMA_WINDOW, seatWith } from "./seat-with.ts";

export type Source =
  | { readonly kind: "default" }
  | { readonly kind: "file"; readonly line: number }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "option"; readonly name: string }
  /** The seat of the environment: its server said it. */
  | { readonly kind: "server" }
  /** The same, where the server was not asked or did not answer: the value means nothing. */
  | { readonly kind: "unknown" };

/** By the path of a value, `seats[0].model`, as `valuesOf` names it. */
export type Sources = ReadonlyMap<string, Source>;

export type Effective =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly sources: Sources;
    }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/**
 * Lays the environment and the options of a command over a file.
 *
 * @param read  the file, or `BUILT_IN`
 * @param found what the server of `WRIT_SEAT_URL` says of itself; null where it was not asked or did not answer: then
 *              what is not said of the seat is "" (its model) and `openai` (its engine)
 * @returns     the config, or every issue of file, environment and options, in this order
 * Errors: none
 */
export function mergeConfig(
  read: ReadConfig,
  environment: Environment,
  options: ConfigOptions = {},
  found: FoundSeat | null = null,
): Effective {
  const given = readEnvironment(environment);
  const asked = readOptions(options);
  const issues: ConfigIssue[] = [];
  const tell: Tell = (code, path, message, hint = null) => {
    const position = read.placeOf(path);
    issues.push({ code, path, message, hint, line: position?.line ?? null, column: position?.column ?? null });
  };

  const { values } = read;
  const fileSeats = values.seats ?? [];
  const envSeat = given.seat === null ? null : seatOfEnvironment(given.seat, found);
  checkSeats(
    [
      ...(envSeat === null ? [] : [{ name: ENV_SEAT, path: "WRIT_SEAT_URL" }]),
      ...fileSeats.map((seat, index) => ({ name: seat?.name, path: `seats[${index}].name` })),
    ],
    { name: values.default_seat, path: "default_seat" },
    tell,
  );
  const named = asked.remotes ?? given.remotes;
  const remotes = remotesOf(values.remotes ?? [], named);
  checkRemotes(
    remotes.map(({ remote, from }) => ({ url: remote.url, path: named?.source.name ?? from ?? "" })),
    tell,
  );
  checkTokens(
    [
      ...remotes.map(({ remote, from }) => ({
        name: remote.token_env,
        path: from === null ? NODE_TOKEN : `${from}.token_env`,
      })),
      { name: values.node?.token_env ?? "", path: "node.token_env" },
    ],
    environment,
    tell,
  );
  const all = [...read.issues, ...issues, ...given.issues, ...asked.issues];
  if (all.length > 0) return { ok: false, issues: all };

  const { node, limits, quarantine, env_rules, runs } = values;
  const config = {
    delegation_enabled: values.delegation_enabled,
    remotes: remotes.map(({ remote }) => remote),
    seats: [
      ...(envSeat === null ? [] : [envSeat.seat]),
      ...fileSeats.map((seat) => ({ ...seat, base_url: tidyBaseUrl(seat?.base_url ?? "") })),
    ],
    default_seat: envSeat === null ? values.default_seat : ENV_SEAT,
    agent_allow_write: given.allow ?? values.agent_allow_write,
    node: { ...node, id: given.id ?? node?.id, listen: asked.listen ?? given.listen ?? node?.listen },
    limits: { ...limits, width: asked.width ?? limits?.width },
    quarantine,
    env_rules,
    runs,
    // Nothing in it is wrong, so everything is there.
  } as unknown as Config;

  const over: [string, Source][] = [...(envSeat?.sources ?? [])];
  const variable = (name: string): Source => ({ kind: "environment", name });
  const option = (name: string): Source => ({ kind: "option", name });
  if (envSeat !== null) over.push(["default_seat", variable("WRIT_SEAT_URL")]);
  if (given.allow !== null) over.push(["agent_allow_write", variable("WRIT_AGENT_ALLOW_WRITE")]);
  if (given.id !== null) over.push(["node.id", variable("WRIT_NODE_ID")]);
  if (given.listen !== null) over.push(["node.listen", variable("WRIT_NODE_LISTEN")]);
  if (asked.listen !== null) over.push(["node.listen", option("--listen")]);
  if (asked.width !== null) over.push(["limits.width", option("--width")]);
  if (named !== null) {
    over.push(["remotes", named.source]);
    for (const index of remotes.keys()) over.push([`remotes[${index}].url`, named.source]);
  }
  const inFile = (path: string): string => {
    const [, list = "", index = "", rest = ""] = /^(remotes|seats)\[(\d+)\](.*)$/.exec(path) ?? [];
    if (list === "") return path;
    if (list === "remotes") return `${remotes[Number(index)]?.from ?? "-"}${rest}`;
    return `seats[${Number(index) - (envSeat === null ? 0 : 1)}]${rest}`;
  };
  return { ok: true, config, sources: sourcesOf(config, new Map(over), read, inFile) };
}

function sourcesOf(
  config: Config,
  over: ReadonlyMap<string, Source>,
  { lineOf }: ReadConfig,
  inFile: (path: string) => string,
): Sources {
  return new Map(
    valuesOf(config).map(({ path }) => {
      const own = inFile(path);
      // A remote that is a mere URL stands where its list has it.
      const line = lineOf(own) ?? (/^remotes\[\d+\]\.url$/.test(own) ? lineOf(own.slice(0, -".url".length)) : null);
      return [path, over.get(path) ?? (line === null ? { kind: "default" } : { kind: "file", line })] as const;
    }),
  );
}

type WrittenRemotes = NonNullable<ReadConfig["values"]["remotes"]>;

/** The remotes in effect, each with the path of its entry in the file; null where it has none. */
function remotesOf(
  written: WrittenRemotes,
  named: { readonly urls: readonly string[] } | null,
): readonly { readonly remote: Remote; readonly from: string | null }[] {
  const inFile = written.flatMap((entry, index) => {
    const remote = remoteOf(entry);
    return remote === null ? [] : [{ remote, from: `remotes[${index}]` }];
  });
  if (named === null) return inFile;
  // A node that the file knows keeps its token and its certificates.
  return named.urls.map(
    (url) => inFile.find(({ remote }) => remote.url === url) ?? { remote: remoteAt(url), from: null },
  );
}

/** Every value of the config by its path, in the order of the document; a list without items counts as a value. */
export function valuesOf(config: Config): readonly { readonly path: string; readonly value: JsonValue }[] {
  const rows: { path: string; value: JsonValue }[] = [];
  const walk = (value: JsonValue, path: string) => {
    if (Array.isArray(value) && /^(?:remotes|seats)$/.test(path) && value.length > 0) {
      for (const [index, item] of value.entries()) walk(item, `${path}[${index}]`);
    } else if (typeof value === "object" && value !== null && !Array.isArray(value) && !WHOLE.test(path)) {
      for (const [key, item] of Object.entries(value)) walk(item, path === "" ? key : `${path}.${key}`);
    } else rows.push({ path, value });
  };
  walk(config as unknown as JsonObject, "");
  return rows;
}

/** Objects whose keys are not the config's. */
const WHOLE = /(?:^env_rules\.max_calls_per_tool|\.extra_body)$/;

function remoteAt(url: string): Remote {
  const presets = Object.entries(RemoteFields.entries).map(([key, entry]) => [key, presetOf(entry)]);
  return { ...(Object.fromEntries(presets) as Remote), url };
}

function remoteOf(written: WrittenRemotes[number]): Remote | null {
  if (typeof written === "string") return remoteAt(tidyUrl(written));
  if (written?.url === undefined) return null;
  const { url, token_env = "", ca_file = "" } = written;
  return { url: tidyUrl(url), token_env, ca_file };
}

function seatOfEnvironment(
  said: EnvSeat,
  found: FoundSeat | null,
): { readonly seat: Seat; readonly sources: readonly [string, Source][] } {
  const engine = said.engine ?? found?.engine ?? "openai";
  // What ollama has loaded is its window; where nothing is loaded, its own default will be.
  const window = found === null ? 0 : (found.ctx_tokens ?? (engine === "ollama" ? OLLAMA_WINDOW : 0));
  const seat = seatWith({
    name: ENV_SEAT,
    base_url: said.base_url,
    model: said.model ?? found?.models.find((model) => MODEL_PATTERN.pattern.test(model)) ?? "",
    engine,
    proxy: found?.proxy ?? "",
    ctx_tokens: said.ctx_tokens ?? window,
    ...(found?.takes_tools === false ? { tools: false } : {}),
  });
  const variables = {
    name: "WRIT_SEAT_URL",
    base_url: "WRIT_SEAT_URL",
    ...(said.model === null ? {} : { model: "WRIT_SEAT_MODEL" }),
    ...(said.engine === null ? {} : { engine: "WRIT_SEAT_ENGINE" }),
    ...(said.ctx_tokens === null ? {} : { ctx_tokens: "WRIT_SEAT_CTX" }),
  };
  const asked = ["model", "engine", ...(window > 0 ? ["ctx_tokens"] : []), ...(found?.proxy ? ["proxy"] : [])];
  if (found?.takes_tools === false) asked.push("tools");
  const kind = found === null ? "unknown" : "server";
  const sources = new Map<string, Source>(asked.map((key) => [`seats[0].${key}`, { kind }]));
  for (const [key, name] of Object.entries(variables)) sources.set(`seats[0].${key}`, { kind: "environment", name });
  return { seat, sources: [...sources] };
}
