/** Chance from a seed: the same seed gives the same draws, on every machine. */

/** @returns a function that gives numbers from 0 up to, and never, 1. Source: mulberry32 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class Draw {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }

  /** From 0 up to, and never, `below`; 0 where there is nothing below. */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(all: readonly T[]): T {
    const picked = all[this.int(all.length)];
    if (picked === undefined) throw new Error("there is nothing to pick from");
    return picked;
  }

  /** Small sizes are as likely as large ones: 1 up to `most`, by powers of two. */
  size(most: number): number {
    return 1 + this.int(Math.min(most, 2 ** this.int(Math.ceil(Math.log2(most)) + 1)));
  }
}
