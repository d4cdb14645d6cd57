/**
 * What the agent loop needs of a model server: the port between `seat/` (which decides) and `llm/` (which talks HTTP).
 *
 * Every answer of a server is one of the kinds of `ChatOutcome`: an error body is judged where it arrives, once, and
 * nothing above looks at a status or at a server's words again.
 */
import type { JsonObject } from "../json/value.ts";

export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly tool_calls?: readonly SentCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** A call in the history; `arguments` is valid JSON, always (a server refuses a history in which it is not). */
export type SentCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

/** How the form of an answer is asked for. */
export type StructuredMode = "grammar" | "json_schema" | "structured_outputs" | "json_object" | "prompt";

export type Constraint = {
  readonly mode: StructuredMode;
  /** Closed, every listed property required at every depth. */
  readonly schema: JsonObject;
  /** GBNF; null where the schema makes none. */
  readonly grammar: string | null;
};

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** Empty: no tools are sent. Never beside a constraint. */
  readonly tools: readonly ToolSpec[];
  readonly max_tokens: number;
  /** "off" switches it off in the engine's way; "auto" and "on" send nothing. */
  readonly thinking: "auto" | "on" | "off";
  readonly constraint: Constraint | null;
};

/** A call as it came: `arguments` is its text, valid JSON or not; an object is rendered to its compact text. */
export type ReceivedCall = {
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
};

export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
  readonly cached_tokens: number;
};

export type Completion = {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ReceivedCall[];
  readonly finish_reason: string | null;
  /** `finish_reason` is "length", or the usage says that all of `max_tokens` was used. */
  readonly is_cut: boolean;
  /** null: the server sent none. */
  readonly usage: Usage | null;
  /** Times of this request: until the first byte of the body; until the first delta; from there to the end. */
  readonly first_byte_ms: number;
  readonly prefill_ms: number;
  readonly decode_ms: number;
};

/** What came back of one chat request. Statuses, bodies and transport faults are judged here and nowhere else. */
export type ChatOutcome =
  | { readonly kind: "answered"; readonly completion: Completion }
  /** Others hold the seat (delegation run 8.3): wait, and send the same again. `status` 429, 503 or 500. */
  | {
      readonly kind: "busy";
      readonly status: number;
      readonly retry_after_sec: number | null;
      readonly message: string;
    }
  /** The model is being loaded (8.2): wait until it is ready, and send the same again. */
  | { readonly kind: "loading"; readonly message: string }
  /** The prompt is larger than the window; numbers where the body names them. */
  | {
      readonly kind: "too_long";
      readonly n_ctx: number | null;
      readonly n_prompt: number | null;
      readonly message: string;
    }
  /** The server could not read the arguments of the model's own call (5.4); cut: it misses their end. */
  | { readonly kind: "bad_call"; readonly is_cut: boolean; readonly message: string }
  /** This mode of asking for form is not supported here (400, 422, 501 to a constrained request): try the next. */
  | { readonly kind: "mode_refused"; readonly status: number; readonly message: string }
  /** The model is not served here. */
  | { readonly kind: "not_served"; readonly message: string }
  /** Any other 4xx: about this request, or about who asks (401, 403; a 429 of an account that has nothing left). */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  /** No whole answer: refused or reset connection, a stream that ends early, a redirect, a 5xx of no other kind. */
  | { readonly kind: "died"; readonly status: number | null; readonly message: string }
  /** No progress for longer than allowed, and `look` said that nothing explains it. */
  | { readonly kind: "stalled"; readonly phase: ChatPhase; readonly silent_ms: number; readonly allowed_ms: number }
  /** More than is kept of one answer. */
  | { readonly kind: "too_large"; readonly bytes: number }
  /** The caller's signal. */
  | { readonly kind: "aborted" };

export type ChatPhase = "prefill" | "decoding";

/** What the loop is told while a request runs; `tokens` counts deltas where the server sends no counts. */
export type ChatProgress = { readonly phase: ChatPhase; readonly tokens: number; readonly idle_ms: number };

/** How one request is watched. */
export type Watch = {
  /** Ends the request at once: the wall, the caller. */
  readonly signal: AbortSignal;
  /**
   * The longest silence without progress in a phase. A seat that does not stream shows no progress before its end, and
   * is allowed 50 ms for each token of the budget on top of the prefill.
   */
  readonly allowance_ms: (phase: ChatPhase) => number;
  /**
   * Asked when a silence is longer than allowed: look before judging. "wait" allows as much again.
   *
   * `silent_ms` counts from the last progress or from the beginning of the last look that said "wait": the sum over all
   * looks is the whole silence, and none of it is counted twice. It is so in `stalled` too.
   */
  readonly look: (silent_ms: number, phase: ChatPhase) => Promise<"wait" | "abort">;
  /** At most ten times a second. */
  readonly onProgress: (progress: ChatProgress) => void;
};

/** What a look at the server says, without loading a model that a proxy has not loaded. */
export type SeatLook = {
  /**
   * "gone": nothing listens (a vllm server that loads does not listen either). "not_served": the models list answered
   * without this model; never of an `openai` seat, whose list need not be whole. "stopped": a proxy would have to load
   * it. "unknown": it does not tell.
   */
  readonly state: "ready" | "loading" | "stopped" | "gone" | "not_served" | "unknown";
  /** Slots that work right now; null where the server does not tell. */
  readonly busy_slots: number | null;
  readonly total_slots: number | null;
  readonly message: string;
};

/** What was read of the server for the result: which program and model answered. */
export type SeatPin = {
  readonly engine: string;
  readonly model: string;
  readonly ctx_tokens: number;
  readonly build?: string;
  readonly template_sha256?: string;
};

/**
 * One seat's server. Every method that asks something, but `chat`, is bounded by 5 s of its own, answers null (or
 * "unknown") where the server does not tell, and throws for nothing but defects.
 */
export type Endpoint = {
  /** Sends one chat request. Errors: none; everything that can happen is a kind of `ChatOutcome`. */
  chat(request: ChatRequest, watch: Watch): Promise<ChatOutcome>;
  look(signal: AbortSignal): Promise<SeatLook>;
  /** False: every slot is taken by others and a request would queue in silence. True where it is not known. */
  hasFreeSlot(signal: AbortSignal): Promise<boolean>;
  /** The window of one request as the server publishes it; null where it does not. */
  windowTokens(signal: AbortSignal): Promise<number | null>;
  /** Requests that the server takes at once; null where it does not tell. */
  totalSlots(signal: AbortSignal): Promise<number | null>;
  /** The server's own count; null where it has no counter (then bytes are counted). */
  countTokens(text: string, signal: AbortSignal): Promise<number | null>;
  /** Ollama: the window that the loaded model really has (`/api/ps`); null elsewhere and where it is not told. */
  loadedWindowTokens(signal: AbortSignal): Promise<number | null>;
  /** False: tools are dropped without a word, since the chat template knows none. Null where the server does not tell. */
  takesTools(signal: AbortSignal): Promise<boolean | null>;
  /** Behind a proxy: starts the load with a completion of one token; elsewhere it does nothing. */
  warmUp(watch: Watch): Promise<ChatOutcome | null>;
  pin(signal: AbortSignal): Promise<SeatPin | null>;
  /** It is a scripted seat, by what it was called or by any answer so far, an error's as well. Asks nothing. */
  isScripted(): boolean;
};
