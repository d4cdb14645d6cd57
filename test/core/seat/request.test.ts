import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINES, type Engine, RESERVED_BODY_KEYS } from "../../../src/core/config/seat.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import type { ChatRequest, StructuredMode } from "../../../src/core/seat/endpoint.ts";
import { answerBudget, requestBody } from "../../../src/core/seat/request.ts";
import { seatOf } from "../../support/seat.ts";

const schema = { type: "object", properties: {} };
const tool = { name: "f", description: "d", parameters: schema };

const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content: "hi" }],
  tools: [],
  max_tokens: 100,
  thinking: "auto",
  constraint: null,
  ...more,
});

const inMode = (mode: StructuredMode, more: Partial<ChatRequest> = {}) =>
  request({ constraint: { mode, schema, grammar: "root ::= x" }, ...more });

test("a request has what every engine takes, in a fixed order", () => {
  expect(JSON.stringify(requestBody(seatOf({ engine: "openai" }), request({ tools: [tool] })))).toBe(
    '{"model":"m","messages":[{"role":"user","content":"hi"}],' +
      '"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}}],' +
      '"tool_choice":"auto","max_tokens":100,"temperature":0,"seed":42,"stream":true,"stream_options":{"include_usage":true}}',
  );
});

test("without tools there is nothing of tools", () => {
  const body = requestBody(seatOf({ engine: "openai" }), request());
  expect(Object.keys(body)).toEqual([
    "model",
    "messages",
    "max_tokens",
    "temperature",
    "seed",
    "stream",
    "stream_options",
  ]);
});

test("null leaves temperature and seed out, also where the form is asked for", () => {
  const body = requestBody(seatOf({ temperature: null, seed: null }), inMode("json_object"));
  expect(body).not.toHaveProperty("temperature");
  expect(body).not.toHaveProperty("seed");
});

test("a structured request has temperature 0, a turn has the seat's", () => {
  const seat = seatOf({ temperature: 0.7 });
  expect(requestBody(seat, request()).temperature).toBe(0.7);
  expect(requestBody(seat, inMode("prompt")).temperature).toBe(0);
});

test("only llama.cpp is asked to keep its cache and to tell of the prefill", () => {
  const extra = (engine: Engine, stream: boolean) => {
    const { cache_prompt, return_progress, stream_options } = requestBody(seatOf({ engine, stream }), request());
    return { cache_prompt, return_progress, stream_options };
  };
  const options = { include_usage: true };
  expect(extra("llama.cpp", true)).toEqual({ cache_prompt: true, return_progress: true, stream_options: options });
  expect(extra("llama.cpp", false)).toEqual({
    cache_prompt: true,
    return_progress: undefined,
    stream_options: undefined,
  } as never);
  expect(extra("vllm", true)).toEqual({
    cache_prompt: undefined,
    return_progress: undefined,
    stream_options: options,
  } as never);
});

describe("thinking off", () => {
  const keysOf = (engine: Engine, extra_body: JsonObject = {}, thinking: ChatRequest["thinking"] = "off") => {
    const { chat_template_kwargs, reasoning_effort } = requestBody(
      seatOf({ engine, extra_body }),
      request({ thinking }),
    );
    return [chat_template_kwargs ?? null, reasoning_effort ?? null];
  };

  test.each<{ engine: Engine; keys: unknown[] }>([
    { engine: "llama.cpp", keys: [{ enable_thinking: false }, "none"] },
    { engine: "vllm", keys: [{ enable_thinking: false }, null] },
    { engine: "ollama", keys: [null, "none"] },
    { engine: "openai", keys: [null, null] },
  ])("$engine is told so in its way", ({ engine, keys }) => {
    expect(keysOf(engine)).toEqual(keys as never);
    expect(keysOf(engine, {}, "auto")).toEqual([null, null]);
    expect(keysOf(engine, {}, "on")).toEqual([null, null]);
  });

  test("what the seat's extra says beside it stays, and does not switch it on again", () => {
    const extra = { chat_template_kwargs: { enable_thinking: true, style: "x" }, reasoning_effort: "high" };
    expect(keysOf("llama.cpp", extra)).toEqual([{ enable_thinking: false, style: "x" }, "none"]);
    expect(keysOf("openai", extra)).toEqual([extra.chat_template_kwargs, "high"]);
    expect(keysOf("llama.cpp", { chat_template_kwargs: 5 })).toEqual([{ enable_thinking: false }, "none"]);
  });
});

