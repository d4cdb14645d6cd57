/**
 * Whether a seat's window is what the config says, for a server that does not tell: it drops the front of a prompt that
 * is too long, and answers what is left.
 *
 * Source: delegation run, section 5.8 (Ollama)
 */
import type { Completion } from "../core/seat/endpoint.ts";
import { type Defer, windowSmaller } from "../core/seat/reasons.ts";
import type { Conversation } from "./conversation.ts";
import type { JobState } from "./job-state.ts";

type Prompt = { readonly prompt_tokens: number; readonly prompt_bytes: number };

export class WindowCheck {
  /** undefined: not asked yet; null: the server does not tell. */
  private loaded: number | null | undefined;
  /** The last prompt: its bytes, and the tokens that the server counted. */
  private last = { bytes: 0, counted: 0 };

  constructor(
    private readonly state: JobState,
    private readonly conversation: Pick<Conversation, "lower">,
  ) {}

  /**
   * Judges an answer by its prompt.
   *
   * @returns why the answer cannot be used; null where nothing speaks against it
   */
  async judge({ usage }: Completion, { prompt_tokens, prompt_bytes }: Prompt): Promise<Defer | null> {
    const { endpoint, signal, world } = this.state;
    if (world.seat.engine !== "ollama") return null;
    const { ctx_tokens } = world.seat;
    if (this.loaded === undefined) {
      this.loaded = await endpoint.loadedWindowTokens(signal);
      if (this.loaded !== null && this.loaded < ctx_tokens) {
        this.conversation.lower(this.loaded);
        if (prompt_tokens > this.loaded) return windowSmaller(ctx_tokens, `the loaded model has ${this.loaded}`);
      }
    }
    if (this.loaded !== null || usage === null) return null;
    const { last } = this;
    const counted = usage.prompt_tokens;
    this.last = { bytes: prompt_bytes, counted };
    // A fixed share of the estimate would accuse honest seats: plain English has 4 to 5 bytes a token.
    const isFew = counted < prompt_bytes / 8;
    const isFewer = last.bytes > 0 && last.bytes < prompt_bytes && counted < last.counted;
    if (!isFew && !isFewer) return null;
    const than = isFew ? `a prompt of ${prompt_bytes} bytes` : `a longer prompt than the last one of ${last.counted}`;
    return windowSmaller(ctx_tokens, `and ${than} counted as ${counted} tokens`);
  }
}
