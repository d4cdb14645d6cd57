/**
 * A script as it is being played: who came, what was played how often, who stands in the line. It decides what each
 * request meets; times are handed in, and sending is the server's (`wire/scripted-seat.ts`).
 *
 * All times are milliseconds of one monotonic clock.
 *
 * Source: delegation run, section 17
 */
import { compactJson } from "../json/value.ts";
import { type ChatRequest, goalOf, keepEnd, promptTokens, readChatRequest, stepOf } from "./chat-request.ts";
import { Course } from "./course.ts";
import { documentOf, isChat, type Route, routeOf, type SeatView, type Target } from "./endpoints.ts";
import type { ErrorName } from "./named-error.ts";
import { type Plan, planDocument, planError, planReply } from "./plan.ts";
import type { Script } from "./read-script.ts";
import { type LogEntry, noteProblem, noteRequest, type OpenEntry, problemsOf, SeatLog } from "./seat-log.ts";
import { SlotLine } from "./slot-line.ts";
import { chooseTurn, type Numbers, type Turn } from "./turn.ts";

export type Incoming = {
  readonly target: Target;
  /** What stands behind `Bearer`; null: nothing does. */
  readonly bearer: string | null;
  readonly body: { readonly text: string; readonly bytes: number };
};

/** What a request meets. The entry is closed by whoever answers. */
export type Meeting =
  | { readonly kind: "answer"; readonly entry: OpenEntry; readonly plan: Plan }
  /** It stands in the line: `admit` says when it is its turn, and `play` what it gets then. */
  | { readonly kind: "line"; readonly entry: OpenEntry; readonly ticket: Ticket }
  /** The seat went down before it: its connection is reset. */
  | { readonly kind: "reset"; readonly entry: OpenEntry };

export type Ticket = {
  readonly entry: OpenEntry;
  /** As the engine reads it. */
  readonly request: ChatRequest;
  readonly conversation: string;
  readonly numbers: Numbers;
  readonly prompt_tokens: number;
  readonly entered_at: number;
};

/** What a seat says of itself on its way out. */
export type PlayReport = {
  /** Ids, in file order. */
  readonly unused_turns: readonly string[];
  /** The first of the requests that met no turn, a line each. */
  readonly unmet: readonly string[];
  readonly unmet_count: number;
};

export type PlayWorld = {
  /** Lower-case hex. */
  readonly sha256: (text: string) => string;
  /** Seconds of the epoch, for the `created` of all answers. */
  readonly created: number;
  /** What requests must bring; null: nothing. */
  readonly token: string | null;
};

/** Conversations that are counted, and requests that are told of; older ones are forgotten. */
const CONVERSATIONS = 100_000;
const TOLD = 20;

type Conversation = { requests: number; readonly played: Map<Turn, number> };

/** What is forgotten at a reset. */
class Memory {
  readonly course: Course;
  readonly log = new SeatLog();
  readonly conversations = new Map<string, Conversation>();
  readonly played = new Map<Turn, number>();
  readonly unmet: string[] = [];
  unmetCount = 0;

  constructor(
    script: Script,
    readonly origin: number,
  ) {
    this.course = new Course(script);
  }
}

export class Play {
  private memory: Memory;
  private readonly line: SlotLine<Ticket>;

  /** @param at when the seat begins to serve */
  constructor(
    private readonly script: Script,
    private readonly world: PlayWorld,
    at: number,
  ) {
    this.memory = new Memory(script, at);
    this.line = new SlotLine<Ticket>(script.slots, (time) => this.memory.course.strangersAt(time - this.memory.origin));
  }

  /** Forgets counts, log and times. Who works or waits goes on. */
  reset(at: number): void {
    this.memory = new Memory(this.script, at);
  }

  /** Whether nobody can connect: the seat is down, or an engine loads that does not listen meanwhile. */
  refusesAt(at: number): boolean {
    const state = this.stateAt(at);
    return state === "down" || (state === "loading" && this.script.engine === "vllm" && this.script.proxy === "");
  }

  /** Whether open connections are reset. */
  resetsAt(at: number): boolean {
    return this.stateAt(at) === "down";
  }

  /** When states or strangers change next by themselves; null: never. */
  nextChange(at: number): number | null {
    const { course, origin } = this.memory;
    const next = course.nextChange(at - origin);
    return next === null ? null : next + origin;
  }

