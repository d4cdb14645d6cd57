/** What a chat request says, as the conditions of a script look at it. */
import { surveyJson } from "../json/parse.ts";
import { readSource, roundedValue } from "../json/source.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { utf8Length } from "../utf8.ts";
import { lastBytes, tokensOf } from "./tokens.ts";

export type ChatCall = {
  readonly id: string | null;
  readonly name: string;
  /** As sent; an object is its compact text. */
  readonly arguments: string;
  /** They came as a text and are no JSON. */
  readonly fault_column: number | null;
};

export type ChatMessage = {
  readonly role: string;
  /** The text, of a list of parts their texts in a row. */
  readonly text: string;
  readonly calls: readonly ChatCall[];
  /** Of the result of a tool: what was called; null where that cannot be told. */
  readonly tool: string | null;
};

/** How a request asks for the form of its answer. */
export type AskedForm = "none" | "grammar" | "json_schema" | "json_object" | "structured_outputs";

export type ChatRequest = {
  readonly model: string | null;
  readonly messages: readonly ChatMessage[];
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  readonly tools_bytes: number;
  readonly constraint: AskedForm;
  readonly thinking: "on" | "off";
  readonly stream: boolean;
  readonly max_tokens: number | null;
};

export type ReadChatRequest =
  | { readonly ok: true; readonly request: ChatRequest }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the body of a chat request. Members that no condition looks at may be anything.
 *
 * Errors: none, whatever the text
 */
export function readChatRequest(text: string): ReadChatRequest {
  const read = readSource(text, { surrogates: "keep" });
  if (!read.ok) {
    const { line, column, message } = read.fault;
    return { ok: false, message: `The request is no strict JSON: line ${line}, column ${column}: ${message}` };
  }
  const body = roundedValue(read.node);
  if (!isObject(body)) return { ok: false, message: "The request is no JSON object" };
  const messages = valueAt(body, "messages");
  if (!isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    return { ok: false, message: "messages must be a list of objects, at least one" };
  }
  const tools = valueAt(body, "tools");
  const offered = isArray(tools) ? tools : [];
  const model = valueAt(body, "model");
  const max = valueAt(body, "max_tokens") ?? valueAt(body, "max_completion_tokens");
  return {
    ok: true,
    request: {
      model: typeof model === "string" ? model : null,
      messages: messagesOf(messages),
      tools: offered.map((tool) => textAt(objectAt(tool, "function"), "name")),
      tools_bytes: offered.reduce<number>((sum, tool) => sum + utf8Length(JSON.stringify(tool)), 0),
      constraint: constraintOf(body),
      thinking: isThinkingOff(body) ? "off" : "on",
      stream: valueAt(body, "stream") === true,
      max_tokens: typeof max === "number" ? max : null,
    },
  };
}

/** The first `user` message; "" where there is none. */
export function goalOf({ messages }: ChatRequest): string {
  return messages.find(({ role }) => role === "user")?.text ?? "";
}

/** 1 and the number of answers in the history, without those that were put there before the first one. */
export function stepOf({ messages }: ChatRequest): number {
  const answers = messages.filter(({ role, calls }) => {
    const isSeed = calls.length > 0 && calls.every(({ id }) => id?.startsWith("seed_") === true);
    return role === "assistant" && !isSeed;
  });
  return answers.length + 1;
}

/** All messages and tools, counted. */
export function promptTokens(request: ChatRequest, bytesPerToken: number): number {
  const bytes = request.messages.reduce((sum, message) => sum + sizeOf(message), request.tools_bytes);
  return tokensOf(bytes, bytesPerToken);
}

/** The request whose front was dropped, so that what is left fits a window: what such an engine reads of it. */
export function keepEnd(request: ChatRequest, ctxTokens: number, bytesPerToken: number): ChatRequest {
  let left = ctxTokens * bytesPerToken - request.tools_bytes;
  const kept: ChatMessage[] = [];
  for (const message of request.messages.toReversed()) {
    const size = sizeOf(message);
    if (size > left) {
      const text = lastBytes(message.text, Math.max(0, left));
      if (text !== "") kept.push({ ...message, text, calls: [] });
      break;
    }
    kept.push(message);
    left -= size;
  }
  return { ...request, messages: kept.reverse() };
}

function sizeOf({ text, calls }: ChatMessage): number {
  return calls.reduce((sum, call) => sum + utf8Length(call.name) + utf8Length(call.arguments), utf8Length(text));
}

function messagesOf(messages: readonly JsonObject[]): readonly ChatMessage[] {
  const called = new Map<string, string>();
  return messages.map((message) => {
    const list = valueAt(message, "tool_calls");
    const calls = (isArray(list) ? list : []).map(callOf);
    for (const { id, name } of calls) if (id !== null) called.set(id, name);
    const role = textAt(message, "role");
    const id = valueAt(message, "tool_call_id");
    const name = valueAt(message, "name");
    const tool = (typeof id === "string" ? called.get(id) : undefined) ?? (typeof name === "string" ? name : null);
    return { role, text: textOf(valueAt(message, "content")), calls, tool: role === "tool" ? tool : null };
  });
}

function callOf(call: JsonValue): ChatCall {
  const own = objectAt(call, "function");
  const id = isObject(call) ? valueAt(call, "id") : undefined;
  const given = valueAt(own, "arguments");
  const text = typeof given === "string" ? given : given === undefined ? "" : JSON.stringify(given);
  const fault = typeof given === "string" ? surveyJson(given).grammar : null;
  return {
    id: typeof id === "string" ? id : null,
    name: textAt(own, "name"),
    arguments: text,
    fault_column: fault === null ? null : fault.column,
  };
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return isArray(content) ? content.map((part) => (isObject(part) ? textAt(part, "text") : "")).join("") : "";
}

function constraintOf(body: JsonObject): AskedForm {
  const grammar = valueAt(body, "grammar");
  if (typeof grammar === "string" && grammar !== "") return "grammar";
  if (isObject(valueAt(body, "structured_outputs"))) return "structured_outputs";
  const type = textAt(objectAt(body, "response_format"), "type");
  if (type === "json_schema" || type === "json_object") return type;
  return isObject(valueAt(body, "json_schema")) ? "json_schema" : "none";
}

function isThinkingOff(body: JsonObject): boolean {
  return (
    valueAt(objectAt(body, "chat_template_kwargs"), "enable_thinking") === false ||
    valueAt(body, "reasoning_effort") === "none"
  );
}

function objectAt(value: JsonValue | undefined, key: string): JsonObject {
  const member = isObject(value) ? valueAt(value, key) : undefined;
  return isObject(member) ? member : {};
}

function textAt(object: JsonObject, key: string): string {
  const value = valueAt(object, key);
  return typeof value === "string" ? value : "";
}
