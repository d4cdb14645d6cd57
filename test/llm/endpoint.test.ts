import { describe, expect, test } from "bun:test";
import type { Engine, Seat } from "../../src/core/config/seat.ts";
import type { EndpointWorld } from "../../src/llm/world.ts";
import { endpointOf, watching } from "../support/chat.ts";
import { deadPort, openStream, rawServer, respond } from "../support/raw-server.ts";

const signal = new AbortController().signal;

type Reply = readonly [status: number, body: unknown];
type Routes = Readonly<Record<string, Reply | "silence">>;

/** A server that answers these paths, and 404 to every other one. */
function serverWith(routes: Routes) {
  return rawServer((asked) => {
    const reply = routes[asked.path] ?? [404, "404 page not found"];
    if (reply !== "silence") respond(asked, reply[0], reply[1]);
  });
}

async function onServer<T>(
  routes: Routes,
  seat: Partial<Seat>,
  work: (endpoint: ReturnType<typeof endpointOf>) => Promise<T>,
  world: Partial<EndpointWorld> = {},
) {
  await using server = await serverWith(routes);
  const found = await work(endpointOf({ base_url: server.url, ...seat }, world));
  return { found, paths: server.asked.map(({ path }) => path).sort() };
}

const ok = (body: unknown): Reply => [200, body];
const listed = (...ids: readonly string[]): Reply => ok({ data: ids.map((id) => ({ id })) });
const LOADING: Reply = [503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }];
const NO_SLOT: Reply = [503, { error: { code: 503, message: "no slot available", type: "unavailable_error" } }];
const slots = (...busy: readonly boolean[]): Reply => ok(busy.map((is_processing, id) => ({ id, is_processing })));
const PROPS = ok({
  default_generation_settings: { n_ctx: 8192 },
  total_slots: 2,
  build_info: "b1",
  chat_template: "tpl",
});
const running = (...states: readonly (readonly [string, string])[]): Reply =>
  ok({ running: states.map(([model, state]) => ({ model, state })) });

