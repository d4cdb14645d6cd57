/**
 * A reply as a list of what goes out when: heads, bytes, waits, and how it ends. Pure and made step by step, since an
 * answer may be large or without end; doing it is the server's (`wire/scripted-seat.ts`).
 *
 * Source: delegation run, section 17.3
 */
import type { Engine } from "../config/seat.ts";
import { utf8Length } from "../utf8.ts";
import type { ChatRequest } from "./chat-request.ts";
import { goalOf } from "./chat-request.ts";
import { ChatText } from "./chat-text.ts";
import { type Counts, type ErrorName, namedError } from "./named-error.ts";
import type { Answer, Cut, ErrorReply, Headers, HttpReply, Piece, Raw, Reply } from "./reply.ts";
import { SCRIPT_LIMITS } from "./script.ts";
import { cutSegments, deltasOf, type Segment, type Sent, usageOf } from "./segments.ts";
import { endOfBytes } from "./tokens.ts";

export type Step =
  | { readonly kind: "wait"; readonly ms: number }
  /** `size_bytes`: what the body comes to, as the head says it; null: it ends where it ends. */
  | { readonly kind: "head"; readonly status: number; readonly headers: Headers; readonly size_bytes: number | null }
  /** `apart`: a network write of its own. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly apart: boolean }
  | End;

/** Always the last step: in order; the connection closed; reset; nothing more, and it stays open. */
export type End = { readonly kind: "end" | "drop" | "reset" | "hang" };

export type Plan = {
  readonly steps: Iterable<Step>;
  /** Comment lines so often while the answer waits behind its head; null: none. */
  readonly ping_ms: number | null;
  readonly hold_ms: number;
  /** The answer does not end as a whole one does. */
  readonly is_cut: boolean;
};

/** What a reply is made with: the script's own traits, and the request as the engine reads it. */
export type Scene = {
  readonly engine: Engine;
  readonly model_id: string;
  readonly ctx_tokens: number;
  readonly bytes_per_token: number;
  readonly prefill_tok_s: number | null;
  readonly decode_tok_s: number | null;
  readonly request: ChatRequest;
  /** Of this chat request over the server; makes ids. */
  readonly n: number;
  /** Seconds of the epoch, for `created`. */
  readonly created: number;
  readonly prompt_tokens: number;
};

/** Errors: none */
export function planReply(reply: Reply, scene: Scene): Plan {
  switch (reply.kind) {
    case "http":
      return plain(reply.hold_ms, httpSteps(reply));
    case "error":
      return plain(reply.hold_ms, errorSteps(reply, scene));
    case "raw":
      return { ...plain(reply.hold_ms, rawSteps(reply)), is_cut: reply.cut !== null };
    case "answer":
      return planAnswer(reply, scene);
    default:
      return reply satisfies never;
  }
}

/** A document at once, that no turn has. */
export function planDocument(status: number, body: string, headers: Headers): Plan {
  return plain(0, httpSteps({ status, body, headers, delay: AT_ONCE }));
}

/** An error of the engine at once, that no turn has. */
export function planError(name: ErrorName, engine: Engine, counts: Counts): Plan {
  return plain(0, namedErrorSteps(name, counts, engine, null, AT_ONCE));
}

function plain(hold_ms: number, steps: Iterable<Step>): Plan {
  return { steps, ping_ms: null, hold_ms, is_cut: false };
}

const AT_ONCE = { headers: 0, first: 0, each: 0, end: 0 };

const JSON_TYPE = { "content-type": "application/json" };
const STREAM_TYPE = { "content-type": "text/event-stream" };
const encoder = new TextEncoder();

function* httpSteps({ status, headers, body, delay }: Omit<HttpReply, "kind" | "hold_ms">): Iterable<Step> {
  const bytes = encoder.encode(body);
  yield* wait(delay.headers);
  yield { kind: "head", status, headers, size_bytes: bytes.length };
  yield* wait(delay.first);
  yield { kind: "bytes", bytes, apart: false };
  yield* wait(delay.end);
  yield { kind: "end" };
}

function errorSteps({ name, retry_after, delay }: ErrorReply, scene: Scene): Iterable<Step> {
  return namedErrorSteps(name, { ...scene, column: 1 }, scene.engine, retry_after, delay);
}

