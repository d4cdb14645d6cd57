/**
 * Texts in an answer that a schema would rather have as a number, a boolean or `null`. A grammar writes lists of numbers
 * as lists of texts; here they become numbers again, in the answer's own text and spelled as they were.
 */
import { readSource, type SourceNode } from "../json/source.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { propertyOf } from "./keyword.ts";
import { ANSWER_LIMITS } from "./limits.ts";

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

type Change = { readonly start: number; readonly end: number; readonly text: string };

/**
 * The answer with its texts converted where nothing is lost; everything else stays byte for byte. Nothing is trimmed,
 * and only texts change.
 *
 * @param text   any; what is no JSON object comes back as it is
 * @param schema the contract's, accepted by `lintSchema`
 * Errors: none
 */
export function coerceText(text: string, schema: JsonObject): string {
  const read = readSource(text, ANSWER_LIMITS);
  if (!read.ok || read.node.kind !== "object") return text;
  const changes: Change[] = [];
  collect(read.node, schema, changes);
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, text: changed } of changes) {
    pieces.push(text.slice(from, start), changed);
    from = end;
  }
  return pieces.join("") + text.slice(from);
}

/** Changes come in the order of the text. */
function collect(node: SourceNode, schema: JsonValue | undefined, changes: Change[]): void {
  if (!isObject(schema)) return;
  switch (node.kind) {
    case "string":
      if (isSpelledOtherwise(node.value, schema)) changes.push({ start: node.start, end: node.end, text: node.value });
      return;
    case "array": {
      if (valueAt(schema, "type") !== "array") return;
      const prefix = valueAt(schema, "prefixItems");
      const items = valueAt(schema, "items");
      for (const item of node.items.slice(isArray(prefix) ? prefix.length : 0)) collect(item, items, changes);
      return;
    }
    case "object":
      for (const { key, value } of node.members) collect(value, propertyOf(schema, key) ?? undefined, changes);
      return;
    default:
      return;
  }
}

/** True when the text is what the schema wants, in quotes. */
function isSpelledOtherwise(text: string, schema: JsonObject): boolean {
  const members = valueAt(schema, "enum");
  if (isArray(members) && !members.includes(text)) {
    if (NUMBER.test(text)) return members.includes(Number(text));
    return members.some((member) => (member === null || typeof member === "boolean") && String(member) === text);
  }
  switch (valueAt(schema, "type")) {
    case "number":
      return NUMBER.test(text);
    case "integer":
      return INTEGER.test(text);
    case "boolean":
      return text === "true" || text === "false";
    default:
      return false;
  }
}
