/**
 * What the environment and the options of a command say of the config, each judged as the key is that it stands for.
 *
 * Source: delegation run, section 2.1
 */
import { nearest } from "../near-miss.ts";
import { WIDTH_RANGE } from "./config.ts";
import type { ConfigIssue } from "./issue.ts";
import { checkListen, checkNodeId, checkUrl, type Tell, tidyBaseUrl, tidyUrl } from "./rules.ts";
import { ENGINES, type Engine, MODEL_PATTERN, WINDOW_RANGE } from "./seat.ts";

/** The variables that stand for a key, in the order of `docs/configuration.md`. */
export const CONFIG_VARIABLES = {
  WRIT_REMOTES: "remotes",
  WRIT_AGENT_ALLOW_WRITE: "agent_allow_write",
  WRIT_NODE_ID: "node.id",
  WRIT_NODE_LISTEN: "node.listen",
  WRIT_SEAT_URL: "seats[].base_url",
  WRIT_SEAT_MODEL: "seats[].model",
  WRIT_SEAT_ENGINE: "seats[].engine",
  WRIT_SEAT_CTX: "seats[].ctx_tokens",
} as const;

/** The seat of `WRIT_SEAT_URL`. */
export const ENV_SEAT = "env";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Options that stand for a key, as they are typed; one that was not given is left out. */
export type ConfigOptions = {
  /** `--remote`, each one URL; none is as if not given. */
  readonly remotes?: readonly string[];
  /** What was typed for `remotes` where it was no `--remote`: the name of an operand. */
  readonly remotesAs?: string;
  /** `--width` */
  readonly width?: string;
  /** `--listen` */
  readonly listen?: string;
};

/** The seat of the environment as far as it is said; what is null is asked of its server. */
export type EnvSeat = {
  readonly base_url: string;
  readonly model: string | null;
  readonly engine: Engine | null;
  readonly ctx_tokens: number | null;
};

/** URLs that replace those of the file. */
type Named = {
  readonly urls: readonly string[];
  readonly source: { readonly kind: "environment" | "option"; readonly name: string };
};

/** Errors: none; what makes no sense is an issue, under the name of its variable */
export function readEnvironment(environment: Environment) {
  const issues: ConfigIssue[] = [];
  const tell = tellInto(issues);
  const filled = (name: keyof typeof CONFIG_VARIABLES) => {
    const value = environment[name]?.trim() ?? "";
    return value === "" ? null : value;
  };
  const allow = filled("WRIT_AGENT_ALLOW_WRITE");
  if (allow !== null && allow !== "true" && allow !== "false") {
    tell("bad_value", "WRIT_AGENT_ALLOW_WRITE", "It must be true or false");
  }
  const id = filled("WRIT_NODE_ID");
  if (id !== null) checkNodeId(id, "WRIT_NODE_ID", tell);
  const listen = filled("WRIT_NODE_LISTEN");
  if (listen !== null) checkListen(listen, "WRIT_NODE_LISTEN", tell);
  const remotes = filled("WRIT_REMOTES");
  return {
    issues,
    allow: allow === null ? null : allow === "true",
    id,
    listen,
    remotes: remotes === null ? null : urlsOf(remotes.split(","), { kind: "environment", name: "WRIT_REMOTES" }, tell),
    seat: readEnvSeat(filled, tell),
  };
}

function readEnvSeat(filled: (name: keyof typeof CONFIG_VARIABLES) => string | null, tell: Tell): EnvSeat | null {
  const url = filled("WRIT_SEAT_URL");
  if (url === null) return null;
  checkUrl(url, "WRIT_SEAT_URL", tell);
  const word = filled("WRIT_SEAT_ENGINE");
  const engine = ENGINES.find((each) => each === word) ?? null;
  if (word !== null && engine === null) {
    const near = nearest(word, ENGINES);
    tell(
      "bad_value",
      "WRIT_SEAT_ENGINE",
      `It must be ${ENGINES.join(", ")}`,
      near === null ? null : `Did you mean "${near}"?`,
    );
  }
  const model = filled("WRIT_SEAT_MODEL");
  if (model !== null && !MODEL_PATTERN.pattern.test(model))
    tell("bad_value", "WRIT_SEAT_MODEL", `It must be ${MODEL_PATTERN.rule}`);
  const ctx_tokens = integerOf(filled("WRIT_SEAT_CTX"), [1, WINDOW_RANGE[1]], "WRIT_SEAT_CTX", tell);
  return { base_url: tidyBaseUrl(url), model, engine, ctx_tokens };
}

/** What describes a seat that has no URL: it is not judged, and stands for nothing. */
export function idleVariables(isSet: (name: string) => boolean): readonly string[] {
  return isSet("WRIT_SEAT_URL") ? [] : ["WRIT_SEAT_MODEL", "WRIT_SEAT_ENGINE", "WRIT_SEAT_CTX"].filter(isSet);
}

/** Errors: none; what makes no sense is an issue, under the name of its option */
export function readOptions({ remotes, remotesAs = "--remote", width, listen }: ConfigOptions) {
  const issues: ConfigIssue[] = [];
  const tell = tellInto(issues);
  if (listen !== undefined) checkListen(listen, "--listen", tell);
  return {
    issues,
    listen: listen ?? null,
    width: integerOf(width ?? null, WIDTH_RANGE, "--width", tell),
    remotes:
      remotes === undefined || remotes.length === 0 ? null : urlsOf(remotes, { kind: "option", name: remotesAs }, tell),
  };
}

function urlsOf(texts: readonly string[], source: Named["source"], tell: Tell): Named {
  const urls = texts.map((text) => text.trim()).filter((text) => text !== "");
  for (const [index, url] of urls.entries()) {
    // Not by itself: it may hold a password.
    const which = urls.length === 1 ? "" : `URL ${index + 1} of ${urls.length}: `;
    checkUrl(url, source.name, (code, path, message, hint) => tell(code, path, `${which}${message}`, hint));
  }
  return { urls: urls.map(tidyUrl), source };
}

function integerOf(
  text: string | null,
  [least, most]: readonly [number, number],
  path: string,
  tell: Tell,
): number | null {
  if (text === null) return null;
  const value = Number(text);
  if (/^-?\d{1,30}$/.test(text) && value >= least && value <= most) return value;
  tell(
    "out_of_range",
    path,
    `It must be an integer from ${least} to ${most}, not ${JSON.stringify(text.slice(0, 40))}`,
  );
  return null;
}

function tellInto(issues: ConfigIssue[]): Tell {
  return (code, path, message, hint = null) => issues.push({ code, path, message, hint, line: null, column: null });
}

/**
 * Whether the seat of the environment has to be looked at before it can be used.
 *
 * @returns its base URL; null where there is none, or everything is said, or what is said makes no sense
 */
export function seatToFind(environment: Environment): string | null {
  const { seat, issues } = readEnvironment(environment);
  if (seat === null || issues.length > 0) return null;
  const isKnown = seat.model !== null && seat.engine !== null && (seat.engine !== "ollama" || seat.ctx_tokens !== null);
  return isKnown ? null : seat.base_url;
}
