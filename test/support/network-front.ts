/** Stands between delegators and a node, and is the network: it passes requests on, or does to them what networks do. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * `deaf`: passed on, and the answer is lost. `cut`: lost before it was passed on. `twice`: passed on two times. `hung`:
 * passed on, and no answer ever comes. `lost`: as `hung`, and never passed on.
 */
export type Fate = "pass" | "deaf" | "cut" | "twice" | "hung" | "lost";

export type Passed = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** How many requests of this method came before it. */
  readonly before: number;
};

export type NetworkFront = Awaited<ReturnType<typeof networkFront>>;

export async function networkFront(upstream: string, fateOf: (request: Passed) => Fate = () => "pass") {
  const counts = new Map<string, number>();
  /** Jobs that the node acknowledged, whether or not anybody heard it, with what was sent. */
  const acknowledged = new Map<string, string>();
  const sent: Passed[] = [];

  const forward = async ({ method, path, body }: Passed, headers: Headers, signal: AbortSignal) => {
    const answer = await fetch(upstream + path, {
      method,
      headers,
      ...(body === "" ? {} : { body }),
      redirect: "manual",
      keepalive: false,
      signal,
    });
    if (method === "POST" && answer.status === 202) {
      acknowledged.set((JSON.parse(body) as { job_id: string }).job_id, body);
    }
    return answer;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url: path = "/" } = request;
    let body = "";
    for await (const piece of request) body += piece;
    const before = counts.get(method) ?? 0;
    counts.set(method, before + 1);
    const passed = { method, path, body, before };
    sent.push(passed);
    const headers = new Headers();
    for (const name of ["authorization", "content-type", "accept", "last-event-id"]) {
      const value = request.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const fate = fateOf(passed);
    if (fate === "cut") return void request.socket.destroy();
    if (fate === "lost") return;
    try {
      // What is passed on without a hearer reaches the node all the same.
      const isHeard = fate === "pass" || fate === "twice";
      if (fate === "twice") await (await forward(passed, headers, gone.signal)).arrayBuffer();
      const answer = await forward(passed, headers, isHeard ? gone.signal : new AbortController().signal);
      if (!isHeard) {
        await answer.body?.cancel();
        if (fate === "deaf") request.socket.destroy();
        return;
      }
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "application/json",
        ...(answer.headers.has("retry-after") ? { "retry-after": answer.headers.get("retry-after") ?? "" } : {}),
      });
      for await (const piece of answer.body ?? []) if (!response.write(piece)) await drained(response);
      response.end();
    } catch {
      // The node is away, or somebody hung up: so does the network.
      request.socket.destroy();
    }
  };

  const server = createServer((request, response) => {
    // Whoever hangs up while it still sends has said nothing.
    handle(request, response).catch(() => request.socket.destroy());
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    acknowledged,
    sent,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}
