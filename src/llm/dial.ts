/**
 * One HTTP exchange with a model server: the address rule, the gate, the key, and an end that closes the connection.
 *
 * `http` is dialled by address: the host is resolved here, every address is judged, and the request goes to exactly one
 * of those that were judged. Redirects are answers, and never followed.
 *
 * Source: delegation run, sections 2.4, 11 (redirects, DNS rebinding, secrets)
 */
import { isAddress } from "../core/config/address.ts";
import { dialTargets } from "../core/config/dial.ts";
import type { Seat } from "../core/config/seat.ts";
import { transportFault } from "../core/transport-fault.ts";
import type { Server } from "./world.ts";

/** A request as the dialects make it. `path` follows the base URL and begins with `/`. */
export type Call = {
  readonly path: string;
  readonly body?: string;
  readonly accept?: string;
  /** Called when the gate is passed and the request goes out. */
  readonly onSend?: () => void;
};

/** Why there is no answer. "unreachable": nothing listens, and nothing was sent. */
export type Unanswered = {
  readonly kind: "unreachable" | "broken" | "aborted";
  readonly message: string;
};

export type Exchanged<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Unanswered);

/**
 * Sends a request and hands its answer to `use`; when that is done the connection is closed, read to its end or not.
 *
 * @param signal ends the exchange at once, in every phase
 * Errors: what `use` throws and is no fault of the transport
 */
export async function exchange<T>(
  server: Server,
  call: Call,
  signal: AbortSignal,
  use: (response: Response) => Promise<T>,
): Promise<Exchanged<T>> {
  const leave = await server.gate.enter(signal);
  if (leave === null) return ABORTED;
  // A controller of one's own: its abort is what closes the connection, whatever is left of the body.
  const connection = new AbortController();
  const stop = () => connection.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    call.onSend?.();
    const response = await send(server, call, connection.signal);
    if (!(response instanceof Response)) return { ok: false, ...response };
    server.scripted.hear(response.headers);
    return { ok: true, value: await use(response) };
  } catch (error) {
    const fault = signal.aborted ? ABORTED : transportFault(error, server.seat.base_url);
    if (fault === null) throw error;
    return { ok: false, kind: fault.kind, message: fault.message };
  } finally {
    signal.removeEventListener("abort", stop);
    connection.abort();
    leave();
  }
}

const ABORTED = { ok: false, kind: "aborted", message: "it was called off" } as const;

async function send(server: Server, call: Call, signal: AbortSignal): Promise<Response | Unanswered> {
  const { seat } = server;
  const key = keyOf(server);
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    return { kind: "broken", message: `the value of ${seat.api_key_env} cannot be sent as a key` };
  }
  const url = new URL(seat.base_url + call.path);
  const dialled = dialTargets(url, await addressesOf(server, url, signal));
  if (!dialled.ok) return { kind: "broken", message: `${seat.base_url}: ${dialled.message}` };
  let refusal: Unanswered = { kind: "unreachable", message: `${seat.base_url}: nothing listens` };
  for (const target of dialled.targets) {
    try {
      return await fetch(target.url, {
        method: call.body === undefined ? "GET" : "POST",
        headers: {
          ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
          Accept: call.accept ?? "application/json",
          "Accept-Encoding": "identity",
          "User-Agent": "writ",
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
          ...(target.host === null ? {} : { Host: target.host }),
        },
        ...(call.body === undefined ? {} : { body: call.body }),
        redirect: "manual",
        signal,
        // A connection that the server is about to drop would lose the request, and nobody may send it twice.
        keepalive: false,
        // Silence is judged by the watchdog; a body is never unpacked, since packed it may be small and be huge.
        timeout: false,
        decompress: false,
        // A debugging variable of the runtime would print the headers.
        verbose: false,
        // Whatever NODE_TLS_REJECT_UNAUTHORIZED says: whoever answers under a foreign name would get the key.
        tls: { rejectUnauthorized: true },
        // A proxy named in the environment would be dialled in place of the address that was judged.
        ...(url.protocol === "http:" ? { proxy: false as const } : {}),
      });
    } catch (error) {
      const fault = signal.aborted ? null : transportFault(error, seat.base_url);
      // Only where nothing was sent another address may be tried.
      if (fault === null || fault.kind !== "unreachable") throw error;
      refusal = fault;
    }
  }
  return refusal;
}

/** The key of a seat, from its variable at this moment; null where it has none. */
export function keyOf(server: { readonly seat: Seat; readonly environment: Server["environment"] }): string | null {
  const name = server.seat.api_key_env;
  const value = name === "" ? "" : (server.environment(name) ?? "").trim();
  return value === "" ? null : value;
}

async function addressesOf(server: Server, url: URL, signal: AbortSignal): Promise<readonly string[]> {
  if (url.protocol === "https:") return [];
  if (isAddress(url.hostname)) return [url.hostname.replace(/^\[(.*)\]$/, "$1")];
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    // The resolver cannot be called off; what it says later is not heard.
    return await Promise.race([server.lookup(url.hostname), promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
