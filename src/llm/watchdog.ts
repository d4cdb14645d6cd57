/**
 * Watches one request for silence: what counts is progress of the answer, not bytes.
 *
 * Source: delegation run, section 5.10
 */
import type { ChatOutcome, ChatPhase, Watch } from "../core/seat/endpoint.ts";

/** Between two reports of progress, and between two of silence, in milliseconds. */
const REPORT_MS = 100;
const IDLE_REPORT_MS = 1000;
/** A timer of the runtime cannot be set for longer than 24 days; a longer allowance is looked at again. */
const LONGEST_TIMER_MS = 60 * 60 * 1000;

export type Verdict = Extract<ChatOutcome, { kind: "stalled" }> | { readonly kind: "defect"; readonly error: unknown };

export class Watchdog {
  /** When the request went out. */
  started_ms: number;
  private phase: ChatPhase = "prefill";
  private tokens = 0;
  /** When the silence began that has not been accounted for. */
  private silentSince: number;
  private lastProgress: number;
  private lastReport = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private idleTimer: ReturnType<typeof setInterval> | null = null;
  private isStopped = false;

  /**
   * @param extra_ms allowed on top of every allowance: what an answer takes that shows no progress on its way
   * @param end      called once, when the request is to be given up
   */
  constructor(
    private readonly clock: { ms(): number },
    private readonly watch: Watch,
    private readonly extra_ms: number,
    private readonly end: (verdict: Verdict) => void,
  ) {
    this.started_ms = clock.ms();
    this.silentSince = this.started_ms;
    this.lastProgress = this.started_ms;
  }

  /** The request goes out now. */
  start(): void {
    this.started_ms = this.clock.ms();
    this.silentSince = this.started_ms;
    this.lastProgress = this.started_ms;
    this.idleTimer = setInterval(() => this.report(), IDLE_REPORT_MS);
    this.arm();
  }

  /** Prompt tokens were read. */
  prefilling(): void {
    this.progress();
  }

  /** Pieces of the answer came; `tokens` of them in all. */
  decoding(tokens: number): void {
    const isFirst = this.phase === "prefill";
    this.phase = "decoding";
    this.tokens = tokens;
    this.progress();
    // The timer runs for the allowance of the prefill. There is none while a look is under way.
    if (isFirst && this.timer !== null) {
      clearTimeout(this.timer);
      this.arm();
    }
  }

  stop(): void {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.idleTimer !== null) clearInterval(this.idleTimer);
  }

  private progress(): void {
    this.lastProgress = this.clock.ms();
    this.silentSince = this.lastProgress;
    this.report();
  }

  private report(): void {
    const now = this.clock.ms();
    if (this.isStopped || now - this.lastReport < REPORT_MS) return;
    this.lastReport = now;
    this.guard(() =>
      this.watch.onProgress({ phase: this.phase, tokens: this.tokens, idle_ms: now - this.lastProgress }),
    );
  }

  /** Set once for a silence and not for each piece: a timer that finds progress sets itself anew. */
  private arm(): void {
    if (this.isStopped) return;
    const left = this.silentSince + this.allowance() - this.clock.ms();
    this.timer = setTimeout(() => void this.check(), Math.min(Math.max(left, 1), LONGEST_TIMER_MS));
  }

  private async check(): Promise<void> {
    this.timer = null;
    const now = this.clock.ms();
    const began = this.silentSince;
    const silent_ms = now - began;
    const allowed_ms = this.allowance();
    const phase = this.phase;
    if (silent_ms >= allowed_ms) {
      let verdict: "wait" | "abort";
      try {
        verdict = await this.watch.look(silent_ms, phase);
      } catch (error) {
        this.give({ kind: "defect", error });
        return;
      }
      // Progress that came while it looked speaks for itself.
      if (this.silentSince === began) {
        if (verdict === "abort") {
          this.give({ kind: "stalled", phase, silent_ms, allowed_ms });
          return;
        }
        // As much again, from when the look began: the look was silent time as well.
        this.silentSince = now;
      }
    }
    this.arm();
  }

  private allowance(): number {
    return this.watch.allowance_ms(this.phase) + this.extra_ms;
  }

  private guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.give({ kind: "defect", error });
    }
  }

  private give(verdict: Verdict): void {
    if (this.isStopped) return;
    this.stop();
    this.end(verdict);
  }
}
