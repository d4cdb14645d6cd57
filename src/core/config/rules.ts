/** The rules of a config that no schema says: what keys say of each other, addresses, names that mean something. */
import { counted } from "../counted.ts";
import { nearest } from "../near-miss.ts";
import { PROFILE_NAMES } from "../seat/tool-specs.ts";
import type { LooseConfig, LooseSeat } from "./config.ts";
import { NAME_PATTERN } from "./field.ts";
import type { ConfigIssueCode } from "./issue.ts";
import { RESERVED_BODY_KEYS } from "./seat.ts";
import { looksLikeSecret } from "./secret-shape.ts";
import { readBaseUrl, readListen, withoutVersion } from "./url.ts";

export type Tell = (code: ConfigIssueCode, path: string, message: string, hint?: string | null) => void;

/** What results call the place that runs them itself, so no node may. */
const LOCAL = "local";

/** Bearers that are shorter are refused, in characters. */
const SHORTEST_TOKEN = 16;

type Judging = { readonly tell: Tell; readonly isGiven: (path: string) => boolean };

/** The rules of the file by itself. What has the wrong type is not looked at. */
export function checkFile(values: LooseConfig, { tell, isGiven }: Judging): void {
  values.seats?.forEach((seat, index) => {
    if (seat !== undefined) checkSeat(seat, `seats[${index}]`, { tell, isGiven });
  });
  values.remotes?.forEach((remote, index) => {
    const path = `remotes[${index}]`;
    if (typeof remote === "string") checkUrl(remote, path, tell);
    else if (remote !== undefined) {
      if (remote.url !== undefined) checkUrl(remote.url, `${path}.url`, tell);
      checkVariable(remote.token_env, `${path}.token_env`, tell);
      checkPath(remote.ca_file, `${path}.ca_file`, tell);
    }
  });
  const { node } = values;
  if (node?.id !== undefined) checkNodeId(node.id, "node.id", tell);
  if (node?.listen !== undefined) checkListen(node.listen, "node.listen", tell);
  checkVariable(node?.token_env, "node.token_env", tell);
  checkPath(node?.tls_cert, "node.tls_cert", tell);
  checkPath(node?.tls_key, "node.tls_key", tell);
  if (node?.tls_cert !== undefined && node.tls_key !== undefined && (node.tls_cert === "") !== (node.tls_key === "")) {
    const [given, missing] = node.tls_key === "" ? ["tls_cert", "tls_key"] : ["tls_key", "tls_cert"];
    tell("missing_key", `node.${missing}`, `It is needed beside "node.${given}"`);
  }
}

function checkSeat(seat: LooseSeat, path: string, { tell, isGiven }: Judging): void {
  const { base_url, engine, ctx_tokens, step_tokens, final_tokens, profile, extra_body } = seat;
  if (base_url !== undefined) checkUrl(base_url, `${path}.base_url`, tell);
  checkVariable(seat.api_key_env, `${path}.api_key_env`, tell);
  if (step_tokens !== undefined && final_tokens !== undefined && final_tokens < step_tokens) {
    const message = `It is ${final_tokens}, and must not be less than step_tokens, ${step_tokens}`;
    tell("bad_value", `${path}.final_tokens`, message);
  }
  if (engine === "ollama" && ctx_tokens === 0) {
    const message = "An ollama seat needs its window here: that engine cuts a longer prompt without an error";
    tell("missing_key", `${path}.ctx_tokens`, message, "The window that it is loaded with is in /api/ps");
  }
  if (engine === "openai" && !isGiven(`${path}.ctx_tokens`)) {
    const hint = "0 says that it is not known";
    tell("missing_key", `${path}.ctx_tokens`, "An openai seat needs its window here: its server does not tell", hint);
  }
  if (profile !== undefined && !PROFILE_NAMES.includes(profile)) {
    tell(
      "bad_value",
      `${path}.profile`,
      `It must be ${PROFILE_NAMES.join(", ")}`,
      didYouMean(nearest(profile, PROFILE_NAMES)),
    );
  }
  for (const key of RESERVED_BODY_KEYS) {
    if (extra_body === undefined || !Object.hasOwn(extra_body, key)) continue;
    tell("reserved_key", `${path}.extra_body.${key}`, `"${key}" is for writ to set in a request`);
  }
}

