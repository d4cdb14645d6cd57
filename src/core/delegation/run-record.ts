/**
 * The record of one call: its result document, and behind it, as one more member, what it was made from. So a record can
 * be graded again as it is.
 *
 * Every text in it is masked; the document that was printed is another one and stays as it was.
 *
 * Source: delegation run, sections 11, 16
 */
import { readSource, type SourceNode } from "../json/source.ts";
import { assignKey, isArray, isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { aroundLegs, legPieces } from "./render-result.ts";
import type { LegResult, ResultDocument } from "./result.ts";

/** Masks what looks like a secret in one text. */
export type Scrub = (text: string) => string;

/** Every text in it is masked already. */
export type RunFacts = {
  /** Legs of the call; a record that was left behind may have fewer results. */
  readonly legs: number;
  readonly ended: boolean;
  readonly pid: number;
  readonly label: string;
  readonly argv: readonly string[];
  /** Readings of the places that decisions were made from. */
  readonly placements: readonly JsonValue[];
  readonly events: readonly JsonValue[];
};

/** A result with every text in it masked, and the text of the contract that it answers; null: it is not kept. */
export type RecordedLeg = { readonly result: LegResult; readonly contract: string | null };

/** @param contract null: contracts are not kept */
export function recordLeg(result: LegResult, contract: JsonObject | null, scrub: Scrub): RecordedLeg {
  const members = Object.entries(result).map(([key, value]) => [
    key,
    key === "structured" ? scrubText(String(value), scrub) : scrubJson(value as JsonValue, scrub),
  ]);
  return {
    result: Object.fromEntries(members) as LegResult,
    contract: contract === null ? null : JSON.stringify(scrubJson(contract, scrub)),
  };
}

/**
 * The text of a record, in pieces: with many legs it may be large.
 *
 * @param legs of the results, in their order
 */
export function* recordPieces(
  document: Omit<ResultDocument, "results">,
  legs: readonly RecordedLeg[],
  facts: RunFacts,
): Generator<string> {
  const results = legs.map(({ result }) => legPieces(result));
  const contracts = legs.flatMap(({ contract }) => (contract === null ? [] : [contract]));
  yield* aroundLegs(document, results, factPieces(facts, contracts));
}

function* factPieces(facts: RunFacts, contracts: readonly string[]): Generator<string> {
  const text = JSON.stringify(facts);
  yield `,"record":${text.slice(0, -1)}`;
  for (const [index, contract] of contracts.entries()) yield `${index === 0 ? ',"contracts":[' : ","}${contract}`;
  yield contracts.length === 0 ? "}" : "]}";
}

/** The value with every text in it masked; keys stay. */
export function scrubJson(value: JsonValue, scrub: Scrub): JsonValue {
  if (typeof value === "string") return scrub(value);
  if (isArray(value)) return value.map((item) => scrubJson(item, scrub));
  if (!isObject(value)) return value;
  const masked: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) assignKey(masked, key, scrubJson(item, scrub));
  return masked;
}

/** The same for a JSON text of which everything else stays as it is written. */
export function scrubText(json: string, scrub: Scrub): string {
  const read = readSource(json, { surrogates: "keep" });
  if (!read.ok) return JSON.stringify(scrub(json));
  let text = "";
  let from = 0;
  for (const { start, end, value } of stringsOf(read.node)) {
    const masked = scrub(value);
    if (masked === value) continue;
    text += json.slice(from, start) + JSON.stringify(masked);
    from = end;
  }
  return text + json.slice(from);
}

/** The string values, in the order of the text. */
function stringsOf(node: SourceNode): readonly Extract<SourceNode, { kind: "string" }>[] {
  const found: Extract<SourceNode, { kind: "string" }>[] = [];
  const open: SourceNode[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === "string") found.push(next);
    else if (next.kind === "array") open.push(...next.items);
    else if (next.kind === "object") open.push(...next.members.map(({ value }) => value));
  }
  return found.sort((left, right) => left.start - right.start);
}
