import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readScript, type Script } from "../../../src/core/scripted/read-script.ts";
import { SCRIPT_LIMITS } from "../../../src/core/scripted/script.ts";

const encoder = new TextEncoder();
const LEAST = { schema_version: 1, name: "least", turns: [{ id: "a", reply: { content: "hi" } }] };

function read(value: unknown): Script {
  const result = readScript(encoder.encode(typeof value === "string" ? value : JSON.stringify(value)));
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.script;
}

/** `code path` of each issue. */
function issues(value: unknown): readonly string[] {
  const bytes =
    value instanceof Uint8Array ? value : encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
  const result = readScript(bytes);
  return result.ok ? [] : result.issues.map(({ code, path }) => `${code} ${path}`);
}

const withReply = (reply: unknown, more: object = {}) => ({ ...LEAST, ...more, turns: [{ id: "a", reply }] });
const withWhen = (when: unknown) => ({ ...LEAST, turns: [{ id: "a", when, reply: { content: "hi" } }] });

describe("readScript() as a reader", () => {
  test.each([
    ["", "not_json "],
    ["[]", "type_mismatch "],
    ["null", "type_mismatch "],
    ["\ufeff{}", "not_json "],
    ['{"name":"a","name":"b"}', "not_json "],
    ["name: clamp\n", "not_json "],
    ['{"name":"a",}', "not_json "],
    [`${"[".repeat(65)}${"]".repeat(65)}`, "not_json "],
    ['{"name":"\\ud800"}', "not_json "],
  ])("refuses %j", (text, issue) => {
    expect(issues(text)).toEqual([issue]);
  });

  test("refuses what is no UTF-8, and what is larger than 4 MiB", () => {
    expect(issues(new Uint8Array([0x7b, 0xff, 0x7d]))).toEqual(["not_json "]);
    expect(issues(new Uint8Array(SCRIPT_LIMITS.file_bytes + 1))).toEqual(["too_large "]);
    const padded = JSON.stringify(LEAST).padEnd(SCRIPT_LIMITS.file_bytes, " ");
    expect(issues(padded)).toEqual([]);
  });

  test("tells where in the text a fault is", () => {
    const result = readScript(encoder.encode('{\n "name": "a",\n "name": "b"}'));
    expect(result.ok ? [] : result.issues).toMatchObject([{ message: expect.stringContaining("line 3, column 2") }]);
  });

  test("tells of everything at once, with pointers", () => {
    const script = {
      schema_version: 2,
      engine: "llamacpp",
      slots: 65,
      trns: [],
      turns: [
        { id: "a", wen: {}, reply: { content: 1, chunk: { by: "token" }, cut: { how: "drp" } } },
        { id: "b", times: 0, when: { step: { mn: 1 }, constraint: "gbnf" }, reply: { json: {}, eror: "loading" } },
      ],
    };
    expect(issues(script).toSorted()).toEqual(
      [
        "type_mismatch /schema_version",
        "missing_key /name",
        "type_mismatch /engine",
        "bad_value /slots",
        "type_mismatch /turns/0/reply/content",
        "type_mismatch /turns/0/reply/chunk/by",
        "type_mismatch /turns/0/reply/cut/how",
        "unknown_key /turns/0/wen",
        "bad_value /turns/1/times",
        "unknown_key /turns/1/when/step/mn",
        "type_mismatch /turns/1/when/constraint",
        "unknown_key /turns/1/reply/eror",
        "unknown_key /trns",
      ].toSorted(),
    );
  });

  test("property: any text is a script or has issues, and nothing is thrown", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(readScript(encoder.encode(text)).ok).toBe(false);
      }),
    );
  });
});

