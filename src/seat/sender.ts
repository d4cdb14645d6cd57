/**
 * One request to the seat, with everything that can come between it and its answer: others who hold the seat, a model
 * that is loading, a server that goes down. What comes out is about the request alone.
 *
 * Source: delegation run, sections 5.10 and 8.3
 */
import { busySleepMs } from "../core/seat/allowance.ts";
import type { ChatOutcome, ChatPhase, ChatRequest } from "../core/seat/endpoint.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import {
  answerTooLarge,
  canceled,
  type Defer,
  loopFault,
  modelNotServed,
  requestRefused,
  seatContended,
  seatDown,
  seatLoading,
  stalled,
  wallOver,
} from "../core/seat/reasons.ts";
import type { JobState } from "./job-state.ts";
import { waitUntilReady } from "./readiness.ts";
import { boundBy } from "./wall.ts";

export type Sent =
  | Extract<ChatOutcome, { kind: "answered" | "too_long" | "bad_call" | "mode_refused" }>
  /** The job cannot go on. */
  | { readonly kind: "over"; readonly defer: Defer };

/** What is said of a request while it runs. */
export type Sending = {
  readonly allowance_ms: (phase: ChatPhase) => number;
  /** "repack" in the structured step, else what the request does. */
  readonly phase: "turn" | "repack";
};

/** Sends the requests of one job, one at a time. Its budgets are the job's: what one request waited, the next may not. */
export class Sender {
  private recoveries = 0;
  private busyAnswers = 0;
  /** Why a look ended the request that runs. */
  private lookSaid: Defer | null = null;

  constructor(private readonly state: JobState) {}

  /** Sends one request, again and again the same, until it is answered or the job is over. */
  async send(request: ChatRequest, sending: Sending): Promise<Sent> {
    let mayReissue = true;
    for (;;) {
      const defer = this.over() ?? (await this.awaitSlot());
      if (defer !== null) return over(defer);
      const outcome = await this.once(request, sending);
      switch (outcome.kind) {
        case "answered":
          this.busyAnswers = 0;
          return outcome;
        case "too_long":
        case "bad_call":
        case "mode_refused":
          return outcome;
        case "busy": {
          const spent = await this.awaitTurn(outcome.retry_after_sec, `HTTP ${outcome.status}`);
          if (spent !== null) return over(spent);
          break;
        }
        case "loading": {
          const spent = await this.awaitLoad();
          if (spent !== null) return over(spent);
          break;
        }
        case "died": {
          const recovery = await this.recover(outcome.message, mayReissue);
          if (recovery.kind === "over") return recovery;
          mayReissue &&= recovery.kind === "recovered";
          break;
        }
        case "aborted":
          return over(this.over() ?? loopFault("the request was given up"));
        case "stalled":
          return over(this.lookSaid ?? stalled(outcome.silent_ms, outcome.phase, outcome.allowed_ms));
        case "too_large":
          return over(answerTooLarge(outcome.bytes));
        case "not_served":
          return over(modelNotServed(outcome.message));
        case "refused":
          return over(requestRefused(outcome.status, outcome.message));
        default:
          return outcome satisfies never;
      }
    }
  }

  private over(): Defer | null {
    const { signal, wall, job } = this.state;
    if (signal.aborted) return canceled();
    return wall.isOver() ? wallOver(job.contract.timeout_sec) : null;
  }

  private async once(request: ChatRequest, { allowance_ms, phase }: Sending): Promise<ChatOutcome> {
    const { world, endpoint, signal, wall, progress } = this.state;
    this.lookSaid = null;
    const bound = boundBy(world, signal, () => wall.remaining_ms());
    try {
      return await endpoint.chat(request, {
        signal: bound.signal,
        allowance_ms,
        look: (silent_ms, during) => this.look(silent_ms, during),
        onProgress: ({ phase: during, tokens, idle_ms }) =>
          progress.say(phase === "turn" ? during : phase, { tokens, idle_ms, allowance_ms: allowance_ms(during) }),
      });
    } finally {
      bound.release();
    }
  }

