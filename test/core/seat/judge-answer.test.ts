import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINES, type Engine } from "../../../src/core/config/seat.ts";
import type { StructuredMode } from "../../../src/core/seat/endpoint.ts";
import { judgeAnswer, refusedParameter, retryAfterSec } from "../../../src/core/seat/judge-answer.ts";

type Case = {
  readonly status: number;
  readonly body?: unknown;
  readonly engine?: Engine;
  readonly mode?: StructuredMode | null;
};

function judge({ status, body = "", engine = "llama.cpp", mode = null }: Case) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return judgeAnswer({ status, body: text, retry_after_sec: 7, engine, mode });
}

const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const swap = (message: string) => ({ error: message, src: "llama-swap" });

describe("busy", () => {
  test.each<Case>([
    { status: 429, body: error("Rate limit reached"), engine: "openai" },
    { status: 429, body: "" },
    { status: 429, body: { ...error("model concurrency limit reached", { code: "concurrency_limit" }), ...swap("x") } },
    { status: 503, body: swap("process is not ready") },
    { status: 500, body: swap("unable to start process: health check timed out") },
    { status: 500, body: swap("anything") },
    { status: 500, body: "health check timed out after 60s" },
    { status: 503, body: error("no slot available", { code: 503, type: "unavailable_error" }) },
    {
      status: 503,
      body: { error: "server busy, please try again. maximum pending requests exceeded" },
      engine: "ollama",
    },
    { status: 503, body: "", engine: "openai" },
    { status: 503, body: error("overloaded"), engine: "vllm" },
  ])("%j waits", (each) => {
    expect(judge(each)).toMatchObject({ kind: "busy", status: each.status, retry_after_sec: 7 });
  });

  test("an account with nothing left is not waited for", () => {
    const body = error("You exceeded your current quota", { code: "insufficient_quota" });
    expect(judge({ status: 429, body, engine: "openai" })).toMatchObject({ kind: "refused", status: 429 });
  });

  test.each<Case>([
    { status: 503, body: "" },
    { status: 503, body: error("unavailable") },
    { status: 502, body: swap("upstream closed the connection") },
    { status: 502, body: "", engine: "openai" },
    { status: 500, body: error("internal error", { code: 500, type: "server_error" }) },
    { status: 500, body: { error: "x", src: "another" } },
    { status: 504, body: "<html>gateway timeout</html>", engine: "vllm" },
    { status: 501, body: error("not implemented") },
    { status: 408, body: "" },
    { status: 302, body: "" },
    { status: 999, body: "" },
  ])("%j is none: no whole answer", (each) => {
    expect(judge(each)).toMatchObject({ kind: "died", status: each.status });
  });
});

test.each<Case>([
  { status: 503, body: error("Loading model", { code: 503, type: "unavailable_error" }) },
  { status: 503, body: error("Loading model"), engine: "openai" },
])("%j: the model is being loaded", (each) => {
  expect(judge(each).kind).toBe("loading");
});

describe("too long", () => {
  const vllm = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.";

  test.each([
    {
      body: error("the request exceeds the available context size", {
        code: 400,
        type: "exceed_context_size_error",
        n_prompt_tokens: 9000,
        n_ctx: 8192,
      }),
      numbers: [8192, 9000],
    },
    { body: error(vllm, { type: "BadRequestError", code: 400 }), numbers: [4096, 5000] },
    { body: error(vllm, { code: "context_length_exceeded", param: "messages" }), numbers: [4096, 5000] },
    {
      body: error(
        "You passed 5001 input tokens and requested 100 output tokens. However, the model's context length is only 5000 tokens",
      ),
      numbers: [5000, 5001],
    },
    {
      body: error(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
      ),
      numbers: [128000, 130001],
    },
    {
      body: error(
        "'max_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 100 input tokens",
      ),
      numbers: [4096, 100],
    },
    { body: "the request exceeds the available context size (2048 tokens), try to increase it", numbers: [2048, null] },
    { body: error("too many tokens"), numbers: [null, null] },
    { body: error("input is larger than n_ctx"), numbers: [null, null] },
    { body: error("x", { type: "exceed_context_size_error", n_ctx: -1, n_prompt_tokens: "9" }), numbers: [null, null] },
  ])("%j: the numbers are read", ({ body, numbers: [n_ctx, n_prompt] }) => {
    for (const status of [400, 413]) {
      for (const mode of [null, "json_schema"] as const) {
        expect(judge({ status, body, mode, engine: "vllm" })).toMatchObject({ kind: "too_long", n_ctx, n_prompt });
      }
    }
  });

  test("a size that the server does not speak of is a refusal", () => {
    expect(judge({ status: 413, body: "<html>Request Entity Too Large</html>" }).kind).toBe("refused");
    expect(judge({ status: 404, body: error("maximum context") }).kind).toBe("refused");
  });
});

