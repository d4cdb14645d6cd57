/**
 * Calls that a model wrote into its text because the server did not parse them: the well-known JSON forms are read, and
 * what is no such form is not guessed.
 *
 * Source: delegation run, section 5.4 (tool markup in text)
 */
import { parseJson } from "../json/parse.ts";
import { compactJson, isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { findBalanced } from "./balanced.ts";
import type { ReceivedCall } from "./endpoint.ts";
import { withoutFence } from "./final-text.ts";

const MARKERS = ["<tool_call>", "<function=", "[TOOL_CALLS]", "<|tool_call"];

export type TextCalls =
  /** Not a sign of a call. */
  | { readonly kind: "none" }
  /** Markup that reads; `rest` is the text in front of it. */
  | { readonly kind: "calls"; readonly calls: readonly ReceivedCall[]; readonly rest: string }
  /** Markup that does not. */
  | { readonly kind: "unreadable" };

/**
 * Reads the calls in a text without parsed ones.
 *
 * A text that is one JSON object with the name of an offered tool and its arguments, and nothing else, is a call without
 * markers: small models write it so.
 *
 * @param offered names of tools
 * Errors: none; time is linear in the text
 */
export function callsInText(text: string, offered: readonly string[]): TextCalls {
  const first = Math.min(...MARKERS.map((marker) => placeOf(text, marker)));
  if (first === text.length) return bareCall(text, offered);
  const calls = readMarkup(text, first);
  return calls === null || calls.length === 0
    ? { kind: "unreadable" }
    : { kind: "calls", calls, rest: text.slice(0, first).trim() };
}

function placeOf(text: string, marker: string): number {
  const at = text.indexOf(marker);
  return at < 0 ? text.length : at;
}

function bareCall(text: string, offered: readonly string[]): TextCalls {
  const body = withoutFence(text);
  if (!body.startsWith("{") || !body.endsWith("}")) return { kind: "none" };
  const parsed = parseJson(body);
  const call = parsed.ok ? callOf(parsed.value) : null;
  return call !== null && offered.includes(call.name) ? { kind: "calls", calls: [call], rest: "" } : { kind: "none" };
}

/** Every call behind the first marker; null as soon as something there is none. */
function readMarkup(text: string, first: number): readonly ReceivedCall[] | null {
  const calls: ReceivedCall[] = [];
  let at = first;
  while (at < text.length) {
    const tail = /^(?:\s|<\/tool_call>|<\/function>|<tool_call\|>|<\|tool_call_end\|>|;)+/.exec(
      text.slice(at, at + 256),
    );
    if (tail !== null) {
      at += tail[0].length;
      continue;
    }
    const marker = MARKERS.find((each) => text.startsWith(each, at));
    // Text behind the calls is the model talking on.
    if (marker === undefined) break;
    const read = marker === "<function=" ? readFunction(text, at) : readPlain(text, at + marker.length);
    if (read === null) return null;
    calls.push(...read.calls);
    at = read.end;
  }
  return calls;
}

type Read = { readonly calls: readonly ReceivedCall[]; readonly end: number };

/** `<function=NAME>{ARGUMENTS}` */
function readFunction(text: string, at: number): Read | null {
  const head = /^<function=([A-Za-z0-9_.-]{1,64})>\s{0,16}(?=\{)/.exec(text.slice(at, at + 128));
  const found = head === null ? null : findBalanced(text, "{", at + head[0].length);
  if (head === null || found === null) return null;
  const parsed = parseJson(text.slice(found.start, found.end));
  if (!parsed.ok || !isObject(parsed.value)) return null;
  return { calls: [called(head[1] ?? "", parsed.value)], end: found.end };
}

/** One object or a list of objects of name and arguments; a marker such as `<|tool_call|>` may go on before it. */
function readPlain(text: string, from: number): Read | null {
  const gap = /^(?:begin)?\|?>?\s{0,16}(?=[{[])/.exec(text.slice(from, from + 64));
  if (gap === null) return null;
  const at = from + gap[0].length;
  const found = findBalanced(text, text.charAt(at) === "[" ? "[" : "{", at);
  const parsed = found === null ? null : parseJson(text.slice(found.start, found.end));
  if (found === null || parsed?.ok !== true) return null;
  const values = isArray(parsed.value) ? parsed.value : [parsed.value];
  const calls = values.map(callOf);
  return calls.some((call) => call === null) ? null : { calls: calls.filter((call) => call !== null), end: found.end };
}

/** `{"name":…,"arguments":{…}}`; some models call the arguments "parameters". */
function callOf(value: JsonValue): ReceivedCall | null {
  if (!isObject(value)) return null;
  const name = valueAt(value, "name");
  const given = valueAt(value, "arguments") ?? valueAt(value, "parameters");
  if (typeof name !== "string") return null;
  if (typeof given === "string") return { id: null, name, arguments: given };
  return isObject(given) ? called(name, given) : null;
}

function called(name: string, values: JsonObject): ReceivedCall {
  return { id: null, name, arguments: compactJson(values) };
}
