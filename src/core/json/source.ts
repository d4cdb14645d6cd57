/**
 * A JSON text as a tree that still knows how it was written: numbers as spelled, members in their order, and for each
 * value where it stands. For documents whose spelling is evidence, or whose numbers are judged by their digits.
 *
 * The rules are those of `parseJson`, but for numbers, which are never rounded and so never refused.
 */
import { type JsonNode, mapJson } from "./edit.ts";
import { checkJson, type JsonFault, type Leniency } from "./parse.ts";
import { assignKey, type JsonValue } from "./value.ts";

/** A value in a text: `text.slice(start, end)` is how it is written. */
export type SourceNode =
  | { readonly kind: "null"; readonly start: number; readonly end: number }
  | { readonly kind: "boolean"; readonly start: number; readonly end: number; readonly value: boolean }
  /** `text` is the number as spelled: `0.50`, `1e3`, `9007199254740993`. */
  | { readonly kind: "number"; readonly start: number; readonly end: number; readonly text: string }
  /** `value` is the string as decoded, always well-formed. */
  | { readonly kind: "string"; readonly start: number; readonly end: number; readonly value: string }
  | { readonly kind: "array"; readonly start: number; readonly end: number; readonly items: readonly SourceNode[] }
  | SourceObject;

export type SourceObject = {
  readonly kind: "object";
  readonly start: number;
  readonly end: number;
  /** In the order of the text; no key twice. */
  readonly members: readonly SourceMember[];
};

/** `start` is where the key begins, at its quote. */
export type SourceMember = { readonly key: string; readonly start: number; readonly value: SourceNode };

export type ReadSource =
  | { readonly ok: true; readonly node: SourceNode }
  | { readonly ok: false; readonly fault: JsonFault };

/** `surrogates: "keep"` reads half a surrogate pair as U+FFFD, in values and keys; left out, it is a fault. */
export type SourceLimits = { readonly maxDepth?: number } & Pick<Leniency, "surrogates">;

/**
 * Reads one JSON text into a tree with its source text.
 *
 * @returns the tree, or the first fault in the order of the text; never a fault for a number
 * Units:   `maxDepth` in containers, 128 when left out
 * Errors:  none is thrown, whatever the text
 * Source:  RFC 8259; beyond it, names are unique
 */
export function readSource(text: string, limits: SourceLimits = {}): ReadSource {
  const fault = checkJson(text, { ...limits, numbers: "as_written" });
  return fault === null ? { ok: true, node: sourceOf(text, mapJson(text)) } : { ok: false, fault };
}

/** The value of a member, by its key to the letter; null where the object has none. */
export function memberOf(object: SourceObject, key: string): SourceNode | null {
  return object.members.find((member) => member.key === key)?.value ?? null;
}

/** The compact text of a value: no blanks, members in their order, numbers as spelled. */
export function compactSource(node: SourceNode): string {
  switch (node.kind) {
    case "null":
      return "null";
    case "boolean":
      return String(node.value);
    case "number":
      return node.text;
    case "string":
      return JSON.stringify(node.value);
    case "array":
      return `[${node.items.map(compactSource).join(",")}]`;
    case "object":
      return `{${node.members.map(({ key, value }) => `${JSON.stringify(key)}:${compactSource(value)}`).join(",")}}`;
    default:
      return node satisfies never;
  }
}

/** The value with its numbers as doubles: for whoever looks at no number, or only at those that a double holds. */
export function roundedValue(node: SourceNode): JsonValue {
  switch (node.kind) {
    case "null":
      return null;
    case "number":
      return Number(node.text);
    case "boolean":
    case "string":
      return node.value;
    case "array":
      return node.items.map(roundedValue);
    case "object": {
      const value: Record<string, JsonValue> = {};
      for (const member of node.members) assignKey(value, member.key, roundedValue(member.value));
      return value;
    }
    default:
      return node satisfies never;
  }
}

function sourceOf(text: string, node: JsonNode): SourceNode {
  const { start, end } = node;
  if (node.kind === "object") {
    const members = node.children.map((child) => ({
      key: child.key.toWellFormed(),
      start: child.start,
      value: sourceOf(text, child.value),
    }));
    return { kind: "object", start, end, members };
  }
  if (node.kind === "list") {
    return { kind: "array", start, end, items: node.children.map((child) => sourceOf(text, child.value)) };
  }
  const literal = text.slice(start, end);
  switch (literal[0]) {
    case '"':
      return { kind: "string", start, end, value: (JSON.parse(literal) as string).toWellFormed() };
    case "t":
    case "f":
      return { kind: "boolean", start, end, value: literal === "true" };
    case "n":
      return { kind: "null", start, end };
    default:
      return { kind: "number", start, end, text: literal };
  }
}
