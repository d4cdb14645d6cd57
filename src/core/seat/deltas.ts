/**
 * What a model server sends in answer to a chat request, put together: the chunks of a stream, or one whole object.
 *
 * Servers differ in where they put things and leave things out. What is there with another type than it should have
 * counts as not there; what cannot be read at all ends the answer. One reader takes one answer.
 *
 * Source: delegation run, sections 5.4 (calls as received), 5.5, 5.9
 */
import { mapJson, nodeOf } from "../json/edit.ts";
import { MAX_JSON_DEPTH } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { utf8Length } from "../utf8.ts";
import type { ReceivedCall, Usage } from "./endpoint.ts";

/** More than this of one answer is not kept: content, reasoning and calls together, in bytes. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** No window has so many tokens: a count above it counts nothing, and no sum of a job's counts is beyond a number. */
const MOST_TOKENS = 1e9;

/** What an empty call costs of the limit: calls without end are an answer without end. */
const CALL_BYTES = 64;

/** What became of one event of a stream, or of a whole answer. */
export type Taken =
  /**
   * `deltas`: how many pieces of content, reasoning or a call it brought. `prefilled`: prompt tokens that are read by
   * now; null where it does not say.
   */
  | { readonly kind: "taken"; readonly deltas: number; readonly prefilled: number | null }
  /** The end mark of a stream. */
  | { readonly kind: "done" }
  /** The server breaks off with an error: the object that holds it, to be judged like the body of an error, and its text. */
  | { readonly kind: "error"; readonly body: JsonObject; readonly text: string }
  | { readonly kind: "unreadable"; readonly message: string }
  | { readonly kind: "too_large"; readonly bytes: number };

/** What was received so far. */
export type Received = {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ReceivedCall[];
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** As the server calls the model, and what made the answer; null where it does not say. */
  readonly model: string | null;
  readonly system_fingerprint: string | null;
};

type OpenCall = { index: number | null; id: string | null; name: string; readonly given: GrowingText };

export class AnswerReader {
  /** Pieces of content, reasoning and calls so far. */
  deltas = 0;
  /** Of everything that is kept. */
  bytes = 0;
  finish_reason: string | null = null;
  private readonly content = new GrowingText();
  private readonly reasoning = new GrowingText();
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();
  private usage: Usage | null = null;
  private model: string | null = null;
  private systemFingerprint: string | null = null;

  /** Takes the data of one event of a stream. Errors: none, whatever the text. */
  takeEvent(data: string): Taken {
    const mark = data.length > 16 ? data : data.trim();
    if (mark === "[DONE]") return { kind: "done" };
    // An event without anything in it: a ping of some proxies.
    if (mark === "") return { kind: "taken", deltas: 0, prefilled: null };
    return this.take(data, "delta");
  }

  /** Takes a whole answer, also one that answers a request for a stream. Errors: none, whatever the text. */
  takeWhole(text: string): Taken {
    return this.take(text.startsWith("\ufeff") ? text.slice(1) : text, "message");
  }

  received(): Received {
    return {
      // A pair of surrogates may have come in two pieces; half a pair that stays alone is no text.
      content: this.content.text().toWellFormed(),
      reasoning: this.reasoning.text().toWellFormed(),
      calls: this.calls.map(({ id, name, given }) => ({
        id: id?.toWellFormed() ?? null,
        name: name.toWellFormed(),
        arguments: given.text().toWellFormed(),
      })),
      finish_reason: this.finish_reason,
      usage: this.usage,
      model: this.model,
      system_fingerprint: this.systemFingerprint,
    };
  }

  /** The last characters of what is being written: of the content, or of the reasoning as long as there is none. */
  tail(characters: number): string {
    return (this.content.isEmpty ? this.reasoning : this.content).tail(characters);
  }

