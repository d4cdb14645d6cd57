/**
 * A command that names the folder it ran in (`cd /work/app && make test`) would leave the copy for the original. The
 * same words with the copy's path in its place run in the copy.
 */

/** Before or behind a path, these make it a part of another one. */
const NAME_BEFORE = /[A-Za-z0-9_.~/}\\-]|[^\0-\x7f]/;
const NAME_BEHIND = /[A-Za-z0-9_.~-]|[^\0-\x7f]/;

/** Where a folder is now: absolute paths without a final slash. */
export type Move = { readonly from: string; readonly to: string };

/**
 * Puts the new place of a folder where its old one is mentioned as a whole; the longest that fits counts, and of equals
 * the first. A root is left alone: every path begins with it.
 *
 * Errors: none
 */
export function relocate(text: string, moves: readonly Move[]): string {
  const longestFirst = moves
    .filter(({ from }) => from.length > 1 && from.startsWith("/"))
    .sort((left, right) => right.from.length - left.from.length);
  let moved = "";
  let done = 0;
  for (let at = text.indexOf("/"); at >= 0; at = text.indexOf("/", at)) {
    const move = longestFirst.find(({ from }) => text.startsWith(from, at) && isWhole(text, at, at + from.length));
    if (move === undefined) {
      at += 1;
      continue;
    }
    moved += text.slice(done, at) + move.to;
    at += move.from.length;
    done = at;
  }
  return moved + text.slice(done);
}

function isWhole(text: string, at: number, end: number): boolean {
  return (
    !(at > 0 && NAME_BEFORE.test(text.charAt(at - 1))) && !(end < text.length && NAME_BEHIND.test(text.charAt(end)))
  );
}
