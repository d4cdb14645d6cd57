/**
 * What checks read of an answer: its text, the values of its structured result, and the documents of the contract.
 *
 * Each part is made when it is first asked for, and once for all checks of an answer.
 */
import { isBlank } from "../delegation/blank.ts";
import type { Document } from "../delegation/document.ts";
import { readSource, type SourceNode, type SourceObject } from "../json/source.ts";
import { cut } from "./quoting.ts";

export type Answer = {
  /** The final text; "" when there is none. */
  readonly output: string;
  /** The JSON text of the structured result exactly as it arrived; null when there is none. */
  readonly structured: string | null;
  /** The paths of the write set, with `/`, relative to the read root; empty when nothing was written. */
  readonly diff_files: readonly string[];
  /** The contract's documents. */
  readonly documents: readonly Document[];
};

/** The top-level members of a structured result that is an object, by name. */
export type Members = ReadonlyMap<string, SourceNode>;

/** A structured result that is an object, or why there is none to read fields of. */
export type Structured =
  | { readonly ok: true; readonly members: Members }
  | { readonly ok: false; readonly why: string };

/** Why a value says nothing, in words that follow its name. */
export type Emptiness = "is absent" | "is null" | "is an empty string" | "is an empty list" | "is an empty object";

export class Evidence {
  private parsed: Parsed | undefined;
  private structuredResult: Structured | undefined;
  private allValues: readonly string[] | undefined;
  private filledDocuments: readonly string[] | undefined;

  constructor(readonly answer: Answer) {}

  /** What unqualified text checks read: the output, or the structured text whole where the output is exactly empty. */
  get text(): { readonly text: string; readonly name: string } {
    const { output, structured } = this.answer;
    if (output !== "") return { text: output, name: "the output" };
    if (structured !== null && structured !== "") return { text: structured, name: "the structured text" };
    return { text: "", name: "the output, which is empty" };
  }

  /** The output, for qualified checks; null when it is blank. */
  get output(): string | null {
    return isBlank(this.answer.output) ? null : this.answer.output;
  }

  get structured(): Structured {
    this.structuredResult ??= structuredOf(this.parse());
    return this.structuredResult;
  }

  /** Every value of the structured result, whatever its type; none when it is no JSON. */
  get values(): readonly string[] {
    this.allValues ??= valuesOf(this.parse().node);
    return this.allValues;
  }

  /** The texts of the documents that are not blank. */
  get documents(): readonly string[] {
    this.filledDocuments ??= this.answer.documents.map(({ text }) => text).filter((text) => !isBlank(text));
    return this.filledDocuments;
  }

  private parse(): Parsed {
    this.parsed ??= parse(this.answer.structured);
    return this.parsed;
  }
}

/** `why` says why there is no node. */
type Parsed = { readonly node: SourceNode | null; readonly why: string };

function structuredOf({ node, why }: Parsed): Structured {
  if (node === null) return { ok: false, why };
  // A null reads as an object without members.
  if (node.kind === "null") return { ok: true, members: new Map() };
  if (node.kind !== "object") return { ok: false, why: `the structured result is ${kindOf(node)}, not an object` };
  return { ok: true, members: new Map(node.members.map(({ key, value }) => [key, value])) };
}

function parse(structured: string | null): Parsed {
  if (structured === null || structured === "") return { node: null, why: "there is no structured result" };
  const read = readSource(structured, { surrogates: "keep" });
  if (read.ok) return { node: read.node, why: "" };
  return { node: null, why: `the structured result is not JSON (${cut(read.fault.message)})` };
}

/**
 * The strings, numbers and booleans in a value at any depth, in the order of the text: strings as decoded, numbers as
 * spelled. Never keys, never null, no blank string.
 */
export function valuesOf(node: SourceNode | null): readonly string[] {
  const values: string[] = [];
  // A stack of its own: the reader bounds the depth, but nothing here depends on it.
  const open: SourceNode[] = node === null ? [] : [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    switch (next.kind) {
      case "null":
        break;
      case "boolean":
        values.push(String(next.value));
        break;
      case "number":
        values.push(next.text);
        break;
      case "string":
        if (!isBlank(next.value)) values.push(next.value);
        break;
      case "array":
        for (let index = next.items.length - 1; index >= 0; index--) open.push(next.items[index] as SourceNode);
        break;
      case "object":
        for (let index = next.members.length - 1; index >= 0; index--) {
          open.push((next.members[index] as SourceObject["members"][number]).value);
        }
        break;
      default:
        next satisfies never;
    }
  }
  return values;
}

/** Why a top-level member says nothing; null when it says something, as `0`, `false` and a blank string do. */
export function emptinessOf(members: Members, field: string): Emptiness | null {
  const node = members.get(field);
  if (node === undefined) return "is absent";
  switch (node.kind) {
    case "null":
      return "is null";
    case "string":
      return node.value === "" ? "is an empty string" : null;
    case "array":
      return node.items.length === 0 ? "is an empty list" : null;
    case "object":
      return node.members.length === 0 ? "is an empty object" : null;
    case "number":
    case "boolean":
      return null;
    default:
      return node satisfies never;
  }
}

/** The type of a value as reasons name it, with its article. */
export function kindOf(node: SourceNode): string {
  switch (node.kind) {
    case "null":
      return "null";
    case "array":
      return "a list";
    case "object":
      return "an object";
    default:
      return `a ${node.kind}`;
  }
}
