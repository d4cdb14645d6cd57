/**
 * The structured step: from an answer in words to the fields of the contract's schema. First the answer itself; then the
 * seat is asked, in the best way it knows; then once more with what was wrong.
 *
 *   an attempt  ->  valid      the end
 *               ->  ignored    the next way of asking
 *               ->  invalid    once more with the errors, then the end
 *
 * Source: delegation run, section 5.11
 */
import { acceptedFields } from "../core/acceptance/fields.ts";
import type { DelegationContract } from "../core/delegation/contract.ts";
import type { Repack } from "../core/delegation/wire-result.ts";
import type { JsonObject } from "../core/json/value.ts";
import { closeSchema } from "../core/schema/close.ts";
import { grammarOf } from "../core/schema/grammar.ts";
import { type ResponseSchema, responseSchemaOf } from "../core/schema/response.ts";
import { prefillAllowanceMs, structuredAllowanceMs } from "../core/seat/allowance.ts";
import type { ChatMessage, Completion, StructuredMode } from "../core/seat/endpoint.ts";
import { splitThinking } from "../core/seat/final-text.ts";
import { modesFor } from "../core/seat/modes.ts";
import { type Defer, schemaFailed, structuredUnreachable, windowExhausted } from "../core/seat/reasons.ts";
import {
  judgeStructured,
  losslessText,
  STRUCTURED_CUT,
  structuredMessages,
  structuredTokens,
  wholeElements,
} from "../core/seat/structured.ts";
import { completionBudgets, estimateTokens, inputBudget, messageBytes, tokensOfBytes } from "../core/seat/window.ts";
import { clipUtf8, utf8Length } from "../core/utf8.ts";
import type { JobState } from "./job-state.ts";
import type { Sender, Sent } from "./sender.ts";

export type Structured = {
  /** The text to publish; null where there is none. */
  readonly structured: string | null;
  readonly repack: Repack;
  /** Why there is none; the answer in words stands all the same. */
  readonly defer: Defer | null;
};

export const NOT_STRUCTURED: Structured = {
  structured: null,
  repack: { mode: "none", attempts: 0, ms: 0 },
  defer: null,
};

/**
 * Makes the structured form of an answer. A contract without a schema has none.
 *
 * @param answer not blank
 * @param ctx    the window of the seat as the run knows it by now; null where it does not
 */
export async function structureAnswer(
  state: JobState,
  sender: Sender,
  answer: string,
  ctx: number | null,
): Promise<Structured> {
  const { output_schema: schema, acceptance } = state.job.contract;
  if (schema === null) return NOT_STRUCTURED;
  const closed = closeSchema(schema, acceptedFields(acceptance));
  const lossless = losslessText(answer, closed);
  if (lossless !== null) {
    return { structured: lossless, repack: { mode: "lossless", attempts: 0, ms: 0 }, defer: null };
  }
  return new StructuredStep(state, sender, { answer, schema, closed }, ctx).run();
}

type Subject = {
  readonly answer: string;
  readonly schema: NonNullable<DelegationContract["output_schema"]>;
  /** What is validated: the schema with the accepted fields required. */
  readonly closed: JsonObject;
};

/** Schema parts that are told of by name. */
const TOLD = 5;
const NOTE_BYTES = 400;

class StructuredStep {
  private readonly response: ResponseSchema;
  private readonly grammar: string;
  private readonly final_tokens: number;
  private readonly modes: readonly StructuredMode[];
  private max_tokens: number;
  private errors: readonly string[] = [];
  private isRepair = false;
  private wasTooLong = false;
  private attempts = 0;
  private cutTo: number | null = null;
  private listWasCut = false;

  constructor(
    private readonly state: JobState,
    private readonly sender: Sender,
    private readonly subject: Subject,
    private ctx: number | null,
  ) {
    const { seat, modes, clock } = state.world;
    this.response = responseSchemaOf(subject.schema);
    this.grammar = grammarOf(subject.schema);
    this.modes = modesFor(seat.engine, true, modes.get(state.seat_key, clock.ms()));
    this.final_tokens = completionBudgets(seat, ctx).final_tokens;
    this.max_tokens = structuredTokens(subject.answer, this.final_tokens);
  }

  async run(): Promise<Structured> {
    const began = this.state.wall.elapsed_ms();
    let at = 0;
    for (;;) {
      const mode = this.modes[at] ?? "prompt";
      const isLast = at >= this.modes.length - 1;
      const next = await this.attempt(mode, isLast);
      if (next === "again") continue;
      if (next === "next_mode") {
        at += 1;
        continue;
      }
      const ms = Math.round(this.state.wall.elapsed_ms() - began);
      this.state.meter.repack_ms += ms;
      if (next.defer === null) this.remember(mode);
      const note = this.note(mode);
      const repack = { mode, attempts: this.attempts, ms, ...(note === "" ? {} : { note }) };
      return { structured: next.text, repack, defer: next.defer };
    }
  }

  private remember(mode: StructuredMode): void {
    const { world, seat_key } = this.state;
    world.modes.set(seat_key, mode, world.clock.ms());
  }

