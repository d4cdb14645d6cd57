/** How large a contract is for a window, before any tokenizer was asked. */
import type { DelegationContract } from "../delegation/contract.ts";
import { canonicalJson } from "../json/value.ts";
import { utf8Length } from "../utf8.ts";

/** Bytes of UTF-8 that are counted as one token: more tokens than any usual text has. */
const BYTES_A_TOKEN = 3;

/** What the estimate is made of. */
export type Sized = Pick<DelegationContract, "goal" | "context" | "output_schema" | "acceptance">;

/** Tokens of goal, documents with their names, schema and acceptance lines together, rounded up. */
export function estimateTokens({ goal, context, output_schema, acceptance }: Sized): number {
  const texts = [goal, ...context.flatMap(({ name, text }) => [name, text]), ...acceptance];
  if (output_schema !== null) texts.push(canonicalJson(output_schema));
  return Math.ceil(texts.reduce((sum, text) => sum + utf8Length(text), 0) / BYTES_A_TOKEN);
}

/** Tokens that a loop needs beside the contract itself, in a window of this size. */
export function reserveTokens(ctxTokens: number): number {
  return Math.min(3072, Math.floor(ctxTokens / 2) + 512);
}
