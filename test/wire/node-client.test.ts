import { afterAll, describe, expect, test } from "bun:test";
import { RequestGate } from "../../src/core/request-gate.ts";
import { openNodeClient } from "../../src/wire/node-client.ts";

type Handler = (request: Request) => Response | Promise<Response>;

const servers: ReturnType<typeof Bun.serve>[] = [];
afterAll(() => {
  for (const server of servers) void server.stop(true);
});

function serve(handler: Handler): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch: handler });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

const never = () => new AbortController().signal;
const client = (url: string, more: Partial<Parameters<typeof openNodeClient>[0]> = {}) =>
  openNodeClient({ url, token: () => "a-token-of-sixteen", ca_file: "", gate: new RequestGate(), ...more });

describe("openNodeClient()", () => {
  test("asks each end of the protocol with the bearer, and hands back what came", async () => {
    const asked: string[] = [];
    const url = serve(async (request) => {
      const { pathname, search } = new URL(request.url);
      asked.push(
        `${request.method} ${pathname}${search} ${request.headers.get("authorization")} ${await request.text()}`,
      );
      return Response.json(
        { error: { code: "queue_full", message: "full" } },
        { status: 503, headers: { "Retry-After": "20" } },
      );
    });
    const node = client(url);
    const full = { kind: "answer", status: 503, code: "queue_full", message: "full", retry_after_sec: 20 };
    expect(await node.submit('{"a":1}', never())).toMatchObject(full as object);
    await node.health(never());
    await node.poll("wrt-1", null, 12, never());
    await node.poll("wrt-1", 7, 12, never());
    await node.cancel("wrt-1", true, never());
    await node.cancel("wrt-1", false, never());
    const bearer = "Bearer a-token-of-sixteen";
    expect(asked).toEqual([
      `POST /writ/v1/jobs ${bearer} {"a":1}`,
      `GET /writ/v1/health ${bearer} `,
      `GET /writ/v1/jobs/wrt-1 ${bearer} `,
      `GET /writ/v1/jobs/wrt-1?wait=12&since=7 ${bearer} `,
      `DELETE /writ/v1/jobs/wrt-1?force=1 ${bearer} `,
      `DELETE /writ/v1/jobs/wrt-1 ${bearer} `,
    ]);
  });

  test("sends no bearer where there is none, and no token that would break a header", async () => {
    const url = serve((request) => new Response(String(request.headers.get("authorization"))));
    expect(await client(url, { token: () => "" }).health(never())).toMatchObject({ text: "null" });
    expect(await client(url, { token: () => "a\r\nX: y" }).health(never())).toMatchObject({
      kind: "none",
      is_sent: false,
    });
  });

  test("hands on no answer with the token in it, nor what a stream says of it", async () => {
    const token = 'tok"en\\of-a-node-0123456789';
    const url = serve((request) => {
      const said = request.headers.get("authorization");
      if (!request.url.endsWith("/events")) {
        return Response.json({ error: { code: "x", message: `seen: ${said}` } }, { status: 500 });
      }
      const view = { job_id: "a", state: "error", rev: 1, error: { message: said } };
      return new Response(`event: done\ndata: ${JSON.stringify(view)}\n\n`);
    });
    const node = client(url, { token: () => token });
    const answer = await node.health(never());
    expect(answer).toMatchObject({ message: "seen: Bearer [redacted]" });
    const seen: unknown[] = [];
    await node.follow("a", never(), (view) => seen.push(view));
    expect(seen).toHaveLength(1);
    expect(JSON.stringify([answer, seen])).not.toContain("of-a-node");
  });

  test("does not follow a redirect", async () => {
    let isReached = false;
    const other = serve(() => {
      isReached = true;
      return new Response("");
    });
    const url = serve(() => new Response(null, { status: 307, headers: { Location: other } }));
    expect(await client(url).submit("{}", never())).toMatchObject({ kind: "answer", status: 307 });
    expect(isReached).toBe(false);
  });

  test("reads no more than its bound of an answer", async () => {
    const url = serve(() => new Response("x".repeat(5000)));
    const limits = { answer_bytes: 4096 };
    expect(await client(url, { limits }).poll("a", null, 0, never())).toEqual({
      kind: "unusable",
      status: 200,
      why: "its answer has more than 4096 bytes",
    });
  });

  test("waits no longer than its bound, for the head and for the body", async () => {
    const head = serve(() => new Promise<Response>(() => {}));
    const limits = { cancel_ms: 100, health_ms: 100 };
    expect(await client(head, { limits }).cancel("a", true, never())).toMatchObject({
      kind: "none",
      is_sent: true,
      why: "no answer within 0.1 s",
    });
    const body = serve(
      () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) })),
    );
    expect(await client(body, { limits }).health(never())).toMatchObject({
      kind: "none",
      why: "no answer within 0.1 s",
    });
  });

  test("says whether anything was sent", async () => {
    const url = serve(() => new Response(""));
    const port = new URL(url).port;
    await servers.at(-1)?.stop(true);
    expect(await client(`http://127.0.0.1:${port}`).submit("{}", never())).toMatchObject({
      kind: "none",
      is_sent: false,
      why: "connection refused",
    });
    expect(await client("http://192.0.2.1:1").submit("{}", never())).toMatchObject({
      kind: "none",
      is_sent: false,
      why: expect.stringContaining("only https goes there"),
    });
  });

  test("dials the address that was judged, under the name that was given; a name that leads outside is not dialled", async () => {
    const url = serve((request) => new Response(request.headers.get("host")));
    const named = `http://node-b.test:${new URL(url).port}`;
    expect(await client(named, { lookup: async () => ["127.0.0.1"] }).health(never())).toMatchObject({
      text: named.replace("http://", ""),
    });
    expect(await client(named, { lookup: async () => ["127.0.0.1", "8.8.8.8"] }).health(never())).toMatchObject({
      kind: "none",
      is_sent: false,
      why: "8.8.8.8 is not an address of a private network; only https goes there",
    });
    expect(await client(named, { lookup: async () => [] }).health(never())).toMatchObject({
      why: 'host "node-b.test" has no address',
    });
    const slow = { lookup: () => new Promise<readonly string[]>(() => {}), limits: { health_ms: 50 } };
    expect(await client(named, slow).health(never())).toMatchObject({ kind: "none", why: "no answer within 0.05 s" });
    expect(await client("https://127.0.0.1:1", { ca_file: "/none.pem" }).health(never())).toMatchObject({
      kind: "none",
      is_sent: false,
      why: expect.stringContaining("/none.pem"),
    });
  });

  test("ends when it is called off, also while it waits at the gate", async () => {
    const url = serve(() => new Promise<Response>(() => {}));
    const gate = new RequestGate(1);
    const stop = new AbortController();
    const both = [client(url, { gate }).health(stop.signal), client(url, { gate }).health(stop.signal)];
    stop.abort();
    expect(await Promise.all(both)).toMatchObject([
      { kind: "none", why: "it was called off" },
      { kind: "none", is_sent: false },
    ]);
  });

  test("follows a stream of events to its end", async () => {
    const event = (type: string, rev: number, state: string) =>
      `event: ${type}\r\nid: ${rev}\r\ndata: {"job_id":"a","state":"${state}","rev":${rev}}\r\n\r\n`;
    const url = serve(
      () =>
        new Response(
          `: ping\n\n${event("state", 1, "running")}${event("progress", 2, "running")}${event("done", 3, "done")}`,
        ),
    );
    const seen: number[] = [];
    expect(await client(url).follow("a", never(), ({ rev }) => seen.push(rev))).toEqual({
      isWhole: true,
      silent_ms: 0,
    });
    expect(seen).toEqual([1, 2, 3]);
  });

  test.each<[string, Handler]>([
    ["breaks off", () => new Response('event: state\ndata: {"job_id":"a","state":"running","rev":1}\n\n')],
    ["is no stream", () => Response.json({ error: { code: "too_many_streams" } }, { status: 429 })],
    ["holds what is no view", () => new Response("data: x\n\n")],
    ["has a line without end", () => new Response("x".repeat(9000))],
    [
      "falls silent",
      () =>
        new Response(
          new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(": ping\n\n")) }),
        ),
    ],
  ])("says so where a stream %s", async (what, handler) => {
    const limits = { stream_silence_ms: 150, answer_bytes: 4096 };
    expect(await client(serve(handler), { limits }).follow("a", never(), () => {})).toEqual({
      isWhole: false,
      silent_ms: what === "falls silent" ? 150 : 0,
    });
  });
});
