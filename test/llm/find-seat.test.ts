import { expect, test } from "bun:test";
import { findSeat } from "../../src/llm/find-seat.ts";
import { deadPort, rawServer, respond } from "../support/raw-server.ts";

const world = { environment: () => undefined, clock: { ms: () => performance.now() } };

async function findAt(routes: Readonly<Record<string, unknown>>) {
  await using server = await rawServer((asked) => {
    const body = routes[asked.path];
    if (body === undefined) respond(asked, 404, "404 page not found");
    else respond(asked, 200, body);
  });
  return { found: await findSeat(server.url, world), paths: server.asked.map(({ path }) => path) };
}

const models = { data: [{ id: "a", max_model_len: 4096 }, { id: "b" }] };
const props = { default_generation_settings: { n_ctx: 8192 } };
const version = { version: "1" };

test.each([
  { name: "llama.cpp", routes: { "/props": props }, found: ["llama.cpp", "", 8192] },
  { name: "vllm", routes: { "/version": version }, found: ["vllm", "", 4096] },
  { name: "ollama with nothing loaded", routes: { "/api/version": version }, found: ["ollama", "", null] },
  {
    name: "ollama with its first model loaded",
    routes: {
      "/api/version": version,
      "/api/ps": {
        models: [
          { name: "b", context_length: 1024 },
          { name: "a", context_length: 2048 },
        ],
      },
    },
    found: ["ollama", "", 2048],
  },
  {
    name: "ollama with others loaded",
    routes: {
      "/api/version": version,
      "/api/ps": { models: [{ name: "c", context_length: 4096 }, { name: "d", context_length: 2048 }, {}] },
    },
    found: ["ollama", "", 2048],
  },
  { name: "something else that lists models", routes: {}, found: ["openai", "", null] },
  {
    name: "pages under every path",
    routes: { "/running": "<html>", "/props": "<html>", "/version": "x" },
    found: ["openai", "", null],
  },
  {
    name: "several: the first of the order counts",
    routes: { "/version": version, "/api/version": version, "/props": props },
    found: ["llama.cpp", "", 8192],
  },
])("$name is found", async ({ routes, found: [engine, proxy, ctx_tokens] }) => {
  expect((await findAt({ "/v1/models": models, ...routes })).found).toEqual({
    engine,
    proxy,
    models: ["a", "b"],
    ctx_tokens,
  } as never);
});

test("a proxy is found, and its engine is not asked for anything", async () => {
  const { found, paths } = await findAt({ "/v1/models": models, "/running": { running: [] }, "/props": props });
  expect(found).toEqual({ engine: "llama.cpp", proxy: "llama-swap", models: ["a", "b"], ctx_tokens: null });
  expect(paths.toSorted()).toEqual(["/running", "/v1/models"]);
});

test("what lists no models is no model server", async () => {
  expect((await findAt({ "/props": props })).found).toBeNull();
  expect((await findAt({ "/v1/models": "<html>" })).found).toBeNull();
  expect(await findSeat(`http://127.0.0.1:${await deadPort()}`, world)).toBeNull();
});

test("what answers nothing in time is none", async () => {
  await using server = await rawServer(() => {});
  expect(await findSeat(server.url, { ...world, limits: { probe_ms: 30 } })).toBeNull();
});
