/**
 * One chat request, from its body to what came of it.
 *
 * Three limits stand on it from the first byte sent to the last one read: silence before the first delta, silence
 * between deltas, and the caller's signal.
 *
 * Source: delegation run, sections 5.5 (what counts as cut), 5.9, 5.10, 17
 */
import { counted } from "../core/counted.ts";
import { EventStream } from "../core/event-stream.ts";
import { compactJson, isObject, type JsonObject, valueAt } from "../core/json/value.ts";
import { AnswerReader, MAX_ANSWER_BYTES, type Received, type Taken } from "../core/seat/deltas.ts";
import type { ChatOutcome, ChatRequest, Completion, Watch } from "../core/seat/endpoint.ts";
import { judgeAnswer, type Parameter, refusedParameter, retryAfterSec } from "../core/seat/judge-answer.ts";
import { answerBudget, requestBody } from "../core/seat/request.ts";
import { isRunaway, lookAfter, RUNAWAY } from "../core/seat/runaway.ts";
import { seatKey } from "../core/seat/seat-key.ts";
import { stripControls } from "../core/terminal.ts";
import { transportFault } from "../core/transport-fault.ts";
import { readBody, textOf } from "./body.ts";
import { exchange, keyOf } from "./dial.ts";
import { type Verdict, Watchdog } from "./watchdog.ts";
import type { Server } from "./world.ts";

const ERROR_BODY_BYTES = 64 * 1024;
/** What a server may still take for each token when nothing of the answer is seen before its end, in milliseconds. */
const UNSEEN_TOKEN_MS = 50;

/** Sends one request; once more for each parameter that a hosted server turns out not to take. Errors: defects only. */
export async function chat(server: Server, request: ChatRequest, watch: Watch): Promise<ChatOutcome> {
  const key = seatKey(server.seat);
  let refused: ReadonlySet<Parameter> = server.refused.get(key, server.clock.ms()) ?? new Set();
  for (;;) {
    const body = requestBody(server.seat, request, refused);
    const answer = await sendOnce(server, request, body, watch);
    if (answer.kind !== "parameter") {
      if (answer.kind === "answered" && refused.size > 0) server.refused.set(key, refused, server.clock.ms());
      return answer;
    }
    // Each parameter is in the body no more: this ends.
    refused = new Set([...refused, answer.parameter]);
  }
}

type Once = ChatOutcome | { readonly kind: "parameter"; readonly parameter: Parameter };

async function sendOnce(server: Server, request: ChatRequest, body: JsonObject, watch: Watch): Promise<Once> {
  const { seat, clock } = server;
  const stop = new AbortController();
  const abort = () => stop.abort();
  watch.signal.addEventListener("abort", abort, { once: true });
  if (watch.signal.aborted) abort();
  const verdicts: Verdict[] = [];
  const unseen_ms = seat.stream ? 0 : (answerBudget(body) ?? 0) * UNSEEN_TOKEN_MS;
  const watchdog = new Watchdog(clock, watch, unseen_ms, (verdict) => {
    verdicts.push(verdict);
    stop.abort();
  });
  const call = {
    path: "/v1/chat/completions",
    body: compactJson(body),
    accept: seat.stream ? "text/event-stream, application/json" : "application/json",
    // The wait at the gate is no silence of the server.
    onSend: () => watchdog.start(),
  };
  try {
    const exchanged = await exchange<Once>(server, call, stop.signal, (response) => {
      const sending = { server, request, body, watch, watchdog };
      return response.ok ? readAnswer(sending, response) : readError(sending, response);
    });
    if (exchanged.ok) return exchanged.value;
    if (watch.signal.aborted) return { kind: "aborted" };
    const [verdict] = verdicts;
    if (verdict?.kind === "defect") throw verdict.error;
    return verdict ?? { kind: "died", status: null, message: exchanged.message };
  } finally {
    watchdog.stop();
    watch.signal.removeEventListener("abort", abort);
  }
}

/** One request on its way. */
type Sending = {
  readonly server: Server;
  readonly request: ChatRequest;
  readonly body: JsonObject;
  readonly watch: Watch;
  readonly watchdog: Watchdog;
};

