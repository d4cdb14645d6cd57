/**
 * The client of a node: one request and its whole answer, bounded in time and size. What an answer means is decided by
 * `delegate/`; here only what came is told.
 *
 * `http` is dialled by address: the host is resolved here, every address is judged, and the request goes to one of those
 * that were judged. Redirects are answers, and never followed.
 *
 * Source: delegation run, sections 0, 2.4, 4.7, 4.11, 7.6, 11
 */
import { readFileSync, statSync } from "node:fs";
import { isAddress } from "../core/config/address.ts";
import { dialTargets } from "../core/config/dial.ts";
import { EventStream } from "../core/event-stream.ts";
import { parseJson } from "../core/json/parse.ts";
import { isObject, type JsonValue, valueAt } from "../core/json/value.ts";
import type { Followed, NodeAnswer, NodeClient } from "../core/node/client.ts";
import { type ReadView, readView } from "../core/node/read-view.ts";
import { CA_FILE } from "../core/node/silence-hint.ts";
import { processGate, type RequestGate } from "../core/request-gate.ts";
import { transportFault } from "../core/transport-fault.ts";

export type NodeClientWorld = {
  /** Without a trailing `/`. */
  readonly url: string;
  /** The value of the bearer at this moment; "" sends none. */
  readonly token: () => string;
  /** The file of the certificates that the node's is held against, read at every request; "": the system's. */
  readonly ca_file: string;
  /** Every address of a host; left out: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  readonly gate?: RequestGate;
  readonly limits?: Partial<NodeClientLimits>;
};

/** Milliseconds and bytes. */
export type NodeClientLimits = Readonly<
  Record<
    "health_ms" | "health_bytes" | "submit_ms" | "poll_more_ms" | "cancel_ms" | "answer_bytes" | "stream_silence_ms",
    number
  >
>;

export const NODE_CLIENT_LIMITS: NodeClientLimits = {
  health_ms: 5_000,
  health_bytes: 1024 * 1024,
  submit_ms: 30_000,
  /** Beyond what a poll is held. */
  poll_more_ms: 10_000,
  cancel_ms: 5_000,
  answer_bytes: 4 * 1024 * 1024,
  /** Without a byte of an event stream; the node sends a ping each 15 s. */
  stream_silence_ms: 20_000,
};

const PROTOCOL_PATH = "/writ/v1";
const LONGEST_MESSAGE = 512;
const MOST_RETRY_SEC = 300;

type Request = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly bound_ms: number;
  readonly most_bytes: number;
};

/** Makes a client. Nothing is sent before it is asked to. */
export function openNodeClient(world: NodeClientWorld): NodeClient {
  const limits = { ...NODE_CLIENT_LIMITS, ...world.limits };
  const job = (job_id: string) => `/jobs/${encodeURIComponent(job_id)}`;
  const answer_bytes = limits.answer_bytes;
  return {
    url: world.url,
    health: (signal) =>
      ask(
        world,
        { method: "GET", path: "/health", bound_ms: limits.health_ms, most_bytes: limits.health_bytes },
        signal,
      ),
    submit: (body, signal) =>
      ask(world, { method: "POST", path: "/jobs", body, bound_ms: limits.submit_ms, most_bytes: answer_bytes }, signal),
    poll(job_id, since, wait_sec, signal) {
      const query = since === null ? "" : `?wait=${wait_sec}&since=${since}`;
      const bound_ms = (since === null ? 0 : wait_sec * 1000) + limits.poll_more_ms;
      return ask(world, { method: "GET", path: job(job_id) + query, bound_ms, most_bytes: answer_bytes }, signal);
    },
    cancel(job_id, isForced, signal) {
      const path = `${job(job_id)}${isForced ? "?force=1" : ""}`;
      return ask(world, { method: "DELETE", path, bound_ms: limits.cancel_ms, most_bytes: answer_bytes }, signal);
    },
    follow: (job_id, signal, onView) => follow(world, `${job(job_id)}/events`, limits, signal, onView),
  };
}

