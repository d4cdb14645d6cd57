/**
 * The door of an HTTP server that strangers reach: how many connections there are, how long one may take to say what it
 * wants, and TLS. Every connection is counted and timed from the moment it is accepted, also before it says anything and
 * while it shakes hands.
 *
 * The server library does neither in this runtime: it learns of a connection with its first byte, and of a TLS one when
 * the handshake is over (`docs/decisions/0043-the-node-has-a-door.md`). So connections are accepted here, and handed to
 * it one by one.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { WritError } from "../core/error.ts";
import { secureContext, type Tls } from "./certificate.ts";

export type DoorLimits = {
  readonly connections: number;
  /** From the first moment of a connection, or the first byte behind an answer, to the end of a request's header. */
  readonly header_ms: number;
  /** Between an answer and the first byte of a further request. */
  readonly keep_alive_ms: number;
};

export type Door = {
  readonly port: number;
  /** Connections that are inside. */
  readonly guests: number;
  /** Lets nobody in any more. Who is inside stays. */
  shut(): void;
  /** Ends every connection, and resolves when the last one is gone. */
  clear(): Promise<void>;
};

type Guest = {
  readonly raw: Socket;
  /** What HTTP is spoken on: `raw`, or the TLS around it. */
  socket: Socket;
  /** Requests that are not answered yet. */
  asked: number;
  phase: "header" | "idle" | "busy";
  timer: ReturnType<typeof setTimeout>;
};

/** What one that finds no room is told; with TLS it would take a handshake to tell it. */
export type NoRoom = { readonly text: string };

const FAREWELL_MS = 1000;

/**
 * Opens the door and begins to let in.
 *
 * @param http a server that does not listen itself; its own timeouts and limits of connections mean nothing here
 * Errors: `port_unavailable`; `tls_unusable` where certificate or key are none, or do not belong together
 */
export async function openDoor(
  http: HttpServer,
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: Tls | null },
  limits: DoorLimits,
  noRoom: NoRoom,
): Promise<Door> {
  const context = tls === null ? null : secureContext(tls);
  const guests = new Set<Guest>();
  const bySocket = new WeakMap<object, Guest>();

  const allow = (guest: Guest, phase: "header" | "idle", ms: number) => {
    clearTimeout(guest.timer);
    guest.phase = phase;
    guest.timer = setTimeout(() => guest.raw.destroy(), ms);
  };
  const hand = (guest: Guest) => {
    bySocket.set(guest.socket, guest);
    http.emit("connection", guest.socket);
    guest.socket.on("data", () => {
      if (guest.phase === "idle") allow(guest, "header", limits.header_ms);
    });
  };
  const letIn = (raw: Socket) => {
    raw.on("error", () => raw.destroy());
    if (guests.size >= limits.connections) {
      turnAway(raw, context === null ? noRoom : null);
      return;
    }
    const guest: Guest = { raw, socket: raw, asked: 0, phase: "header", timer: setTimeout(() => {}, 0) };
    guests.add(guest);
    allow(guest, "header", limits.header_ms);
    raw.on("close", () => {
      guests.delete(guest);
      clearTimeout(guest.timer);
    });
    if (context === null) return hand(guest);
    const secure = new TLSSocket(raw, { isServer: true, secureContext: context });
    guest.socket = secure;
    secure.on("error", () => raw.destroy());
    secure.on("close", () => raw.destroy());
    secure.on("secure", () => hand(guest));
  };

  http.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const guest = bySocket.get(request.socket);
    if (guest === undefined) return;
    clearTimeout(guest.timer);
    guest.asked += 1;
    guest.phase = "busy";
    response.on("close", () => {
      guest.asked -= 1;
      if (guest.asked === 0 && guests.has(guest)) allow(guest, "idle", limits.keep_alive_ms);
    });
  });

  const listener = createServer(letIn);
  const bound = await listen(listener, host, port);
  let isShut = false;
  const gone = new Promise<void>((resolve) => listener.once("close", () => resolve()));
  const shut = () => {
    if (isShut) return;
    isShut = true;
    listener.close();
  };
  return {
    port: bound,
    get guests() {
      return guests.size;
    },
    shut,
    async clear() {
      shut();
      for (const { raw } of guests) raw.destroy();
      await gone;
    },
  };
}

function turnAway(raw: Socket, noRoom: NoRoom | null): void {
  if (noRoom === null) {
    raw.destroy();
    return;
  }
  raw.resume();
  const timer = setTimeout(() => raw.destroy(), FAREWELL_MS);
  raw.on("close", () => clearTimeout(timer));
  raw.end(noRoom.text);
}

function listen(listener: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once("error", (error) => reject(unavailable(host, port, error)));
    listener.listen({ host, port, exclusive: true }, () => {
      const address = listener.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function unavailable(host: string, port: number, error: Error): WritError {
  const code = "code" in error ? String(error.code) : "";
  const why =
    code === "EADDRINUSE" ? "it is taken" : code === "EADDRNOTAVAIL" ? "it is none of this machine" : error.message;
  return new WritError("port_unavailable", `Cannot listen on ${host}:${port}: ${why}`, {
    hint: "Name another address with --listen; port 0 is any that is free",
    cause: error,
  });
}