describe("look", () => {
  type Look = {
    readonly name: string;
    readonly engine: Engine;
    readonly proxy?: Seat["proxy"];
    readonly routes: Routes;
    readonly state: string;
    readonly slots?: readonly [number | null, number | null];
    readonly says?: string;
  };

  test.each<Look>([
    {
      name: "llama.cpp, ready, its slots told",
      engine: "llama.cpp",
      routes: { "/health": ok({}), "/v1/models": listed("m"), "/slots": slots(true, false) },
      state: "ready",
      slots: [1, 2],
    },
    {
      name: "llama.cpp, ready, its slots switched off",
      engine: "llama.cpp",
      routes: { "/health": ok({}), "/v1/models": listed("m"), "/slots": [501, {}] },
      state: "ready",
    },
    {
      name: "llama.cpp, by an alias",
      engine: "llama.cpp",
      routes: { "/health": ok({}), "/v1/models": ok({ data: [{ id: "file.gguf", aliases: ["x", "m"] }] }) },
      state: "ready",
    },
    {
      name: "llama.cpp, loading",
      engine: "llama.cpp",
      routes: { "/health": LOADING, "/v1/models": LOADING, "/slots": LOADING },
      state: "loading",
    },
    {
      name: "llama.cpp, another model",
      engine: "llama.cpp",
      routes: { "/health": ok({}), "/v1/models": listed("other", "more") },
      state: "not_served",
      says: 'does not serve "m"; it lists "other", "more"',
    },
    { name: "llama.cpp, something else", engine: "llama.cpp", routes: {}, state: "unknown" },
    {
      name: "llama.cpp, no health but a list",
      engine: "llama.cpp",
      routes: { "/v1/models": listed("m") },
      state: "ready",
    },
    {
      name: "llama.cpp, no list",
      engine: "llama.cpp",
      routes: { "/health": ok({}), "/v1/models": [200, "<html>"] },
      state: "ready",
    },
    { name: "vllm, ready", engine: "vllm", routes: { "/health": ok(""), "/v1/models": listed("m") }, state: "ready" },
    {
      name: "vllm, another model",
      engine: "vllm",
      routes: { "/health": ok(""), "/v1/models": listed() },
      state: "not_served",
      says: "it lists none",
    },
    { name: "vllm, unwell", engine: "vllm", routes: { "/health": [500, ""] }, state: "unknown" },
    {
      name: "ollama, ready",
      engine: "ollama",
      routes: { "/api/version": ok({}), "/v1/models": listed("m:latest") },
      state: "ready",
    },
    {
      name: "ollama, another tag",
      engine: "ollama",
      routes: { "/api/version": ok({}), "/v1/models": listed("m:7b") },
      state: "not_served",
    },
    { name: "ollama, something else", engine: "ollama", routes: {}, state: "unknown" },
    { name: "openai, ready", engine: "openai", routes: { "/v1/models": listed("m") }, state: "ready" },
    {
      name: "openai, not in its list, which need not be whole",
      engine: "openai",
      routes: { "/v1/models": listed("other") },
      state: "unknown",
    },
    { name: "openai, the key refused", engine: "openai", routes: { "/v1/models": [401, {}] }, state: "unknown" },
    {
      name: "a proxy, ready, the slots of its engine told",
      engine: "llama.cpp",
      proxy: "llama-swap",
      routes: {
        "/running": running(["m", "ready"]),
        "/v1/models": listed("m"),
        "/upstream/m/slots": slots(true),
      },
      state: "ready",
      slots: [1, 1],
    },
    {
      name: "a proxy, ready, by an alias and an id with slashes",
      engine: "llama.cpp",
      proxy: "llama-swap",
      routes: {
        "/running": running(["org/big model", "ready"]),
        "/v1/models": ok({ data: [{ id: "org/big model", meta: { llamaswap: { aliases: ["m"] } } }] }),
        "/upstream/org/big%20model/slots": slots(false),
      },
      state: "ready",
      slots: [0, 1],
    },
    {
      name: "a proxy, starting",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(["m", "starting"]), "/v1/models": listed("m") },
      state: "loading",
      says: '"m" is starting',
    },
    {
      name: "a proxy, another one stopping",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(["o", "stopping"]), "/v1/models": listed("m", "o") },
      state: "loading",
      says: '"o" is stopping',
    },
    {
      name: "a proxy, ready while another one starts",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(["o", "starting"], ["m", "ready"]), "/v1/models": listed("m", "o") },
      state: "ready",
    },
    {
      name: "a proxy, not loaded",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(["o", "ready"]), "/v1/models": listed("m", "o") },
      state: "stopped",
    },
    {
      name: "a proxy, stopped",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(["m", "stopped"]), "/v1/models": listed("m") },
      state: "stopped",
    },
    {
      name: "a proxy, another model",
      engine: "vllm",
      proxy: "llama-swap",
      routes: { "/running": running(), "/v1/models": listed("o") },
      state: "not_served",
    },
    { name: "a proxy that is none", engine: "vllm", proxy: "llama-swap", routes: {}, state: "unknown" },
    {
      name: "lists with nonsense in them",
      engine: "llama.cpp",
      routes: {
        "/health": ok([]),
        "/v1/models": ok({ data: [null, 5, {}, { id: 7 }, { id: "m", aliases: 3, meta: [] }] }),
        "/slots": ok([null, { is_processing: "yes" }, { is_processing: true }]),
      },
      state: "ready",
      slots: [1, 2],
    },
  ])("$name: $state", async ({ engine, proxy = "", routes, state, slots: counts = [null, null], says = "" }) => {
    const { found, paths } = await onServer(routes, { engine, proxy }, (endpoint) => endpoint.look(signal));
    expect(found).toMatchObject({ state, busy_slots: counts[0], total_slots: counts[1] } as object);
    expect(found.message).toContain(says);
    // Nothing goes upstream that a proxy does not list as ready: it would load the model.
    if (state !== "ready") expect(paths.filter((path) => path.startsWith("/upstream"))).toEqual([]);
  });

  test.each<Partial<Seat>>([
    { engine: "llama.cpp" },
    { engine: "vllm" },
    { engine: "ollama" },
    { engine: "openai" },
    { engine: "llama.cpp", proxy: "llama-swap" },
  ])("%j: where nothing listens it is gone", async (seat) => {
    const endpoint = endpointOf({ base_url: `http://127.0.0.1:${await deadPort()}`, ...seat });
    expect((await endpoint.look(signal)).state).toBe("gone");
  });

  test("silence is not known, and does not last", async () => {
    const limits = { probe_ms: 30 };
    const routes: Routes = { "/health": "silence", "/v1/models": "silence", "/slots": "silence" };
    const { found } = await onServer(routes, {}, (endpoint) => endpoint.look(signal), { limits });
    expect(found).toMatchObject({ state: "unknown", message: expect.stringContaining("no answer in time") });
  });

  test("the caller's signal ends it", async () => {
    const control = new AbortController();
    await using server = await rawServer(() => control.abort());
    expect((await endpointOf({ base_url: server.url }).look(control.signal)).state).toBe("unknown");
  });
});