describe("a call that the server cannot read", () => {
  const start = "Failed to parse tool call arguments as JSON: parse error at line 1, column 9: ";

  test.each([
    { text: `${start}invalid string: missing closing quote`, is_cut: true },
    { text: `${start}unexpected end of input`, is_cut: true },
    { text: `${start}invalid literal`, is_cut: false },
    { text: "invalid tool call arguments", is_cut: false },
  ])("$text: is cut: $is_cut", ({ text, is_cut }) => {
    expect(judge({ status: 500, body: error(text) })).toMatchObject({ kind: "bad_call", is_cut });
    expect(judge({ status: 500, body: text, mode: "grammar" })).toMatchObject({ kind: "bad_call", is_cut });
  });
});

describe("a mode that is not supported", () => {
  const bodies = [
    error("Cannot use custom grammar constraints with tools."),
    error("Failed to parse grammar"),
    error("Grammar error: unsupported schema feature", { type: "BadRequestError" }),
  ];

  test.each([400, 422])("a constrained request that gets %d is asked in the next way", (status) => {
    for (const body of bodies) {
      for (const mode of ["grammar", "json_schema", "structured_outputs", "json_object"] as const) {
        expect(judge({ status, body, mode })).toMatchObject({ kind: "mode_refused", status });
      }
    }
  });

  test("so is one that gets 501, and not what is about something else", () => {
    expect(judge({ status: 501, body: "", mode: "json_schema" }).kind).toBe("mode_refused");
    expect(judge({ status: 500, body: "", mode: "json_schema" }).kind).toBe("died");
    expect(judge({ status: 401, body: "", mode: "json_schema" }).kind).toBe("refused");
    expect(judge({ status: 429, body: "", mode: "json_schema" }).kind).toBe("busy");
  });

  test.each<StructuredMode | null>([null, "prompt"])(
    "a request in mode %p asks for nothing that could be refused",
    (mode) => {
      expect(judge({ status: 400, body: bodies[1], mode }).kind).toBe("refused");
      expect(judge({ status: 501, body: bodies[1], mode }).kind).toBe("died");
    },
  );
});

describe("a model that is not served", () => {
  test.each<Case>([
    { status: 404, body: error("model not found", { type: "not_found_error" }) },
    { status: 404, body: error("The model `x` does not exist.", { type: "NotFoundError" }), engine: "vllm" },
    { status: 404, body: { error: 'model "x" not found, try pulling it first' }, engine: "ollama" },
    { status: 404, body: error("nothing", { code: "model_not_found" }), engine: "openai" },
    { status: 400, body: error("nothing", { code: "model_not_found" }), engine: "openai" },
    { status: 400, body: error("x/y is not a valid model ID"), engine: "openai" },
    { status: 404, body: { error: "could not find real modelID for x" } },
  ])("%j", (each) => {
    expect(judge(each).kind).toBe("not_served");
  });

  test.each<Case>([
    { status: 404, body: "404 page not found" },
    { status: 404, body: "" },
    { status: 400, body: error("model says: property not found") },
  ])("%j is about something else", (each) => {
    expect(judge(each)).toMatchObject({ kind: "refused", status: each.status });
  });
});

test.each<{ readonly body: Case["body"]; readonly message: string }>([
  { body: error("Invalid API key"), message: "HTTP 401: Invalid API key" },
  { body: { error: "no" }, message: "HTTP 401: no" },
  { body: { message: "no" }, message: "HTTP 401: no" },
  { body: { detail: "no" }, message: "HTTP 401: no" },
  { body: { detail: [{ msg: "no" }] }, message: 'HTTP 401: {"detail":[{"msg":"no"}]}' },
  { body: " \n ", message: "HTTP 401" },
  { body: "a\n\n  b\u001b[31mred\u202e", message: "HTTP 401: a bred" },
  { body: "x".repeat(2000), message: `HTTP 401: ${"x".repeat(300)}…` },
  { body: '{"error":"\\ud800 no"}', message: "HTTP 401: \ufffd no" },
  { body: `${" ".repeat(1199)}😀`, message: "HTTP 401: \ufffd" },
])("%j: the message is one line, and not long", ({ body, message }) => {
  expect(judge({ status: 401, body })).toEqual({ kind: "refused", status: 401, message });
});

