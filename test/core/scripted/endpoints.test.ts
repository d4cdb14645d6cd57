import { describe, expect, test } from "bun:test";
import { ENGINES } from "../../../src/core/config/seat.ts";
import { Play } from "../../../src/core/scripted/play.ts";
import { scriptOf } from "../../support/scripted-seat.ts";
import { chatOf, hello, playedOf, stage, targetOf, WORLD } from "./played.ts";

const TURNS = [{ id: "a", reply: {} }];
const PROPS =
  '{"default_generation_settings":{"n_ctx":8192},"total_slots":2,"model_path":"scripted","build_info":"writ-scripted","chat_template":"scripted"}';
const MODEL = '{"id":"scripted/m","object":"model","owned_by":"writ-scripted"}';
const LIST = `{"object":"list","data":[${MODEL}]}`;
const SLOTS = '[{"id":0,"n_ctx":8192,"is_processing":false},{"id":1,"n_ctx":8192,"is_processing":false}]';

/** What each path answers by engine, in the order of ENGINES; null is 404. */
const PATHS: readonly (readonly [string, readonly (string | null)[]])[] = [
  ["/v1/models", [LIST, LIST.replace('"writ-scripted"', '"writ-scripted","max_model_len":8192'), LIST, LIST]],
  ["/health", ['{"status":"ok"}', "", null, null]],
  ["/props", [PROPS, null, null, null]],
  ["/slots", [SLOTS, null, null, null]],
  ["/version", [null, '{"version":"0.12.0+scripted"}', null, null]],
  ["/api/version", [null, null, '{"version":"0.0.0-scripted"}', null]],
  ["/api/ps", [null, null, '{"models":[]}', null]],
  ["/running", [null, null, null, null]],
  ["/", [null, null, null, null]],
  ["/v1/chat/completions", [null, null, null, null]],
  ["/v1/embeddings", [null, null, null, null]],
];

