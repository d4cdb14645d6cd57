/** A script played without a server: what each request meets, and what would go out. */
import type { End, Plan, Step } from "../../../src/core/scripted/plan.ts";
import { type Incoming, Play, type PlayWorld } from "../../../src/core/scripted/play.ts";
import type { LogEntry } from "../../../src/core/scripted/seat-log.ts";
import { CREATED, type ScriptObject, scriptOf } from "../../support/scripted-seat.ts";

export const WORLD: PlayWorld = { sha256: (text) => `digest of ${text}`, created: CREATED, token: null };

/** An answer as it would be heard. */
export type Played = {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly size_bytes: number | null;
  /** Latin-1 where it is no UTF-8. */
  readonly body: string;
  readonly bytes: Uint8Array;
  /** The bodies of the events of a stream that are whole. */
  readonly events: readonly string[];
  /** Those that are JSON. */
  readonly chunks: readonly Chunk[];
  readonly end: End["kind"];
  readonly waits: readonly number[];
  readonly writes: readonly number[];
  readonly plan: Plan;
  readonly steps: readonly Step[];
  readonly entry: LogEntry;
};

export type Chunk = {
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly reasoning?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly {
        readonly index?: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments: unknown };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly prompt_progress?: unknown;
};

export type Stage = {
  readonly play: Play;
  /** One request at a time of the stage's clock; it must not have to wait. */
  ask(body: unknown, at?: number): Played;
  get(path: string, at?: number): Played;
};

export function stage(script: ScriptObject, world: Partial<PlayWorld> = {}): Stage {
  const play = new Play(scriptOf(script), { ...WORLD, ...world }, 0);
  const meet = (incoming: Incoming, at: number): Played => {
    const meeting = play.meet(incoming, at);
    if (meeting.kind === "reset") throw new Error("the connection is reset");
    if (meeting.kind === "answer") return playedOf(meeting.plan, meeting.entry);
    const admitted = play.admit(at);
    if (!admitted.includes(meeting.ticket)) throw new Error("the request waits");
    const played = playedOf(play.play(meeting.ticket), meeting.entry);
    play.release();
    return played;
  };
  return {
    play,
    ask: (body, at = 0) => meet(chatOf(body), at),
    get: (path, at = 0) => meet({ target: targetOf("GET", path), bearer: null, body: { text: "", bytes: 0 } }, at),
  };
}

export function chatOf(body: unknown, path = "/v1/chat/completions"): Incoming {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { target: targetOf("POST", path), bearer: null, body: { text, bytes: Buffer.byteLength(text) } };
}

export function targetOf(method: string, path: string): Incoming["target"] {
  const [own = "", query = ""] = path.split("?");
  return { method, path: own, query };
}

/** A request with one message, streamed unless it says something else. */
export function hello(more: object = {}): Readonly<Record<string, unknown>> {
  return { messages: [{ role: "user", content: "hello" }], stream: true, ...more };
}

/** What one reply is to a request. */
export function reply(value: object, request: unknown = hello(), script: object = {}): Played {
  return stage({ turns: [{ id: "a", reply: value }], ...script }).ask(request);
}

const MOST_STEPS = 200_000;

export function playedOf(plan: Plan, entry: LogEntry): Played {
  const steps: Step[] = [];
  for (const step of plan.steps) {
    steps.push(step);
    if (steps.length > MOST_STEPS) throw new Error("the plan has no end");
  }
  const head = steps.find((step) => step.kind === "head");
  const pieces = steps.flatMap((step) => (step.kind === "bytes" ? [step.bytes] : []));
  const bytes = Buffer.concat(pieces);
  const body = textOf(bytes);
  const last = steps.at(-1);
  if (last === undefined || last.kind === "bytes" || last.kind === "head" || last.kind === "wait") {
    throw new Error("the plan does not say how it ends");
  }
  // What is cut inside of a character is no whole event.
  const events = new TextDecoder()
    .decode(bytes)
    .split("\n\n")
    .slice(0, -1)
    .map((event) => event.replace(/^data: /, ""));
  return {
    status: head?.status ?? null,
    headers: head?.headers ?? {},
    size_bytes: head?.size_bytes ?? null,
    body,
    bytes,
    events,
    chunks: events.filter((event) => event.startsWith("{")).map((event) => JSON.parse(event) as Chunk),
    end: last.kind,
    waits: steps.flatMap((step) => (step.kind === "wait" ? [step.ms] : [])),
    writes: pieces.map((piece) => piece.length),
    plan,
    steps,
    entry,
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("latin1");
  }
}

/** What a client puts together of a stream. */
export function heardOf({ chunks }: Played): {
  readonly content: string;
  readonly reasoning: string;
  readonly arguments: readonly string[];
  readonly finish: string | null;
} {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const calls: string[] = [];
  for (const call of deltas.flatMap(({ tool_calls = [] }) => tool_calls)) {
    if (call.function.name !== undefined) calls.push("");
    const own = call.function.arguments;
    calls[calls.length - 1] += typeof own === "string" ? own : JSON.stringify(own);
  }
  return {
    content: deltas.map(({ content }) => content ?? "").join(""),
    reasoning: deltas.map(({ reasoning, reasoning_content }) => reasoning ?? reasoning_content ?? "").join(""),
    arguments: calls,
    finish:
      chunks.flatMap(({ choices }) => choices).find(({ finish_reason }) => finish_reason !== null)?.finish_reason ??
      null,
  };
}