function namedErrorSteps(
  name: ErrorName,
  counts: Counts,
  engine: Engine,
  retryAfter: number | null,
  delay: ErrorReply["delay"],
): Iterable<Step> {
  const error = namedError(name, engine, counts);
  const seconds = retryAfter ?? error.retry_after;
  const headers = { ...JSON_TYPE, ...(seconds === null ? {} : { "retry-after": String(seconds) }) };
  return httpSteps({ status: error.status, headers, body: JSON.stringify(error.body), delay });
}

function* rawSteps({ status, headers, pieces, forever, cut, delay }: Raw): Iterable<Step> {
  yield* wait(delay.headers);
  yield { kind: "head", status, headers: { ...STREAM_TYPE, ...headers }, size_bytes: null };
  yield* wait(delay.first);
  let left = cut?.n ?? Number.POSITIVE_INFINITY;
  for (let at = 0; at < pieces.length && left > 0; at += forever && at === pieces.length - 1 ? 0 : 1) {
    const piece = pieces[at];
    if (piece === undefined) break;
    yield* wait(piece.after_ms);
    yield { kind: "bytes", bytes: piece.bytes.subarray(0, left), apart: true };
    left -= piece.bytes.length;
  }
  yield* wait(delay.end);
  yield { kind: cut?.how ?? "end" };
}

function planAnswer(answer: Answer, scene: Scene): Plan {
  const { cut, ping_ms, hold_ms } = answer;
  const segments = segmentsOf(answer, scene);
  const sent = cutSegments(segments, answer, scene.bytes_per_token);
  const { stream } = scene.request;
  const steps =
    cut?.how === "refuse"
      ? refusal(answer, scene, sent)
      : stream
        ? streamSteps(answer, scene, sent)
        : wholeSteps(answer, scene, sent);
  const isApart = answer.chunk.by === "bytes" && cut?.how !== "refuse";
  return {
    steps: isApart ? rewritten(steps, answer.chunk.n) : steps,
    ping_ms: stream && cut?.how !== "refuse" ? ping_ms : null,
    hold_ms,
    is_cut: cut !== null && cut.how !== "length" && cut.how !== "refuse",
  };
}

function segmentsOf({ reasoning, content, calls }: Answer, { request }: Scene): readonly Segment[] {
  return [
    ...(reasoning === "" ? [] : [{ part: "reasoning" as const, text: reasoning, call: null }]),
    ...(content.length === 0 ? [] : [{ part: "content" as const, text: contentOf(content, request), call: null }]),
    ...calls.map((played, place) => ({ part: "arguments" as const, text: played.arguments, call: { played, place } })),
  ];
}

/** The text of the pieces, no longer than any answer may be. */
function contentOf(pieces: readonly Piece[], request: ChatRequest): string {
  let text = "";
  let left: number = SCRIPT_LIMITS.answer_bytes;
  for (const piece of pieces) {
    const next = pieceText(piece, request);
    const fitting = next.slice(0, endOfBytes(next, 0, left));
    text += fitting;
    left -= utf8Length(fitting);
    if (fitting.length < next.length) return text;
  }
  return text;
}

function pieceText(piece: Piece, request: ChatRequest): string {
  if (typeof piece === "string") return piece;
  if ("repeat" in piece) return piece.repeat.repeat(piece.count);
  return piece.echo === "goal" ? goalOf(request) : (request.messages.at(-1)?.text ?? "");
}

/** When each delta is due, and what comes before and after them all. */
type Pace = { readonly prefill_ms: number; readonly delta_ms: (text: string, isFirst: boolean) => number };

function paceOf({ delay, usage }: Answer, scene: Scene): Pace {
  const prompt = usage === null || usage === "none" ? scene.prompt_tokens : usage.prompt_tokens;
  const { prefill_tok_s, decode_tok_s, bytes_per_token } = scene;
  return {
    prefill_ms: delay.first + (prefill_tok_s === null ? 0 : (prompt / prefill_tok_s) * 1000),
    delta_ms: (text, isFirst) => {
      const own = decode_tok_s === null ? 0 : (utf8Length(text) / bytes_per_token / decode_tok_s) * 1000;
      return own + (isFirst ? 0 : delay.each);
    },
  };
}