  private take(text: string, part: "delta" | "message"): Taken {
    const chunk = parse(text);
    if (chunk === null) return { kind: "unreadable", message: "it holds something that is no JSON object" };
    if (isError(chunk)) return { kind: "error", body: chunk, text };
    this.model = stringAt(chunk, "model") ?? this.model;
    this.systemFingerprint = stringAt(chunk, "system_fingerprint") ?? this.systemFingerprint;
    this.usage = usageOf(chunk) ?? this.usage;
    const choices = valueAt(chunk, "choices");
    if (part === "message" && !isArray(choices)) {
      return { kind: "unreadable", message: 'it is an object without "choices"' };
    }
    const before = this.deltas;
    for (const [place, choice] of isArray(choices) ? choices.entries() : []) {
      if (!isObject(choice) || isFurther(valueAt(choice, "index"))) continue;
      this.takeDelta(objectAt(choice, part), text, ["choices", place, part]);
      this.finish_reason = stringAt(choice, "finish_reason") ?? this.finish_reason;
    }
    if (this.bytes > MAX_ANSWER_BYTES) return { kind: "too_large", bytes: this.bytes };
    return { kind: "taken", deltas: this.deltas - before, prefilled: prefilledOf(chunk) };
  }

  private takeDelta(delta: JsonObject, text: string, path: readonly (string | number)[]): void {
    const content = valueAt(delta, "content");
    if (isArray(content)) for (const part of content) this.takePart(part);
    else this.keep(this.content, content);
    // Servers that have renamed the one to the other send both, with the same text.
    this.keep(this.reasoning, stringAt(delta, "reasoning_content") ?? valueAt(delta, "reasoning"));
    const calls = valueAt(delta, "tool_calls");
    for (const [place, call] of isArray(calls) ? calls.entries() : []) {
      if (isObject(call)) this.takeCall(call, text, [...path, "tool_calls", place]);
    }
  }

  /** Content as a list of parts, of which the texts count. */
  private takePart(part: JsonValue): void {
    if (isObject(part) && valueAt(part, "type") === "text") this.keep(this.content, valueAt(part, "text"));
  }

  private takeCall(call: JsonObject, text: string, path: readonly (string | number)[]): void {
    const spec = objectAt(call, "function");
    const id = stringAt(call, "id");
    const name = stringAt(spec, "name") ?? "";
    const argument = valueAt(spec, "arguments");
    const piece =
      typeof argument === "string"
        ? argument
        : isObject(argument)
          ? compactAt(text, [...path, "function", "arguments"])
          : "";
    const open = this.openCall(indexOf(call), id, name, piece);
    if (id !== null && open.id === null) open.id = id;
    // Some servers send the name again with every piece.
    if (name !== open.name && open.given.isEmpty) {
      open.name += name;
      this.bytes += utf8Length(name);
    }
    if (piece !== "") {
      open.given.add(piece);
      this.bytes += utf8Length(piece);
    }
    this.deltas += 1;
  }

  /** The call that a fragment belongs to, opened where it is a new one. */
  private openCall(index: number | null, id: string | null, name: string, piece: string): OpenCall {
    const open = index === null ? this.calls.at(-1) : this.byIndex.get(index);
    // One index for several calls, or none at all: then another id begins another call.
    if (open !== undefined && !isAnother(open, index, id, name, piece)) return open;
    const call: OpenCall = { index, id, name: "", given: new GrowingText() };
    this.calls.push(call);
    if (index !== null) this.byIndex.set(index, call);
    this.bytes += CALL_BYTES + utf8Length(id ?? "");
    return call;
  }

  private keep(text: GrowingText, piece: JsonValue | undefined): void {
    if (typeof piece !== "string" || piece === "") return;
    text.add(piece);
    this.bytes += utf8Length(piece);
    this.deltas += 1;
  }
}

/** Pieces that are held one by one: each costs many times what a token has of characters. */
const HELD_PIECES = 4096;

/** A text that comes in pieces. */
class GrowingText {
  /** The piece that came last, "" before the first. */
  last = "";
  private readonly joined: string[] = [];
  private held: string[] = [];

  get isEmpty(): boolean {
    return this.last === "";
  }