describe("hasFreeSlot", () => {
  const path = "/slots?fail_on_no_slot=1";

  test.each<{ name: string; routes: Routes; isFree: boolean }>([
    { name: "a slot", routes: { [path]: slots(false) }, isFree: true },
    { name: "no slot", routes: { [path]: NO_SLOT }, isFree: false },
    { name: "a server that loads", routes: { [path]: LOADING }, isFree: true },
    { name: "slots switched off", routes: { [path]: [501, ""] }, isFree: true },
    { name: "a key that is refused", routes: { [path]: [401, ""] }, isFree: true },
  ])("$name: $isFree", async ({ routes, isFree }) => {
    const { found, paths } = await onServer(routes, {}, (endpoint) => endpoint.hasFreeSlot(signal));
    expect([found, paths]).toEqual([isFree, [path]]);
  });

  test.each<Partial<Seat>>([
    { engine: "vllm" },
    { engine: "ollama" },
    { engine: "openai" },
    { engine: "llama.cpp", proxy: "llama-swap" },
  ])("%j says it itself: nothing is asked", async (seat) => {
    expect(await onServer({}, seat, (endpoint) => endpoint.hasFreeSlot(signal))).toEqual({ found: true, paths: [] });
  });
});

describe("what a server publishes", () => {
  const ask = async (routes: Routes, seat: Partial<Seat>) => {
    const { found, paths } = await onServer(routes, seat, async (endpoint) => ({
      window: await endpoint.windowTokens(signal),
      slots: await endpoint.totalSlots(signal),
      tokens: await endpoint.countTokens("some text", signal),
      loaded: await endpoint.loadedWindowTokens(signal),
    }));
    return { ...found, upstream: paths.some((path) => path.startsWith("/upstream")) };
  };
  const nothing = { window: null, slots: null, tokens: null, loaded: null, upstream: false };

  test("llama.cpp tells its window, its slots, and counts tokens", async () => {
    const routes = { "/props": PROPS, "/tokenize": ok({ tokens: [1, 2, 3] }) };
    expect(await ask(routes, {})).toEqual({ window: 8192, slots: 2, tokens: 3, loaded: null, upstream: false });
  });

  test("vllm tells the window of a model", async () => {
    const models = ok({
      data: [
        { id: "o", max_model_len: 1 },
        { id: "m", max_model_len: 4096 },
      ],
    });
    expect(await ask({ "/v1/models": models }, { engine: "vllm" })).toEqual({ ...nothing, window: 4096 });
  });

  test("ollama tells the window of a model that is loaded", async () => {
    const models = [
      { name: "o", context_length: 1 },
      { name: "m:latest", model: "m:latest", context_length: 4096 },
    ];
    const seat: Partial<Seat> = { engine: "ollama" };
    expect(await ask({ "/api/ps": ok({ models }) }, seat)).toEqual({ ...nothing, loaded: 4096 });
    expect(await ask({ "/api/ps": ok({ models: [] }) }, seat)).toEqual(nothing);
  });

  test("a hosted server tells nothing", async () => {
    expect(await ask({ "/props": PROPS, "/v1/models": listed("m") }, { engine: "openai" })).toEqual(nothing);
  });

  test("a proxy's engine is asked where its model is resident, and only there", async () => {
    const seat: Partial<Seat> = { engine: "llama.cpp", proxy: "llama-swap" };
    const routes = { "/v1/models": listed("m"), "/upstream/m/props": PROPS };
    expect(await ask({ ...routes, "/running": running(["m", "ready"]) }, seat)).toEqual({
      ...nothing,
      window: 8192,
      upstream: true,
    });
    for (const state of ["starting", "stopping", "stopped", "shutdown"]) {
      expect(await ask({ ...routes, "/running": running(["m", state]) }, seat)).toEqual(nothing);
    }
    expect(await ask({ ...routes, "/running": running() }, seat)).toEqual(nothing);
    expect(await ask(routes, seat)).toEqual(nothing);
  });

  test.each(
    [null, [], "x", 5, {}, { default_generation_settings: [], total_slots: "2", tokens: 3 }].map((body) => [{ body }]),
  )("%j tells nothing", async ({ body }) => {
    const routes = { "/props": ok(body), "/tokenize": ok(body), "/v1/models": ok(body), "/api/ps": ok(body) };
    for (const engine of ["llama.cpp", "vllm", "ollama"] as const) {
      expect(await ask(routes, { engine })).toEqual(nothing);
    }
  });

  test("an answer without end, or that breaks, tells nothing", async () => {
    await using server = await rawServer((asked) => {
      openStream(asked);
      if (asked.path === "/tokenize") asked.socket.end('{"tokens":[1');
      else asked.socket.write("x".repeat(5 * 1024 * 1024));
    });
    const endpoint = endpointOf({ base_url: server.url });
    expect([await endpoint.windowTokens(signal), await endpoint.countTokens("x", signal)]).toEqual([null, null]);
  });
});

