/**
 * Finds many fixed texts in one pass (Aho and Corasick, "Efficient string matching", 1975): the time grows
 * with the text, not with the number of needles, whatever either of them holds.
 */

/** From a code unit to behind the last one. */
export type Span = readonly [start: number, end: number];

/**
 * @param needles texts to look for, of at least two code units
 * @returns       for a text, where needles stand in it: spans in order, those that overlap joined into one
 */
export function findNeedles(needles: Iterable<string>): (text: string) => readonly Span[] {
  const steps = new Map<number, number>();
  const keyOf = (state: number, unit: number) => state * 0x10000 + unit;
  // One entry a state; state 0 is "no needle has begun".
  const longest = [0];
  const fallback = [0];
  const parent = [0];
  const entered = [0];
  const byDepth: number[][] = [];
  // Whether a needle may begin with two code units, by a hash of them: most of a text is passed over by this.
  const begins = new Uint8Array(0x10000);

  for (const needle of needles) {
    let state = 0;
    for (let index = 0; index < needle.length; index += 1) {
      const unit = needle.charCodeAt(index);
      let next = steps.get(keyOf(state, unit));
      if (next === undefined) {
        next = longest.push(0) - 1;
        fallback.push(0);
        parent.push(state);
        entered.push(unit);
        steps.set(keyOf(state, unit), next);
        const level = byDepth[index];
        if (level === undefined) byDepth[index] = [next];
        else level.push(next);
      }
      state = next;
    }
    if (state === 0) continue;
    longest[state] = needle.length;
    begins[pairAt(needle, 0)] = 1;
  }

  const follow = (from: number, unit: number): number => {
    let state = from;
    for (;;) {
      const next = steps.get(keyOf(state, unit));
      if (next !== undefined) return next;
      if (state === 0) return 0;
      state = fallback[state] ?? 0;
    }
  };

  // Level by level: the fallback of a state lies on a higher level and is known by then.
  for (const state of byDepth.slice(1).flat()) {
    const shorter = follow(fallback[parent[state] ?? 0] ?? 0, entered[state] ?? 0);
    fallback[state] = shorter;
    longest[state] = Math.max(longest[state] ?? 0, longest[shorter] ?? 0);
  }

  return (text) => {
    const spans: Span[] = [];
    let state = 0;
    for (let index = 0; index < text.length; index += 1) {
      if (state === 0 && begins[pairAt(text, index)] === 0) continue;
      state = follow(state, text.charCodeAt(index));
      const length = longest[state] ?? 0;
      if (length > 0) cover(spans, index + 1 - length, index + 1);
    }
    return spans;
  };
}

function pairAt(text: string, index: number): number {
  return (text.charCodeAt(index) * 31 + text.charCodeAt(index + 1)) & 0xffff;
}

/** Adds a span that ends behind all others, and joins those it overlaps. */
function cover(spans: Span[], from: number, end: number): void {
  let start = from;
  for (let last = spans.at(-1); last !== undefined && last[1] > start; last = spans.at(-1)) {
    start = Math.min(start, last[0]);
    spans.pop();
  }
  spans.push([start, end]);
}