async function readError(sending: Sending, response: Response): Promise<Once> {
  const { server, request, body } = sending;
  sending.watchdog.stop();
  const read = await readBody(response, ERROR_BODY_BYTES, server.limits.error_body_ms);
  if (sending.watch.signal.aborted) return { kind: "aborted" };
  const text = withoutKey(server, textOf(read.bytes));
  const { status } = response;
  if (server.seat.engine === "openai") {
    const parameter = refusedParameter(status, text, body);
    if (parameter !== null) return { kind: "parameter", parameter };
  }
  if (status >= 300 && status < 400) {
    const place = withoutKey(server, response.headers.get("location") ?? "");
    const message = `HTTP ${status}: a redirect to "${oneLine(place)}", which is not followed; base_url must name the server itself`;
    return { kind: "died", status, message };
  }
  const judged = judge(server, request, status, text, response);
  const name = server.seat.api_key_env;
  const isUnnamed = judged.kind === "refused" && status === 401 && name !== "" && keyOf(server) === null;
  return isUnnamed ? { ...judged, message: `${judged.message} (the variable ${name} is not set)` } : judged;
}

function judge(server: Server, request: ChatRequest, status: number, body: string, response: Response): ChatOutcome {
  const judged = judgeAnswer({
    status,
    body,
    retry_after_sec: retryAfterSec((name) => response.headers.get(name)),
    engine: server.seat.engine,
    mode: request.constraint?.mode ?? null,
  });
  // In the body the key may have been spelled with escapes.
  return "message" in judged ? { ...judged, message: withoutKey(server, judged.message) } : judged;
}

/** The blanks and the byte order mark that may stand before an answer. */
const BEFORE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const BRACE = 0x7b;

async function readAnswer(sending: Sending, response: Response): Promise<ChatOutcome> {
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const reader = response.body?.getReader();
  if (encoding.toLowerCase() !== "identity" || reader === undefined) {
    const packed = oneLine(withoutKey(sending.server, encoding));
    const what = reader === undefined ? "has no body" : `is packed (${packed}), and nobody asked for that`;
    return { kind: "died", status: null, message: `HTTP ${response.status}: the answer ${what}` };
  }
  const reading = new Reading(sending, response);
  let grace: ReturnType<typeof setTimeout> | null = null;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return reading.end();
      const outcome = reading.push(value);
      if (outcome !== null) return outcome;
      // The answer is whole; usage and the end mark are waited for, but not for long.
      if (reading.isFinished) {
        grace ??= setTimeout(() => reader.cancel().catch(() => {}), sending.server.limits.finish_grace_ms);
      }
    }
  } catch (error) {
    const isOurs = sending.watch.signal.aborted || transportFault(error, "") === null;
    if (isOurs || !reading.isFinished) throw error;
    return reading.end();
  } finally {
    if (grace !== null) clearTimeout(grace);
    // However it ended: an answer that is cut off was given all the same.
    sending.server.scripted.read(reading.received);
  }
}

/** The body of an answer as it comes in: a stream of events or one object, whatever its headers say. */
class Reading {
  private form: "unknown" | "stream" | "whole" = "unknown";
  private readonly stream = new EventStream();
  private readonly pieces: Uint8Array[] = [];
  private readonly answer = new AnswerReader();
  private bytes = 0;
  private prefilled = 0;
  /** Bytes of the answer when it was last looked at whether it only repeats itself. */
  private lookedAt = 0;
  private firstByteAt: number | null = null;
  private firstDeltaAt: number | null = null;

  constructor(
    private readonly sending: Sending,
    private readonly response: Response,
  ) {}

  /** The answer is whole, whatever else comes. */
  get isFinished(): boolean {
    return this.answer.finish_reason !== null;
  }

  /** What came of it so far. */
  get received(): Received {
    return this.answer.received();
  }

  /** What is decided by these bytes; null while more is to come. */
  push(chunk: Uint8Array): ChatOutcome | null {
    this.firstByteAt ??= this.sending.server.clock.ms();
    let bytes = chunk;
    if (this.form === "unknown") {
      const start = bytes.findIndex((byte) => !BEFORE.has(byte));
      if (start < 0) return null;
      bytes = bytes.subarray(start);
      // No line of an event stream begins so.
      this.form = bytes[0] === BRACE ? "whole" : "stream";
    }
    this.bytes += bytes.length;
    if (this.form === "whole") {
      this.pieces.push(bytes);
      return this.bytes > MAX_ANSWER_BYTES ? { kind: "too_large", bytes: this.bytes } : null;
    }
    for (const event of this.stream.push(bytes)) {
      const outcome = this.take(this.answer.takeEvent(event.data));
      if (outcome !== null) return outcome;
    }
    return this.stream.fault === null ? null : { kind: "too_large", bytes: this.bytes };
  }