  /** @param piece not empty */
  add(piece: string): void {
    this.last = piece;
    this.held.push(piece);
    if (this.held.length < HELD_PIECES) return;
    this.joined.push(this.held.join(""));
    this.held = [];
  }

  text(): string {
    return [...this.joined, ...this.held].join("");
  }

  /** The last characters of it. */
  tail(characters: number): string {
    const found: string[] = [];
    let length = 0;
    for (const pieces of [this.held, this.joined]) {
      for (let at = pieces.length - 1; at >= 0 && length < characters; at -= 1) {
        const piece = pieces[at] ?? "";
        found.push(piece);
        length += piece.length;
      }
    }
    return found.reverse().join("").slice(-characters);
  }
}

/** True for the index of another choice than the first; nobody asked for one. */
function isFurther(index: JsonValue | undefined): boolean {
  return typeof index === "number" && index !== 0;
}

/** True when a fragment that would fall to an open call begins the next one. */
function isAnother(open: OpenCall, index: number | null, id: string | null, name: string, piece: string): boolean {
  if (name === "" || open.name === "") return false;
  if (id !== null && open.id !== null) return id !== open.id;
  if (index !== null) return false;
  if (name !== open.name) return true;
  // Neither index nor id: the same tool once more, where the last call is whole and this begins anew.
  const isWhole = open.given.last.trimEnd().endsWith("}");
  return isWhole && piece.trimStart().startsWith("{");
}

/** JSON.parse and not the strict reader: no number and no repeated key of a chunk matters, and half a pair may come. */
function parse(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null; // no JSON: said by the caller
  }
}

/**
 * The object at a path of a text that is JSON, without blanks and with its numbers as they are spelled. What is nested
 * deeper than any schema of a tool is no arguments.
 */
function compactAt(text: string, path: readonly (string | number)[]): string {
  const node = isDeep(text) ? null : nodeOf(mapJson(text), path);
  return node === null ? "" : withoutBlanks(text.slice(node.start, node.end));
}

function isDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') at = stringEnd(json, at) - 1;
    else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** JSON without the blanks between its tokens. */
function withoutBlanks(json: string): string {
  const kept: string[] = [];
  let from = 0;
  while (from < json.length) {
    const quote = json.indexOf('"', from);
    kept.push((quote < 0 ? json.slice(from) : json.slice(from, quote)).replace(/[ \t\r\n]/g, ""));
    if (quote < 0) break;
    from = stringEnd(json, quote);
    kept.push(json.slice(quote, from));
  }
  return kept.join("");
}

/** Behind the closing quote of the string that begins at a place. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** `{"error":{…}}` or `{"error":"…"}`; older servers put the error itself into the event, as `{"object":"error",…}`. */
function isError(chunk: JsonObject): boolean {
  const error = valueAt(chunk, "error");
  return isObject(error) || (typeof error === "string" && error !== "") || valueAt(chunk, "object") === "error";
}

function indexOf(call: JsonObject): number | null {
  const index = valueAt(call, "index");
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : null;
}

function usageOf(chunk: JsonObject): Usage | null {
  const usage = valueAt(chunk, "usage");
  if (!isObject(usage)) return null;
  const prompt = tokensAt(usage, "prompt_tokens");
  const completion = tokensAt(usage, "completion_tokens");
  if (prompt === null && completion === null) return null;
  return {
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    reasoning_tokens: tokensAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens") ?? 0,
    cached_tokens: tokensAt(objectAt(usage, "prompt_tokens_details"), "cached_tokens") ?? 0,
  };
}

function prefilledOf(chunk: JsonObject): number | null {
  return tokensAt(objectAt(chunk, "prompt_progress"), "processed");
}

function tokensAt(object: JsonObject, key: string): number | null {
  const value = valueAt(object, key);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : null;
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = valueAt(object, key);
  return isObject(value) ? value : {};
}

/** A text that says something; null where there is none. */
function stringAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  return typeof value === "string" && value !== "" ? value : null;
}
