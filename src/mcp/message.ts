/**
 * A line of the protocol to its messages. The arguments of a tool are left as the text that was sent: the readers of
 * contracts and envelopes judge spelling, numbers and doubled keys themselves, and tell of all of them at once.
 *
 * Source: JSON-RPC 2.0; MCP 2025-06-18 and 2025-03-26, "Base protocol"
 */
import { type JsonPart, partsOf } from "../core/json/parts.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/value.ts";
import { decodeUtf8 } from "../core/utf8.ts";

export type RequestId = string | number;

export type Incoming =
  | {
      readonly kind: "request";
      readonly id: RequestId;
      readonly method: string;
      /** Of a call of a tool: without its arguments. */
      readonly params: JsonObject | undefined;
      /** The arguments of a call of a tool, as they are written; "{}" where there are none. */
      readonly arguments: string;
    }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject | undefined }
  /** An answer; this server asks nothing. */
  | { readonly kind: "answer" }
  | MessageFault;

/** What is wrong with a message: the error that answers it. */
export type MessageFault = {
  readonly kind: "fault";
  /** Null where the message does not say, or says what is no id. */
  readonly id: RequestId | null;
  readonly code: number;
  readonly message: string;
};

export type IncomingLine = {
  /** The messages came as one list, and so do their answers. */
  readonly isBatch: boolean;
  readonly messages: readonly Incoming[];
};

export const FAULTS = { parse: -32700, request: -32600, params: -32602, busy: -32000 } as const;

/** Messages in one list; MCP 2025-03-26 has lists, later versions do not send them. */
export const MAX_IN_A_LIST = 64;

/**
 * @param bytes a line without its end
 * Errors: none is thrown, whatever the bytes; a line that is no message holds a fault
 */
export function readLine(bytes: Uint8Array): IncomingLine {
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return single(fault(null, "parse", `Byte ${decoded.offset} of the message is no UTF-8`));
  const { text } = decoded;
  try {
    JSON.parse(text);
  } catch (error) {
    return single(fault(null, "parse", `The message is no JSON: ${error instanceof Error ? error.message : error}`));
  }
  const { kind, parts } = partsOf(text);
  if (kind !== "list") return single(readMessage(text));
  if (parts.length === 0) return single(fault(null, "request", "A list of messages holds at least one"));
  if (parts.length > MAX_IN_A_LIST) {
    return single(fault(null, "request", `A list holds ${MAX_IN_A_LIST} messages at most, not ${parts.length}`));
  }
  return { isBatch: true, messages: parts.map(({ start, end }) => readMessage(text.slice(start, end))) };
}

function single(message: Incoming): IncomingLine {
  return { isBatch: false, messages: [message] };
}

function readMessage(text: string): Incoming {
  const { kind, parts } = partsOf(text);
  if (kind !== "object") return fault(null, "request", "A message is an object");
  const members = membersOf(text, parts);
  const idText = members.texts.get("id");
  const id = idText === undefined ? null : idOf(idText);
  if (members.doubled !== null) return fault(id, "request", `The message has "${members.doubled}" twice`);
  if (members.texts.get("jsonrpc") !== '"2.0"') return fault(id, "request", 'A message has "jsonrpc": "2.0"');
  const method = stringOf(members.texts.get("method"));
  if (method === null) {
    if (members.texts.has("result") || members.texts.has("error")) return { kind: "answer" };
    return fault(id, "request", 'A message has a "method", which is a text');
  }
  if (idText !== undefined && id === null) {
    return fault(null, "request", "The id of a request is a text, or a whole number that a double holds");
  }
  const params = members.texts.get("params");
  if (id === null) return { kind: "notification", method, params: objectOf(params) };
  if (params !== undefined && partsOf(params).kind !== "object") {
    return fault(id, "params", "The params of a request are an object");
  }
  if (method !== "tools/call") return { kind: "request", id, method, params: objectOf(params), arguments: "{}" };
  return readToolCall(id, method, params ?? "{}");
}

function readToolCall(id: RequestId, method: string, text: string): Incoming {
  const { parts } = partsOf(text);
  const members = membersOf(text, parts);
  if (members.doubled !== null) return fault(id, "params", `The params have "${members.doubled}" twice`);
  if (stringOf(members.texts.get("name")) === null) return fault(id, "params", 'A call has the "name" of a tool');
  const kept = [...members.texts].filter(([key]) => key !== "arguments");
  const params = objectOf(`{${kept.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`);
  return { kind: "request", id, method, params, arguments: members.texts.get("arguments") ?? "{}" };
}

type Members = { readonly texts: ReadonlyMap<string, string>; readonly doubled: string | null };

function membersOf(text: string, parts: readonly JsonPart[]): Members {
  const texts = new Map<string, string>();
  let doubled: string | null = null;
  for (const { key, start, end } of parts) {
    if (texts.has(key)) doubled ??= key;
    texts.set(key, text.slice(start, end));
  }
  return { texts, doubled };
}

function idOf(text: string): RequestId | null {
  const value: unknown = JSON.parse(text);
  return typeof value === "string" || (Number.isSafeInteger(value) && typeof value === "number") ? value : null;
}

function stringOf(text: string | undefined): string | null {
  const value: unknown = text === undefined ? null : JSON.parse(text);
  return typeof value === "string" ? value : null;
}

function objectOf(text: string | undefined): JsonObject | undefined {
  const value = text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  return isObject(value) ? value : undefined;
}

function fault(id: RequestId | null, why: keyof typeof FAULTS, message: string): MessageFault {
  return { kind: "fault", id, code: FAULTS[why], message };
}