describe("readScript() of a script", () => {
  test("fills in what is left out", () => {
    const { turns, otherwise, enforce, ...script } = read(LEAST);
    expect(script).toEqual({
      name: "least",
      engine: "llama.cpp",
      proxy: "",
      model_id: "scripted/least",
      aliases: [],
      ctx_tokens: 32768,
      slots: 1,
      busy: "queue",
      queue_max: 512,
      occupied: [],
      states: [],
      bytes_per_token: 4,
      prefill_tok_s: null,
      decode_tok_s: null,
      token_env: null,
      order: "any",
      endpoints: {},
    });
    expect([...enforce]).toEqual(["ctx", "model", "history_arguments", "grammar_with_tools"]);
    expect(turns).toMatchObject([
      { id: "a", times: null, count: "conversation", reply: { kind: "answer", hold_ms: 0 } },
    ]);
    expect(otherwise).toMatchObject({
      kind: "http",
      status: 400,
      body: '{"error":{"code":400,"type":"scripted_no_turn","message":"scripted seat: no turn fits this request"}}',
    });
  });

  test.each([
    { engine: "llama.cpp", busy: "queue" },
    { engine: "vllm", busy: "queue" },
    { engine: "ollama", busy: "overload" },
    { engine: "openai", busy: "reject" },
    { engine: "llama.cpp", proxy: "llama-swap", busy: "reject" },
  ])("of $engine with proxy $proxy meets full slots with $busy", ({ busy, ...more }) => {
    expect(read({ ...LEAST, ...more }).busy).toBe(busy as Script["busy"]);
  });

  test.each([
    { name: "A", issue: "bad_value /name" },
    { name: "a".repeat(65), issue: "bad_value /name" },
    { name: "-a", issue: "bad_value /name" },
    { model: "a b", issue: "bad_value /model" },
    { aliases: ["a", ""], issue: "bad_value /aliases/1" },
    { ctx_tokens: 0, issue: "bad_value /ctx_tokens" },
    { ctx_tokens: 1.5, issue: "bad_value /ctx_tokens" },
    { ctx_tokens: "8192", issue: "type_mismatch /ctx_tokens" },
    { slots: 0, issue: "bad_value /slots" },
    { bytes_per_token: 0, issue: "bad_value /bytes_per_token" },
    { busy: "wait", issue: "type_mismatch /busy" },
    { queue_max: 4, issue: "bad_value /queue_max" },
    { engine: "ollama", queue_max: -1, issue: "bad_value /queue_max" },
    { speed: { decode_tok_s: 0 }, issue: "bad_value /speed/decode_tok_s" },
    { token_env: "A-B", issue: "bad_value /token_env" },
    { token_env: "ab3def0123456789abcdef0123456789", issue: "bad_value /token_env" },
    { enforce: ["all"], issue: "type_mismatch /enforce/0" },
    { order: "random", issue: "type_mismatch /order" },
    { endpoints: { slots: 501 }, issue: "bad_value /endpoints/slots" },
    { endpoints: { "/slots": 100 }, issue: "bad_value /endpoints/~1slots" },
    { turns: [], issue: "bad_value /turns" },
    { occupied: [{ slots: 0 }], issue: "bad_value /occupied/0/slots" },
    { otherwise: { cntent: "" }, issue: "unknown_key /otherwise/cntent" },
    { proxy: "nginx", issue: "type_mismatch /proxy" },
  ])("refuses $issue", ({ issue, ...more }) => {
    expect(issues({ ...LEAST, ...more })).toEqual([issue]);
  });

  test("refuses 1,001 turns, and an id that is taken", () => {
    const turns = Array.from({ length: 1001 }, (_, index) => ({ id: `t${index}`, reply: {} }));
    expect(issues({ ...LEAST, turns })).toEqual(["bad_value /turns"]);
    expect(issues({ ...LEAST, turns: turns.slice(1) })).toEqual([]);
    expect(issues({ ...LEAST, turns: [turns[0], turns[1], turns[0]] })).toEqual(["bad_value /turns/2/id"]);
  });

  test.each([
    {
      states: [
        { at_ms: 0, state: "loading", for_ms: 100 },
        { at_ms: 100, state: "busy" },
        { at_request: 3, state: "down" },
      ],
      told: [],
    },
    {
      states: [
        { at_ms: 0, state: "loading" },
        { at_ms: 5000, state: "ready" },
      ],
      told: [],
    },
    {
      states: [
        { at_ms: 100, state: "busy" },
        { at_ms: 0, state: "loading", for_ms: 101 },
      ],
      told: ["bad_value /states/0"],
    },
    {
      states: [
        { at_ms: 5, state: "busy" },
        { at_ms: 5, state: "down" },
      ],
      told: ["bad_value /states/1"],
    },
    {
      states: [
        { at_request: 2, state: "busy" },
        { at_request: 2, state: "down" },
      ],
      told: ["bad_value /states/1"],
    },
    { states: [{ state: "busy" }], told: ["bad_value /states/0"] },
    { states: [{ at_ms: 1, at_request: 1, state: "busy" }], told: ["bad_value /states/0"] },
    { states: [{ at_ms: 1, state: "stopped" }], told: ["bad_value /states/0/state"] },
    { states: [{ at_request: 0, state: "busy" }], told: ["bad_value /states/0/at_request"] },
  ])("of states $states tells $told", ({ states, told }) => {
    expect(issues({ ...LEAST, states })).toEqual(told);
  });

  test("takes a stopped model of a proxy", () => {
    expect(issues({ ...LEAST, proxy: "llama-swap", states: [{ at_ms: 0, state: "stopped" }] })).toEqual([]);
  });
});

