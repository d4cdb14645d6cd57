/**
 * How one row is measured: work and baseline in turn (A B A B …), so that whatever else the machine does meets
 * both, and then medians and quartiles. Times are milliseconds of wall clock.
 */

export type Step = () => void | Promise<void>;

export type Spread = { readonly median: number; readonly low: number; readonly high: number };

export type Measured = {
  readonly repetitions: number;
  /** Of the medians: work over baseline. */
  readonly ratio: number;
  /** Quartiles of the ratios of neighbours. */
  readonly ratio_low: number;
  readonly ratio_high: number;
  readonly work_ms: Spread;
  readonly baseline_ms: Spread;
};

/** Measures both steps `repetitions` times after a few rounds that do not count. */
export async function measure(work: Step, baseline: Step, repetitions: number, warmups: number): Promise<Measured> {
  for (let round = 0; round < warmups; round++) {
    await timed(work);
    await timed(baseline);
  }
  const pairs: { readonly work: number; readonly baseline: number }[] = [];
  for (let round = 0; round < repetitions; round++) {
    pairs.push({ work: await timed(work), baseline: await timed(baseline) });
  }
  const work_ms = spreadOf(pairs.map((pair) => pair.work));
  const baseline_ms = spreadOf(pairs.map((pair) => pair.baseline));
  const ratios = spreadOf(pairs.map((pair) => pair.work / pair.baseline));
  return {
    repetitions,
    ratio: work_ms.median / baseline_ms.median,
    ratio_low: ratios.low,
    ratio_high: ratios.high,
    work_ms,
    baseline_ms,
  };
}

async function timed(step: Step): Promise<number> {
  const began = performance.now();
  await step();
  return performance.now() - began;
}

/**
 * Median and quartiles, read between neighbours where they fall between two values.
 *
 * Errors: throws on an empty list
 */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error("Nothing was measured");
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => {
    const place = part * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? 0;
    const above = sorted[Math.ceil(place)] ?? below;
    return below + (above - below) * (place - Math.floor(place));
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}
