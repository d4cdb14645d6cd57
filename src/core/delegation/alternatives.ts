/** The alternatives of a pattern, for holding each of them against a contract's documents. */

/**
 * Splits a pattern that is one group of alternatives.
 *
 * A leading `(?flags)` is set aside and put before each again. What then is one group `(…)`, `(?:…)`, `(?P<name>…)` or
 * `(?<name>…)` without parentheses inside is split at `|`; a `|` in a class, behind `\` or in `\Q…\E` does not split.
 *
 * @param source a pattern that compiles
 * @returns      the alternatives in their order; the pattern itself where it is nothing of that form
 * Errors: none
 * Source: delegation contract, section 8.5
 */
export function alternativesOf(source: string): readonly string[] {
  const flags = /^\(\?[imsU-]*\)/.exec(source)?.[0] ?? "";
  const rest = source.slice(flags.length);
  const opening = /^\((?:\?:|\?P?<[A-Za-z0-9_]+>)?(?!\?)/.exec(rest)?.[0];
  if (opening === undefined || !rest.endsWith(")")) return [source];
  const parts = splitAtBars(rest.slice(opening.length, -1));
  return parts === null ? [source] : parts.map((part) => flags + part);
}

/** Null where a parenthesis stands in it, or its last character is escaped, so that the group is not closed there. */
function splitAtBars(text: string): readonly string[] | null {
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (text.startsWith("\\Q", at)) {
      const end = text.indexOf("\\E", at);
      if (end < 0) return null;
      at = end + 2;
    } else if (char === "\\") {
      if (at + 1 >= text.length) return null;
      at += 2;
    } else if (char === "[") {
      const end = classEnd(text, at);
      if (end < 0) return null;
      at = end;
    } else if (char === "(" || char === ")") return null;
    else {
      if (char === "|") {
        parts.push(text.slice(from, at));
        from = at + 1;
      }
      at += 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** Where the class that opens at `at` ends; -1 where it does not. */
function classEnd(text: string, at: number): number {
  let index = at + 1;
  if (text[index] === "^") index += 1;
  // A bracket that stands first is a member.
  if (text[index] === "]") index += 1;
  while (index < text.length && text[index] !== "]") {
    const named = text.startsWith("[:", index) ? text.indexOf(":]", index) : -1;
    if (named >= 0) index = named + 2;
    else index += text[index] === "\\" ? 2 : 1;
  }
  return index < text.length ? index + 1 : -1;
}
