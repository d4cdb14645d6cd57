/**
 * A clock that stands still until everybody waits for it, and then goes to the next moment that somebody waits for. What a
 * workflow does under it takes no time, and the same each time.
 */
import type { DelegateClock } from "../../src/delegate/world.ts";

export type ManualClock = DelegateClock & {
  /** Runs until the promise settles. Throws when nobody waits for anything any more and it has not settled. */
  drive<T>(running: Promise<T>): Promise<T>;
};

type Timer = { readonly at: number; readonly order: number; readonly ring: () => void };

/** Rounds of the event loop in which nothing may happen before time goes on: promises settle within one. */
const QUIET_ROUNDS = 3;
/** A test that needs more moments than this goes in circles. */
const MOST_MOMENTS = 100_000;

export function manualClock(startedAt = Date.UTC(2026, 0, 5, 10)): ManualClock {
  let now = 0;
  let order = 0;
  let timers: Timer[] = [];
  const clock: ManualClock = {
    ms: () => now,
    now: () => `${new Date(startedAt + now).toISOString().slice(0, 19)}Z`,
    sleep(ms, signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const timer: Timer = {
          at: now + Math.max(0, ms),
          order: order++,
          ring: () => {
            signal.removeEventListener("abort", timer.ring);
            timers = timers.filter((other) => other !== timer);
            resolve();
          },
        };
        timers.push(timer);
        signal.addEventListener("abort", timer.ring, { once: true });
      });
    },
    async drive(running) {
      let isSettled = false;
      const settled = running.finally(() => {
        isSettled = true;
      });
      settled.catch(() => {}); // told by the await below
      for (let moments = 0; !isSettled; moments += 1) {
        for (let round = 0; round < QUIET_ROUNDS; round += 1) await new Promise((resolve) => setImmediate(resolve));
        if (isSettled) break;
        const [next] = timers.toSorted((left, right) => left.at - right.at || left.order - right.order);
        if (next === undefined) throw new Error("nobody waits for a moment, and it has not ended");
        if (moments > MOST_MOMENTS) throw new Error(`it has not ended after ${MOST_MOMENTS} moments, at ${now} ms`);
        now = next.at;
        next.ring();
      }
      return await settled;
    },
  };
  return clock;
}
