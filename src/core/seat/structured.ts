/**
 * From an answer in words to the fields of a schema: what is asked, and what of an answer is taken.
 *
 * Nothing is believed for having been constrained: every answer is held against the contract's own schema.
 * Source: delegation run, section 5.11
 */
import type { JsonObject } from "../json/value.ts";
import { fieldOrder } from "../schema/shape.ts";
import { validateText } from "../schema/validate.ts";
import { utf8Length } from "../utf8.ts";
import { lastWholeElement } from "./balanced.ts";
import type { ChatMessage, StructuredMode } from "./endpoint.ts";
import { withoutFence } from "./final-text.ts";
import { fieldLines } from "./prompt.ts";
import { cutMiddle } from "./window.ts";

export const STRUCTURED_SYSTEM =
  "extract exactly these fields from the text; use empty values for what the text does not give; invent nothing";

/** What is said of an attempt that its token budget cut: where the JSON breaks off tells a model nothing. */
export const STRUCTURED_CUT = "it was too long and was cut off; write fewer and shorter entries, and fill every field";

/**
 * The structured form of an answer that is one already: the text in its code fence, or between its first brace and its
 * last.
 *
 * @param closed `closeSchema` of the contract's schema
 * @returns      the text to publish; null where it does not validate
 */
export function losslessText(answer: string, closed: JsonObject): string | null {
  for (const candidate of new Set([withoutFence(answer), betweenBraces(answer)])) {
    if (!candidate.startsWith("{")) continue;
    const valid = validateText(candidate, closed);
    if (valid.ok) return valid.text;
  }
  return null;
}

/** The text between the first `{` and the last `}`, with both; the whole text where there are none. */
function betweenBraces(text: string): string {
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  return start < 0 || end < start ? text.trim() : text.slice(start, end + 1);
}

/** Tokens for the fields of an answer. Units: tokens; `final_tokens` where that is less than 512. */
export function structuredTokens(answer: string, final_tokens: number): number {
  return Math.min(final_tokens, Math.max(512, 2 * Math.ceil(utf8Length(answer) / 3) + 512));
}

export type StructuredAsk = {
  readonly schema: JsonObject;
  /** Compact text of the schema that is sent. */
  readonly schemaText: string;
  readonly mode: StructuredMode;
  readonly answer: string;
  /** Characters of the answer that fit; what is above is cut from its middle. */
  readonly room: number;
  /** What was wrong with the attempt before; none at first. */
  readonly errors: readonly string[];
};

/** The messages of one attempt. The schema is written out where the server does not hold the answer to it. */
export function structuredMessages(ask: StructuredAsk): readonly ChatMessage[] {
  const { schema, schemaText, mode, answer, room, errors } = ask;
  const isFree = mode === "json_object" || mode === "prompt";
  const parts = [
    ["Fields:", ...fieldLines(schema).map((line) => `- ${line}`)].join("\n"),
    ...(isFree ? [`Answer with one JSON object by this JSON Schema, and nothing else:\n${schemaText}`] : []),
    `Text:\n${cutMiddle(answer, room)}`,
    ...(errors.length > 0
      ? [["The last attempt was not valid:", ...errors.map((error) => `- ${error}`)].join("\n")]
      : []),
  ];
  return [
    { role: "system", content: STRUCTURED_SYSTEM },
    { role: "user", content: parts.join("\n\n") },
  ];
}

export type StructuredAttempt =
  | { readonly kind: "valid"; readonly text: string }
  /** No JSON at all, or none of the schema's names: the server did not heed the mode. */
  | { readonly kind: "ignored"; readonly errors: readonly string[] }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

/**
 * Judges the text of one attempt.
 *
 * @param closed `closeSchema` of the contract's schema
 * Errors: none, whatever the text
 */
export function judgeStructured(text: string, schema: JsonObject, closed: JsonObject): StructuredAttempt {
  const isHeeded = text.includes("{") && fieldOrder(schema).some((name) => text.includes(JSON.stringify(name)));
  let errors: readonly string[] = [];
  for (const candidate of new Set([withoutFence(text), betweenBraces(text)])) {
    const valid = validateText(candidate, closed);
    if (valid.ok && isHeeded) return { kind: "valid", text: valid.text };
    errors = valid.ok ? ["none of the fields is there"] : valid.errors;
  }
  return { kind: isHeeded ? "invalid" : "ignored", errors };
}

/**
 * What can be kept of an attempt that the token budget cut inside of a list: the elements that are whole, and no part of
 * the next.
 *
 * @returns the text to publish; null where that does not validate
 */
export function wholeElements(text: string, closed: JsonObject): string | null {
  const start = text.indexOf("{");
  const opening = start < 0 ? null : lastWholeElement(text.slice(start));
  if (opening === null) return null;
  const valid = validateText(`${text.slice(start, start + opening.at)}${opening.closers}`, closed);
  return valid.ok ? valid.text : null;
}