async function ask(world: NodeClientWorld, request: Request, signal: AbortSignal): Promise<NodeAnswer> {
  let isSent = false;
  const late = AbortSignal.timeout(request.bound_ms);
  const both = AbortSignal.any([signal, late]);
  const none = (why: string, code?: string): NodeAnswer => {
    return { kind: "none", why, is_sent: isSent, ...(code === undefined ? {} : { code }) };
  };
  const leave = await (world.gate ?? processGate).enter(both);
  if (leave === null) return none(signal.aborted ? "it was called off" : "too many requests are open");
  try {
    const response = await send(world, request, both, () => {
      isSent = true;
    });
    if (typeof response === "string") return none(response);
    if (response instanceof CertificatesUnusable) return none(response.message, CA_FILE);
    const bytes = await readBounded(response, request.most_bytes);
    if (bytes === null) {
      return { kind: "unusable", status: response.status, why: `its answer has more than ${request.most_bytes} bytes` };
    }
    return answerOf(response, withoutToken(world, new TextDecoder().decode(bytes)));
  } catch (error) {
    if (signal.aborted) return none("it was called off");
    if (late.aborted) return none(`no answer within ${request.bound_ms / 1000} s`);
    const fault = transportFault(error, world.url);
    if (fault === null) throw error;
    if (fault.kind === "unreachable") isSent = false;
    return none(
      fault.message.replace(`${world.url}: `, ""),
      fault.code.endsWith("ENOTFOUND") ? "ENOTFOUND" : fault.code,
    );
  } finally {
    leave();
  }
}

/** The response, or why nothing was sent. */
async function send(
  world: NodeClientWorld,
  { method, path, body }: Pick<Request, "method" | "path" | "body">,
  signal: AbortSignal,
  onSend: () => void,
): Promise<Response | CertificatesUnusable | string> {
  const token = world.token();
  if (token !== "" && !/^[\x21-\x7e]+$/.test(token)) return "the token cannot be sent as a bearer";
  const url = new URL(world.url + PROTOCOL_PATH + path);
  const dialled = dialTargets(url, await addressesOf(url, world.lookup ?? systemLookup, signal));
  if (!dialled.ok) return dialled.message;
  const ca = certificatesOf(world.ca_file);
  if (ca instanceof CertificatesUnusable) return ca;
  let last: unknown = new Error("there is no address");
  for (const target of dialled.targets) {
    try {
      onSend();
      return await fetch(target.url, {
        method,
        headers: {
          Accept: path.endsWith("/events") ? "text/event-stream" : "application/json",
          "Accept-Encoding": "identity",
          "User-Agent": "writ",
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
          ...(target.host === null ? {} : { Host: target.host }),
        },
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        signal,
        // A connection that the node is about to drop would lose the request.
        keepalive: false,
        timeout: false,
        decompress: false,
        // A debugging variable of the runtime would print the bearer.
        verbose: false,
        ...(url.protocol === "http:" ? { proxy: false as const } : {}),
        // Whatever NODE_TLS_REJECT_UNAUTHORIZED says: whoever answers under a foreign name would get the bearer.
        tls: { rejectUnauthorized: true, ...(ca === null ? {} : { ca }) },
      });
    } catch (error) {
      if (transportFault(error, "")?.kind !== "unreachable") throw error;
      last = error;
    }
  }
  throw last;
}

/** More than every authority of a system together. */
const CA_BYTES = 16 * 1024 * 1024;

/** Nothing is sent then. */
class CertificatesUnusable {
  constructor(readonly message: string) {}
}

