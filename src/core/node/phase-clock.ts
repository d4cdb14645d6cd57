/** How long a job has waited, by the phases that it goes through: what its deadline is moved by. */
import type { JobPhase } from "../delegation/wire-result.ts";

/** What each wait counts as; the other phases are work. */
const WAITS: Partial<Record<JobPhase, "admission" | "contention">> = {
  admission: "admission",
  contention: "contention",
  seat_down: "admission",
};

export class PhaseClock {
  readonly #ms = { admission: 0, contention: 0 };
  #phase: JobPhase | null = null;
  #since_ms = 0;

  enter(phase: JobPhase, now_ms: number): void {
    this.#count(now_ms);
    this.#phase = phase;
  }

  /** In seconds. */
  read(now_ms: number): { readonly admission_sec: number; readonly contention_sec: number } {
    this.#count(now_ms);
    return { admission_sec: this.#ms.admission / 1000, contention_sec: this.#ms.contention / 1000 };
  }

  #count(now_ms: number): void {
    const wait = this.#phase === null ? undefined : WAITS[this.#phase];
    if (wait !== undefined) this.#ms[wait] += Math.max(0, now_ms - this.#since_ms);
    this.#since_ms = now_ms;
  }
}
