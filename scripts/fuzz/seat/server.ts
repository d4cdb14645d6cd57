/** Plays the replies of a hostile call over raw sockets, and keeps what it was asked. */
import { createServer, type Socket } from "node:net";
import { type HostileCall, legMark, probeOf } from "./call.ts";
import { type HostileReply, withValueAt } from "./reply.ts";

export type HostileServer = AsyncDisposable & {
  readonly url: string;
  /** The bodies of the chat requests, as they came. */
  readonly bodies: readonly string[];
};

const SLOTS = Array.from({ length: 8 }, (_, id) => ({ id, n_ctx: 8192, is_processing: false }));
const MODELS = { object: "list", data: ["m", "m2"].map((id) => ({ id, object: "model", max_model_len: 8192 })) };
const GOOD: Readonly<Record<string, object>> = {
  "/health": { status: "ok" },
  "/slots": SLOTS,
  "/props": { default_generation_settings: { n_ctx: 8192 }, total_slots: 8, build_info: "b1", chat_template: "{{x}}" },
  "/tokenize": { tokens: [1, 2, 3] },
  "/v1/models": MODELS,
  "/running": { running: ["m", "m2"].map((model) => ({ model, state: "ready" })) },
  "/api/ps": { models: [{ name: "m", model: "m", context_length: 8192 }] },
};

/** Serves one request a connection. */
export async function serveHostile(call: HostileCall): Promise<HostileServer> {
  const bodies: string[] = [];
  const sockets = new Set<Socket>();
  const asked = new Map<number, number>();
  let structured = 0;
  /** The next reply to a chat request, by the leg that its task names; the structured step names none. */
  const nextReply = (body: string): HostileReply | undefined => {
    const index = call.legs.findIndex((_, at) => body.includes(legMark(at)));
    const leg = call.legs[index];
    if (leg === undefined) {
      structured += 1;
      return call.structured[(structured - 1) % call.structured.length];
    }
    const count = asked.get(index) ?? 0;
    asked.set(index, count + 1);
    return leg.replies[Math.min(count, leg.replies.length - 1)];
  };
  const answer = ({ path, body }: Request, socket: Socket) => {
    if (path.endsWith("/chat/completions")) {
      bodies.push(body);
      const reply = nextReply(body);
      if (reply !== undefined) void play(reply, socket);
      return;
    }
    const probe = probeOf(call, path);
    if (probe !== null && "reply" in probe) {
      void play(probe.reply, socket);
      return;
    }
    const found = Object.entries(GOOD).find(([each]) => path.endsWith(each));
    const good = found?.[1] ?? { error: "not found" };
    const text = probe === null ? JSON.stringify(good) : withValueAt(good, probe.place, probe.json);
    const head = `HTTP/1.1 ${found === undefined ? 404 : 200} X\r\nContent-Type: application/json\r\n`;
    socket.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    const pieces: Buffer[] = [];
    let isAnswered = false;
    socket.on("data", (bytes) => {
      if (isAnswered) return;
      pieces.push(Buffer.from(bytes));
      const request = parse(Buffer.concat(pieces));
      if (request === null) return;
      isAnswered = true;
      answer(request, socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function play({ writes, end }: HostileReply, socket: Socket): Promise<void> {
  for (const { bytes, after_ms } of writes) await write(socket, bytes, after_ms);
  const last = writes.at(-1);
  while (end === "forever" && last !== undefined && !socket.destroyed) await write(socket, last.bytes, last.after_ms);
  if (end === "close") socket.end();
  else if (end === "reset") socket.resetAndDestroy();
}

async function write(socket: Socket, bytes: Uint8Array, after_ms: number): Promise<void> {
  if (after_ms > 0) await Bun.sleep(after_ms);
  if (socket.destroyed || socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.on("drain", go);
    socket.on("close", go);
  });
}

type Request = { readonly path: string; readonly body: string };

function parse(bytes: Buffer): Request | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length - end - 4 < length) return null;
  const path = head.split(" ", 2)[1]?.split("?", 1)[0] ?? "";
  return { path, body: bytes.toString("utf8", end + 4) };
}
