/** What a turn answers, as it was read of the script; how it goes out is planned in `plan.ts`. */
import type { ErrorName } from "./named-error.ts";

/** Milliseconds of one reply. */
export type Delay = {
  /** Before the first byte. */
  readonly headers: number;
  /** Between the head and the first delta. */
  readonly first: number;
  /** Before each further delta. */
  readonly each: number;
  /** Before what ends the answer. */
  readonly end: number;
};

export type Part = "content" | "reasoning" | "arguments";

export type Cut = {
  readonly how: "length" | "refuse" | "no_end" | "drop" | "reset" | "hang";
  readonly at: "bytes" | "tokens" | "events";
  /** How many are still sent; null: all of the part. */
  readonly n: number | null;
  /** "arguments": those of the last call. */
  readonly in: Part;
};

export type Piece = string | { readonly repeat: string; readonly count: number } | { readonly echo: "goal" | "last" };

export type PlayedCall = {
  readonly name: string;
  /** As it is sent, valid JSON or not. */
  readonly arguments: string;
  /** null leaves the member out; undefined: one is made. */
  readonly id: string | null | undefined;
  readonly index: number | null | undefined;
  readonly as_object: boolean;
};

export type PlayedUsage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens?: number | undefined;
  readonly cached_tokens?: number | undefined;
};

export type Chunk = { readonly by: "chars" | "tokens" | "bytes" | "all"; readonly n: number };

type Timing = {
  readonly delay: Delay;
  /** How long the slot stays taken after the answer. */
  readonly hold_ms: number;
};

export type Answer = Timing & {
  readonly kind: "answer";
  readonly reasoning: string;
  readonly content: readonly Piece[];
  readonly calls: readonly PlayedCall[];
  /** null sends none; undefined: by what the answer is. */
  readonly finish_reason: string | null | undefined;
  /** null: counted. */
  readonly usage: PlayedUsage | "none" | null;
  readonly chunk: Chunk;
  readonly ping_ms: number | null;
  /** Prefill-progress chunks. */
  readonly progress: number;
  readonly cut: Cut | null;
};

export type Headers = Readonly<Record<string, string>>;

export type HttpReply = Timing & {
  readonly kind: "http";
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
};

export type ErrorReply = Timing & {
  readonly kind: "error";
  readonly name: ErrorName;
  readonly retry_after: number | null;
};

export type Raw = Timing & {
  readonly kind: "raw";
  readonly status: number;
  readonly headers: Headers;
  readonly pieces: readonly { readonly bytes: Uint8Array; readonly after_ms: number }[];
  /** The last piece comes again and again. */
  readonly forever: boolean;
  readonly cut: { readonly how: "drop" | "reset" | "hang"; readonly n: number | null } | null;
};

export type Reply = Answer | HttpReply | ErrorReply | Raw;