describe("the pin", () => {
  const pinOf = async (routes: Routes, seat: Partial<Seat>) =>
    (await onServer(routes, { ctx_tokens: 100, ...seat }, (endpoint) => endpoint.pin(signal))).found;

  test("of llama.cpp has its build, its window and the digest of its template", async () => {
    expect(await pinOf({ "/props": PROPS, "/v1/models": ok({ data: [{ id: "file", aliases: ["m"] }] }) }, {})).toEqual({
      engine: "llama.cpp",
      model: "file",
      ctx_tokens: 8192,
      build: "b1",
      template_sha256: new Bun.CryptoHasher("sha256").update("tpl").digest("hex"),
    });
  });

  test("holds no more of a server's words than a person reads", async () => {
    const props = ok({ total_slots: 1, build_info: `\ud800${"b".repeat(5000)}` });
    const pin = await pinOf({ "/props": props, "/v1/models": ok({ data: [{ id: "m" }] }) }, {});
    expect(pin?.build).toBe(`\ufffd${"b".repeat(199)}`);
  });

  test("of the others has what they tell", async () => {
    const version = ok({ version: "1.2" });
    const models = ok({ data: [{ id: "m", max_model_len: 4096 }] });
    expect(await pinOf({ "/version": version, "/v1/models": models }, { engine: "vllm" })).toEqual({
      engine: "vllm",
      model: "m",
      ctx_tokens: 4096,
      build: "1.2",
    });
    const ps = ok({ models: [{ name: "m", context_length: 50 }] });
    expect(await pinOf({ "/api/version": version, "/api/ps": ps }, { engine: "ollama" })).toEqual({
      engine: "ollama",
      model: "m",
      ctx_tokens: 50,
      build: "1.2",
    });
    expect(await pinOf({ "/v1/models": models }, { engine: "openai" })).toEqual({
      engine: "openai",
      model: "m",
      ctx_tokens: 100,
    });
  });

  test("of a server that tells nothing is none", async () => {
    for (const engine of ["llama.cpp", "vllm", "ollama", "openai"] as const)
      expect(await pinOf({}, { engine })).toBeNull();
  });
});

describe("warmUp", () => {
  test("behind a proxy asks for one token, whatever the seat's extra says", async () => {
    await using server = await rawServer((asked) => respond(asked, 200, { choices: [{ message: { content: "x" } }] }));
    const extra_body = { max_tokens: 999, max_completion_tokens: 999, top_k: 1 };
    const endpoint = endpointOf({ base_url: server.url, proxy: "llama-swap", extra_body });
    expect((await endpoint.warmUp(watching()))?.kind).toBe("answered");
    const body = JSON.parse(server.asked[0]?.body ?? "");
    expect(body).toMatchObject({ max_tokens: 1, top_k: 1 });
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  test("elsewhere does nothing", async () => {
    expect(await onServer({}, {}, (endpoint) => endpoint.warmUp(watching()))).toEqual({ found: null, paths: [] });
  });
});

test("questions carry the seat's key", async () => {
  await using server = await serverWith({ "/props": PROPS });
  const environment = () => "secret";
  const endpoint = endpointOf({ base_url: server.url, api_key_env: "KEY" }, { environment });
  expect(await endpoint.windowTokens(signal)).toBe(8192);
  expect(server.asked[0]?.headers.authorization).toBe("Bearer secret");
});

test("a redirect tells nothing", async () => {
  await using other = await serverWith({ "/props": PROPS });
  await using server = await rawServer((asked) => respond(asked, 302, "", { Location: `${other.url}/props` }));
  expect(await endpointOf({ base_url: server.url }).windowTokens(signal)).toBeNull();
  expect(other.asked).toEqual([]);
});
