/**
 * The error bodies of the engines, by the names that a script gives them. To the letter: they are what a client of the
 * engines is held against.
 *
 * Source: delegation run, section 17.4
 */
import type { Engine } from "../config/seat.ts";
import type { JsonObject } from "../json/value.ts";

export const ERROR_NAMES = [
  "loading",
  "no_slot",
  "rate_limited",
  "overloaded",
  "concurrency_limit",
  "not_ready",
  "start_failed",
  "upstream_died",
  "too_long",
  "bad_arguments",
  "grammar_with_tools",
  "bad_schema",
  "unsupported_parameter",
  "unauthorized",
  "no_model",
  "internal",
] as const;
export type ErrorName = (typeof ERROR_NAMES)[number];

export type HttpError = {
  readonly status: number;
  readonly body: JsonObject;
  /** What the error always carries, besides what a script adds. */
  readonly retry_after: number | null;
};

/** The counts that two of the bodies name. */
export type Counts = {
  readonly prompt_tokens: number;
  readonly ctx_tokens: number;
  /** Where arguments stop being JSON; counted from 1. */
  readonly column: number;
};

/** Errors: none */
export function namedError(name: ErrorName, engine: Engine, counts: Counts): HttpError {
  switch (name) {
    case "loading":
      return coded(503, "Loading model", "unavailable_error");
    case "no_slot":
      return coded(503, "no slot available", "unavailable_error");
    case "rate_limited":
      return made(429, {
        error: { message: "Rate limit reached", type: "rate_limit_error", code: "rate_limit_exceeded" },
      });
    case "overloaded":
      return made(503, { error: "server busy, please try again. maximum pending requests exceeded" });
    case "concurrency_limit": {
      const error = { message: "model concurrency limit reached", code: "concurrency_limit" };
      return { ...made(429, { error, src: "llama-swap" }), retry_after: 2 };
    }
    case "not_ready":
      return made(503, { error: "process is not ready", src: "llama-swap" });
    case "start_failed":
      return made(500, { error: "unable to start process: health check timed out", src: "llama-swap" });
    case "upstream_died":
      return made(502, { error: "upstream closed the connection", src: "llama-swap" });
    case "too_long":
      return tooLong(engine, counts);
    case "bad_arguments":
      return coded(
        500,
        `Failed to parse tool call arguments as JSON: parse error at line 1, column ${counts.column}: ` +
          "invalid string: missing closing quote",
        "server_error",
      );
    case "grammar_with_tools":
      return coded(400, "Cannot use custom grammar constraints with tools.", "invalid_request_error");
    case "bad_schema":
      return engine === "vllm"
        ? made(400, {
            error: { message: "Grammar error: unsupported schema feature", type: "BadRequestError", code: 400 },
          })
        : coded(400, "Failed to parse grammar", "invalid_request_error");
    case "unsupported_parameter":
      return made(400, {
        error: {
          message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
          type: "invalid_request_error",
          param: "max_tokens",
          code: "unsupported_parameter",
        },
      });
    case "unauthorized":
      return made(401, { error: { message: "Invalid API key", type: "authentication_error" } });
    case "no_model":
      return made(404, { error: { message: "model not found", type: "not_found_error" } });
    case "internal":
      return coded(500, "internal error", "server_error");
    default:
      return name satisfies never;
  }
}

/** Ollama cuts a prompt that is too long and says nothing: where a script plays it there, it is the hosted engines' error. */
function tooLong(engine: Engine, { prompt_tokens, ctx_tokens }: Counts): HttpError {
  if (engine === "llama.cpp") {
    return made(400, {
      error: {
        code: 400,
        message: "the request exceeds the available context size",
        type: "exceed_context_size_error",
        n_prompt_tokens: prompt_tokens,
        n_ctx: ctx_tokens,
      },
    });
  }
  const message =
    `This model's maximum context length is ${ctx_tokens} tokens. ` + `However, you requested ${prompt_tokens} tokens.`;
  return engine === "vllm"
    ? made(400, { error: { message, type: "BadRequestError", code: 400 } })
    : made(400, {
        error: { message, type: "invalid_request_error", code: "context_length_exceeded", param: "messages" },
      });
}

function coded(code: number, message: string, type: string): HttpError {
  return made(code, { error: { code, message, type } });
}

function made(status: number, body: JsonObject): HttpError {
  return { status, body, retry_after: null };
}
