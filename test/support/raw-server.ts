/** A server that hands out raw sockets: for answers that no HTTP library would send. */
import { createServer, type Socket } from "node:net";

export type Asked = {
  readonly method: string;
  readonly path: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly socket: Socket;
  /** Resolves when the client has closed the connection, or it broke. */
  readonly gone: Promise<void>;
};

export type RawServer = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly asked: readonly Asked[];
};

/** Serves one request a connection; the answer is written to its socket, and the socket may be left open. */
export async function rawServer(answer: (asked: Asked) => void, host = "127.0.0.1"): Promise<RawServer> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const gone = Promise.withResolvers<void>();
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("end", gone.resolve);
    socket.on("close", () => {
      sockets.delete(socket);
      gone.resolve();
    });
    let text = "";
    let isAnswered = false;
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const request = isAnswered ? null : parse(text);
      if (request === null) return;
      isAnswered = true;
      const whole = { ...request, socket, gone: gone.promise };
      asked.push(whole);
      answer(whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    url: `http://${host}:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port on which nothing listens. */
export async function deadPort(): Promise<number> {
  const server = await rawServer(() => {});
  await server[Symbol.asyncDispose]();
  return server.port;
}

/** A whole answer; the connection is closed after it. */
export function respond(
  { socket }: Asked,
  status: number,
  body: unknown = "",
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const lines = Object.entries({ "Content-Type": "application/json", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const head = [`HTTP/1.1 ${status} X`, ...lines, `Content-Length: ${Buffer.byteLength(text)}`, "Connection: close"];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

/** The head of a stream whose end is the end of the connection. */
export function openStream({ socket }: Asked, headers: Readonly<Record<string, string>> = {}): void {
  const lines = Object.entries({ "Content-Type": "text/event-stream", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`HTTP/1.1 200 OK\r\n${lines.join("")}Connection: close\r\n\r\n`);
}

function parse(text: string) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const body = text.slice(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return null;
  const [method = "", path = ""] = first.split(" ");
  return { method, path, headers, body: Buffer.from(body, "latin1").toString("utf8") };
}
