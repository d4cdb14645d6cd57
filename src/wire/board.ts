/**
 * The board over HTTP: one server on the loopback address, for whoever has the token of its URL.
 *
 * Here is what a request must be to be answered at all, and what every answer carries; what it says is somebody else's.
 * `node:http` and not `Bun.serve`: that has no limit of connections, and a header that never ends keeps its connection.
 */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Answer, Ask } from "../core/board/answer.ts";
import { WritError } from "../core/error.ts";

export type BoardServer = {
  readonly url: string;
  readonly port: number;
  /** Ends every connection, and resolves when the last one is gone. */
  close(): Promise<void>;
};

export type BoardService = {
  /** 0: any that is free. */
  readonly port: number;
  /** Letters, digits, "-" and "_". */
  readonly token: string;
  answer(ask: Ask): Answer;
  /** Told of what `answer` throws; whoever asked is told nothing of it. */
  onDefect(error: unknown): void;
};

export type Limits = {
  /** A browser opens six, and keeps them. */
  readonly connections: number;
  readonly header_bytes: number;
  /** From the first byte of a request to the end of its header. */
  readonly header_ms: number;
  /** A connection on which nothing moves, also because nobody reads the answer. */
  readonly idle_ms: number;
  readonly keep_alive_ms: number;
  readonly url_characters: number;
};

export const LIMITS: Limits = {
  connections: 16,
  header_bytes: 16 * 1024,
  header_ms: 5000,
  idle_ms: 15_000,
  keep_alive_ms: 5000,
  url_characters: 2000,
};

const ADDRESS = "127.0.0.1";

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
};

/** Starts to serve. Errors: `port_unavailable`. */
export async function serveBoard(service: BoardService, limits: Limits = LIMITS): Promise<BoardServer> {
  let port = service.port;
  const server = createServer(
    {
      maxHeaderSize: limits.header_bytes,
      headersTimeout: limits.header_ms,
      requestTimeout: limits.idle_ms,
      keepAliveTimeout: limits.keep_alive_ms,
      connectionsCheckingInterval: Math.ceil(limits.header_ms / 10),
    },
    (request, response) => respond(service, { port, url_characters: limits.url_characters }, request, response),
  );
  server.maxConnections = limits.connections;
  server.setTimeout(limits.idle_ms, (socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(unavailable(service.port, error)));
    server.listen({ host: ADDRESS, port: service.port, exclusive: true }, () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) port = address.port;
      resolve();
    });
  });
  return {
    url: `http://${ADDRESS}:${port}/${service.token}/`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Place = { readonly port: number; readonly url_characters: number };

function respond(service: BoardService, place: Place, request: IncomingMessage, response: ServerResponse): void {
  // A body is not read: the connection that brings one is not used again.
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  if (hasBody) response.setHeader("Connection", "close");
  const { status, type, body, location } = answerOf(service, place, request);
  const bytes = Buffer.from(body, "utf8");
  response.writeHead(status, {
    ...HEADERS,
    "Content-Type": type,
    "Content-Length": String(bytes.length),
    ...(status === 405 ? { Allow: "GET, HEAD" } : {}),
    ...(location === undefined ? {} : { Location: location }),
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function answerOf(
  service: BoardService,
  { port, url_characters }: Place,
  request: IncomingMessage,
): Answer & { readonly location?: string } {
  const url = request.url ?? "";
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  const slash = path.indexOf("/", 1);
  const given = slash < 0 ? path.slice(1) : path.slice(1, slash);
  // The token first: without it nobody learns what else would have been wrong.
  if (!path.startsWith("/") || !isToken(given, service.token)) return plain(404, "Not found");
  if (!isLoopback(request.headers.host ?? "", port)) return plain(421, "This name does not lead here");
  if (request.method !== "GET" && request.method !== "HEAD") return plain(405, "Only GET and HEAD");
  if (url.length > url_characters) return plain(414, "The address is too long");
  if (slash < 0) return { ...plain(308, "The address ends in a slash"), location: `/${service.token}/` };
  try {
    return service.answer({ path: path.slice(slash + 1), query: at < 0 ? "" : url.slice(at + 1) });
  } catch (error) {
    service.onDefect(error);
    return plain(500, "This is a defect in writ");
  }
}

function plain(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: `${body}\n` };
}

/** Compares digests, so that neither the time nor the length of what was given tells how close it came. */
function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** Whether a Host header names this server: another name that leads here was made to, by whoever owns it. */
function isLoopback(host: string, port: number): boolean {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host.toLowerCase());
}

function unavailable(port: number, error: Error): WritError {
  const isTaken = "code" in error && error.code === "EADDRINUSE";
  return new WritError(
    "port_unavailable",
    isTaken ? `Port ${port} is taken` : `Port ${port} cannot be opened: ${error.message}`,
    { hint: "Name another with --port, or leave it out: then any free one is taken", cause: error },
  );
}
