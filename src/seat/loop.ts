/**
 * The agent loop: one step after the other, each a turn of the model and the calls that it asks for, until there is an
 * answer or a reason why there is none.
 *
 *   a step:  fit  ->  send  ->  judge  ->  again    the same step, asked in another way
 *                                      ->  calls    carried out; then the next step
 *                                      ->  answer, stop    the end
 *
 * The last step that is allowed is sent without tools, so that a run ends with an answer and not in the middle of one.
 * Source: delegation run, sections 5.4 to 5.8
 */
import type { StopReason, TraceEntry } from "../core/delegation/wire-result.ts";
import { isTimeForFinal, prefillAllowanceMs } from "../core/seat/allowance.ts";
import type { CallLedger } from "../core/seat/call-ledger.ts";
import type { ChatRequest, ToolSpec } from "../core/seat/endpoint.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import { NOTES } from "../core/seat/prompt.ts";
import { type Defer, loopFault, requestRefused, windowExhausted } from "../core/seat/reasons.ts";
import {
  type Again,
  type Decision,
  type FinalAnswer,
  isCorrection,
  judgeTurn,
  judgeUnreadable,
  type Standing,
} from "../core/seat/turn.ts";
import { completionBudgets, estimateTokens, observationCap } from "../core/seat/window.ts";
import type { Calls } from "./calls.ts";
import type { Conversation, Fitted } from "./conversation.ts";
import type { JobState } from "./job-state.ts";
import type { Sender, Sent } from "./sender.ts";
import type { Toolbox } from "./toolbox.ts";
import { WindowCheck } from "./window-check.ts";

/** How the loop ended: with an answer, or with the reason why there is none. */
export type LoopEnd = {
  readonly output: string;
  readonly defer: Defer | null;
  readonly steps: number;
  readonly stop_reason: StopReason;
  readonly forced_final: boolean;
  readonly output_truncated: boolean;
};

export type LoopParts = {
  readonly conversation: Conversation;
  readonly sender: Sender;
  readonly ledger: CallLedger;
  readonly calls: Calls;
  readonly toolbox: Pick<Toolbox, "diskFault">;
  readonly tools: readonly ToolSpec[];
};

/** How a step is asked; asking again changes it, since the same request would bring the same answer. */
type Asking = {
  readonly again: Map<Again, number>;
  note: string | null;
  /** With all the tokens that a final answer may have. */
  hasMore: boolean;
  rejections: number;
};

type Settled = Exclude<Decision, { kind: "again" }>;
type Made = {
  readonly request: ChatRequest;
  readonly fitted: Extract<Fitted, { ok: true }>;
  readonly standing: Standing;
};

export class Loop {
  /** Of the calls so far, in their order. */
  readonly trace: TraceEntry[] = [];
  private corrections: number = LOOP_LIMITS.corrections;
  private thinking: "auto" | "on" | "off";
  /** Steps in a row in which no call got as far as its tool. */
  private idleSteps = 0;
  private hasResult = false;
  private readonly windowCheck: WindowCheck;

  constructor(
    private readonly state: JobState,
    private readonly parts: LoopParts,
  ) {
    const { contract } = state.job;
    this.thinking = contract.thinking === "" ? state.world.seat.thinking : contract.thinking;
    this.windowCheck = new WindowCheck(state, parts.conversation);
  }

  /** Runs to the end, in at most `max_steps` turns, whatever the seat answers. */
  async run(): Promise<LoopEnd> {
    for (let step = 1; ; step += 1) {
      this.state.progress.step = step;
      const isFinal = this.isFinal(step);
      const decision = await this.takeStep(step, isFinal);
      if (decision.kind === "stop") return ended(step, decision.defer);
      if (decision.kind === "answer") return answered(step, isFinal, decision.answer);
      await this.carryOut(step, decision);
      if (decision.answer !== null) return answered(step, isFinal, decision.answer);
      const fault = this.parts.toolbox.diskFault();
      if (fault !== null) return ended(step, loopFault(`the folder of the job takes no more writes: ${fault}`));
    }
  }

  /**
   * The answer is demanded: at the last step, where there are no tools, of a seat that only asks for what it cannot have,
   * and when time is short.
   */
  private isFinal(step: number): boolean {
    const { job, wall, meter, world, seat_key } = this.state;
    if (step >= job.contract.max_steps || this.parts.tools.length === 0) return true;
    if (this.idleSteps >= LOOP_LIMITS.idle_steps) return true;
    if (!this.hasResult) return false;
    return isTimeForFinal({
      remaining_ms: wall.remaining_ms(),
      decode_tok_s: meter.decode_tok_s() ?? world.rates.read(seat_key).decode_tok_s,
      final_tokens: this.budgets().final_tokens,
      longest_tokens: meter.longest_tokens,
    });
  }

