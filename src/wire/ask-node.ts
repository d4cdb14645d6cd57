/**
 * One question to a node: a GET under the address rule, the token and every bound.
 *
 * Source: delegation run, sections 0 (health request), 2.4, 7.2
 */
import { readFileSync } from "node:fs";
import { isAddress } from "../core/config/address.ts";
import type { Remote } from "../core/config/config.ts";
import { dialTargets } from "../core/config/dial.ts";

export type NodeAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  /** No whole answer: nothing listens, the address is not allowed, too slow, too large. */
  | { readonly kind: "silent"; readonly message: string };

export type AskWorld = {
  /** The value of a variable, read at every request. */
  readonly environment: (name: string) => string | undefined;
  /** Every address of a host. Left out: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** For all of it; left out: 5 seconds. In milliseconds. */
  readonly wait_ms?: number;
};

const WAIT_MS = 5000;
const BODY_BYTES = 1024 * 1024;

/**
 * @param path behind the base URL, `/writ/v1/health`
 * Errors: none
 */
export async function askNode(remote: Remote, path: string, world: AskWorld): Promise<NodeAnswer> {
  const wait = world.wait_ms ?? WAIT_MS;
  const signal = AbortSignal.timeout(wait);
  try {
    return await Promise.race([send(remote, path, world, signal), late(signal)]);
  } catch (error) {
    const isLate = signal.aborted || (error instanceof Error && error.name === "TimeoutError");
    return silent(isLate ? `no whole answer within ${wait / 1000} s` : reasonOf(error));
  }
}

async function send(remote: Remote, path: string, world: AskWorld, signal: AbortSignal): Promise<NodeAnswer> {
  const url = new URL(remote.url + path);
  const token = remote.token_env === "" ? "" : (world.environment(remote.token_env) ?? "");
  const addresses = url.protocol === "https:" ? [] : await addressesOf(url.hostname, world.lookup ?? systemLookup);
  const dialled = dialTargets(url, addresses);
  if (!dialled.ok) return silent(dialled.message);
  const ca = remote.ca_file === "" ? null : readFileSync(remote.ca_file, "utf8");
  let refusal: unknown = null;
  for (const target of dialled.targets) {
    try {
      const response = await fetch(target.url, {
        headers: {
          Accept: "application/json",
          "Accept-Encoding": "identity",
          "User-Agent": "writ",
          ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
          ...(target.host === null ? {} : { Host: target.host }),
        },
        redirect: "manual",
        signal,
        keepalive: false,
        decompress: false,
        // A debugging variable of the runtime would print the token.
        verbose: false,
        ...(ca === null ? {} : { tls: { ca } }),
        // A proxy named in the environment would be dialled in place of the address that was judged.
        ...(url.protocol === "http:" ? { proxy: false as const } : {}),
      });
      return await wholeAnswer(response);
    } catch (error) {
      if (signal.aborted) throw error;
      refusal = error;
    }
  }
  return silent(reasonOf(refusal));
}

async function wholeAnswer(response: Response): Promise<NodeAnswer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > BODY_BYTES) return silent(`its answer is larger than ${BODY_BYTES / 1024} KiB`);
    pieces.push(piece);
  }
  return { kind: "answered", status: response.status, text: new TextDecoder().decode(Buffer.concat(pieces)) };
}

/** The resolver cannot be called off; what it says later is not heard. */
function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

async function addressesOf(hostname: string, lookup: (host: string) => Promise<readonly string[]>) {
  return isAddress(hostname) ? [hostname.replace(/^\[(.*)\]$/, "$1")] : await lookup(hostname);
}

async function systemLookup(host: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(host, { backend: "getaddrinfo" });
  return found.map(({ address }) => address);
}

function silent(message: string): NodeAnswer {
  return { kind: "silent", message };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/ECONNREFUSED|ConnectionRefused/.test(code)) return "connection refused";
  return error instanceof Error ? error.message : String(error);
}
