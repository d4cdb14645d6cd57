/**
 * What somebody may have meant who typed a name that does not exist.
 */

/** Longer names are not compared: the time of a comparison is the product of the lengths. */
const LONGEST = 64;

/**
 * The candidate nearest to a word, when one is near enough to be a slip of the finger.
 *
 * Near: at most one edit in three characters (insert, drop, replace, swap two neighbours), case aside, at most
 * three in all; or the candidate begins with the word, which has three characters at least.
 *
 * @returns the nearest one, the first of several equally near; null when none is near
 * Errors: none
 * Source: optimal string alignment distance (Damerau 1964, restricted)
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length === 0 || word.length > LONGEST) return null;
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1;
  let begun: string | null = null;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST) continue;
    const name = candidate.toLowerCase();
    if (begun === null && wanted.length >= 3 && name.startsWith(wanted)) begun = candidate;
    if (Math.abs(name.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, name);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? begun;
}

/**
 * The candidate that has all the words of the wanted name in it, or whose words the wanted name has, where words are
 * what stands between `-` and `_`: `--json-file` for `--file`, `--agent` for `--agent-name`.
 *
 * @returns the one with the fewest words more or less, the first of equals; null when there is none
 * Errors: none
 */
export function nearestBySegments(word: string, candidates: Iterable<string>): string | null {
  if (word.length > LONGEST) return null;
  const wanted = segmentsOf(word);
  let best: string | null = null;
  let bestDifference = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST) continue;
    const own = segmentsOf(candidate);
    const [few, many] = own.size < wanted.size ? [own, wanted] : [wanted, own];
    const difference = many.size - few.size;
    if (few.size === 0 || difference >= bestDifference || ![...few].every((segment) => many.has(segment))) continue;
    best = candidate;
    bestDifference = difference;
  }
  return best;
}

function segmentsOf(name: string): ReadonlySet<string> {
  return new Set(
    name
      .toLowerCase()
      .split(/[-_]/)
      .filter((segment) => segment.length > 1),
  );
}

function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = cost;
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
