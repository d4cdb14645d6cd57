/**
 * Why a job was deferred, in words. Each begins with a prefix that is stable up to its first colon or number; programs
 * read it, so it stands here and nowhere else.
 *
 * Source: delegation run, section 3.3
 */
import type { DeferClass, StopReason } from "../delegation/wire-result.ts";

/** A job that ends without having completed its contract. */
export type Defer = {
  readonly defer_class: DeferClass;
  readonly reason: string;
  readonly stop_reason: StopReason;
  readonly stop_note?: string;
};

export function wallOver(timeout_sec: number): Defer {
  return { defer_class: "budget", reason: `wall timeout after ${timeout_sec}s`, stop_reason: "wall" };
}

export function stepsOver(steps: number): Defer {
  return { defer_class: "budget", reason: `step budget exhausted (${steps} steps)`, stop_reason: "budget" };
}

export function emptyAnswer(stop_reason: "empty" | "reasoning_starved"): Defer {
  const why = stop_reason === "empty" ? "" : ": the seat spent its tokens on reasoning";
  return { defer_class: "abstention", reason: `empty final answer${why}`, stop_reason };
}

export function unparsedToolCall(): Defer {
  return {
    defer_class: "abstention",
    reason:
      "agent loop: the answer holds the markup of a tool call that nobody parsed; check the tool parser of the server",
    stop_reason: "unparsed_tool_call",
  };
}

/** `bytes`: of the arguments that arrived; null where the server kept them. */
export function callCutTwice(cut: {
  readonly tool: string | null;
  readonly bytes: number | null;
  readonly step_tokens: number;
  readonly final_tokens: number;
}): Defer {
  const { tool, bytes, step_tokens, final_tokens } = cut;
  const call = tool === null ? "a tool call" : `a call of ${tool}`;
  const received = bytes === null ? "no argument received" : `${bytes} bytes of argument received`;
  return {
    defer_class: "budget",
    reason: `agent loop: ${call} was cut twice by the token budget`,
    stop_reason: "tool_call_cut",
    stop_note: `step_tokens ${step_tokens}, final_tokens ${final_tokens}; ${tool ?? "unknown tool"}: ${received}`,
  };
}

export function unreadableCalls(message: string): Defer {
  return {
    defer_class: "abstention",
    reason: `agent loop: the server could not read the calls of the seat: ${oneLine(message)}`,
    stop_reason: "error",
  };
}

/** The conversation does not fit, whatever is left out of it. */
export function windowExhausted(tokens: number, window: number): Defer {
  return {
    defer_class: "budget",
    reason: `context window exhausted (${tokens} of ${window} tokens)`,
    stop_reason: "context",
  };
}

/** The task alone does not fit: no seat with this window can take it. */
export function taskTooLarge(tokens: number, window: number): Defer {
  return {
    defer_class: "contract",
    reason: `context window exhausted (${tokens} of ${window} tokens): the task alone does not fit`,
    stop_reason: "context",
  };
}

export function windowSmaller(configured: number, what: string): Defer {
  return {
    defer_class: "config",
    reason: `seat window smaller than configured: ctx_tokens is ${configured}, ${what}`,
    stop_reason: "error",
  };
}

export function incoherent(what: string): Defer {
  return { defer_class: "infrastructure", reason: `seat incoherent: ${what}`, stop_reason: "error" };
}

export function stalled(silent_ms: number, phase: string, allowed_ms: number): Defer {
  return {
    defer_class: "infrastructure",
    reason: `stalled: no progress for ${seconds(silent_ms)}s in ${phase} (allowed ${seconds(allowed_ms)}s)`,
    stop_reason: "error",
  };
}

export function answerTooLarge(bytes: number): Defer {
  return { defer_class: "abstention", reason: `answer too large: more than ${bytes} bytes`, stop_reason: "error" };
}

export function loopFault(message: string): Defer {
  return { defer_class: "infrastructure", reason: `agent loop: ${oneLine(message)}`, stop_reason: "error" };
}

/** A 4xx: about this request, or about who asks, and then no request of this place will do better. */
export function requestRefused(status: number, message: string): Defer {
  const isAboutUs = status === 401 || status === 403;
  return {
    defer_class: isAboutUs ? "config" : "abstention",
    reason: `agent loop: the server refused the ${isAboutUs ? "key" : "request"}: ${oneLine(message)}`,
    stop_reason: "error",
  };
}

export function modelNotServed(message: string): Defer {
  return { defer_class: "config", reason: `model not served: ${oneLine(message)}`, stop_reason: "error" };
}

export function seatBusy(waited_ms: number): Defer {
  return { defer_class: "capacity", reason: `seat busy: no slot after ${seconds(waited_ms)}s`, stop_reason: "error" };
}

/** `last`: the answer that was one too many, such as "HTTP 429". */
export function seatContended(waited_ms: number, last: string): Defer {
  return {
    defer_class: "infrastructure",
    reason: `seat contended: ${seconds(waited_ms)}s spent waiting on busy answers (last ${last})`,
    stop_reason: "error",
  };
}

/** @param said what the last look at the server saw; "" where there is nothing to say */
export function seatLoading(waited_ms: number, said = ""): Defer {
  return {
    defer_class: "infrastructure",
    reason: `seat loading: not ready after ${seconds(waited_ms)}s${said === "" ? "" : ` (${said})`}`,
    stop_reason: "error",
  };
}

export function seatDown(what: string): Defer {
  return { defer_class: "infrastructure", reason: `seat down: ${oneLine(what)}`, stop_reason: "error" };
}

export function schemaFailed(error: string): Defer {
  return { defer_class: "abstention", reason: `output failed schema: ${oneLine(error)}`, stop_reason: "done" };
}

export function structuredUnreachable(what: string): Defer {
  return {
    defer_class: "infrastructure",
    reason: `structured step unreachable: ${oneLine(what)}`,
    stop_reason: "error",
  };
}

export function doorClosed(why: string): Defer {
  return { defer_class: "write", reason: `write door closed: ${oneLine(why)}`, stop_reason: "error" };
}

export function unknownProfile(name: string, valid: readonly string[]): Defer {
  return {
    defer_class: "config",
    reason: `unknown profile: ${JSON.stringify(name)}; valid are ${valid.join(", ")}`,
    stop_reason: "error",
  };
}

export function toolsNotSupported(): Defer {
  return {
    defer_class: "config",
    reason: "tools not supported: this seat cannot call tools, and a contract with write_root needs them",
    stop_reason: "error",
  };
}

export function canceled(): Defer {
  return { defer_class: "canceled", reason: "canceled by the caller", stop_reason: "canceled" };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

const SHOWN = 300;

/** What a server said, on one line and not without end. */
function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * SHOWN)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1).toWellFormed()}…` : line.toWellFormed();
}
