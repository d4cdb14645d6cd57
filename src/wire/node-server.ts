/**
 * A node over HTTP: what a request must be to be answered, how long it may take, and the event stream of a job. What it
 * is answered is decided by `core/node` and `node/`.
 *
 * The bearer comes first: without it nothing is read, and nobody learns what there is.
 *
 * Source: delegation run, sections 7.1 to 7.8
 */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WritError } from "../core/error.ts";
import {
  type Answer,
  cancelAnswer,
  errorAnswer,
  healthAnswer,
  NO_SUCH_JOB,
  REDUCED_HEALTH,
  recentAnswer,
  resultAnswer,
  submitAnswer,
  viewAnswer,
} from "../core/node/answer.ts";
import { isFromPage } from "../core/node/from-page.ts";
import { isTerminal, type JobView, NODE_ERRORS, renderView } from "../core/node/job.ts";
import { type Route, routeOf } from "../core/node/route.ts";
import type { NodeService } from "../core/node/service.ts";
import { SUBMIT_BYTES } from "../core/node/submit.ts";
import type { Tls } from "./certificate.ts";
import { type Door, type DoorLimits, openDoor } from "./door.ts";

export type NodeServer = {
  readonly port: number;
  readonly connections: number;
  /** Polls and streams that are held now. */
  readonly held: number;
  /** Answers what is held as it is now, ends every connection, and resolves when the last one is gone. */
  close(): Promise<void>;
};

export type NodeListener = {
  readonly service: NodeService;
  /** The body of `capabilities`. */
  readonly capabilities: object;
  /** An address, or a name that the system resolves. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** What requests must bring; null: nothing. */
  readonly token: string | null;
  readonly tls: Tls | null;
  /** Told of what a request ran into that is no fault of its own; whoever asked is told nothing of it. */
  onDefect(error: unknown): void;
};

export type ServerLimits = DoorLimits & {
  readonly header_bytes: number;
  readonly body_bytes: number;
  /** From the end of a header to the end of the body. */
  readonly body_ms: number;
  /** Until a whole answer was taken; and how long a stream may be behind. */
  readonly answer_ms: number;
  /** Long polls and streams at once, of one token. */
  readonly held: number;
  /** Between two events of progress, and between two signs of life of a stream. */
  readonly progress_ms: number;
  readonly ping_ms: number;
  /** How long the answer to a forced cancel waits for the job's end. */
  readonly stop_ms: number;
  /** What answers get to go out when the server closes. */
  readonly close_ms: number;
};

/** Source: delegation run, sections 0, 7.1, 7.6 */
export const SERVER_LIMITS: ServerLimits = {
  connections: 512,
  header_ms: 5_000,
  header_bytes: 16 * 1024,
  keep_alive_ms: 60_000,
  body_bytes: SUBMIT_BYTES,
  body_ms: 30_000,
  answer_ms: 30_000,
  held: 240,
  progress_ms: 250,
  ping_ms: 15_000,
  stop_ms: 2_000,
  close_ms: 2_000,
};

const STREAMS_RETRY_SEC = 5;
const STORE_RETRY_SEC = 5;

/** Starts to serve. Errors: `port_unavailable`, `tls_unusable` */
export async function serveNode(listener: NodeListener, limits: ServerLimits = SERVER_LIMITS): Promise<NodeServer> {
  const server = new Server(listener, limits);
  await server.open();
  return server;
}

class Server implements NodeServer {
  held = 0;
  readonly #listener: NodeListener;
  readonly #limits: ServerLimits;
  readonly #digest: Uint8Array | null;
  readonly #closing = new AbortController();
  /** Answers that are not out yet. */
  readonly #answering = new Set<ServerResponse>();
  #door: Door | null = null;

  constructor(listener: NodeListener, limits: ServerLimits) {
    this.#listener = listener;
    this.#limits = limits;
    this.#digest = listener.token === null ? null : digest(listener.token);
  }

  get port(): number {
    return this.#door?.port ?? 0;
  }

  get connections(): number {
    return this.#door?.guests ?? 0;
  }

