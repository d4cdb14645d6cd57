/** What a scripted seat remembers of the requests that it got: one entry each, and the bodies of the last ones. */
import type { AskedForm, ChatRequest } from "./chat-request.ts";

export type LogEntry = {
  /** From 1, over all requests. */
  readonly n: number;
  /** Since the seat serves, or since it was reset. */
  readonly at_ms: number;
  readonly path: string;
  /** Of a chat request: its conversation's key. */
  readonly conversation: string | null;
  /** The turn that was played; null: none. */
  readonly turn: string | null;
  readonly slot_wait_ms: number;
  /** null: nothing was answered. */
  readonly status: number | null;
  /** Of the body. */
  readonly sent_bytes: number;
  /** null: it is not over yet. */
  readonly ended: "done" | "cut" | "client_gone" | null;
  readonly tools: readonly string[];
  readonly constraint: AskedForm | null;
  readonly max_tokens: number | null;
  readonly stream: boolean | null;
  /** How many. */
  readonly messages: number;
  /** What no engine should ever be sent. */
  readonly problem?: string;
};

type LogLimits = Readonly<
  Record<"entries" | "tools" | "tool_characters" | "characters" | "bodies" | "body_bytes", number>
>;

export const LOG_LIMITS: LogLimits = {
  entries: 10_000,
  /** Of one entry: names of tools, and the characters of each; those of its path, and of its problem. */
  tools: 64,
  tool_characters: 64,
  characters: 1024,
  bodies: 1000,
  /** Of all bodies that are kept, in bytes of UTF-8. */
  body_bytes: 64 * 1024 * 1024,
};

/** An entry while its request is being answered. */
export type OpenEntry = { -readonly [K in keyof LogEntry]: LogEntry[K] };

export class SeatLog {
  private readonly entries: OpenEntry[] = [];
  private readonly bodies = new Map<OpenEntry, { readonly text: string; readonly bytes: number }>();
  private bodyBytes = 0;
  private count = 0;

  constructor(private readonly limits: LogLimits = LOG_LIMITS) {}

  /** Opens the entry of a request; the oldest one goes where there are too many. */
  open(path: string, at_ms: number, body: { readonly text: string; readonly bytes: number }): OpenEntry {
    this.count += 1;
    const entry: OpenEntry = {
      n: this.count,
      at_ms: Math.round(at_ms),
      path: path.slice(0, LOG_LIMITS.characters),
      conversation: null,
      turn: null,
      slot_wait_ms: 0,
      status: null,
      sent_bytes: 0,
      ended: null,
      tools: [],
      constraint: null,
      max_tokens: null,
      stream: null,
      messages: 0,
    };
    this.entries.push(entry);
    if (this.entries.length > this.limits.entries) {
      const oldest = this.entries.shift();
      if (oldest !== undefined) this.forget(oldest);
    }
    if (body.text !== "") this.keep(entry, body);
    return entry;
  }

  /** The entries, oldest first. */
  list(): readonly LogEntry[] {
    return this.entries;
  }

  /** The body of a request; null where there was none, or it is not kept any more. */
  bodyOf(entry: LogEntry): string | null {
    return this.bodies.get(entry)?.text ?? null;
  }

  private keep(entry: OpenEntry, body: { readonly text: string; readonly bytes: number }): void {
    this.bodies.set(entry, body);
    this.bodyBytes += body.bytes;
    for (const oldest of this.bodies.keys()) {
      if (this.bodies.size <= this.limits.bodies && this.bodyBytes <= this.limits.body_bytes) return;
      this.forget(oldest);
    }
  }

  private forget(entry: OpenEntry): void {
    this.bodyBytes -= this.bodies.get(entry)?.bytes ?? 0;
    this.bodies.delete(entry);
  }
}

/** Writes into an entry what a chat request says. */
export function noteRequest(entry: OpenEntry, request: ChatRequest, conversation: string): void {
  entry.conversation = conversation;
  entry.tools = request.tools.slice(0, LOG_LIMITS.tools).map((name) => name.slice(0, LOG_LIMITS.tool_characters));
  entry.constraint = request.constraint;
  entry.max_tokens = request.max_tokens;
  entry.stream = request.stream;
  entry.messages = request.messages.length;
}

/** What is wrong with a request by the rules that clients of all engines keep; several are one text. */
export function noteProblem(entry: OpenEntry, problem: string): void {
  const all = entry.problem === undefined ? problem : `${entry.problem}; ${problem}`;
  entry.problem = all.slice(0, LOG_LIMITS.characters);
}

/** What in a chat request no engine should ever be sent. */
export function problemsOf({ constraint, tools, messages }: ChatRequest): readonly string[] {
  const problems: string[] = [];
  if (constraint === "grammar" && tools.length > 0) problems.push("a grammar beside tools");
  messages.forEach(({ calls }, index) => {
    for (const { name, fault_column } of calls) {
      if (fault_column !== null) problems.push(`message ${index}: the arguments of ${name} are no JSON`);
    }
  });
  return problems;
}
