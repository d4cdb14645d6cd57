/** A node on a real socket, with scripted runs, and clients that say exactly what they are told to. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { capabilitiesOf } from "../../src/core/node/capabilities.ts";
import { type NodeServer, SERVER_LIMITS, type ServerLimits, serveNode } from "../../src/wire/node-server.ts";
import { doneResult, type NodeMore, nodeIn, type Play, realTime } from "./node-world.ts";

export const TOKEN = "correct-horse-battery-staple";

export type LiveNode = Awaited<ReturnType<typeof liveNode>>;

/** Runs that end when they are told to, and those that are aborted. */
export function stage() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const tells = new Map<string, Parameters<Play>[2]["onProgress"]>();
  const play: Play = (job, _seat, { signal, onProgress }) =>
    new Promise((resolve) => {
      begun.push(job.job_id);
      tells.set(job.job_id, onProgress);
      ends.set(job.job_id, () => resolve(doneResult(job)));
      signal.addEventListener("abort", () =>
        resolve(doneResult(job, { deferred: true, defer_class: "canceled", reason: "canceled by the caller" })),
      );
    });
  return {
    play,
    begun,
    end: (job_id: string) => ends.get(job_id)?.(),
    /** One word of progress. */
    tell: (job_id: string, step: number) =>
      tells.get(job_id)?.({
        phase: "decoding",
        step,
        max_steps: 12,
        tool: "",
        arg: "",
        tokens: 1,
        tok_s: 0,
        idle_ms: 0,
        allowance_ms: 0,
      }),
  };
}

export type LiveOptions = NodeMore & {
  readonly play?: Play;
  /** Null: open to all. */
  readonly token?: string | null;
  readonly limits?: Partial<ServerLimits>;
  readonly tls?: { readonly cert: string; readonly key: string };
};

export async function liveNode({ play = stage().play, token = TOKEN, limits, tls, ...more }: LiveOptions = {}) {
  const here = nodeIn(realTime, play, more);
  const { node, world } = here.make();
  node.start();
  const defects: unknown[] = [];
  const leave = async () => {
    await node.drain(AbortSignal.abort());
    world.queue.close();
    here[Symbol.dispose]();
  };
  const server: NodeServer = await serveNode(
    {
      service: node,
      capabilities: capabilitiesOf({ version: "0", acceptsWrite: node.acceptsWrite }),
      host: "127.0.0.1",
      port: 0,
      token,
      tls: tls ?? null,
      onDefect: (error) => void defects.push(error),
    },
    { ...SERVER_LIMITS, ...limits },
  ).catch(async (error) => {
    await leave();
    throw error;
  });
  const base = `${tls === undefined ? "http" : "https"}://127.0.0.1:${server.port}/writ/v1`;
  const bearer: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  return {
    ...here,
    node,
    world,
    server,
    defects,
    base,
    /** One request with the token, unless other headers are given. */
    ask: (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>, headers = bearer) =>
      fetch(base + path, {
        method,
        headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body }),
        keepalive: false,
        ...(tls === undefined ? {} : { tls: { ca: tls.cert } }),
      }),
    raw: (hello?: string | Uint8Array) => rawClient(server.port, hello, tls !== undefined),
    /** The same without TLS, whatever the node speaks. */
    rawPlain: (hello?: string | Uint8Array) => rawClient(server.port, hello),
    async [Symbol.asyncDispose]() {
      await server.close();
      await leave();
    },
  };
}

export type RawClient = {
  readonly socket: Socket;
  /** Everything that came so far. */
  readonly heard: string;
  say(text: string | Uint8Array): void;
  /** Resolves when what came matches; rejects when the connection ends before that. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything that came, when the connection is closed. */
  readonly closed: Promise<string>;
};

/** A connection that says what it is told to, and nothing else. */
export async function rawClient(port: number, hello?: string | Uint8Array, isTls = false): Promise<RawClient> {
  let heard = "";
  let isClosed = false;
  let changed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  const socket: Socket = isTls
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }, opened.resolve)
    : connect(port, "127.0.0.1", opened.resolve);
  socket.on("data", (data) => {
    heard += data.toString("latin1");
    changed.resolve();
    changed = Promise.withResolvers();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    opened.resolve();
    changed.resolve();
    closed.resolve(heard);
  });
  await opened.promise;
  if (hello !== undefined) socket.write(hello);
  return {
    socket,
    get heard() {
      return heard;
    },
    say: (text) => void socket.write(text),
    async until(pattern) {
      while (!pattern.test(heard)) {
        if (isClosed) throw new Error(`closed before ${pattern}: ${JSON.stringify(heard)}`);
        await changed.promise;
      }
      return heard;
    },
    closed: closed.promise,
  };
}

/** A request of HTTP/1.1 as text. */
export function request(method: string, path: string, headers: readonly string[] = [], body = ""): string {
  return [`${method} ${path} HTTP/1.1`, "Host: node", ...headers, "", body].join("\r\n");
}

export const BEARER = `Authorization: Bearer ${TOKEN}`;

export function statusOf(heard: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(heard)?.[1] ?? 0);
}

/** Looks again and again; a test in which it never holds fails by its own limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
