/**
 * The scripted seat over HTTP: a real server on a loopback address that does what `core/scripted` decides.
 *
 * `node:http` and not `Bun.serve`: a script cuts inside of an event, resets connections, refuses them for a while and
 * comes back on the same port, and this is the one of the two whose sockets can be reset, whose writes go out as they
 * are, and which bounds connections and headers (`test/wire/scripted-seat.test.ts` holds it to that).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WritError } from "../core/error.ts";
import { checkJson } from "../core/json/parse.ts";
import { compactJson } from "../core/json/value.ts";
import type { End, Plan, Step } from "../core/scripted/plan.ts";
import { type Incoming, type Meeting, Play, type PlayReport, type Ticket } from "../core/scripted/play.ts";
import type { Script } from "../core/scripted/read-script.ts";
import type { LogEntry, OpenEntry } from "../core/scripted/seat-log.ts";

/** Time as the seat sees it; a test may move it by hand. */
export type SeatClock = {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls back once after so many milliseconds, unless what it returns is called before. */
  after(ms: number, call: () => void): () => void;
};

export type SeatService = {
  readonly script: Script;
  /** A loopback address. */
  readonly host: string;
  /** 0: any that is free; it stays the same as long as the seat serves. */
  readonly port: number;
  /** What requests must bring; null: nothing. */
  readonly token: string | null;
  readonly clock: SeatClock;
  /** Seconds of the epoch, for the `created` of all answers. */
  readonly created: number;
  /** Told of each request when it is over. */
  onEntry(entry: LogEntry): void;
  /** Told of what goes wrong in the seat itself; whoever asked is told nothing of it. */
  onDefect(error: unknown): void;
};

export type ScriptedSeat = {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Oldest first. */
  log(): readonly LogEntry[];
  /** The body of a request of the log, as it was sent; null where it is not kept. */
  bodyOf(entry: LogEntry): string | null;
  /** Forgets counts, log and times. */
  reset(): void;
  report(): PlayReport;
  /** Cuts what is open, and resolves when the last connection is gone. */
  close(): Promise<void>;
};

export type SeatLimits = {
  readonly connections: number;
  readonly header_bytes: number;
  /** From the first byte of a request to the end of its header. */
  readonly header_ms: number;
  /** From there to the end of its body. */
  readonly request_ms: number;
  readonly keep_alive_ms: number;
  readonly body_bytes: number;
};

export const SEAT_LIMITS: SeatLimits = {
  connections: 1024,
  header_bytes: 16 * 1024,
  header_ms: 10_000,
  request_ms: 60_000,
  keep_alive_ms: 60_000,
  body_bytes: 4 * 1024 * 1024,
};

/** Starts to serve. Errors: `port_unavailable` */
export async function serveScriptedSeat(service: SeatService, limits: SeatLimits = SEAT_LIMITS): Promise<ScriptedSeat> {
  const server = new SeatServer(service, limits);
  await server.start();
  return server;
}

/** Ports that no system gives away by itself: one that is refused for a while is not taken by somebody else meanwhile. */
const QUIET_PORTS = { from: 20_000, to: 32_767, tries: 64 } as const;
/** How often, and how far apart, the port is asked back that the seat had before. */
const COMEBACK = { tries: 100, apart_ms: 50 } as const;
/** Events that wait for each other go out in one write of so many bytes. */
const WRITE_BYTES = 16 * 1024;
/** How long a client has to read what was sent before its connection is reset. */
const READ_FIRST_MS = 20;

class SeatServer implements ScriptedSeat {
  port = 0;
  private readonly play: Play;
  private readonly sockets = new Set<Socket>();
  private readonly answering = new Set<Answering>();
  private readonly waiting = new Map<Ticket, () => void>();
  private listener: Server | null = null;
  /** The present listener, and earlier ones that still have connections. */
  private readonly servers = new Set<Server>();
  private isClosed = false;
  private stopTimer = () => {};
  /** Openings and closings of the port happen one after the other. */
  private settling: Promise<void> = Promise.resolve();

  constructor(
    private readonly service: SeatService,
    private readonly limits: SeatLimits,
  ) {
    const { script, clock, created, token } = service;
    const world = { sha256, created, token };
    this.play = new Play(script, world, clock.now());
  }

