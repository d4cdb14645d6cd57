/** Whole tokens in a text: `prod` does not stand in `prod-eu`, `v1.2` not in `v1.2.3`. */

/**
 * What a token may go on with: a character of a word, `.`, `+`, a dash of any kind. Half of a surrogate pair is part of
 * some other character.
 */
const GOES_ON = /[\p{Alphabetic}\p{M}\p{N}\p{Pc}\p{Join_Control}\p{Dash}\p{Cs}.+]/u;

/**
 * Whether a token stands somewhere in a text with no character on either side that would go on with it.
 *
 * @param behind what follows the text, of which only the first character counts; null when that is not known, and then
 *               a token at the very end does not count
 * @returns      false for the empty token. Linear in the text and the token
 */
export function holdsToken(text: string, token: string, behind: string | null = ""): boolean {
  if (token === "" || token.length > text.length) return false;
  const borders = bordersOf(token);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== token.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === token.charCodeAt(matched)) matched += 1;
    if (matched < token.length) continue;
    const end = at + 1;
    const rest = end < text.length ? text.slice(end, end + 2) : behind;
    if (rest !== null && !goesOn(lastCharacter(text, end - token.length)) && !goesOn(firstCharacter(rest))) return true;
    matched = borders[matched - 1] ?? 0;
  }
  return false;
}

/** For each position of a token, how much of its start also ends there (Knuth, Morris, Pratt 1977). */
function bordersOf(token: string): Int32Array {
  const borders = new Int32Array(token.length);
  let matched = 0;
  for (let at = 1; at < token.length; at += 1) {
    const unit = token.charCodeAt(at);
    while (matched > 0 && unit !== token.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === token.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

function goesOn(character: string): boolean {
  return GOES_ON.test(character);
}

/** The character that ends before `end`; "" at the start. */
function lastCharacter(text: string, end: number): string {
  return [...text.slice(Math.max(0, end - 2), end)].at(-1) ?? "";
}

function firstCharacter(text: string): string {
  return [...text.slice(0, 2)][0] ?? "";
}
