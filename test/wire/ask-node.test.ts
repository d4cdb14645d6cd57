import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Remote } from "../../src/core/config/config.ts";
import { type AskWorld, askNode } from "../../src/wire/ask-node.ts";

const TOKEN = "0123456789abcdef";
let server: ReturnType<typeof Bun.serve>;
const seen: Request[] = [];

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    fetch(request) {
      seen.push(request);
      const { pathname } = new URL(request.url);
      if (pathname === "/away") return Response.redirect("http://127.0.0.1:1/", 302);
      if (pathname === "/large") return new Response("x".repeat(1024 * 1024 + 1));
      if (pathname === "/limit") return new Response("x".repeat(1024 * 1024));
      if (pathname === "/never") return new Promise<Response>(() => {});
      return Response.json({ host: request.headers.get("host"), token: request.headers.get("authorization") });
    },
  });
});
afterAll(async () => {
  await server.stop(true);
});

const world = (more: Partial<AskWorld> = {}): AskWorld => ({
  environment: (name) => (name === "T" ? TOKEN : undefined),
  ...more,
});
const remote = (more: Partial<Remote> = {}): Remote => ({
  url: `http://127.0.0.1:${server.port}`,
  token_env: "T",
  ca_file: "",
  ...more,
});

test("it brings the token of its remote, and says what came", async () => {
  const answer = await askNode(remote(), "/writ/v1/health", world());
  expect(answer).toEqual({
    kind: "answered",
    status: 200,
    text: JSON.stringify({ host: `127.0.0.1:${server.port}`, token: `Bearer ${TOKEN}` }),
  });
});

test.each(["", "NOT_SET"])("without a token none is sent: %p", async (token_env) => {
  const answer = await askNode(remote({ token_env }), "/", world());
  expect(answer.kind === "answered" && JSON.parse(answer.text).token).toBe(null);
});

test("a name is resolved here, judged, and dialled by its address under its own name", async () => {
  const named = remote({ url: `http://node-b.test:${server.port}` });
  const lookup = async () => ["127.0.0.1"];
  const answer = await askNode(named, "/", world({ lookup }));
  expect(answer.kind === "answered" && JSON.parse(answer.text).host).toBe(`node-b.test:${server.port}`);
});

test("a name that leads beyond the private network is not dialled", async () => {
  const before = seen.length;
  const named = remote({ url: `http://node-b.test:${server.port}` });
  expect(await askNode(named, "/", world({ lookup: async () => ["127.0.0.1", "8.8.8.8"] }))).toEqual({
    kind: "silent",
    message: "8.8.8.8 is not an address of a private network; only https goes there",
  });
  expect(seen.length).toBe(before);
});

test("a redirect is an answer, and is not followed", async () => {
  expect(await askNode(remote(), "/away", world())).toMatchObject({ kind: "answered", status: 302 });
});

describe("silence", () => {
  test("a body of the limit is read, and a larger one is none", async () => {
    expect(await askNode(remote(), "/limit", world())).toMatchObject({ kind: "answered" });
    expect(await askNode(remote(), "/large", world())).toEqual({
      kind: "silent",
      message: "its answer is larger than 1024 KiB",
    });
  });

  test("an answer that does not come is waited for no longer than allowed", async () => {
    expect(await askNode(remote(), "/never", world({ wait_ms: 50 }))).toEqual({
      kind: "silent",
      message: "no whole answer within 0.05 s",
    });
  });

  test("a resolver that does not answer is waited for no longer either", async () => {
    const lookup = () => new Promise<readonly string[]>(() => {});
    expect(await askNode(remote({ url: "http://node-b.test" }), "/", world({ lookup, wait_ms: 50 }))).toMatchObject({
      message: "no whole answer within 0.05 s",
    });
  });

  test("nothing that listens, a name without an address, certificates that are not there", async () => {
    expect(await askNode(remote({ url: "http://127.0.0.1:1" }), "/", world())).toEqual({
      kind: "silent",
      message: "connection refused",
    });
    expect(await askNode(remote({ url: "http://node-b.test" }), "/", world({ lookup: async () => [] }))).toMatchObject({
      message: 'host "node-b.test" has no address',
    });
    expect(await askNode(remote({ url: "https://127.0.0.1:1", ca_file: "/none.pem" }), "/", world())).toMatchObject({
      message: expect.stringContaining("/none.pem"),
    });
  });
});
