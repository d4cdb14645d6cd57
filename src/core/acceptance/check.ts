/**
 * One acceptance line as it was understood, and back to text. Reading lines is in `parse.ts`, judging in `evaluate.ts`.
 */
import type { Pattern } from "../pattern/re2.ts";

export type Verb = Check["verb"];

/**
 * How far the evidence behind a text check can be trusted, from the weakest on: no claim about it; what the model wrote;
 * a value in the structured result; text that the contract's documents carry too.
 */
export const AUTHORITIES = ["none", "answer", "field", "grounded"] as const;
export type Authority = (typeof AUTHORITIES)[number];

type InAnswer = { readonly authority: "none" | "answer" };
type InField = { readonly authority: "field"; readonly field: string };
type Grounded = { readonly authority: "grounded" };

/** What a text check reads. `field` is the name of a top-level member, to the letter. */
export type Reach = InAnswer | InField | Grounded;

type Line = { /** As written. */ readonly line: string };
type Contains<R extends Reach> = Line & R & { readonly verb: "contains"; readonly arg: string };
type NotContains<R extends Reach> = Line & R & { readonly verb: "not_contains"; readonly arg: string };
type Regex<R extends Reach> = Line & R & { readonly verb: "regex"; readonly arg: string; readonly pattern: Pattern };

export type GroundedCheck = Contains<Grounded> | Regex<Grounded>;

/** A check that looks at text. No document corroborates an absence, so `not_contains` is never grounded. */
export type TextCheck =
  | GroundedCheck
  | Contains<InAnswer>
  | Contains<InField>
  | NotContains<InAnswer>
  | NotContains<InField>
  | Regex<InAnswer>
  | Regex<InField>;

export type Check =
  | TextCheck
  | (Line & { readonly verb: "min_items"; readonly field: string /** At least 1. */; readonly n: number })
  /** One name or more, none twice. */
  | (Line & { readonly verb: "nonempty"; readonly fields: readonly string[] })
  /** `arg` has `/` as its only separator. */
  | (Line & { readonly verb: "diff_touches"; readonly arg: string })
  | (Line & { readonly verb: "diff_max_files" /** 0 or more. */; readonly n: number });

/** True for the three verbs that look at text. */
export function isTextCheck(check: Check): check is TextCheck {
  return check.verb === "contains" || check.verb === "not_contains" || check.verb === "regex";
}

/** `none` for every check without a qualifier, also for those that can have none. */
export function authorityOf(check: Check): Authority {
  return isTextCheck(check) ? check.authority : "none";
}

/** A line that parses to the same check; as it was written, but for the spelling of counts and slashes. */
export function renderCheck(check: Check): string {
  switch (check.verb) {
    case "contains":
    case "not_contains":
    case "regex":
      return `${check.verb}:${qualifierOf(check)}${check.arg}`;
    case "min_items":
      return `min_items:${check.field}:${digitsOf(check.n)}`;
    case "nonempty":
      return `nonempty:${check.fields.join("|")}`;
    case "diff_touches":
      return `diff_touches:${check.arg}`;
    case "diff_max_files":
      return `diff_max_files:${digitsOf(check.n)}`;
    default:
      return check satisfies never;
  }
}

function qualifierOf(check: TextCheck): string {
  switch (check.authority) {
    case "none":
      return "";
    case "field":
      return `@field=${check.field}:`;
    case "answer":
    case "grounded":
      return `@${check.authority}:`;
    default:
      return check satisfies never;
  }
}

/** The largest count that parses. */
export const MAX_COUNT = 2n ** 63n - 1n;

/** A count beyond 2^53 is held rounded, and 2^63 - 1 rounds up to what does not parse. */
function digitsOf(count: number): string {
  const exact = BigInt(count);
  return String(exact > MAX_COUNT ? MAX_COUNT : exact);
}
