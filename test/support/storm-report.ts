/** What every storm is told and what it answers, be it over the editor, a fleet or gates. */

export type StormSetting = {
  readonly seed: number;
  /** How long things are broken, in milliseconds. */
  readonly chaos_ms: number;
  /** More of everything: for `npm run soak`. */
  readonly isLong: boolean;
  readonly log: (line: string) => void;
};

export type StormReport = {
  /** What was done, what was killed, what was found after, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** What is wrong; empty is a clean audit. */
  readonly faults: readonly string[];
};

const MOST_FAULTS = 50;

/** Counts and faults while a storm and its audit go on. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  fault(text: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(text);
  }

  /** A fault unless it holds; whether it holds. */
  hold(holds: boolean, text: () => string): boolean {
    if (!holds) this.fault(text());
    return holds;
  }

  report(): StormReport {
    const sorted = [...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1));
    return { counts: Object.fromEntries(sorted), faults: [...this.#faults] };
  }
}