  /** A silence may be the loading of the model, or the work of others: then it was a wait, and waiting goes on. */
  private async look(silent_ms: number, phase: ChatPhase): Promise<"wait" | "abort"> {
    const { endpoint, signal, wall, waits } = this.state;
    const seen = await endpoint.look(signal);
    if (seen.state === "loading") {
      if (silent_ms > this.admissionLeft()) {
        this.lookSaid = seatLoading(waits.admission_ms);
        return "abort";
      }
      waits.admission_ms += silent_ms;
      wall.credit(silent_ms);
      return "wait";
    }
    // A request that is being answered holds a slot itself.
    const { busy_slots, total_slots } = seen;
    const isQueued = phase === "prefill" && busy_slots !== null && total_slots !== null && busy_slots >= total_slots;
    if (!isQueued) return "abort";
    if (silent_ms > this.contentionLeft()) {
      this.lookSaid = seatContended(waits.busy_ms, "silence with every slot taken");
      return "abort";
    }
    waits.busy_ms += silent_ms;
    wall.credit(silent_ms);
    return "wait";
  }

  /** Waits while every slot of the server is taken, which some servers do not say of themselves. */
  private async awaitSlot(): Promise<Defer | null> {
    const { endpoint, signal } = this.state;
    for (;;) {
      if (await endpoint.hasFreeSlot(signal)) return this.over();
      const defer = this.over() ?? (await this.awaitTurn(null, "HTTP 503"));
      if (defer !== null) return defer;
    }
  }

  /** One sleep on a busy answer; it is taken from the budget before it begins. */
  private async awaitTurn(retry_after_sec: number | null, last: string): Promise<Defer | null> {
    const { world, signal, wall, waits, progress } = this.state;
    const sleep_ms = busySleepMs(this.busyAnswers, retry_after_sec);
    if (sleep_ms > this.contentionLeft()) return seatContended(waits.busy_ms, last);
    this.busyAnswers += 1;
    waits.busy_ms += sleep_ms;
    progress.say("contention", { allowance_ms: sleep_ms });
    await wall.stopped(() => world.sleep(sleep_ms, signal));
    return null;
  }

  private async awaitLoad(): Promise<Defer | null> {
    const { world, signal, wall, waits, progress } = this.state;
    const { ready_poll_ms } = LOOP_LIMITS;
    if (ready_poll_ms > this.admissionLeft()) return seatLoading(waits.admission_ms);
    progress.say("admission", { allowance_ms: this.admissionLeft() });
    const began = world.clock.ms();
    const ready = await wall.stopped(async () => {
      await world.sleep(ready_poll_ms, signal);
      return waitUntilReady(this.state, this.admissionLeft() - (world.clock.ms() - began), "admission");
    });
    waits.admission_ms += world.clock.ms() - began;
    if (ready.kind === "not_served") return modelNotServed(ready.message);
    return ready.kind === "over" ? seatLoading(waits.admission_ms) : null;
  }

  /** A request died: a seat that is down is waited for, any other gets the request once more. */
  private async recover(
    message: string,
    mayReissue: boolean,
  ): Promise<{ kind: "over"; defer: Defer } | { kind: "recovered" } | { kind: "reissue" }> {
    const { world, endpoint, signal, wall, waits } = this.state;
    const seen = await endpoint.look(signal);
    if (signal.aborted) return over(canceled());
    if (seen.state === "not_served") return over(modelNotServed(seen.message));
    if (seen.state === "ready" || seen.state === "unknown") {
      if (!mayReissue) return over(loopFault(message));
      await world.sleep(LOOP_LIMITS.reissue_after_ms, signal);
      return { kind: "reissue" };
    }
    if (this.recoveries >= LOOP_LIMITS.recoveries) {
      return over(seatDown(`it went down ${this.recoveries + 1} times; ${message}`));
    }
    this.recoveries += 1;
    const budget_ms = world.limits.admission_wait_sec * 1000;
    const began = world.clock.ms();
    const ready = await wall.stopped(() => waitUntilReady(this.state, budget_ms, "seat_down"));
    const waited_ms = world.clock.ms() - began;
    waits.seat_down_ms += waited_ms;
    if (ready.kind === "not_served") return over(modelNotServed(ready.message));
    if (ready.kind === "over") {
      return over(seatDown(`not serving again after ${Math.round(waited_ms / 1000)}s; ${message}`));
    }
    return { kind: "recovered" };
  }

  private contentionLeft(): number {
    return this.state.world.limits.contention_wait_sec * 1000 - this.state.waits.busy_ms;
  }

  private admissionLeft(): number {
    return this.state.world.limits.admission_wait_sec * 1000 - this.state.waits.admission_ms;
  }
}

function over(defer: Defer): { readonly kind: "over"; readonly defer: Defer } {
  return { kind: "over", defer };
}