  /** The body is over. */
  end(): ChatOutcome {
    if (this.form === "whole") {
      const taken = this.answer.takeWhole(textOf(Buffer.concat(this.pieces.splice(0))));
      return this.take(taken) ?? this.answered();
    }
    const last = this.stream.end();
    if (last !== null) {
      // A last event without its empty line may be half of one: it counts where the answer is whole with it.
      const outcome = this.take(this.answer.takeEvent(last.data));
      if (outcome !== null && outcome.kind !== "answered") return outcome;
    }
    if (this.isFinished) return this.answered();
    const type = this.response.headers.get("content-type") ?? "no type";
    const how = `after ${counted(this.answer.deltas, "piece")} and before its end mark (${oneLine(withoutKey(this.sending.server, type))})`;
    return this.died(`the answer ended ${how}`);
  }

  private take(taken: Taken): ChatOutcome | null {
    const { server, request, watchdog } = this.sending;
    switch (taken.kind) {
      case "done":
        return this.answered();
      case "too_large":
        return taken;
      case "unreadable":
        // Behind the end of an answer nothing counts.
        return this.isFinished ? this.answered() : this.died(`the answer cannot be read: ${taken.message}`);
      case "error":
        return this.isFinished
          ? this.answered()
          : judge(server, request, statusIn(taken.body), withoutKey(server, taken.text), this.response);
      case "taken":
        if (taken.deltas > 0) {
          this.firstDeltaAt ??= server.clock.ms();
          watchdog.decoding(this.answer.deltas);
          if (this.isRunaway()) return this.answered(true);
        } else if (taken.prefilled !== null && taken.prefilled > this.prefilled) {
          this.prefilled = taken.prefilled;
          watchdog.prefilling();
        }
        return null;
      default:
        return taken satisfies never;
    }
  }

  /** A stream that only repeats itself is ended here. */
  private isRunaway(): boolean {
    if (this.isFinished || this.form !== "stream" || this.answer.bytes < lookAfter(this.lookedAt)) return false;
    this.lookedAt = this.answer.bytes;
    return isRunaway(this.answer.tail(RUNAWAY.examined));
  }

  /** @param isEnded it was ended here, and so is cut */
  private answered(isEnded = false): ChatOutcome {
    const { server, body, watchdog } = this.sending;
    const { received } = this;
    const budget = answerBudget(body);
    const used = received.usage?.completion_tokens ?? 0;
    const ended = server.clock.ms();
    const firstByte = this.firstByteAt ?? ended;
    const firstDelta = this.firstDeltaAt ?? ended;
    const masked = (text: string) => withoutKey(server, text, LEAST_KEY);
    const completion: Completion = {
      content: masked(received.content),
      reasoning: masked(received.reasoning),
      calls: received.calls.map((call) => ({
        ...call,
        name: masked(call.name),
        arguments: masked(call.arguments),
      })),
      finish_reason: received.finish_reason === null ? null : masked(received.finish_reason),
      is_cut: isEnded || received.finish_reason === "length" || (budget !== null && used >= budget),
      usage: received.usage,
      first_byte_ms: firstByte - watchdog.started_ms,
      prefill_ms: firstDelta - watchdog.started_ms,
      decode_ms: ended - firstDelta,
    };
    return { kind: "answered", completion };
  }

  private died(message: string): ChatOutcome {
    return { kind: "died", status: null, message: `${this.sending.server.seat.base_url}: ${message}` };
  }
}

/** The status that an error inside an answer names; 500 where it names none. */
function statusIn(body: JsonObject): number {
  const error = valueAt(body, "error");
  const code = valueAt(isObject(error) ? error : body, "code");
  return typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599 ? code : 500;
}

/** Shorter ones are what servers take that want no key ("none", "ollama", "sk-no-key-required"): a model may write those. */
const LEAST_KEY = 20;

/** A server may repeat the key that it refuses; one that is broken, or a proxy in front of it, puts it into an answer. */
function withoutKey(server: Server, text: string, least = 1): string {
  const key = keyOf(server);
  return key === null || key.length < least ? text : text.replaceAll(key, "[redacted]");
}

function oneLine(text: string): string {
  const line = stripControls(text.slice(0, 200)).replace(/\s+/g, " ").trim();
  return line.toWellFormed();
}