function certificatesOf(file: string): string | null | CertificatesUnusable {
  if (file === "") return null;
  const unusable = (why: string) => new CertificatesUnusable(`"${file}", which ca_file names, ${why}`);
  try {
    // The opening of a pipe would wait for its writer.
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return unusable("is not there");
    if (!stat.isFile() || stat.size > CA_BYTES) return unusable("is no file of certificates");
    const text = readFileSync(file, "utf8");
    return text.includes("-----BEGIN ") ? text : unusable("holds no PEM certificate");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    return unusable(`cannot be read (${code})`);
  }
}

async function systemLookup(host: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(host, { backend: "getaddrinfo" });
  return found.map(({ address }) => address);
}

async function addressesOf(
  url: URL,
  lookup: (host: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (url.protocol === "https:") return [];
  if (isAddress(url.hostname)) return [url.hostname.replace(/^\[(.*)\]$/, "$1")];
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    // The resolver cannot be called off; what it says later is not heard.
    return await Promise.race([lookup(url.hostname), promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Null when there is more than that; the rest is not read. */
async function readBounded(response: Response, most: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > most) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Shorter ones no node takes. */
const LEAST_TOKEN = 16;

/** A node that is broken, or a proxy in front of it, puts the bearer into what it answers, and that is published. */
function withoutToken(world: NodeClientWorld, text: string): string {
  const token = world.token();
  if (token.length < LEAST_TOKEN) return text;
  return text.replaceAll(token, "[redacted]").replaceAll(JSON.stringify(token).slice(1, -1), "[redacted]");
}

function answerOf(response: Response, text: string): NodeAnswer {
  const parsed = response.status === 200 || response.status === 202 ? null : parseJson(text);
  const error = parsed?.ok === true && isObject(parsed.value) ? valueAt(parsed.value, "error") : undefined;
  const field = (key: string) => {
    const value: JsonValue | undefined = isObject(error) ? valueAt(error, key) : undefined;
    return typeof value === "string" ? value.slice(0, LONGEST_MESSAGE) : "";
  };
  return {
    kind: "answer",
    status: response.status,
    code: field("code"),
    message: field("message"),
    text,
    retry_after_sec: retryAfter(response.headers.get("retry-after")),
  };
}

function retryAfter(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text.trim()) ? Math.min(MOST_RETRY_SEC, Number(text)) : null;
}

const BROKEN: Followed = { isWhole: false, silent_ms: 0 };

async function follow(
  world: NodeClientWorld,
  path: string,
  limits: { readonly stream_silence_ms: number; readonly answer_bytes: number },
  signal: AbortSignal,
  onView: (view: ReadView) => void,
): Promise<Followed> {
  const leave = await (world.gate ?? processGate).enter(signal);
  if (leave === null) return BROKEN;
  const connection = new AbortController();
  const stop = () => connection.abort();
  let silent_ms = 0;
  const fallSilent = () => {
    silent_ms = limits.stream_silence_ms;
    stop();
  };
  signal.addEventListener("abort", stop, { once: true });
  let silence = setTimeout(fallSilent, limits.stream_silence_ms);
  try {
    const response = await send(world, { method: "GET", path }, connection.signal, () => {});
    if (
      typeof response === "string" ||
      response instanceof CertificatesUnusable ||
      response.status !== 200 ||
      response.body === null
    )
      return BROKEN;
    const stream = new EventStream({ line_bytes: limits.answer_bytes, event_bytes: limits.answer_bytes });
    for await (const piece of response.body) {
      clearTimeout(silence);
      silence = setTimeout(fallSilent, limits.stream_silence_ms);
      for (const event of stream.push(piece)) {
        const read = readView(withoutToken(world, event.data));
        if (!read.ok) return BROKEN;
        onView(read.view);
        if (event.type === "done") return { isWhole: true, silent_ms: 0 };
      }
      if (stream.fault !== null) return BROKEN;
    }
    return BROKEN; // it ended without saying how the job ended
  } catch (error) {
    if (connection.signal.aborted || transportFault(error, "") !== null) return { isWhole: false, silent_ms };
    throw error;
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", stop);
    connection.abort();
    leave();
  }
}
