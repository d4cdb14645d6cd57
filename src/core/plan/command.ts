/** Commands as plans write them: normalized, in segments. */

/** Without backticks, white space as single blanks, trimmed. */
export function normalizeCommand(text: string): string {
  return text.replaceAll("`", "").replace(/\s+/g, " ").trim();
}

/** The parts of a command between `&&`, `||`, `;` and `|`. Source: flow state, section 5.6. */
export function commandSegments(text: string): readonly string[] {
  return segments(text, /&&|\|\||;|\|/);
}

/** The parts of a header's value between `&&`, `||`, `;` and `,`. Source: flow state, section 5.3. */
export function headerSegments(text: string): readonly string[] {
  return segments(text, /&&|\|\||;|,/);
}

function segments(text: string, separator: RegExp): readonly string[] {
  return normalizeCommand(text)
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