  /** One request, and what follows from it. */
  private async attempt(mode: StructuredMode, isLast: boolean): Promise<Next> {
    const { schema } = this.response;
    const messages = this.messages(mode);
    const sent = await this.sender.send(
      {
        messages,
        tools: [],
        max_tokens: this.max_tokens,
        thinking: "off",
        constraint: { mode, schema, grammar: mode === "grammar" ? this.grammar : null },
      },
      { phase: "repack", allowance_ms: this.allowance(messages) },
    );
    switch (sent.kind) {
      case "over":
        return failed(this.blame(sent.defer));
      case "mode_refused":
        return isLast ? failed(schemaFailed(sent.message)) : "next_mode";
      case "bad_call":
        return failed(schemaFailed(sent.message));
      case "too_long":
        return this.shorten(sent, messages);
      case "answered":
        return this.judge(sent.completion, messages, isLast);
      default:
        return sent satisfies never;
    }
  }

  private judge(completion: Completion, messages: readonly ChatMessage[], isLast: boolean): Next {
    const { schema, closed } = this.subject;
    this.attempts += 1;
    const prompt = tokensOfBytes(messageBytes(messages));
    this.state.meter.add(completion, { prompt, completion: estimateTokens(completion.content) });
    const { answer: text } = splitThinking(completion.content);
    const judged = judgeStructured(text, schema, closed);
    if (judged.kind === "valid") return { text: judged.text, defer: null };
    if (judged.kind === "ignored" && !isLast && !completion.is_cut) return "next_mode";
    if (this.isRepair) {
      const kept = completion.is_cut ? wholeElements(text, closed) : null;
      this.listWasCut = kept !== null;
      if (kept !== null) return { text: kept, defer: null };
      const first = judged.errors[0] ?? "no JSON";
      return failed(schemaFailed(completion.is_cut ? `it was cut at ${this.max_tokens} tokens: ${first}` : first));
    }
    this.isRepair = true;
    this.errors = completion.is_cut ? [STRUCTURED_CUT] : judged.errors;
    if (completion.is_cut) this.max_tokens = this.final_tokens;
    return "again";
  }

  /** The server found the request too long: once more with half of the answer. */
  private shorten(sent: Extract<Sent, { kind: "too_long" }>, messages: readonly ChatMessage[]): Next {
    const tokens = sent.n_prompt ?? tokensOfBytes(messageBytes(messages));
    const window = sent.n_ctx ?? Math.min(this.ctx ?? tokens, tokens);
    if (this.wasTooLong) return failed(windowExhausted(tokens, window));
    this.wasTooLong = true;
    this.ctx = Math.min(this.ctx ?? window, window);
    this.max_tokens = Math.min(this.max_tokens, Math.max(1, Math.floor(this.ctx / 2)));
    this.cutTo = Math.floor((this.cutTo ?? this.subject.answer.length) / 2);
    return "again";
  }

  private messages(mode: StructuredMode): readonly ChatMessage[] {
    const { answer, schema } = this.subject;
    const ask = { schema, schemaText: this.response.text, mode, answer, errors: this.errors };
    const empty = structuredMessages({ ...ask, answer: "", room: 0 });
    const budget = inputBudget(this.ctx, this.max_tokens, 0);
    const left = budget === null ? null : Math.max(0, budget * 3 - messageBytes(empty));
    const bytes = utf8Length(answer);
    if (left !== null && left < bytes) {
      const fitting = Math.floor((answer.length * left) / bytes);
      this.cutTo = Math.min(this.cutTo ?? fitting, fitting);
    }
    return structuredMessages({ ...ask, room: this.cutTo ?? answer.length });
  }

  private allowance(messages: readonly ChatMessage[]): (phase: "prefill" | "decoding") => number {
    const { meter, world, seat_key } = this.state;
    const rates = world.rates.read(seat_key);
    const step_ms = structuredAllowanceMs(this.max_tokens, meter.decode_tok_s() ?? rates.decode_tok_s);
    const prompt = tokensOfBytes(messageBytes(messages));
    const prefill_ms = prefillAllowanceMs(prompt, meter.prefill_tok_s() ?? rates.prefill_tok_s);
    return (phase) => (phase === "prefill" ? Math.max(step_ms, prefill_ms) : step_ms);
  }

  /** What kept the job from going on, as a fault of this step. That others held the seat is not one. */
  private blame(defer: Defer): Defer {
    if (defer.defer_class === "abstention") return schemaFailed(defer.reason);
    const isFault = defer.defer_class === "infrastructure" && !defer.reason.startsWith("seat contended");
    return isFault ? structuredUnreachable(defer.reason) : defer;
  }

  private note(mode: StructuredMode): string {
    const { removed } = this.response;
    const isSent = mode === "json_schema" || mode === "structured_outputs";
    const notes: string[] = [];
    if (isSent && removed.length > 0) {
      const more = removed.length > TOLD ? ` and ${removed.length - TOLD} more` : "";
      notes.push(`left out of the schema that was sent: ${removed.slice(0, TOLD).join(", ")}${more}`);
    }
    const { length } = this.subject.answer;
    if (this.cutTo !== null && this.cutTo < length) {
      notes.push(`the answer was cut to ${this.cutTo} of ${length} characters`);
    }
    if (this.listWasCut) notes.push("the list was cut; what is behind its last whole item is missing");
    return clipUtf8(notes.join("; "), NOTE_BYTES);
  }
}

type Next = "again" | "next_mode" | { readonly text: string | null; readonly defer: Defer | null };

function failed(defer: Defer): Next {
  return { text: null, defer };
}
