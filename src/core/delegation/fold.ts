/** Names of fields: they match without regard to case. */

/**
 * A key as it is compared with the names of fields, which are ASCII: two keys name one field when these are equal.
 *
 * Of all characters beyond ASCII, two fold to an ASCII letter: U+017F to `s` and U+212A to `k`.
 *
 * Errors: none
 * Source: Unicode 17, CaseFolding.txt, simple folding (C and S)
 */
export function foldName(key: string): string {
  return key.replace(/[A-Z\u017f\u212a]/g, (letter) => {
    if (letter === "\u017f") return "s";
    return letter === "\u212a" ? "k" : letter.toLowerCase();
  });
}
