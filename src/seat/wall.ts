/**
 * The wall of a job: how long it may work. Its clock stands still while the job waits for somebody else.
 *
 * Source: delegation run, sections 5.6 and 8
 */

type Time = {
  readonly clock: { ms(): number };
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

export class Wall {
  private started: number | null = null;
  private credited = 0;
  private stops = 0;
  private stoppedAt = 0;

  constructor(
    private readonly time: Time,
    private readonly limit_ms: number,
  ) {}

  start(): void {
    this.started ??= this.time.clock.ms();
  }

  /** Work so far, in milliseconds; 0 before the start. */
  elapsed_ms(): number {
    if (this.started === null) return 0;
    const now = this.stops > 0 ? this.stoppedAt : this.time.clock.ms();
    return Math.max(0, now - this.started - this.credited);
  }

  remaining_ms(): number {
    return Math.max(0, this.limit_ms - this.elapsed_ms());
  }

  isOver(): boolean {
    return this.remaining_ms() <= 0;
  }

  /** So much of the time that has passed was a wait. */
  credit(ms: number): void {
    if (this.started !== null) this.credited += ms;
  }

  /** Waits while the clock stands still. */
  async stopped<T>(wait: () => Promise<T>): Promise<T> {
    const now = this.time.clock.ms();
    if (this.stops === 0) this.stoppedAt = now;
    this.stops += 1;
    try {
      return await wait();
    } finally {
      this.stops -= 1;
      if (this.stops === 0) this.credit(this.time.clock.ms() - this.stoppedAt);
    }
  }
}

/** A signal that is the caller's and ends by itself as well; to be released when what it was made for is over. */
export type Bound = { readonly signal: AbortSignal; release(): void };

/** @param remaining_ms asked again when it was said to be over: a clock that stood still has more left */
export function boundBy(time: Time, caller: AbortSignal, remaining_ms: () => number): Bound {
  const ending = new AbortController();
  const released = new AbortController();
  const end = () => ending.abort();
  const release = () => {
    caller.removeEventListener("abort", end);
    released.abort();
  };
  caller.addEventListener("abort", end, { once: true });
  if (caller.aborted) end();
  void (async () => {
    while (!released.signal.aborted && !ending.signal.aborted) {
      const left = remaining_ms();
      if (left <= 0) end();
      else await time.sleep(left, released.signal);
    }
  })();
  return { signal: ending.signal, release };
}