test("any body of any status is judged", () => {
  const words = fc.constantFrom(
    "context length",
    "model",
    "not found",
    "Loading model",
    "max_tokens",
    " ",
    "9",
    "{",
    '"',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(words).map((list) => list.join("")),
    fc.json(),
  );
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), text, fc.constantFrom(...ENGINES), (status, body, engine) => {
      const judged = judge({ status, body, engine, mode: "json_object" });
      expect(judged.message.length).toBeLessThan(330);
      expect(judged.message).not.toContain("\n");
    }),
  );
});

test("hostile bodies take no time that grows faster than they do", () => {
  for (const part of ["model ", "context length ", "could not find ", "unknown model ", "requested "]) {
    expect(judge({ status: 404, body: part.repeat((64 * 1024) / part.length) }).kind).toBe(
      part.includes("unknown") ? "not_served" : "refused",
    );
  }
});

describe("Retry-After", () => {
  const read = (headers: Record<string, string>) => retryAfterSec((name) => headers[name] ?? null);

  test.each<{ headers: Record<string, string>; seconds: number | null }>([
    { headers: {}, seconds: null },
    { headers: { "retry-after": "2" }, seconds: 2 },
    { headers: { "retry-after": " 1.5 " }, seconds: 1.5 },
    { headers: { "retry-after": "0" }, seconds: 0 },
    { headers: { "retry-after": "999999" }, seconds: 300 },
    { headers: { "retry-after": "-5" }, seconds: null },
    { headers: { "retry-after": "soon" }, seconds: null },
    { headers: { "retry-after-ms": "250", "retry-after": "9" }, seconds: 0.25 },
    {
      headers: { "retry-after": "Mon, 30 Nov 2026 19:40:21 GMT", date: "Mon, 30 Nov 2026 19:40:11 GMT" },
      seconds: 10,
    },
    { headers: { "retry-after": "Mon, 30 Nov 2026 19:40:01 GMT", date: "Mon, 30 Nov 2026 19:40:11 GMT" }, seconds: 0 },
    { headers: { "retry-after": "Mon, 30 Nov 2026 19:40:21 GMT" }, seconds: null },
  ])("%j", ({ headers, seconds }) => {
    expect(read(headers)).toBe(seconds);
  });
});

describe("a parameter that is refused", () => {
  const sent = { max_tokens: 10, temperature: 0, seed: 1, stream_options: {} };

  test.each([
    {
      body: error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", { param: "max_tokens" }),
      parameter: "max_tokens",
    },
    {
      body: error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
      parameter: "max_tokens",
    },
    {
      body: error("Unsupported value: 'temperature' does not support 0 with this model.", { param: "temperature" }),
      parameter: "temperature",
    },
    { body: error("Unrecognized request argument supplied: seed"), parameter: "seed" },
    { body: { detail: "stream_options is not permitted (see max_tokens)" }, parameter: "stream_options" },
    { body: error("bad", { param: "stream_options.include_usage" }), parameter: "stream_options" },
    { body: error("parallel_tool_calls is not supported"), parameter: null },
    { body: error("bad response_format", { param: "response_format" }), parameter: null },
    { body: error("the reseeding failed"), parameter: null },
    { body: error("max_tokens: maximum context length is 5"), parameter: null },
    { body: "", parameter: null },
  ])("%j: the parameter that is named", ({ body, parameter }) => {
    expect(refusedParameter(400, JSON.stringify(body), sent)).toBe(parameter as ReturnType<typeof refusedParameter>);
  });

  test("only a 400 does, and only of what was sent", () => {
    const body = JSON.stringify(error("bad seed", { param: "seed" }));
    expect(refusedParameter(422, body, sent)).toBeNull();
    expect(refusedParameter(400, body, { max_tokens: 1 })).toBeNull();
    expect(refusedParameter(400, body, {})).toBeNull();
  });
});