  async open(): Promise<void> {
    // The limits of time are the door's and our own.
    const http = createServer(
      { maxHeaderSize: this.#limits.header_bytes, headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 },
      (request, response) => void this.#take(request, response),
    );
    http.timeout = 0;
    http.on("clientError", (error: Error, socket: Duplex) => refuse(socket, error));
    // What else somebody expects is expected in vain: the library's own answer is none of ours.
    http.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
      void this.#take(request, response);
    });
    // Nobody is led anywhere else from here.
    http.on("upgrade", (_request: IncomingMessage, socket: Duplex) => refuse(socket, null));
    http.on("connect", (_request: IncomingMessage, socket: Duplex) => refuse(socket, null));
    const full = errorAnswer("too_many_connections", "This node has too many connections; come back later");
    this.#door = await openDoor(http, this.#listener, this.#limits, { text: rawAnswer(full) });
  }

  async close(): Promise<void> {
    this.#door?.shut();
    this.#closing.abort();
    const out = [...this.#answering].map((response) => new Promise((resolve) => response.once("close", resolve)));
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.#limits.close_ms);
    await Promise.race([Promise.all(out), late.promise]);
    clearTimeout(timer);
    await this.#door?.clear();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#answering.add(response);
    response.on("close", () => this.#answering.delete(response));
    // A client that breaks off is no fault.
    request.on("error", () => {});
    response.on("error", () => {});
    try {
      await this.#respond(request, response);
    } catch (error) {
      this.#listener.onDefect(error);
      if (response.headersSent) response.destroy();
      else this.#send(response, faultAnswer(error));
    }
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routeOf(request.method ?? "", request.url ?? "");
    if (this.#digest === null && isFromPage(request.headers)) {
      request.resume();
      return this.#send(response, FOR_NO_PAGE);
    }
    if (!this.#isAllowed(request.headers.authorization)) {
      request.resume();
      if (route.kind === "health") return this.#send(response, REDUCED_HEALTH);
      return this.#send(response, errorAnswer("unauthorized", "This node wants its token as Authorization: Bearer"));
    }
    if (route.kind === "submit") return this.#submit(request, response);
    request.resume();
    const answer = route.kind === "events" ? this.#stream(route.job_id, response) : await this.#answer(route, response);
    if (answer !== null) this.#send(response, answer);
  }

  #isAllowed(header: string | undefined): boolean {
    if (this.#digest === null) return true;
    const given = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? "")?.[1] ?? "";
    // Digests are compared, so that neither the time nor the length tells how close it came.
    return timingSafeEqual(digest(given), this.#digest);
  }

  async #answer(route: Exclude<Route, { kind: "submit" | "events" }>, response: ServerResponse): Promise<Answer> {
    const { service, capabilities } = this.#listener;
    switch (route.kind) {
      case "health":
        return healthAnswer(service.health());
      case "capabilities":
        return { status: 200, body: JSON.stringify(capabilities) };
      case "recent":
        return recentAnswer(service.recent(route.limit));
      case "view":
        return viewAnswer(await this.#watch(route, response));
      case "result":
        return resultAnswer(service.view(route.job_id));
      case "cancel":
        return await this.#cancel(route.job_id, route.isForced, response);
      case "astray":
        return errorAnswer(route.code, route.message, route);
      default:
        return route satisfies never;
    }
  }

  /** Polls past the limit are answered at once. */
  async #watch(
    { job_id, since, wait_ms }: { readonly job_id: string; readonly since: number | null; readonly wait_ms: number },
    response: ServerResponse,
  ): Promise<JobView | null> {
    const { service } = this.#listener;
    if (wait_ms <= 0 || this.held >= this.#limits.held) return service.view(job_id);
    this.held += 1;
    try {
      return await service.watch(job_id, since, wait_ms, this.#untilGone(response));
    } finally {
      this.held -= 1;
    }
  }

  /** A run that is stopped ends soon, mostly: then its end is the answer. */
  async #cancel(job_id: string, isForced: boolean, response: ServerResponse): Promise<Answer> {
    const { service } = this.#listener;
    const answer = service.cancel(job_id, isForced);
    if (answer.kind !== "stopping") return cancelAnswer(answer);
    const signal = AbortSignal.any([this.#untilGone(response), AbortSignal.timeout(this.#limits.stop_ms)]);
    let view: JobView | null = answer.view;
    while (view !== null && !isTerminal(view.state) && !signal.aborted) {
      view = await service.watch(job_id, view.rev, this.#limits.stop_ms, signal);
    }
    return viewAnswer(view);
  }

  /** Fires when the client is gone, or the server closes. */
  #untilGone(response: ServerResponse): AbortSignal {
    const gone = new AbortController();
    const stop = () => gone.abort();
    this.#closing.signal.addEventListener("abort", stop, { once: true });
    response.on("close", () => {
      this.#closing.signal.removeEventListener("abort", stop);
      stop();
    });
    if (this.#closing.signal.aborted) stop();
    return gone.signal;
  }

  async #submit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = bodyFault(request, this.#limits.body_bytes);
    if (refused !== null) {
      request.resume();
      return this.#send(response, refused);
    }
    const body = await readBody(request, response, this.#limits);
    if (body === null) return; // gone
    if ("status" in body) return this.#send(response, body, body.status === NODE_ERRORS.timeout);
    const text = textOf(body.bytes);
    const answer =
      text === null
        ? errorAnswer("bad_request", "The body is no UTF-8")
        : submitAnswer(this.#listener.service.submit(text));
    this.#send(response, answer);
  }

  /** @param isLast closes the connection */
  #send(response: ServerResponse, { status, body, retryAfterSec, allow }: Answer, isLast = false): void {
    if (response.destroyed || response.writableEnded) return;
    const bytes = Buffer.from(body, "utf8");
    response.writeHead(status, {
      ...HEADERS,
      "Content-Type": "application/json",
      "Content-Length": String(bytes.length),
      ...(status === NODE_ERRORS.unauthorized ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(retryAfterSec === undefined ? {} : { "Retry-After": String(retryAfterSec) }),
      ...(allow === undefined ? {} : { Allow: allow }),
      ...(isLast || this.#closing.signal.aborted ? { Connection: "close" } : {}),
    });
    response.end(bytes);
    // Who does not take it does not keep it here.
    const timer = setTimeout(() => response.destroy(), this.#limits.answer_ms);
    response.on("close", () => clearTimeout(timer));
  }

  // The events of a job.

  /** Null: the stream has begun. */
  #stream(job_id: string, response: ServerResponse): Answer | null {
    const { service } = this.#listener;
    const first = service.view(job_id);
    if (first === null) return NO_SUCH_JOB;
    if (this.held >= this.#limits.held) {
      const message = `${this.held} polls and streams are held already; ask with polls`;
      return errorAnswer("too_many_streams", message, { retryAfterSec: STREAMS_RETRY_SEC });
    }
    this.held += 1;
    response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" });
    const look = () => {
      try {
        return service.view(job_id);
      } catch (error) {
        this.#listener.onDefect(error);
        return null;
      }
    };
    const stream = new EventsOf(response, first, look, this.#limits);
    const leave = service.onChange(job_id, () => stream.changed());
    const closing = () => response.end();
    this.#closing.signal.addEventListener("abort", closing, { once: true });
    response.on("close", () => {
      this.held -= 1;
      leave();
      stream.stop();
      this.#closing.signal.removeEventListener("abort", closing);
    });
    stream.start();
    if (this.#closing.signal.aborted) closing();
    return null;
  }
}

/** What one stream was told, and what it will be told next. A state is told at once; progress at its pace. */
class EventsOf {
  readonly #response: ServerResponse;
  readonly #look: () => JobView | null;
  readonly #limits: ServerLimits;
  readonly #first: JobView;
  #state: JobView["state"] | null = null;
  #told_ms = 0;
  #isOver = false;
  #progress: ReturnType<typeof setTimeout> | null = null;
  #ping: ReturnType<typeof setInterval> | null = null;
  /** Set while the client is behind. */
  #behind: ReturnType<typeof setTimeout> | null = null;

  constructor(response: ServerResponse, first: JobView, look: () => JobView | null, limits: ServerLimits) {
    this.#response = response;
    this.#first = first;
    this.#look = look;
    this.#limits = limits;
  }

  start(): void {
    this.#response.on("drain", () => this.#caughtUp());
    this.#ping = setInterval(() => {
      if (this.#behind === null) this.#write(": ping\n\n");
    }, this.#limits.ping_ms);
    this.#tell(this.#first);
  }

  changed(): void {
    if (this.#isOver) return;
    const view = this.#look();
    if (view === null) {
      // Its time of being kept is over, or nobody can say how it is.
      this.#isOver = true;
      this.#response.end();
      return;
    }
    const wait = this.#limits.progress_ms - (performance.now() - this.#told_ms);
    if (view.state !== this.#state) this.#tell(view);
    else if (this.#behind !== null || this.#progress !== null) return;
    else if (wait <= 0) this.#tell(view);
    else {
      this.#progress = setTimeout(() => {
        this.#progress = null;
        this.changed();
      }, wait);
    }
  }

  stop(): void {
    this.#isOver = true;
    if (this.#progress !== null) clearTimeout(this.#progress);
    if (this.#ping !== null) clearInterval(this.#ping);
    if (this.#behind !== null) clearTimeout(this.#behind);
  }

  #tell(view: JobView): void {
    const isDone = isTerminal(view.state);
    const type = isDone ? "done" : view.state === this.#state ? "progress" : "state";
    this.#state = view.state;
    this.#told_ms = performance.now();
    this.#write(`event: ${type}\nid: ${view.rev}\ndata: ${renderView(view)}\n\n`);
    if (!isDone) return;
    this.#isOver = true;
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#response.write(text) || this.#behind !== null) return;
    this.#behind = setTimeout(() => this.#response.destroy(), this.#limits.answer_ms);
  }

  #caughtUp(): void {
    if (this.#behind !== null) clearTimeout(this.#behind);
    this.#behind = null;
    this.changed();
  }
}

const FOR_NO_PAGE = errorAnswer(
  "misdirected",
  "This node has no token, and answers programs of its own machine alone",
  {
    hint: "Ask it as 127.0.0.1 or localhost, or give the node a token",
  },
);

const HEADERS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** What is wrong with a body before it is read. */
function bodyFault({ headers }: IncomingMessage, most: number): Answer | null {
  const type = headers["content-type"] ?? "";
  const encoding = headers["content-encoding"] ?? "identity";
  if (!/^application\/json *(?:;|$)/i.test(type) || /charset *= *"?(?!utf-?8\b)/i.test(type)) {
    return errorAnswer("unsupported_media_type", "The body must be application/json, in UTF-8");
  }
  if (encoding.toLowerCase() !== "identity") {
    return errorAnswer("unsupported_media_type", "The body must come as it is: no content encoding is read here");
  }
  return Number(headers["content-length"] ?? 0) > most ? tooLarge(most) : null;
}

function tooLarge(most: number): Answer {
  return errorAnswer("too_large", `The body may have ${most} bytes`);
}

/** The whole body, or what to answer in its place. Null: the client broke off. */
function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { body_bytes, body_ms }: ServerLimits,
): Promise<{ readonly bytes: Uint8Array } | Answer | null> {
  return new Promise((resolve) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    const late = () => settle(errorAnswer("timeout", `The body did not come whole within ${body_ms / 1000} s`));
    const timer = setTimeout(late, body_ms);
    const settle = (outcome: { readonly bytes: Uint8Array } | Answer | null) => {
      clearTimeout(timer);
      pieces.length = 0;
      resolve(outcome);
    };
    request.on("data", (piece: Buffer) => {
      size += piece.length;
      // What comes behind it is read and dropped: cut off at once, a client that still sends would not hear why.
      if (size > body_bytes) settle(tooLarge(body_bytes));
      else pieces.push(piece);
    });
    request.on("end", () => settle({ bytes: Buffer.concat(pieces) }));
    response.on("close", () => settle(null));
  });
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null; // no UTF-8
  }
}

function faultAnswer(error: unknown): Answer {
  if (error instanceof WritError) {
    const more = { retryAfterSec: STORE_RETRY_SEC };
    return errorAnswer("storage", "The store of this node cannot be used at the moment", more);
  }
  return errorAnswer("internal", "This is a defect in writ");
}

/** Answers what is no request, or none that is taken, on its bare connection. */
function refuse(socket: Duplex, error: Error | null): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const isLong = error !== null && "code" in error && error.code === "HPE_HEADER_OVERFLOW";
  const answer = isLong
    ? { ...errorAnswer("bad_request", "The header is too long"), status: 431 }
    : errorAnswer("bad_request", "This is no request that a node takes");
  socket.end(rawAnswer(answer), () => socket.destroy());
}

function rawAnswer({ status, body }: Answer): string {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