describe("a path", () => {
  const rows = PATHS.flatMap(([path, bodies]) =>
    ENGINES.map((engine, at) => ({ path, engine, body: bodies[at] ?? null })),
  );
  test.each(rows)("GET $path of $engine is $body", ({ path, engine, body }) => {
    const played = stage({ turns: TURNS, engine, model: "m", ctx_tokens: 8192, slots: 2 }).get(path);
    expect(played.status).toBe(body === null ? 404 : 200);
    if (body !== null) expect(played.body).toBe(body);
  });

  test("of tokenize counts bytes", () => {
    const ask = (script: object, content: unknown) => {
      const play = new Play(scriptOf({ turns: TURNS, ...script }), WORLD, 0);
      const meeting = play.meet(chatOf({ content }, "/tokenize"), 0);
      if (meeting.kind !== "answer") throw new Error("it is an answer");
      return playedOf(meeting.plan, meeting.entry);
    };
    expect(ask({}, "123456789").body).toBe('{"tokens":[0,1,2]}');
    expect(ask({ bytes_per_token: 2 }, "ü😀").body).toBe('{"tokens":[0,1,2]}');
    expect(ask({}, "").body).toBe('{"tokens":[]}');
    expect([ask({}, 1).status, ask({ engine: "vllm" }, "a").status]).toEqual([400, 404]);
  });

  test("of models lists the aliases, a proxy's within its own", () => {
    const script = { turns: TURNS, aliases: ["qwen", "big"] };
    const ids = JSON.parse(stage(script).get("/v1/models").body).data.map((model: { id: string }) => model.id);
    expect(ids).toEqual(["scripted/test", "qwen", "big"]);
    const proxied = JSON.parse(stage({ ...script, proxy: "llama-swap" }).get("/v1/models").body).data;
    expect(proxied).toEqual([
      {
        id: "scripted/test",
        object: "model",
        owned_by: "writ-scripted",
        meta: { llamaswap: { aliases: ["qwen", "big"] } },
      },
    ]);
  });

  test("of slots tells which are taken, strangers counted in", () => {
    const own = stage({ turns: TURNS, slots: 3, occupied: [{ slots: 2, for_ms: 100 }] });
    const taken = (at: number, path = "/slots") =>
      (JSON.parse(own.get(path, at).body) as { is_processing: boolean }[]).filter((slot) => slot.is_processing).length;
    expect(taken(0)).toBe(0);
    own.ask(hello(), 0);
    expect([taken(0), taken(99), taken(100)]).toEqual([2, 2, 0]);
    expect(own.get("/slots?fail_on_no_slot=1", 0).status).toBe(200);
  });

  test("of slots fails where it is asked to and none is free", () => {
    const own = stage({ turns: TURNS, states: [{ at_ms: 0, state: "busy", for_ms: 10 }] });
    const played = own.get("/slots?fail_on_no_slot=1", 0);
    expect([played.status, played.body]).toEqual([
      503,
      '{"error":{"code":503,"message":"no slot available","type":"unavailable_error"}}',
    ]);
    expect(own.get("/slots", 0).status).toBe(200);
    expect(own.get("/slots?fail_on_no_slot=0", 0).status).toBe(200);
    expect(own.get("/slots?a=b&fail_on_no_slot=1", 10).status).toBe(200);
    const play = new Play(scriptOf({ turns: TURNS }), WORLD, 0);
    play.meet(chatOf(hello()), 0);
    play.admit(0);
    const full = play.meet(
      { target: targetOf("GET", "/slots?fail_on_no_slot=1"), bearer: null, body: { text: "", bytes: 0 } },
      0,
    );
    expect(full.kind === "answer" && playedOf(full.plan, full.entry).status).toBe(503);
  });

  test("of a llama.cpp that loads is 503, but for the list of models", () => {
    const own = stage({ turns: TURNS, states: [{ at_ms: 0, state: "loading" }] });
    for (const path of ["/health", "/props", "/slots"]) {
      const { status, body } = own.get(path);
      expect([status, body]).toEqual([
        503,
        '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      ]);
    }
    expect(own.get("/v1/models").status).toBe(200);
  });

  test("of ollama's processes has the model from the first chat on", () => {
    const own = stage({ turns: TURNS, engine: "ollama", ctx_tokens: 4096 });
    own.ask(hello());
    expect(own.get("/api/ps").body).toBe(
      '{"models":[{"name":"scripted/test","model":"scripted/test","context_length":4096}]}',
    );
  });

  test.each([
    { path: "/upstream/scripted/test/props", status: 200 },
    { path: "/upstream/scripted%2Ftest/props", status: 200 },
    { path: "/upstream/qwen/slots", status: 200 },
    { path: "/upstream/qwen/v1/models", status: 200 },
    { path: "/upstream/qwen/running", status: 404 },
    { path: "/upstream/qwen", status: 404 },
    { path: "/upstream/other/props", status: 404 },
    { path: "/upstream/%/props", status: 404 },
  ])("$path through a proxy is $status", ({ path, status }) => {
    const script = { turns: TURNS, aliases: ["qwen"] };
    expect(stage({ ...script, proxy: "llama-swap" }).get(path).status).toBe(status);
    expect(stage(script).get(path).status).toBe(404);
  });

  test("of a chat through a proxy meets turns", () => {
    const play = new Play(scriptOf({ turns: TURNS, proxy: "llama-swap" }), WORLD, 0);
    expect(play.meet(chatOf(hello(), "/upstream/scripted/test/v1/chat/completions"), 0).kind).toBe("line");
    const other = play.meet(chatOf(hello(), "/upstream/other/v1/chat/completions"), 0);
    expect(other.kind === "answer" && playedOf(other.plan, other.entry).status).toBe(404);
  });

  test("that the script switches is a bare status, also through a proxy", () => {
    const endpoints = { "/slots": 501, "/v1/models": 500, "/v1/chat/completions": 502, "/own": 200 };
    const own = stage({ turns: TURNS, endpoints });
    for (const [path, status] of Object.entries(endpoints)) {
      const played = path === "/v1/chat/completions" ? own.ask(hello()) : own.get(path);
      expect([played.status, played.body, played.entry.turn]).toEqual([status, "", null]);
    }
    expect(stage({ turns: TURNS, endpoints, proxy: "llama-swap" }).get("/upstream/scripted/test/slots").status).toBe(
      501,
    );
  });
});