export function checkUrl(text: string, path: string, tell: Tell): void {
  const read = readBaseUrl(text);
  if (!read.ok) tell("bad_url", path, `It ${read.message}`, read.hint);
}

export function checkNodeId(id: string, path: string, tell: Tell): void {
  if (id === "") return;
  if (id.toLowerCase() === LOCAL) tell("bad_value", path, `"${LOCAL}" is what results call the place they are made at`);
  else if (!NAME_PATTERN.pattern.test(id)) tell("bad_value", path, `It must be ${NAME_PATTERN.rule}`);
}

export function checkListen(text: string, path: string, tell: Tell): void {
  if (readListen(text) !== null) return;
  tell("bad_value", path, "It must be HOST:PORT, or [HOST]:PORT for IPv6", "For example 127.0.0.1:18811");
}

/** A key may be a possible name as well. */
function checkVariable(name: string | undefined, path: string, tell: Tell): void {
  if (name === undefined || !looksLikeSecret(name)) return;
  const hint =
    "Put it into an environment variable, and name that here; consider this one as known to others. A name is made of words: GPU_B_TOKEN";
  tell("literal_secret", path, "It looks like a key itself; it must be the NAME of an environment variable", hint);
}

function checkPath(path: string | undefined, key: string, tell: Tell): void {
  if (path === undefined || path === "" || /^(?:\/|[A-Za-z]:[\\/])/.test(path)) return;
  tell("bad_value", key, "It must be an absolute path", "Nothing is read relative to the present folder");
}

/** Rules over all seats that there are, wherever they come from. */
export function checkSeats(
  seats: readonly { readonly name: string | undefined; readonly path: string }[],
  defaultSeat: { readonly name: string | undefined; readonly path: string },
  tell: Tell,
): void {
  const names = seats.map(({ name }) => name);
  for (const [index, { name, path }] of seats.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue;
    tell("not_unique", path, `The seat name "${name}" is given twice`);
  }
  const { name, path } = defaultSeat;
  if (name === undefined || name === "" || names.includes(name)) return;
  const known = names.filter((each) => each !== undefined);
  const near = nearest(name, known);
  const hint =
    near !== null
      ? didYouMean(near)
      : known.length === 0
        ? "There is no seat"
        : `There is ${known.slice(0, 8).join(", ")}`;
  tell("no_such_seat", path, `No seat is called ${JSON.stringify(name.slice(0, 64))}`, hint);
}

export function checkRemotes(remotes: readonly { readonly url: string; readonly path: string }[], tell: Tell): void {
  const urls = remotes.map(({ url }) => url);
  for (const [index, { path }] of remotes.entries()) {
    if (urls.indexOf(urls[index] ?? "") !== index) tell("not_unique", path, "The node is named twice");
  }
}

/**
 * Bearers that can be resolved now. The message shows nothing of them.
 *
 * @param names variables, each with the key that names it; a variable is told once
 */
export function checkTokens(
  names: readonly { readonly name: string; readonly path: string }[],
  environment: Readonly<Record<string, string | undefined>>,
  tell: Tell,
): void {
  const seen = new Set<string>([""]);
  for (const { name, path } of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const token = environment[name] ?? "";
    if (token === "") continue;
    if (!/^[\x21-\x7e]*$/.test(token)) {
      tell("bad_token", path, `The token in ${name} holds what no header can carry`, "Take blanks and line ends out");
    } else if (token.length < SHORTEST_TOKEN) {
      const message = `The token in ${name} has ${counted(token.length, "character")}; at least ${SHORTEST_TOKEN} are needed`;
      tell("bad_token", path, message, "For example: openssl rand -hex 24");
    }
  }
}

/** Rules that the values of a config obey make it fit to be used: addresses in their one form. */
export function tidyBaseUrl(text: string): string {
  const read = readBaseUrl(text);
  return read.ok ? withoutVersion(read.url) : text;
}

export function tidyUrl(text: string): string {
  const read = readBaseUrl(text);
  return read.ok ? read.url : text;
}

function didYouMean(near: string | null): string | null {
  return near === null ? null : `Did you mean "${near}"?`;
}