  /** Looks at a request. */
  meet({ target, bearer, body }: Incoming, at: number): Meeting {
    const { script } = this;
    const entry = this.memory.log.open(target.path, at - this.memory.origin, body);
    if (this.world.token !== null && bearer !== this.world.token) return this.fails(entry, "unauthorized");
    const route = routeOf(script, target);
    if (route === null) return this.fails(entry, "no_model");
    this.judgeRoute(entry, route, at);
    if (!isChat(route) || script.endpoints[route.path] !== undefined) {
      const document = documentOf(script, route, body.text, this.viewAt(at));
      const headers = document.type === "json" ? JSON_HEADERS : {};
      return { kind: "answer", entry, plan: planDocument(document.status, document.body, headers) };
    }
    return this.meetChat(entry, body.text, at);
  }

  /** Those of the line whose turn it is. */
  admit(at: number): readonly Ticket[] {
    const admitted = this.line.admit(at);
    for (const { entry, entered_at } of admitted) entry.slot_wait_ms = Math.round(at - entered_at);
    return admitted;
  }

  /** Somebody who was admitted gives the slot back. */
  release(): void {
    this.line.release();
  }

  /** Somebody leaves the line before being admitted. */
  leave(ticket: Ticket): boolean {
    return this.line.leave(ticket);
  }

  /** What somebody gets who was admitted. */
  play(ticket: Ticket): Plan {
    const { script, memory } = this;
    const { entry, request, conversation, numbers } = ticket;
    const own = this.conversationOf(conversation);
    const countsOf = (turn: Turn) => (turn.count === "server" ? memory.played : own.played);
    const turn = chooseTurn(script, request, numbers, (each) => countsOf(each).get(each) ?? 0);
    if (turn === null) {
      memory.unmetCount += 1;
      if (memory.unmet.length < TOLD) memory.unmet.push(unmetLine(entry, request));
    } else {
      entry.turn = turn.id;
      for (const counts of new Set([memory.played, own.played])) counts.set(turn, (counts.get(turn) ?? 0) + 1);
    }
    return planReply(turn?.reply ?? script.otherwise, {
      engine: script.engine,
      model_id: script.model_id,
      ctx_tokens: script.ctx_tokens,
      bytes_per_token: script.bytes_per_token,
      prefill_tok_s: script.prefill_tok_s,
      decode_tok_s: script.decode_tok_s,
      request,
      n: numbers.server,
      created: this.world.created,
      prompt_tokens: ticket.prompt_tokens,
    });
  }

  /** The log, oldest first. */
  log(): readonly LogEntry[] {
    return this.memory.log.list();
  }

  bodyOf(entry: LogEntry): string | null {
    return this.memory.log.bodyOf(entry);
  }

  report(): PlayReport {
    const { played, unmet, unmetCount } = this.memory;
    const unused = this.script.turns.filter((turn) => !played.has(turn));
    return { unused_turns: unused.map(({ id }) => id), unmet, unmet_count: unmetCount };
  }

  private meetChat(entry: OpenEntry, body: string, at: number): Meeting {
    const { script, memory } = this;
    const { course, origin } = memory;
    const server = course.chat(at - origin);
    if (this.refusesAt(at)) return { kind: "reset", entry };
    const read = readChatRequest(body);
    if (!read.ok) {
      noteProblem(entry, read.message);
      return this.turnsAway(entry, read.message);
    }
    const { request } = read;
    const conversation = this.world.sha256(goalOf(request));
    noteRequest(entry, request, conversation);
    for (const problem of problemsOf(request)) noteProblem(entry, problem);
    const own = this.conversationOf(conversation);
    own.requests += 1;
    if (this.stateAt(at) === "loading") return this.fails(entry, script.proxy === "" ? "loading" : "not_ready");
    course.wake(at - origin);

    const fault = this.enforced(request);
    if (fault !== null) return this.fails(entry, fault.name, fault.counts);
    if (!this.line.isOpenAt(at)) {
      if (script.busy === "reject")
        return this.fails(entry, script.proxy === "" ? "rate_limited" : "concurrency_limit");
      if (script.busy === "overload" && this.line.waitingCount >= script.queue_max)
        return this.fails(entry, "overloaded");
    }
    const ticket: Ticket = {
      entry,
      ...this.asRead(request),
      conversation,
      numbers: { conversation: own.requests, server },
      entered_at: at,
    };
    this.line.enter(ticket);
    return { kind: "line", entry, ticket };
  }

