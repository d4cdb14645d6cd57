/** Looking for one text in many, in time linear in them whatever they hold. */

/** The engine compares a short text at every place; that is bounded by its length. */
const SHORT = 256;

/**
 * Where a text occurs first in others; -1 where it does not.
 *
 * @param needle not empty
 * Source: Knuth, Morris, Pratt, "Fast pattern matching in strings", SIAM Journal on Computing 6 (1977)
 */
export function finderOf(needle: string): (text: string, from?: number) => number {
  if (needle.length <= SHORT) return (text, from = 0) => text.indexOf(needle, from);
  const borders = bordersOf(needle);
  return (text, from = 0) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
      if (needle.charCodeAt(matched) === unit) matched += 1;
      if (matched === needle.length) return at + 1 - needle.length;
    }
    return -1;
  };
}

/** For each beginning of the text: how long its longest proper beginning is that is also its end. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    const unit = needle.charCodeAt(at);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