  get url(): string {
    const { host } = this.service;
    return `http://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
  }

  async start(): Promise<void> {
    const { port, script } = this.service;
    const isQuiet = port === 0 && script.states.some(({ state }) => state === "down" || state === "loading");
    this.listener = await (isQuiet ? this.listenQuietly() : this.listen(port));
    const address = this.listener.address();
    if (typeof address === "object" && address !== null) this.port = address.port;
    this.play.reset(this.service.clock.now());
    this.settle();
    await this.settling;
  }

  log(): readonly LogEntry[] {
    return this.play.log();
  }

  bodyOf(entry: LogEntry): string | null {
    return this.play.bodyOf(entry);
  }

  reset(): void {
    this.play.reset(this.service.clock.now());
    this.settle();
  }

  report(): PlayReport {
    return this.play.report();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopTimer();
    for (const one of this.answering) one.cut();
    await this.settling;
    if (this.listener !== null) void closeListener(this.listener);
    this.listener = null;
    const closed = [...this.servers].map((server) => new Promise((resolve) => server.once("close", resolve)));
    for (const socket of this.sockets) socket.destroy();
    for (const server of this.servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  // The port and the time.

  /** Brings port, connections and line in accord with what the script says of this moment. */
  private settle(now: number = this.service.clock.now()): void {
    if (this.isClosed) return;
    const { clock } = this.service;
    if (this.play.resetsAt(now)) {
      for (const one of this.answering) one.reset();
      for (const socket of this.sockets) socket.resetAndDestroy();
      // Connections that never said anything are known to the server alone.
      for (const server of this.servers) server.closeAllConnections();
    } else if (this.play.refusesAt(now)) {
      // Who waits for a further answer on an open connection finds nobody there either.
      const busy = new Set([...this.answering].map(({ socket }) => socket));
      for (const socket of this.sockets) if (!busy.has(socket)) socket.destroy();
    }
    this.settling = this.settling
      .then(() => this.settlePort())
      .catch((error) => {
        // A port that does not come back is nobody's matter once the seat is closed.
        if (!this.isClosed) this.service.onDefect(error);
      });
    this.admit(now);
    this.stopTimer();
    const next = this.play.nextChange(now);
    this.stopTimer = next === null ? () => {} : clock.after(Math.max(0, next - now), () => this.settle());
  }

  private async settlePort(): Promise<void> {
    if (this.isClosed) return;
    const isRefusing = this.play.refusesAt(this.service.clock.now());
    if (isRefusing && this.listener !== null) {
      // Not waited for: it is over when the last of its connections is.
      void closeListener(this.listener);
      this.listener = null;
    } else if (!isRefusing && this.listener === null) this.listener = await this.comeBack();
  }

  /** Errors: `port_unavailable` when somebody else has the port, and keeps it */
  private async comeBack(): Promise<Server> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.listen(this.port);
      } catch (error) {
        if (tries === COMEBACK.tries || this.isClosed) throw error;
        await new Promise<void>((resolve) => setTimeout(resolve, COMEBACK.apart_ms));
      }
    }
  }

  private async listenQuietly(): Promise<Server> {
    const { from, to, tries } = QUIET_PORTS;
    for (const random of crypto.getRandomValues(new Uint16Array(tries))) {
      const server = await this.listen(from + (random % (to - from + 1))).catch(() => null);
      if (server !== null) return server;
    }
    return await this.listen(0);
  }

  private async listen(port: number): Promise<Server> {
    const { limits } = this;
    const server = createServer(
      {
        maxHeaderSize: limits.header_bytes,
        headersTimeout: limits.header_ms,
        requestTimeout: limits.request_ms,
        keepAliveTimeout: limits.keep_alive_ms,
        connectionsCheckingInterval: Math.ceil(limits.header_ms / 10),
        noDelay: true,
      },
      (request, response) => {
        this.answer(request, response).catch((error) => {
          this.service.onDefect(error);
          response.destroy();
        });
      },
    );
    server.maxConnections = limits.connections;
    server.setTimeout(0);
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket)).on("error", () => {}); // a client may go in any way
    });
    const refuse = (socket: Duplex) => {
      socket.on("error", () => {}); // a client may go in any way
      const head = `HTTP/1.1 400 Bad Request\r\nwrit-scripted: ${this.service.script.name}\r\nConnection: close\r\n\r\n`;
      if (socket.writable) socket.end(head);
      else socket.destroy();
    };
    server.on("clientError", (_error, socket) => refuse(socket));
    // Nobody here speaks another protocol; left alone, such a request would wait for ever.
    server.on("upgrade", (_request, socket) => refuse(socket));
    server.on("connect", (_request, socket) => refuse(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(unavailable(port, error)));
      server.listen({ host: this.service.host, port, exclusive: true }, resolve);
    });
    this.servers.add(server);
    server.once("close", () => this.servers.delete(server));
    return server;
  }

  // One request.

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, script } = this.service;
    const { socket } = request;
    response.setHeader("writ-scripted", script.name);
    const target = targetOf(request);
    if (this.isClosed || this.play.refusesAt(clock.now())) {
      socket.resetAndDestroy();
      return;
    }
    const body = await bodyOf(request, this.limits.body_bytes);
    if (body === null) return;
    if (body === "too_large") {
      response.setHeader("Connection", "close");
      sendJson(response, 413, {
        error: { code: 413, message: "the request is too large", type: "invalid_request_error" },
      });
      return;
    }
    if (target.path.startsWith("/scripted/")) return this.answerOwn(target, response);

    const text = new TextDecoder().decode(body);
    const incoming: Incoming = { target, bearer: bearerOf(request), body: { text, bytes: body.length } };
    const now = clock.now();
    const meeting = this.play.meet(incoming, now);
    const one = new Answering(response, socket, clock, meeting.entry, (entry) => {
      this.answering.delete(one);
      this.service.onEntry(entry);
    });
    this.answering.add(one);
    await this.perform(meeting, one, now);
  }

  /** Settles first: the request may have begun a state, or been the first one, from which others count. */
  private async perform(meeting: Meeting, one: Answering, now: number): Promise<void> {
    if (meeting.kind !== "line") {
      this.settle(now);
      return meeting.kind === "reset" ? one.reset() : await one.send(meeting.plan);
    }
    const { ticket } = meeting;
    await one.until((admitted) => {
      this.waiting.set(ticket, admitted);
      this.settle(now);
      return () => {};
    });
    // Whoever left before being admitted stands in the line still.
    if (this.waiting.delete(ticket)) {
      this.play.leave(ticket);
      return;
    }
    const plan = this.play.play(ticket);
    one.onceOver(() => this.holdSlot(plan.hold_ms));
    await one.send(plan);
  }

  private admit(now: number): void {
    for (const ticket of this.play.admit(now)) {
      const admitted = this.waiting.get(ticket);
      this.waiting.delete(ticket);
      admitted?.();
    }
  }

  private holdSlot(ms: number): void {
    const release = () => {
      this.play.release();
      this.admit(this.service.clock.now());
    };
    if (ms === 0 || this.isClosed) release();
    else this.service.clock.after(ms, release);
  }

  /** The seat's own paths, which no engine has and the log leaves out. */
  private answerOwn({ method, path, query }: Incoming["target"], response: ServerResponse): void {
    if (method === "POST" && path === "/scripted/reset") {
      this.reset();
      sendJson(response, 200, { ok: true });
    } else if (method === "GET" && path === "/scripted/log") {
      const hasBodies = query.split("&").includes("bodies=1");
      const entries = this.play.log().map((entry) => {
        const text = compactJson(entry);
        const body = hasBodies ? this.play.bodyOf(entry) : null;
        return body === null ? text : `${text.slice(0, -1)},"body":${asJson(body)}}`;
      });
      sendText(response, 200, `[${entries.join(",\n")}]\n`);
    } else
      sendJson(response, 404, {
        error: { code: 404, message: "scripted seat: no such path", type: "not_found_error" },
      });
  }
}

/** One answer on its way: what was sent of it, and how it ended. */
class Answering {
  private isOver = false;
  private isGone = false;
  private isHeadOut = false;
  private over = () => {};
  /** Ends the wait that `send` is in. */
  private wake = () => {};

  constructor(
    private readonly response: ServerResponse,
    readonly socket: Socket,
    private readonly clock: SeatClock,
    private readonly entry: OpenEntry,
    private readonly onOver: (entry: LogEntry) => void,
  ) {
    response.on("error", () => {}); // what a write to a client that left comes to
    response.on("close", () => {
      this.isGone = true;
      this.finish("client_gone");
      this.wake();
    });
  }

  /** Calls back when the answer is over, at once when it is. */
  onceOver(call: () => void): void {
    if (this.isOver) call();
    else this.over = call;
  }

  cut(): void {
    this.finish("cut");
    this.socket.destroy();
  }

  reset(): void {
    this.finish("cut");
    this.socket.resetAndDestroy();
  }

  /** Waits for what `start` begins, and no longer than the client stays. */
  async until(start: (done: () => void) => () => void): Promise<void> {
    if (this.isGone) return;
    let stop = () => {};
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      stop = start(resolve);
    });
    stop();
  }

  async send({ steps, ping_ms, is_cut }: Plan): Promise<void> {
    let due = this.clock.now();
    const held = new Held();
    const flush = () => this.write(held.take());
    for (const step of steps) {
      if (this.isGone) return;
      switch (step.kind) {
        case "wait":
          await flush();
          due += step.ms;
          await this.pauseUntil(due, ping_ms);
          break;
        case "head":
          this.open(step);
          break;
        case "bytes":
          if (step.apart || held.isApart || held.size >= WRITE_BYTES) await flush();
          held.add(step);
          break;
        case "end":
          // Over before its last byte goes out: who has it all finds the slot free and the log written.
          this.end(held.take(), is_cut);
          return;
        default:
          await flush();
          await this.breakOff(step.kind, ping_ms);
          return;
      }
    }
  }

  private finish(ended: "done" | "cut" | "client_gone"): void {
    if (this.isOver) return;
    this.isOver = true;
    this.entry.ended = ended;
    this.over();
    this.onOver(this.entry);
  }

  private open({ status, headers, size_bytes }: Extract<Step, { kind: "head" }>): void {
    this.entry.status = status;
    const length = size_bytes === null ? {} : { "content-length": String(size_bytes) };
    this.response.writeHead(status, { ...headers, ...length });
  }

  /** Resolves when the bytes were taken over, and other work was looked at; or when the client is gone. */
  private async write(bytes: Uint8Array): Promise<void> {
    if (this.isGone) return;
    if (bytes.length === 0) {
      if (this.entry.status !== null && !this.isHeadOut) this.response.flushHeaders();
      return;
    }
    this.isHeadOut = true;
    this.entry.sent_bytes += bytes.length;
    await this.until((done) => {
      if (this.response.write(bytes)) {
        setImmediate(done);
        return () => {};
      }
      this.response.once("drain", done);
      return () => this.response.off("drain", done);
    });
  }

  private end(bytes: Uint8Array, isCut: boolean): void {
    this.entry.sent_bytes += bytes.length;
    this.finish(isCut ? "cut" : "done");
    this.response.end(bytes);
  }

  private async breakOff(kind: Exclude<End["kind"], "end">, pingMs: number | null): Promise<void> {
    if (this.isGone) return;
    switch (kind) {
      case "drop":
        return this.cut();
      case "reset":
        // A reset overtakes what the client has not read yet.
        await this.until((done) => {
          const timer = setTimeout(done, READ_FIRST_MS);
          return () => clearTimeout(timer);
        });
        return this.reset();
      case "hang":
        if (pingMs === null) await this.until(() => () => {});
        while (!this.isGone) {
          await this.pause(pingMs ?? 0);
          await this.write(PING);
        }
        return;
      default:
        return kind satisfies never;
    }
  }

  /** Waits, with comment lines meanwhile where the head is out. */
  private async pauseUntil(due: number, pingMs: number | null): Promise<void> {
    for (let left = due - this.clock.now(); left > 0 && !this.isGone; left = due - this.clock.now()) {
      const isPinging = pingMs !== null && this.entry.status !== null && pingMs < left;
      await this.pause(isPinging ? pingMs : left);
      if (isPinging) await this.write(PING);
    }
  }

  private pause(ms: number): Promise<void> {
    return this.until((done) => this.clock.after(ms, done));
  }
}

/** Bytes that go out with the next write. */
class Held {
  size = 0;
  isApart = false;
  private pieces: Uint8Array[] = [];

  add({ bytes, apart }: Extract<Step, { kind: "bytes" }>): void {
    this.pieces.push(bytes);
    this.size += bytes.length;
    this.isApart = apart;
  }

  take(): Uint8Array {
    const { pieces } = this;
    this.pieces = [];
    this.size = 0;
    this.isApart = false;
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }
}

const PING = new TextEncoder().encode(": ping\n\n");

function targetOf(request: IncomingMessage): Incoming["target"] {
  const url = request.url ?? "/";
  const at = url.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? "" : url.slice(at + 1),
  };
}

function bearerOf(request: IncomingMessage): string | null {
  const header = request.headers.authorization ?? "";
  return /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : null;
}

/** The whole body; null when the client left meanwhile. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Uint8Array | "too_large" | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  return await new Promise((resolve) => {
    request.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > most) resolve("too_large");
      else pieces.push(piece);
    });
    request.on("end", () => resolve(Buffer.concat(pieces)));
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  });
}

/** A body as a member of the log: itself where it is JSON, else as a text. */
function asJson(body: string): string {
  return checkJson(body, { numbers: "as_written" }) === null ? body : JSON.stringify(body);
}

function sendJson(response: ServerResponse, status: number, value: Parameters<typeof compactJson>[0]): void {
  sendText(response, status, compactJson(value));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": String(bytes.length) });
  response.end(bytes);
}

function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

function unavailable(port: number, error: Error): WritError {
  const isTaken = "code" in error && error.code === "EADDRINUSE";
  return new WritError(
    "port_unavailable",
    isTaken ? `Port ${port} is taken` : `Port ${port} cannot be opened: ${error.message}`,
    { hint: "Name another with --listen, or port 0: then any free one is taken", cause: error },
  );
}