  /** One step: asked until what comes back is no reason to ask again. */
  private async takeStep(step: number, isFinal: boolean): Promise<Settled> {
    // Where there never were tools, the task itself demands the answer.
    const note = isFinal && this.parts.tools.length > 0 ? NOTES.forced_final : null;
    const asking: Asking = { again: new Map(), note, hasMore: isFinal, rejections: 0 };
    for (;;) {
      const made = await this.make(step, isFinal, asking);
      if ("kind" in made) return made;
      const { request, fitted } = made;
      const sent = await this.parts.sender.send(request, {
        phase: "turn",
        allowance_ms: this.allowance(fitted.prompt_tokens),
      });
      if (sent.kind === "too_long") {
        const defer = this.reject(sent, made, asking);
        if (defer !== null) return stop(defer);
        continue;
      }
      const decision = await this.judge(sent, made);
      if (decision.kind !== "again") return decision;
      asking.again.set(decision.why, (asking.again.get(decision.why) ?? 0) + 1);
      asking.note = decision.note ?? asking.note;
      asking.hasMore ||= decision.why === "call_cut" || decision.why === "answer_cut";
      if (isCorrection(decision.why)) this.corrections -= 1;
      if (decision.why === "thinking_off") this.thinking = "off";
    }
  }

  /** The next request of a step, made to fit into the window. */
  private async make(
    step: number,
    isFinal: boolean,
    { again, note, hasMore }: Asking,
  ): Promise<Made | Extract<Decision, { kind: "stop" }>> {
    const { conversation } = this.parts;
    const { corrections, thinking } = this;
    const offered = isFinal ? [] : this.offered();
    const { step_tokens, final_tokens } = this.budgets();
    const max_tokens = hasMore ? final_tokens : step_tokens;
    const fitted = await conversation.fit(offered, max_tokens, note);
    if (!fitted.ok) return stop(fitted.defer);
    const usedIds = conversation.ids();
    return {
      fitted,
      request: { messages: fitted.messages, tools: offered, max_tokens, thinking, constraint: null },
      standing: {
        step,
        isFinal,
        offered,
        max_tokens,
        step_tokens,
        final_tokens,
        thinking,
        again,
        corrections,
        usedIds,
      },
    };
  }

  /** The server found the request too long: the step is asked once more, at half the size. */
  private reject(sent: Extract<Sent, { kind: "too_long" }>, { fitted, request }: Made, asking: Asking): Defer | null {
    const { conversation } = this.parts;
    asking.rejections += 1;
    conversation.reject(sent, fitted, request.tools);
    if (asking.rejections === 1) return null;
    const tokens = sent.n_prompt ?? fitted.prompt_tokens;
    return windowExhausted(tokens, sent.n_ctx ?? conversation.ctx ?? tokens);
  }

  private async judge(sent: Exclude<Sent, { kind: "too_long" }>, made: Made): Promise<Decision> {
    switch (sent.kind) {
      case "over":
        return stop(sent.defer);
      case "mode_refused":
        return stop(requestRefused(sent.status, sent.message));
      case "bad_call":
        return judgeUnreadable(sent.is_cut, sent.message, made.standing);
      case "answered": {
        const { completion } = sent;
        const { fitted, request, standing } = made;
        const guess = estimateTokens(completion.content) + estimateTokens(completion.reasoning);
        this.state.meter.add(completion, { prompt: fitted.prompt_tokens, completion: guess });
        const defer = await this.windowCheck.judge(completion, fitted);
        if (defer !== null) return stop(defer);
        this.parts.conversation.learn(completion.usage?.prompt_tokens ?? null, fitted.prompt_bytes, request.tools);
        return judgeTurn(completion, standing);
      }
      default:
        return sent satisfies never;
    }
  }

  private async carryOut(
    step: number,
    { content, calls, isFromText }: Extract<Decision, { kind: "calls" }>,
  ): Promise<void> {
    if (calls.length === 0) return;
    const { results, trace, isIdle } = await this.parts.calls.carryOut(step, calls, isFromText, this.characters());
    this.trace.push(...trace);
    this.parts.conversation.add({ step, content, calls: calls.map(({ sent }) => sent), results });
    this.idleSteps = isIdle ? this.idleSteps + 1 : 0;
    this.hasResult = true;
  }

  private offered(): readonly ToolSpec[] {
    const available = this.parts.ledger.available();
    return this.parts.tools.filter(({ name }) => available.includes(name));
  }

  private budgets(): { readonly step_tokens: number; readonly final_tokens: number } {
    return completionBudgets(this.state.world.seat, this.parts.conversation.ctx);
  }

  /** What one tool result may keep of the window. */
  private characters(): number {
    const { conversation, tools } = this.parts;
    const budget = conversation.budget(tools, this.budgets().step_tokens);
    return observationCap(budget, this.state.world.env_rules.max_observation_tokens);
  }

  private allowance(prompt_tokens: number): (phase: "prefill" | "decoding") => number {
    const { meter, world, seat_key } = this.state;
    const rate = meter.prefill_tok_s() ?? world.rates.read(seat_key).prefill_tok_s;
    const prefill_ms = prefillAllowanceMs(prompt_tokens, rate);
    return (phase) => (phase === "prefill" ? prefill_ms : LOOP_LIMITS.decoding_allowance_ms);
  }
}

function stop(defer: Defer): Extract<Decision, { kind: "stop" }> {
  return { kind: "stop", defer };
}

function ended(steps: number, defer: Defer): LoopEnd {
  const { stop_reason } = defer;
  return { output: "", defer, steps, stop_reason, forced_final: false, output_truncated: false };
}

function answered(steps: number, isFinal: boolean, { text, stop_reason, isTruncated }: FinalAnswer): LoopEnd {
  return { output: text, defer: null, steps, stop_reason, forced_final: isFinal, output_truncated: isTruncated };
}
