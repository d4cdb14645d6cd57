/** Saying exact bytes to a server, and hearing exactly what comes back. */
import { connect, type Socket } from "node:net";

export type Heard = {
  /** All bytes, each as the character of its number. */
  readonly text: string;
  /** How the other side ended: in order, or with a reset. */
  readonly end: "closed" | "reset";
};

/** Says this on a connection of its own, and answers what was heard until it was over. */
export function say(url: string, bytes: string | Uint8Array): Promise<Heard> {
  return new Promise((resolve, reject) => {
    let text = "";
    let end: Heard["end"] = "closed";
    const socket = open(url, () => socket.write(bytes));
    socket.on("data", (piece) => {
      text += piece.toString("latin1");
    });
    socket.on("error", (error) => {
      if ("code" in error && error.code === "ECONNRESET") end = "reset";
      else reject(error);
    });
    socket.on("close", () => resolve({ text, end }));
  });
}

/** A request as it goes over the wire. */
export function requestText(path: string, body?: unknown, headers = ""): string {
  const head = (method: string, more: string) => `${method} ${path} HTTP/1.1\r\nHost: seat\r\n${headers}${more}\r\n`;
  if (body === undefined) return head("GET", "Connection: close\r\n");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return head("POST", `Connection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`) + text;
}

/** The body of an answer: without its head, and without the framing of chunks. */
export function bodyOf({ text }: Heard): string {
  const at = text.indexOf("\r\n\r\n");
  const head = text.slice(0, at);
  let rest = text.slice(at + 4);
  if (!/transfer-encoding: chunked/i.test(head)) return rest;
  let body = "";
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest);
    if (size === null) return body;
    const length = Number.parseInt(size[1] ?? "0", 16);
    body += rest.slice(size[0].length, size[0].length + length);
    rest = rest.slice(size[0].length + length + 2);
  }
}

/** Whether an answer ended as its head said it would. */
export function isWhole({ text }: Heard): boolean {
  const at = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, at));
  return length === null ? text.endsWith("\r\n0\r\n\r\n") : text.length - at - 4 === Number(length[1]);
}

export function open(url: string, onOpen: () => void = () => {}): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname.replace(/^\[|\]$/g, ""), onOpen);
}

/** Whether a port takes connections. */
export function isRefused(url: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = open(url, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", (error) => {
      if ("code" in error && error.code === "ECONNREFUSED") resolve(true);
      else reject(error);
    });
  });
}
