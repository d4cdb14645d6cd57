/**
 * How much work the validator would have with a value. It compares without memory: a schema that leads to one place in
 * two ways has that place judged twice, and so on at each level, so that a short schema and a short value can keep it
 * busy for ever. It also recurses as deep as schema and value lead. Both are counted beforehand.
 */
import type { SourceNode } from "../json/source.ts";
import type { Judged } from "./prepare.ts";

/** In units of about a microsecond. */
const MAX_EFFORT = 1_000_000;
/** Calls of the validator inside of each other; its stack holds some thousands. */
const MAX_CALLS = 1_000;

/** Bytes that are compared or copied in one unit. */
const BYTES = 64;

type Schema = Exclude<Judged, boolean>;

/**
 * True when a value can be held against a schema in about a second.
 *
 * @param schema as `prepareSchema` gives it
 * Errors: none; the time is bounded, whatever the two are
 */
export function isBearable(schema: Schema, node: SourceNode): boolean {
  const counter = new Counter((schema.$defs ?? {}) as { readonly [name: string]: Judged });
  counter.visit(schema, node, 1);
  return !counter.isSpent;
}

class Counter {
  isSpent = false;
  private effort = 0;
  private readonly weights = new Map<Schema, number>();

  constructor(private readonly $defs: { readonly [name: string]: Judged }) {}

  visit(schema: unknown, node: SourceNode, calls: number): void {
    this.effort += 1;
    if (this.effort > MAX_EFFORT || calls > MAX_CALLS) this.isSpent = true;
    if (this.isSpent || typeof schema !== "object" || schema === null) return;
    const held = schema as Schema;
    this.effort += this.weightOf(held);
    const reference = held.$ref;
    if (typeof reference === "string") this.visit(this.$defs[reference.slice("#/$defs/".length)], node, calls + 1);
    for (const name of ["not", "if", "then", "else"]) this.visit(held[name], node, calls + 1);
    for (const name of ["anyOf", "allOf", "oneOf"])
      for (const each of listOf(held[name])) this.visit(each, node, calls + 1);
    if (node.kind === "object") this.object(held, node, calls + 1);
    else if (node.kind === "array") this.array(held, node, calls + 1);
    else if (node.kind === "string") this.effort += (node.end - node.start) / BYTES;
  }

  private object(schema: Schema, node: Extract<SourceNode, { kind: "object" }>, calls: number): void {
    const properties = mapOf(schema.properties);
    const dependents = mapOf(schema.dependentSchemas);
    for (const { key, start, value } of node.members) {
      if (Object.hasOwn(dependents, key)) this.visit(dependents[key], node, calls);
      this.visit(schema.propertyNames, { kind: "string", start, end: value.start, value: key }, calls);
      if (Object.hasOwn(properties, key)) this.visit(properties[key], value, calls);
      else if (schema.additionalProperties !== undefined) this.visit(schema.additionalProperties, value, calls);
      else this.visit(schema.unevaluatedProperties, value, calls);
      if (this.isSpent) return;
    }
  }

  private array(schema: Schema, node: Extract<SourceNode, { kind: "array" }>, calls: number): void {
    const prefix = listOf(schema.prefixItems);
    // Every item is compared with every other.
    if (schema.uniqueItems === true) this.effort += (node.items.length * (node.end - node.start)) / 100;
    for (const [index, item] of node.items.entries()) {
      if (index < prefix.length) this.visit(prefix[index], item, calls);
      else if (schema.items !== undefined) this.visit(schema.items, item, calls);
      else this.visit(schema.unevaluatedItems, item, calls);
      this.visit(schema.contains, item, calls);
      if (this.isSpent) return;
    }
  }

  /** What a schema costs each time: names are looked up, and a value that is none of an `enum` is told all of it. */
  private weightOf(schema: Schema): number {
    let weight = this.weights.get(schema);
    if (weight === undefined) {
      const names = Object.keys(mapOf(schema.properties)).length + listOf(schema.required).length;
      const told = [schema.enum, schema.const, schema.dependentRequired];
      weight = names / 10 + told.reduce<number>((sum, each) => sum + sizeOf(each), 0) / BYTES;
      this.weights.set(schema, weight);
    }
    return weight;
  }
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function mapOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}
