/** Decisions that a seed repeats. When they are carried out is up to the machine. */
export type Random = {
  /** From 0 to 1. */
  next(): number;
  /** True so often, of 1. */
  chance(share: number): boolean;
  /** A whole number, both ends in it. */
  between(least: number, most: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** One for somebody else, whose draws change none of these. */
  fork(name: string): Random;
};

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    fork: (name) => seeded(Bun.hash.crc32(`${seed}/${name}`)),
  };
}