function* streamSteps(answer: Answer, scene: Scene, sent: Sent): Iterable<Step> {
  const { delay, progress, cut } = answer;
  const text = new ChatText(scene);
  const pace = paceOf(answer, scene);
  yield* wait(delay.headers);
  yield { kind: "head", status: 200, headers: STREAM_TYPE, size_bytes: null };
  for (let done = 1; done <= progress; done++) {
    yield* wait(pace.prefill_ms / progress);
    yield event(text.progressEvent(done / progress, (pace.prefill_ms * done) / progress));
  }
  if (progress === 0) yield* wait(pace.prefill_ms);
  const role = text.roleEvent();
  if (role !== null) yield event(role);
  let isFirst = true;
  for (const delta of deltasOf(sent.segments, answer.chunk, scene.bytes_per_token)) {
    yield* wait(pace.delta_ms(delta.text, isFirst));
    yield event(text.deltaEvent(delta));
    isFirst = false;
  }
  if (cut !== null && cut.how !== "length") {
    if (sent.partial !== null) yield { kind: "bytes", bytes: text.partialDelta(sent.partial), apart: false };
    else if (cut.how === "drop") yield event(halfOf(text.finishEvent(finishOf(answer))));
    yield { kind: endOf(cut.how) };
    return;
  }
  yield* wait(delay.end);
  yield event(text.finishEvent(finishOf(answer)));
  const usage = usageOf(answer, scene, sent.segments);
  if (usage !== null) yield event(text.usageEvent(usage));
  yield event("data: [DONE]\n\n");
  yield { kind: "end" };
}

/** In the middle of an event. */
function halfOf(text: string): string {
  return text.slice(0, text.length >> 1);
}

function endOf(how: Cut["how"]): End["kind"] {
  return how === "drop" || how === "reset" || how === "hang" ? how : "end";
}

/** An answer as one object. */
function* wholeSteps(answer: Answer, scene: Scene, sent: Sent): Iterable<Step> {
  const { cut } = answer;
  const text = new ChatText(scene);
  const isOrderly = cut === null || cut.how === "length";
  const segments = isOrderly ? sent.segments : sent.all;
  const usage = usageOf(answer, scene, segments);
  const whole = encoder.encode(text.wholeObject(segments, finishOf(answer), usage));
  const bytes = isOrderly ? whole : text.cutObject(sent);
  yield* wait(totalMs(answer, scene, sent));
  // Cut off, a body is shorter than its head said; one that ends as if done is not.
  const size_bytes = cut?.how === "no_end" ? bytes.length : whole.length;
  yield { kind: "head", status: 200, headers: JSON_TYPE, size_bytes };
  yield { kind: "bytes", bytes, apart: false };
  yield { kind: cut === null ? "end" : endOf(cut.how) };
}

/** The server's own error about the call that its model did not end. */
function* refusal(answer: Answer, scene: Scene, sent: Sent): Iterable<Step> {
  yield* wait(totalMs(answer, scene, sent));
  const column = [...(sent.segments.at(-1)?.text ?? "")].length + 1;
  yield* namedErrorSteps("bad_arguments", { ...scene, column }, scene.engine, null, AT_ONCE);
}

/** How long the same answer takes as a stream. */
function totalMs(answer: Answer, scene: Scene, sent: Sent): number {
  const { delay, cut } = answer;
  const pace = paceOf(answer, scene);
  let ms = delay.headers + pace.prefill_ms;
  let isFirst = true;
  for (const delta of deltasOf(sent.segments, answer.chunk, scene.bytes_per_token)) {
    ms += pace.delta_ms(delta.text, isFirst);
    isFirst = false;
  }
  return ms + (cut === null || cut.how === "length" ? delay.end : 0);
}

function finishOf({ finish_reason, calls, cut }: Answer): string | null {
  if (finish_reason !== undefined) return finish_reason;
  if (cut?.how === "length") return "length";
  return calls.length > 0 ? "tool_calls" : "stop";
}

/** The same bytes in writes of n, whatever they are in the middle of. */
function* rewritten(steps: Iterable<Step>, n: number): Iterable<Step> {
  let held = new Uint8Array(0);
  for (const step of steps) {
    if (step.kind !== "bytes") {
      if (held.length > 0 && isEnd(step)) yield { kind: "bytes", bytes: held, apart: true };
      yield step;
      continue;
    }
    const all = held.length === 0 ? step.bytes : joined(held, step.bytes);
    let at = 0;
    for (; at + n <= all.length; at += n) yield { kind: "bytes", bytes: all.subarray(at, at + n), apart: true };
    held = all.slice(at);
  }
}

function isEnd(step: Step): step is End {
  return step.kind !== "wait" && step.kind !== "head" && step.kind !== "bytes";
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}

function event(text: string): Step {
  return { kind: "bytes", bytes: encoder.encode(text), apart: false };
}

function* wait(ms: number): Iterable<Step> {
  if (ms > 0) yield { kind: "wait", ms };
}
