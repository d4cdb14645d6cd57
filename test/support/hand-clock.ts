/** A clock that a test moves by hand. */
export type HandClock = {
  now(): number;
  after(ms: number, call: () => void): () => void;
  /** Moves the time, and calls back what is due on the way, in order. */
  move(ms: number): void;
  /** Callbacks that wait. */
  readonly waiting: number;
};

export function handClock(start = 0): HandClock {
  let time = start;
  const timers = new Set<{ readonly due: number; readonly call: () => void }>();
  return {
    now: () => time,
    after(ms, call) {
      const timer = { due: time + ms, call };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    move(ms) {
      const end = time + ms;
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= end).sort((left, right) => left.due - right.due);
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.due);
        next.call();
      }
      time = end;
    },
    get waiting() {
      return timers.size;
    },
  };
}
