/** The VALUE argument of `set` and `add`. */
import { type ParsedJson, surveyJson } from "../json/parse.ts";

/**
 * Reads VALUE: JSON when it parses, else the text as it was typed.
 *
 * A lone number that cannot be held exactly stays its text, so that nothing is rounded. What is JSON by its grammar and
 * is refused for a key given twice, a lone surrogate, a number inside of it or its depth was meant as JSON, and is a
 * fault rather than a text.
 *
 * @returns the value, or the fault with its position
 * Errors:  none is thrown
 */
export function parseValue(text: string): ParsedJson {
  const { value, grammar, content } = surveyJson(text);
  if (grammar === null && content === null) return { ok: true, value };
  if (grammar === null && content !== null) {
    const isLone = content.code === "inexact_number" && typeof value === "number";
    if (!isLone) return { ok: false, fault: content };
  }
  if (grammar !== null && !text.isWellFormed()) {
    return {
      ok: false,
      fault: { ...grammar, message: "the text holds a lone surrogate, which no UTF-8 file can hold" },
    };
  }
  return { ok: true, value: text };
}
