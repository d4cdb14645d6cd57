/**
 * What an answer that is no completion means: a status, what its headers say, and its body, as engines and proxies
 * send them. A server's words are looked at here, once, and nowhere else.
 *
 * Source: delegation run, sections 5.4 (a call that a server cannot read), 5.8, 5.9, 8.2, 8.3, 17.4
 */
import type { Engine } from "../config/seat.ts";
import { isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { stripControls } from "../terminal.ts";
import type { ChatOutcome, StructuredMode } from "./endpoint.ts";

/** What judging makes of an answer; an answer, silence, size and the caller's signal are known where they happen. */
export type JudgedAnswer = Extract<
  ChatOutcome,
  { kind: "busy" | "loading" | "too_long" | "bad_call" | "mode_refused" | "not_served" | "refused" | "died" }
>;

export type ErrorAnswer = {
  readonly status: number;
  /** The body as it came, or its beginning. */
  readonly body: string;
  readonly retry_after_sec: number | null;
  readonly engine: Engine;
  /** How the request asked for form; null when it did not. */
  readonly mode: StructuredMode | null;
};

/** Longer messages of a server are cut, in characters. */
const LONGEST_MESSAGE = 300;

const TOO_LONG =
  /exceed_context_size_error|context_length_exceeded|context (?:length|size|window)|maximum context|too many tokens|n_ctx/i;
const BAD_CALL = /Failed to parse tool call arguments as JSON|invalid tool call arguments/i;
const CUT = /missing closing quote|missing quote|unexpected end/i;
const LOADING = /loading model|model is (?:still )?loading/i;
const NO_MODEL = /model_not_found|not a valid model/i;
const NOT_FOUND =
  /model[^\n]{0,200}(?:not found|not exist|not served)|(?:could not find|no such|unknown)[^\n]{0,40}model/i;

/**
 * Judges what is no completion.
 *
 * @param answer a status of 400 or above, or an error that a server sent inside a stream with the status it names;
 *               any other status is an answer that makes no sense, and so no whole answer
 * Errors: none, whatever the body
 */
export function judgeAnswer(answer: ErrorAnswer): JudgedAnswer {
  const { status, body, engine } = answer;
  const parsed = parse(body);
  const message = messageOf(status, body, parsed);
  const busy: JudgedAnswer = { kind: "busy", status, retry_after_sec: answer.retry_after_sec, message };

  if (status === 429) {
    // The account has nothing left: waiting does not help.
    return codeOf(parsed) === "insufficient_quota" ? { kind: "refused", status, message } : busy;
  }
  if (status >= 500) {
    if (BAD_CALL.test(body)) return { kind: "bad_call", is_cut: CUT.test(body), message };
    if (status === 503 && LOADING.test(body)) return { kind: "loading", message };
    if (isContention(status, body, parsed, engine)) return busy;
    if (status === 501 && isConstrained(answer)) return { kind: "mode_refused", status, message };
    return { kind: "died", status, message };
  }
  // A server that gave up on waiting for the request has not looked at it.
  if (status < 400 || status === 408) return { kind: "died", status, message };
  if ((status === 400 || status === 413) && TOO_LONG.test(body)) {
    return { kind: "too_long", ...windowOf(body, parsed), message };
  }
  if (status === 404 && NOT_FOUND.test(body)) return { kind: "not_served", message };
  if ((status === 404 || status === 400) && NO_MODEL.test(body)) return { kind: "not_served", message };
  if ((status === 400 || status === 422) && isConstrained(answer)) return { kind: "mode_refused", status, message };
  return { kind: "refused", status, message };
}

/**
 * The seconds that an answer asks to wait.
 *
 * @param headers gives a header by its name in lower case, null where it is not there
 * @returns whole or broken seconds, 0 to 300; null where nothing readable is said. An instant is read against the
 *          server's own `Date`, since clocks of two machines are never compared.
 * Source: RFC 9110, section 10.2.3; delegation run, section 0 (largest honoured hint)
 */
export function retryAfterSec(headers: (name: string) => string | null): number | null {
  const inMs = decimal(headers("retry-after-ms"));
  if (inMs !== null) return clamp(inMs / 1000);
  const text = headers("retry-after");
  const inSec = decimal(text);
  if (inSec !== null) return clamp(inSec);
  const at = Date.parse(text ?? "");
  const sent = Date.parse(headers("date") ?? "");
  return Number.isNaN(at) || Number.isNaN(sent) ? null : clamp((at - sent) / 1000);
}

/** The parameters that a server may not know, as it names them. */
const PARAMETERS = ["max_tokens", "temperature", "seed", "stream_options", "parallel_tool_calls"] as const;
export type Parameter = (typeof PARAMETERS)[number];

/**
 * The parameter of ours that a hosted server refuses.
 *
 * @param sent the request that it refused: what is not in it was not refused
 * @returns null where the answer is about something else
 * Source: delegation run, section 5.9 (a 400 that names a parameter of ours)
 */
export function refusedParameter(status: number, body: string, sent: JsonObject): Parameter | null {
  if (status !== 400 || TOO_LONG.test(body)) return null;
  const parsed = parse(body);
  const error = parsed === null ? undefined : valueAt(parsed, "error");
  const named = isObject(error) ? valueAt(error, "param") : null;
  const message = messageOf(status, body, parsed);
  const candidates = PARAMETERS.filter((name) => Object.hasOwn(sent, name));
  if (typeof named === "string" && named !== "") {
    return candidates.find((name) => named === name || named.startsWith(`${name}.`)) ?? null;
  }
  // The first that the text names, not the first of ours: "max_tokens" may also stand in the advice.
  const first = new RegExp(`\\b(?:${candidates.join("|")})\\b`).exec(message)?.[0];
  return candidates.find((name) => name === first) ?? null;
}

/** Others hold the seat: a proxy's limits and starts, an engine's full queue. */
function isContention(status: number, body: string, parsed: JsonObject | null, engine: Engine): boolean {
  if (status === 500) return isOfSwap(parsed) || /health check timed out/i.test(body);
  if (status !== 503) return false;
  if (/process is not ready|no slot available/i.test(body)) return true;
  // What is told of these engines' 503 is always that there is no room. llama.cpp queues in silence.
  return engine !== "llama.cpp";
}

function isOfSwap(parsed: JsonObject | null): boolean {
  return parsed !== null && valueAt(parsed, "src") === "llama-swap";
}

function isConstrained(answer: ErrorAnswer): boolean {
  return answer.mode !== null && answer.mode !== "prompt";
}

/** The window and the prompt that an answer names, in tokens. */
function windowOf(body: string, parsed: JsonObject | null): { n_ctx: number | null; n_prompt: number | null } {
  const error = parsed === null ? undefined : valueAt(parsed, "error");
  const read = (key: string) => {
    const value = isObject(error) ? valueAt(error, key) : undefined;
    return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
  };
  return {
    n_ctx:
      read("n_ctx") ??
      numberIn(body, /(?:context (?:length|size|window)(?: is| of)?(?: only)?|n_ctx)[ :=("']{0,4}(\d{1,12})/i),
    n_prompt:
      read("n_prompt_tokens") ??
      numberIn(body, /(?:requested|resulted in|passed|prompt (?:is|has|contains)|request has) (\d{1,12})/i),
  };
}

function numberIn(text: string, pattern: RegExp): number | null {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

function codeOf(parsed: JsonObject | null): string | null {
  const error = parsed === null ? undefined : valueAt(parsed, "error");
  const code = isObject(error) ? valueAt(error, "code") : undefined;
  return typeof code === "string" ? code : null;
}

/** What the server says, on one line and not long; its status where it says nothing. */
function messageOf(status: number, body: string, parsed: JsonObject | null): string {
  const text = parsed === null ? body : (wordsIn(parsed) ?? body);
  const line = stripControls(text.slice(0, 4 * LONGEST_MESSAGE))
    .replace(/\s+/g, " ")
    .trim();
  const isLong = line.length > LONGEST_MESSAGE;
  // A cut falls inside of a pair, and a server may send half of one.
  const cut = `${line.slice(0, LONGEST_MESSAGE).toWellFormed()}${isLong ? "…" : ""}`;
  return cut === "" ? `HTTP ${status}` : `HTTP ${status}: ${cut}`;
}

function wordsIn(parsed: JsonObject): string | null {
  const error = valueAt(parsed, "error");
  const places: (JsonValue | undefined)[] = [
    isObject(error) ? valueAt(error, "message") : error,
    valueAt(parsed, "message"),
    valueAt(parsed, "detail"),
  ];
  return places.find((words): words is string => typeof words === "string" && words.trim() !== "") ?? null;
}

function parse(body: string): JsonObject | null {
  try {
    const value = JSON.parse(body) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null; // an error page, or a body that was cut: it is read as text
  }
}

function decimal(text: string | null): number | null {
  return text !== null && /^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : null;
}

function clamp(seconds: number): number {
  return Math.min(Math.max(seconds, 0), 300);
}