  /** The faults that engines find by themselves, before any turn is looked at. */
  private enforced(
    request: ChatRequest,
  ): { readonly name: ErrorName; readonly counts?: { prompt_tokens?: number; column?: number } } | null {
    const { enforce, engine, model_id, aliases, ctx_tokens, bytes_per_token } = this.script;
    const { model } = request;
    if (enforce.has("model") && model !== null && model !== model_id && !aliases.includes(model)) {
      return { name: "no_model" };
    }
    if (engine === "llama.cpp" && enforce.has("history_arguments")) {
      const calls = request.messages.flatMap((message) => message.calls);
      const column = calls.find(({ fault_column }) => fault_column !== null)?.fault_column ?? null;
      if (column !== null) return { name: "bad_arguments", counts: { column } };
    }
    if (engine === "llama.cpp" && enforce.has("grammar_with_tools")) {
      if (request.constraint === "grammar" && request.tools.length > 0) return { name: "grammar_with_tools" };
    }
    if (engine !== "ollama" && enforce.has("ctx")) {
      const prompt_tokens = promptTokens(request, bytes_per_token);
      if (prompt_tokens > ctx_tokens) return { name: "too_long", counts: { prompt_tokens } };
    }
    return null;
  }

  /** The request as the engine reads it: ollama drops the front of one that is too long, and says nothing. */
  private asRead(request: ChatRequest): { readonly request: ChatRequest; readonly prompt_tokens: number } {
    const { enforce, engine, ctx_tokens, bytes_per_token } = this.script;
    const prompt_tokens = promptTokens(request, bytes_per_token);
    if (engine !== "ollama" || !enforce.has("ctx") || prompt_tokens <= ctx_tokens) return { request, prompt_tokens };
    return { request: keepEnd(request, ctx_tokens, bytes_per_token), prompt_tokens: ctx_tokens };
  }

  /** Notes what is wrong with the way that a request took, and starts the model that it loads. */
  private judgeRoute(entry: OpenEntry, route: Route, at: number): void {
    const { course, origin } = this.memory;
    if (route.is_upstream) {
      const state = this.stateAt(at);
      if (state === "loading" || state === "stopped") {
        noteProblem(entry, `${entry.path}: /running does not list this model as ready`);
      }
      course.wake(at - origin);
    } else if (this.script.proxy !== "" && BEHIND_PROXY.has(route.path)) {
      noteProblem(entry, `${route.path} of a model behind a proxy is below /upstream/${this.script.model_id}`);
    }
  }

  private fails(
    entry: OpenEntry,
    name: ErrorName,
    { prompt_tokens = 0, column = 1 }: { prompt_tokens?: number; column?: number } = {},
  ): Meeting {
    const { engine, ctx_tokens } = this.script;
    return { kind: "answer", entry, plan: planError(name, engine, { prompt_tokens, ctx_tokens, column }) };
  }

  private turnsAway(entry: OpenEntry, message: string): Meeting {
    const body = compactJson({ error: { code: 400, message, type: "invalid_request_error" } });
    return { kind: "answer", entry, plan: planDocument(400, body, JSON_HEADERS) };
  }

  private stateAt(at: number) {
    return this.memory.course.stateAt(at - this.memory.origin);
  }

  private viewAt(at: number): SeatView {
    const { course } = this.memory;
    return { state: this.stateAt(at), taken: this.line.takenAt(at), has_chatted: course.hasChatted() };
  }

  private conversationOf(key: string): Conversation {
    const { conversations } = this.memory;
    const known = conversations.get(key);
    if (known !== undefined) return known;
    const made: Conversation = { requests: 0, played: new Map() };
    conversations.set(key, made);
    if (conversations.size > CONVERSATIONS) {
      for (const oldest of conversations.keys()) {
        conversations.delete(oldest);
        break;
      }
    }
    return made;
  }
}

const JSON_HEADERS = { "content-type": "application/json" };

/** Paths of an engine that a swapping proxy has below `/upstream` alone. */
const BEHIND_PROXY: ReadonlySet<string> = new Set(["/props", "/slots", "/tokenize"]);

function unmetLine({ n, conversation }: OpenEntry, request: ChatRequest): string {
  const last = request.messages.at(-1);
  const parts = [
    `step ${stepOf(request)}`,
    last?.tool === null || last === undefined ? null : `last tool ${last.tool}`,
    request.constraint === "none" ? null : `constraint ${request.constraint}`,
  ].filter((part) => part !== null);
  return `request ${n} of conversation ${conversation?.slice(0, 12)} (${parts.join(", ")})`;
}