describe("readScript() of a condition", () => {
  test.each([
    { when: { matches: "(" }, told: ["bad_value /turns/0/when/matches"] },
    { when: { matches: "a(?=b)" }, told: ["bad_value /turns/0/when/matches"] },
    { when: { matches: "(?i)clamp" }, told: [] },
    { when: { step: {} }, told: ["bad_value /turns/0/when/step"] },
    { when: { step: { min: 3, max: 2 } }, told: ["bad_value /turns/0/when/step"] },
    { when: { step: -1 }, told: ["bad_value /turns/0/when/step"] },
    { when: { tools: 1 }, told: ["type_mismatch /turns/0/when/tools"] },
    { when: { goal_contains: [1] }, told: ["type_mismatch /turns/0/when/goal_contains/0"] },
    { when: { goal_contain: "x" }, told: ["unknown_key /turns/0/when/goal_contain"] },
  ])("$when tells $told", ({ when, told }) => {
    expect(issues(withWhen(when))).toEqual(told);
  });
});

describe("readScript() of a reply", () => {
  test.each([
    { reply: {}, told: [] },
    { reply: { json: null }, told: [] },
    { reply: { content: "a", json: {} }, told: ["json"] },
    { reply: { content: ["a", { repeat: "b", count: 2 }, { echo: "goal" }] }, told: [] },
    { reply: { content: [{ echo: "both" }] }, told: ["content/0/echo"] },
    { reply: { content: [{ repeat: "ab", count: 8 * 1024 * 1024 }] }, told: [] },
    { reply: { content: ["a", { repeat: "ab", count: 8 * 1024 * 1024 }] }, told: ["content"] },
    { reply: { tool_calls: [{ name: "a" }] }, told: ["tool_calls/0/arguments"] },
    { reply: { tool_calls: [{ name: "a", arguments: [] }] }, told: ["tool_calls/0/arguments"] },
    { reply: { tool_calls: [{ name: "a", arguments: "{", as_object: true }] }, told: ["tool_calls/0/as_object"] },
    { reply: { tool_calls: [{ name: "a", arguments: {}, id: null, index: null }] }, told: [] },
    { reply: { finish_reason: null, usage: "none" }, told: [] },
    { reply: { usage: "some" }, told: ["usage"] },
    { reply: { usage: { prompt_tokens: 1 } }, told: ["usage/completion_tokens"] },
    { reply: { chunk: { by: "bytes", n: 0 } }, told: ["chunk/n"] },
    { reply: { delay_ms: 24 * 60 * 60 * 1000 + 1 }, told: ["delay_ms"] },
    { reply: { delay_ms: { first: 1, ping_ms: 5 } }, told: [] },
    { reply: { delay_ms: { first: 1, ping_ms: 5 }, ping_ms: 5 }, told: ["ping_ms"] },
    { reply: { delay_ms: { firs: 1 } }, told: ["delay_ms/firs"] },
    { reply: { progress: 3 }, told: [] },
    { reply: { progress: 3 }, engine: "vllm", told: ["progress"] },
    { reply: { cut: { how: "hang" } }, told: [] },
    { reply: { cut: { how: "hang", n: 3 } }, told: ["cut/n"] },
    { reply: { content: "a", cut: { how: "drop", n: 1, in: "reasoning" } }, told: ["cut/in"] },
    { reply: { content: "a", cut: { how: "refuse" } }, told: ["cut/how"] },
    { reply: { tool_calls: [{ name: "a", arguments: {} }], cut: { how: "refuse", n: 1 } }, told: [] },
    {
      reply: { tool_calls: [{ name: "a", arguments: {} }], cut: { how: "refuse" } },
      engine: "openai",
      told: ["cut/how"],
    },
    {
      reply: { tool_calls: [{ name: "a", arguments: {}, as_object: true }], cut: { how: "drop", n: 1 } },
      told: ["cut"],
    },
    { reply: { status: 503, body: { a: 1 }, headers: { "Retry-After": "1" }, delay_ms: 5 }, told: [] },
    { reply: { body: "as it is" }, told: [] },
    { reply: { status: 503, content: "a" }, told: ["content"] },
    { reply: { status: 503, hold_ms: 1 }, told: ["hold_ms"] },
    { reply: { status: 99 }, told: ["status"] },
    { reply: { headers: { a: "b" } }, told: ["headers"] },
    { reply: { status: 200, headers: { "a b": "c" } }, told: ["headers/a b"] },
    { reply: { status: 200, headers: { a: "b\r\nc: d" } }, told: ["headers/a"] },
    { reply: { status: 200, headers: { "Content-Length": "5" } }, told: ["headers/Content-Length"] },
    { reply: { status: 200, headers: { "Writ-Scripted": "no" } }, told: ["headers/Writ-Scripted"] },
    { reply: { error: "rate_limited", retry_after: 3, delay_ms: 1, hold_ms: 1 }, told: [] },
    { reply: { error: "rate_limit" }, told: ["error"] },
    { reply: { error: "internal", content: "a" }, told: ["content"] },
    { reply: { retry_after: 3 }, told: ["retry_after"] },
    {
      reply: {
        raw: [{ text: "a" }, { b64: "AAEC/w==", after_ms: 1, forever: true }],
        status: 206,
        headers: { a: "b" },
      },
      told: [],
    },
    { reply: { raw: [{ text: "a" }], forever: true }, told: [] },
    { reply: { raw: [] }, told: ["raw"] },
    { reply: { raw: [{}] }, told: ["raw/0"] },
    { reply: { raw: [{ text: "a", b64: "AA==" }] }, told: ["raw/0"] },
    { reply: { raw: [{ b64: "A" }] }, told: ["raw/0/b64"] },
    { reply: { raw: [{ b64: "*AAA" }] }, told: ["raw/0/b64"] },
    { reply: { raw: [{ text: "a", forever: true }, { text: "b" }] }, told: ["raw/0/forever"] },
    { reply: { raw: [{ text: "" }], forever: true }, told: ["raw/0"] },
    { reply: { raw: [{ text: "a" }], content: "b" }, told: ["content"] },
    { reply: { raw: [{ text: "a" }], cut: { how: "reset", n: 1 } }, told: [] },
    { reply: { raw: [{ text: "a" }], cut: { how: "length", n: 1 } }, told: ["cut/how"] },
    { reply: { raw: [{ text: "a" }], cut: { how: "drop", at: "events", n: 1 } }, told: ["cut"] },
    { reply: { content: "a", forever: true }, told: ["forever"] },
  ])("$reply tells $told", ({ reply, told, ...more }) => {
    expect(issues(withReply(reply, more)).map((issue) => issue.replace(/^\S+ \/turns\/0\/reply\//, ""))).toEqual([
      ...told,
    ]);
  });

  test("keeps numbers and keys of what is sent as they are spelled", () => {
    const text = `{"schema_version":1,"name":"a","turns":[
      {"id":"a","reply":{"json":{ "b": 1.50, "2": 1e3, "1": 9007199254740993 }}},
      {"id":"b","reply":{"tool_calls":[{"name":"t","arguments":{ "n": 0.10, "2": 12345678901234567890 }}]}},
      {"id":"c","reply":{"status":200,"body":{ "n": 1.0 }}}]}`;
    const [json, call, body] = read(text).turns.map((turn) => turn.reply);
    expect(json).toMatchObject({ content: ['{"b":1.50,"2":1e3,"1":9007199254740993}'] });
    expect(call).toMatchObject({ calls: [{ arguments: '{"n":0.10,"2":12345678901234567890}' }] });
    expect(body).toMatchObject({ body: '{"n":1.0}' });
  });

  test.each([
    { reply: { status: 500, body: { a: 1 } }, type: "application/json" },
    { reply: { status: 500, body: "text" }, type: "text/plain; charset=utf-8" },
    { reply: { status: 500, body: "<p>", headers: { "Content-Type": "text/html" } }, type: undefined },
    { reply: { status: 204 }, type: undefined },
  ])("says of $reply that its type is $type", ({ reply, type }) => {
    const [turn] = read(withReply(reply)).turns;
    const headers: Readonly<Record<string, string>> = turn?.reply.kind === "http" ? turn.reply.headers : {};
    expect(headers["content-type"]).toBe(type);
  });
});
