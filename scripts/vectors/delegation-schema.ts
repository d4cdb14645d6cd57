/** Runs the conformance vectors of the areas `delegation-schema` and `delegation-schema-order`. */

import type { JsonObject } from "../../src/core/json/value.ts";
import { closeSchema } from "../../src/core/schema/close.ts";
import { grammarOf } from "../../src/core/schema/grammar.ts";
import { lintSchema } from "../../src/core/schema/lint.ts";
import { fieldOrder } from "../../src/core/schema/shape.ts";
import { validateText } from "../../src/core/schema/validate.ts";
import { acceptsText, parseGrammar } from "./gbnf.ts";

type SchemaInput = {
  readonly schema: JsonObject;
  readonly acceptance_fields?: readonly string[];
  readonly text?: string;
};

/** What a case's `expect` spells; undefined for a case of another area. These cases have no operation. */
export function run(op: string, input: unknown): unknown | undefined {
  const { schema, acceptance_fields, text } = input as SchemaInput;
  if (op !== "" || schema === undefined) return undefined;
  if (text === undefined) return { order: fieldOrder(schema) };
  if (lintSchema(schema).length > 0) return { compiles: false };
  const grammar = acceptsText(parseGrammar(grammarOf(schema)), text) ? "accept" : "reject";
  const valid = validateText(text, closeSchema(schema, acceptance_fields ?? []));
  if (!valid.ok) return { compiles: true, grammar, result: "invalid" };
  return { compiles: true, grammar, result: "valid", converted: JSON.parse(valid.text) };
}
