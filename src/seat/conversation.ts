/**
 * The conversation with the seat and its window: what is said so far, how much of it fits, and what had to go.
 *
 * Source: delegation run, sections 5.6 (window) and 5.8
 */

import { capResults, compact, lostBetween } from "../core/seat/compaction.ts";
import type { ChatMessage, ToolSpec } from "../core/seat/endpoint.ts";
import { type History, messagesOf, type Turn } from "../core/seat/history.ts";
import { type Defer, taskTooLarge, windowExhausted } from "../core/seat/reasons.ts";
import { calibrate, inputBudget, messageBytes, messageText, observationCap, toolBytes } from "../core/seat/window.ts";
import type { JobState } from "./job-state.ts";

/** What is sent: its tokens are estimated, with those of the tools; its bytes are those of the messages. */
export type Sized = { readonly prompt_tokens: number; readonly prompt_bytes: number };

export type Fitted =
  | ({ readonly ok: true; readonly messages: readonly ChatMessage[] } & Sized)
  | { readonly ok: false; readonly defer: Defer };

export class Conversation {
  /** Tokens to a third of a byte: 1 until somebody counted. */
  private ratio = 1;
  private hasCounter = true;
  /** The next request is cut to half of its budget: the server found the last one too long. */
  private isHalved = false;
  /** The window turned out to be smaller than the results were made for. */
  private wasLowered = false;

  /** @param window of the seat; null while nobody named one */
  constructor(
    private readonly state: Pick<JobState, "endpoint" | "signal">,
    private history: History,
    private window: number | null,
    private readonly onLost: (call_ids: readonly string[]) => void = () => {},
  ) {}

  get ctx(): number | null {
    return this.window;
  }

  ids(): ReadonlySet<string> {
    return new Set(this.history.turns.flatMap(({ calls }) => calls.map(({ id }) => id)));
  }

  add(turn: Turn): void {
    this.history = { ...this.history, turns: [...this.history.turns, turn] };
  }

  /** Tokens for the messages of a request; null where the window is not known. */
  budget(tools: readonly ToolSpec[], max_tokens: number): number | null {
    return inputBudget(this.window, max_tokens, this.tokensOf(toolBytes(tools)));
  }

  /** Tokens of so many bytes, by what is known of this conversation. */
  tokensOf(bytes: number): number {
    return Math.ceil((bytes / 3) * this.ratio);
  }

  /**
   * The messages of the next request, made to fit; what goes to make room is gone for good.
   *
   * @param note is said behind the conversation this once
   */
  async fit(tools: readonly ToolSpec[], max_tokens: number, note: string | null): Promise<Fitted> {
    await this.count(tools, max_tokens, note);
    const budget = this.budget(tools, max_tokens);
    if (budget !== null) {
      if (this.wasLowered) this.become(capResults(this.history, observationCap(budget, 0)));
      this.wasLowered = false;
      const preamble = this.tokensOf(messageBytes(messagesOf({ ...this.history, turns: [] }, note)));
      if (preamble > budget) return { ok: false, defer: taskTooLarge(preamble, budget) };
      this.makeRoom(this.isHalved ? Math.floor(budget / 2) : budget, note);
      const tokens = this.tokensOf(messageBytes(messagesOf(this.history, note)));
      if (tokens > budget) return { ok: false, defer: windowExhausted(tokens, budget) };
    }
    this.isHalved = false;
    const messages = messagesOf(this.history, note);
    const bytes = messageBytes(messages);
    return { ok: true, messages, prompt_tokens: this.tokensOf(bytes + toolBytes(tools)), prompt_bytes: bytes };
  }

  /**
   * The server found a request too long: the window is what it says, else what the request was, and the next request
   * takes half of it.
   */
  reject(
    { n_ctx, n_prompt }: { n_ctx: number | null; n_prompt: number | null },
    sent: Sized,
    tools: readonly ToolSpec[],
  ): void {
    this.learn(n_prompt, sent.prompt_bytes, tools);
    this.lower(n_ctx ?? sent.prompt_tokens);
    this.isHalved = true;
  }

  lower(window: number): void {
    this.wasLowered ||= this.window === null || window < this.window;
    this.window = Math.min(this.window ?? window, window);
  }

  /** What a prompt really took says how far the estimate is off; null: nobody says. */
  learn(prompt_tokens: number | null, prompt_bytes: number, tools: readonly ToolSpec[]): void {
    if (prompt_tokens !== null) this.ratio = calibrate(prompt_tokens, (prompt_bytes + toolBytes(tools)) / 3);
  }

  private makeRoom(budget: number, note: string | null): void {
    this.become(compact(this.history, Math.floor((budget * 3) / this.ratio), note).history);
  }

  private become(history: History): void {
    const lost = lostBetween(this.history, history);
    this.history = history;
    if (lost.length > 0) this.onLost(lost);
  }

  /** Asks the server to count where the estimate alone could be wrong about what fits. */
  private async count(tools: readonly ToolSpec[], max_tokens: number, note: string | null): Promise<void> {
    const budget = this.budget(tools, max_tokens);
    const messages = messagesOf(this.history, note);
    const bytes = messageBytes(messages);
    if (!this.hasCounter || budget === null || (bytes / 3) * 2 <= budget) return;
    const tokens = await this.state.endpoint.countTokens(messages.map(messageText).join("\n"), this.state.signal);
    if (tokens === null) this.hasCounter = false;
    else if (bytes > 0) this.ratio = tokens / (bytes / 3);
  }
}