test.each<{ mode: StructuredMode; keys: JsonObject }>([
  { mode: "grammar", keys: { grammar: "root ::= x" } },
  {
    mode: "json_schema",
    keys: { response_format: { type: "json_schema", json_schema: { name: "result", strict: true, schema } } },
  },
  { mode: "structured_outputs", keys: { structured_outputs: { json: schema } } },
  { mode: "json_object", keys: { response_format: { type: "json_object" } } },
  { mode: "prompt", keys: {} },
])("form is asked for in mode $mode, never beside tools", ({ mode, keys }) => {
  const { grammar, response_format, structured_outputs, tools, tool_choice } = requestBody(
    seatOf(),
    inMode(mode, { tools: [tool] }),
  );
  const found = { grammar, response_format, structured_outputs, tools, tool_choice };
  expect(JSON.parse(JSON.stringify(found))).toEqual(keys);
});

test("a grammar that is not there is not sent", () => {
  const constraint = { mode: "grammar", schema, grammar: null } as const;
  expect(requestBody(seatOf(), request({ constraint }))).not.toHaveProperty("grammar");
});

test("messages keep their shape, and an assistant without calls has no list of them", () => {
  const calls = [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] as const;
  const messages = [
    { role: "assistant", content: "", tool_calls: calls },
    { role: "tool", tool_call_id: "1", content: "x" },
    { role: "assistant", content: "a", tool_calls: [] },
  ] as const;
  expect(requestBody(seatOf(), request({ messages })).messages).toEqual([
    { role: "assistant", content: "", tool_calls: [{ ...calls[0] }] },
    { role: "tool", tool_call_id: "1", content: "x" },
    { role: "assistant", content: "a" },
  ]);
});

describe("extra_body", () => {
  test("no extra sets what is reserved, whatever else it holds", () => {
    const key = fc.oneof(fc.constantFrom(...RESERVED_BODY_KEYS, "__proto__", "top_k", "temperature"), fc.string());
    const extra = fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }));
    fc.assert(
      fc.property(extra, fc.constantFrom(...ENGINES), fc.boolean(), (extra_body, engine, isTurn) => {
        const asked = isTurn ? request({ tools: [tool] }) : inMode("json_schema");
        const plain = requestBody(seatOf({ engine }), asked);
        const body = requestBody(seatOf({ engine, extra_body: extra_body as JsonObject }), asked);
        for (const each of RESERVED_BODY_KEYS) expect(body[each] as unknown).toEqual(plain[each]);
        for (const [name, value] of Object.entries(extra_body)) {
          if (!RESERVED_BODY_KEYS.some((each) => each === name)) {
            expect(Object.getOwnPropertyDescriptor(body, name)?.value).toEqual(value);
          }
        }
      }),
    );
  });

  test("the budget that counts is the one that is sent", () => {
    expect(answerBudget(requestBody(seatOf(), request()))).toBe(100);
    expect(answerBudget(requestBody(seatOf({ extra_body: { max_tokens: 7 } }), request()))).toBe(7);
    expect(answerBudget({})).toBeNull();
    expect(answerBudget({ max_tokens: "9" })).toBeNull();
  });
});

test("a parameter that a server refuses is left out, and the budget goes under its other name", () => {
  const refused = new Set(["max_tokens", "seed", "parallel_tool_calls"] as const);
  const body = requestBody(seatOf({ engine: "openai" }), request(), refused);
  expect(body).toMatchObject({ max_completion_tokens: 100, temperature: 0 });
  expect(Object.keys(body)).not.toContainAnyValues(["max_tokens", "seed", "parallel_tool_calls"]);
  expect(answerBudget(body)).toBe(100);
});

test("the same request is the same bytes", () => {
  const twice = [0, 1].map(() => JSON.stringify(requestBody(seatOf(), request({ tools: [tool], thinking: "off" }))));
  expect(twice[0]).toBe(twice[1] ?? "");
});
