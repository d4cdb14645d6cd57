/**
 * How many HTTP requests one process has open at once.
 *
 * The runtime lets 256 through and keeps the others waiting without a sign; this gate stands before it, lets fewer
 * through, first come first served, and a request that waits here can be called off.
 *
 * Source: delegation run, section 0
 */

export const MOST_OPEN_REQUESTS = 200;

export class RequestGate {
  private open = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly most: number = MOST_OPEN_REQUESTS) {}

  /**
   * Waits for a place.
   *
   * @returns what gives the place back (doing so again does no harm); null when the signal came first
   */
  async enter(signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null;
    if (this.open < this.most) {
      this.open += 1;
      return this.place();
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = () => {
      this.waiting.delete(next);
      resolve(false);
    };
    // The place of the one that leaves: the number of open requests stays.
    const next = () => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    };
    signal.addEventListener("abort", stop, { once: true });
    this.waiting.add(next);
    return (await promise) ? this.place() : null;
  }

  private place(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = this.waiting;
      if (next === undefined) this.open -= 1;
      else {
        this.waiting.delete(next);
        next();
      }
    };
  }
}

/** The gate of this process: every adapter that sends requests goes through it. */
export const processGate = new RequestGate();
