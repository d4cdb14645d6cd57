/**
 * The body of a chat request, as each engine wants it.
 *
 * Its bytes are the same for the same request: members in a fixed order, nothing that changes from one to the next.
 *
 * Source: delegation run, sections 2.3 (extra_body), 5.9
 */
import { RESERVED_BODY_KEYS, type Seat } from "../config/seat.ts";
import { assignKey, isObject, type JsonObject, type JsonValue, valueAt, withKey } from "../json/value.ts";
import type { ChatMessage, ChatRequest, Constraint } from "./endpoint.ts";
import type { Parameter } from "./judge-answer.ts";

const RESERVED: ReadonlySet<string> = new Set(RESERVED_BODY_KEYS);

/**
 * The body of one request.
 *
 * @param refused parameters that this server does not take: `max_tokens` goes as `max_completion_tokens`, any other is
 *                left out
 * @returns a constrained request has no tools and temperature 0; a seat's `extra_body` overrides what is not reserved,
 *          but for what switches thinking off
 */
export function requestBody(seat: Seat, request: ChatRequest, refused: ReadonlySet<Parameter> = new Set()): JsonObject {
  const { constraint } = request;
  const temperature = constraint === null || seat.temperature === null ? seat.temperature : 0;
  const body: Record<string, JsonValue> = {
    model: seat.model,
    messages: request.messages.map(messageOf),
    // A server refuses a grammar beside tools.
    ...(constraint === null && request.tools.length > 0
      ? { tools: request.tools.map((tool) => ({ type: "function", function: { ...tool } })), tool_choice: "auto" }
      : {}),
    max_tokens: request.max_tokens,
    ...(temperature === null ? {} : { temperature }),
    ...(seat.seed === null ? {} : { seed: seat.seed }),
    stream: seat.stream,
    ...(seat.stream ? { stream_options: { include_usage: true } } : {}),
    ...(seat.engine === "llama.cpp" ? { cache_prompt: true, ...(seat.stream ? { return_progress: true } : {}) } : {}),
    ...(constraint === null ? {} : formOf(constraint)),
  };
  for (const [key, value] of Object.entries(seat.extra_body)) {
    if (!RESERVED.has(key)) assignKey(body, key, value);
  }
  if (request.thinking === "off") switchThinkingOff(body, seat);
  for (const parameter of refused) {
    const value = body[parameter];
    delete body[parameter];
    if (parameter === "max_tokens" && value !== undefined) body.max_completion_tokens = value;
  }
  return body;
}

/** The most tokens that a body lets the answer have; null where it says nothing. */
export function answerBudget(body: JsonObject): number | null {
  const budget = valueAt(body, "max_completion_tokens") ?? valueAt(body, "max_tokens");
  return typeof budget === "number" && budget > 0 ? budget : null;
}

function messageOf(message: ChatMessage): JsonObject {
  if (message.role !== "assistant") return { ...message };
  const { role, content, tool_calls = [] } = message;
  // An empty list is refused by some servers.
  return tool_calls.length === 0
    ? { role, content }
    : { role, content, tool_calls: tool_calls.map((call) => ({ ...call, function: { ...call.function } })) };
}

function formOf({ mode, schema, grammar }: Constraint): JsonObject {
  switch (mode) {
    case "grammar":
      return grammar === null ? {} : { grammar };
    case "json_schema":
      return {
        response_format: { type: "json_schema", json_schema: { name: "result", strict: true, schema } },
      };
    case "structured_outputs":
      return { structured_outputs: { json: schema } };
    case "json_object":
      return { response_format: { type: "json_object" } };
    case "prompt":
      return {};
    default:
      return mode satisfies never;
  }
}

function switchThinkingOff(body: Record<string, JsonValue>, { engine }: Seat): void {
  if (engine === "llama.cpp" || engine === "vllm") {
    const template = body.chat_template_kwargs;
    body.chat_template_kwargs = withKey(isObject(template) ? template : {}, "enable_thinking", false);
  }
  if (engine === "llama.cpp" || engine === "ollama") body.reasoning_effort = "none";
}
