import { describe, expect, test } from "bun:test";
import { ENGINES, type Engine } from "../../../src/core/config/seat.ts";
import { ERROR_NAMES, type ErrorName } from "../../../src/core/scripted/named-error.ts";
import { hello, reply } from "./played.ts";

const NO_VLLM = ["llama.cpp", "ollama", "openai"] as const;
const TEXT = "This model's maximum context length is 32768 tokens. However, you requested 2 tokens.";

/** Every body to the letter: name, engines, status, body. */
const BODIES: readonly (readonly [ErrorName, readonly Engine[], number, string])[] = [
  ["loading", ENGINES, 503, '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'],
  ["no_slot", ENGINES, 503, '{"error":{"code":503,"message":"no slot available","type":"unavailable_error"}}'],
  [
    "rate_limited",
    ENGINES,
    429,
    '{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"}}',
  ],
  ["overloaded", ENGINES, 503, '{"error":"server busy, please try again. maximum pending requests exceeded"}'],
  [
    "concurrency_limit",
    ENGINES,
    429,
    '{"error":{"message":"model concurrency limit reached","code":"concurrency_limit"},"src":"llama-swap"}',
  ],
  ["not_ready", ENGINES, 503, '{"error":"process is not ready","src":"llama-swap"}'],
  ["start_failed", ENGINES, 500, '{"error":"unable to start process: health check timed out","src":"llama-swap"}'],
  ["upstream_died", ENGINES, 502, '{"error":"upstream closed the connection","src":"llama-swap"}'],
  [
    "too_long",
    ["llama.cpp"],
    400,
    '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":2,"n_ctx":32768}}',
  ],
  ["too_long", ["vllm"], 400, `{"error":{"message":"${TEXT}","type":"BadRequestError","code":400}}`],
  [
    "too_long",
    ["openai", "ollama"],
    400,
    `{"error":{"message":"${TEXT}","type":"invalid_request_error","code":"context_length_exceeded","param":"messages"}}`,
  ],
  [
    "bad_arguments",
    ENGINES,
    500,
    '{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: parse error at line 1, column 1: invalid string: missing closing quote","type":"server_error"}}',
  ],
  [
    "grammar_with_tools",
    ENGINES,
    400,
    '{"error":{"code":400,"message":"Cannot use custom grammar constraints with tools.","type":"invalid_request_error"}}',
  ],
  [
    "bad_schema",
    NO_VLLM,
    400,
    '{"error":{"code":400,"message":"Failed to parse grammar","type":"invalid_request_error"}}',
  ],
  [
    "bad_schema",
    ["vllm"],
    400,
    '{"error":{"message":"Grammar error: unsupported schema feature","type":"BadRequestError","code":400}}',
  ],
  [
    "unsupported_parameter",
    ENGINES,
    400,
    `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`,
  ],
  ["unauthorized", ENGINES, 401, '{"error":{"message":"Invalid API key","type":"authentication_error"}}'],
  ["no_model", ENGINES, 404, '{"error":{"message":"model not found","type":"not_found_error"}}'],
  ["internal", ENGINES, 500, '{"error":{"code":500,"message":"internal error","type":"server_error"}}'],
];

describe("an error by its name", () => {
  const rows = BODIES.flatMap(([name, engines, status, body]) =>
    engines.map((engine) => ({ name, engine, status, body })),
  );

  test("has a body for each engine", () => {
    expect(rows.length).toBe(ERROR_NAMES.length * ENGINES.length);
    expect(new Set(rows.map(({ name, engine }) => `${name} ${engine}`)).size).toBe(rows.length);
  });

  test.each(rows)("$name of $engine is $status, to the letter", ({ name, engine, status, body }) => {
    for (const stream of [true, false]) {
      const played = reply({ error: name }, hello({ stream }), { engine });
      expect([played.status, played.body, played.end]).toEqual([status, body, "end"]);
      expect(played.size_bytes).toBe(Buffer.byteLength(body));
      expect(played.headers["content-type"]).toBe("application/json");
      expect(played.headers["retry-after"]).toBe(name === "concurrency_limit" ? ("2" as string) : (undefined as never));
    }
  });

  test("says when to come again, where the script says it", () => {
    expect(reply({ error: "rate_limited", retry_after: 1 }).headers["retry-after"]).toBe("1");
    expect(reply({ error: "concurrency_limit", retry_after: 9 }).headers["retry-after"]).toBe("9");
  });

  test("waits as the script says", () => {
    expect(reply({ error: "internal", delay_ms: 20 }).waits).toEqual([20]);
    expect(reply({ error: "internal", hold_ms: 30 }).plan.hold_ms).toBe(30);
  });
});
