/**
 * Holding an answer against a schema: the validator's judgement, on a copy of the schema that it can be trusted with.
 *
 * Numbers are compared as doubles; everything that is published keeps its spelling.
 */
import { dereference, format, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";
import { readSource, type SourceNode } from "../json/source.ts";
import { assignKey, type JsonObject, type JsonValue } from "../json/value.ts";
import { clipUtf8 } from "../utf8.ts";
import { coerceText } from "./coerce.ts";
import { isBearable } from "./effort.ts";
import { ANSWER_LIMITS, MAX_ERROR_BYTES, MAX_ERRORS } from "./limits.ts";
import { type Prepared, prepareSchema } from "./prepare.ts";

export type ValidText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly errors: readonly string[] };

const TOO_MUCH = "it would take too much work to hold the value against the schema";

const SHOWN_PATH = 80;

/** Copies that do not depend on a value. */
const prepared = new WeakMap<JsonObject, Prepared>();

/**
 * The answer as it may be published: as it is when it is valid, else with its texts coerced when it is valid then.
 *
 * @param schema `closeSchema` of a schema that `lintSchema` accepts
 * @returns      the text, or why it is not valid as it was given: `<JSON pointer>: <reason>`, without pointer where it is
 *               about the whole; 1 to 5, each of 160 bytes at most, cut with "…"
 * Errors: none, whatever the text
 */
export function validateText(text: string, schema: JsonObject): ValidText {
  const errors = judgeText(text, schema);
  if (errors.length === 0) return { ok: true, text };
  const coerced = coerceText(text, schema);
  return coerced !== text && judgeText(coerced, schema).length === 0
    ? { ok: true, text: coerced }
    : { ok: false, errors };
}

/**
 * Why an answer is not valid as it stands, in the form of `validateText`; none when it is. Nothing is coerced.
 *
 * Errors: none, whatever the text
 */
export function judgeText(text: string, schema: JsonObject): readonly string[] {
  const read = readSource(text, ANSWER_LIMITS);
  if (!read.ok) {
    const { line, column, message } = read.fault;
    return [clipUtf8(`line ${line}, column ${column}: ${message}`, MAX_ERROR_BYTES)];
  }
  if (read.node.kind !== "object") {
    const { kind } = read.node;
    return [`an object is wanted, found ${kind === "null" ? kind : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`}`];
  }
  const copy = preparedFor(schema, read.node);
  if (copy === null || !isBearable(copy.schema, read.node)) return [TOO_MUCH];
  return told(outcomeOf(copy, plainValue(read.node)), copy);
}

function preparedFor(schema: JsonObject, node: SourceNode): Prepared | null {
  const known = prepared.get(schema);
  if (known !== undefined) return known;
  const names = new Set<string>();
  gatherKeys(node, names);
  const copy = prepareSchema(schema, [...names]);
  if (copy !== null && !copy.isForNames) prepared.set(schema, copy);
  return copy;
}

/** The validator's errors; none when the value is valid. It looks formats up in a table of its own, for all schemas. */
function outcomeOf({ schema, formats }: Prepared, value: JsonValue): readonly OutputUnit[] {
  const table: { [name: string]: (text: string) => boolean } = format;
  for (const [name, pattern] of formats) table[name] = (text) => pattern.test(text);
  try {
    const copy = schema as Schema;
    return validate(value, copy, "2020-12", dereference(copy), false).errors;
  } finally {
    for (const name of formats.keys()) delete table[name];
  }
}

/** These only say that something inside of them is wrong, which is told behind them. */
const WRAPPERS = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentSchemas",
  "$ref",
  "allOf",
  "if",
]);
/** What is told behind these is about each item or name in turn. */
const SUMMARIES = new Set(["contains", "propertyNames"]);

function told(errors: readonly OutputUnit[], { formats }: Prepared): readonly string[] {
  const lines = new Set<string>();
  let summary: string | null = null;
  for (const { instanceLocation, keyword, keywordLocation, error } of errors) {
    if (lines.size >= MAX_ERRORS) break;
    if (summary !== null && keywordLocation.startsWith(summary)) continue;
    if (WRAPPERS.has(keyword)) continue;
    summary = SUMMARIES.has(keyword) ? keywordLocation : null;
    // The validator writes the pointer into a fragment of a URI.
    const path = endOfPath(decodeURIComponent(instanceLocation.slice(1)));
    const reason = reasonOf(keyword, error, formats);
    lines.add(clipUtf8(path === "" ? reason : `${path}: ${reason}`, MAX_ERROR_BYTES));
  }
  return [...lines];
}

function reasonOf(keyword: string, error: string, formats: Prepared["formats"]): string {
  if (keyword === "false") return "nothing is allowed here";
  if (keyword === "format") {
    const pattern = formats.get(/"([^"]*)"/.exec(error)?.[1] ?? "");
    if (pattern !== undefined) return `the text does not match the pattern ${JSON.stringify(pattern.source)}`;
  }
  return error.replace(/\.$/, "");
}

function gatherKeys(node: SourceNode, names: Set<string>): void {
  if (node.kind === "array") for (const item of node.items) gatherKeys(item, names);
  if (node.kind !== "object") return;
  for (const { key, value } of node.members) {
    names.add(key);
    gatherKeys(value, names);
  }
}

function plainValue(node: SourceNode): JsonValue {
  switch (node.kind) {
    case "null":
      return null;
    case "boolean":
    case "string":
      return node.value;
    case "number":
      return Number(node.text);
    case "array":
      return node.items.map(plainValue);
    case "object": {
      const object: Record<string, JsonValue> = {};
      for (const { key, value } of node.members) assignKey(object, key, plainValue(value));
      return object;
    }
  }
}

/** A pointer that would leave no room for the reason loses its beginning. */
function endOfPath(path: string): string {
  if (path.length <= SHOWN_PATH) return path;
  const end = path.slice(1 - SHOWN_PATH);
  const slash = end.indexOf("/");
  return `…${slash < 0 ? end.replace(/^[\udc00-\udfff]/, "") : end.slice(slash)}`;
}
