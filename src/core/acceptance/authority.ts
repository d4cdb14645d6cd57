/** How strongly a contract was closed, and which of its checks no answer can close. */
import { isBlank } from "../delegation/blank.ts";
import type { Document } from "../delegation/document.ts";
import { isObject, type JsonObject, valueAt } from "../json/value.ts";
import { AUTHORITIES, type Authority, type Check, isTextCheck } from "./check.ts";
import type { Outcome } from "./evaluate.ts";

/** What of a contract decides whether a check can be closed; `context` holds all its documents. */
export type Reachable = { readonly context: readonly Document[]; readonly output_schema: JsonObject | null };

/**
 * The weakest authority among the checks of an answer that passed them all; `none` when there is no check, when one did
 * not pass, and when one is unqualified.
 */
export function closedAt(outcomes: readonly Outcome[]): Authority {
  if (outcomes.length === 0 || outcomes.some(({ outcome }) => outcome !== "pass")) return "none";
  const ranks = new Set(outcomes.map(({ authority }) => authority));
  return AUTHORITIES.find((authority) => ranks.has(authority)) ?? "none";
}

/**
 * True when the check can only ever be unknown: grounded without a document that says something, or about a field that
 * the schema does not declare. That is a defect of the contract: no other place can close the check either.
 */
export function isUnreachable(check: Check, contract: Reachable): boolean {
  if (!isTextCheck(check)) return false;
  switch (check.authority) {
    case "none":
    case "answer":
      return false;
    case "field":
      return !isDeclared(check.field, contract.output_schema);
    case "grounded":
      return contract.context.every(({ text }) => isBlank(text));
    default:
      return check satisfies never;
  }
}

function isDeclared(field: string, schema: JsonObject | null): boolean {
  const properties = schema === null ? undefined : valueAt(schema, "properties");
  return isObject(properties) && Object.hasOwn(properties, field);
}
