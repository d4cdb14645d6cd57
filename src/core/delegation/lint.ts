/**
 * What a contract's acceptance lets through, told to its author at intake. It warns and never blocks.
 *
 * Lines that do not parse are skipped here: they were refused before.
 */
import { isUnreachable, type Reachable } from "../acceptance/authority.ts";
import { type Check, isTextCheck, type TextCheck } from "../acceptance/check.ts";
import { occursInAny } from "../acceptance/occurrence.ts";
import { parseCheck } from "../acceptance/parse.ts";
import { cut } from "../acceptance/quoting.ts";
import { findAnchor } from "./anchor.ts";
import { isBlank } from "./blank.ts";
import { pointerTo } from "./pointer.ts";

export type LintCode = "SHAPE-ONLY" | "PARROT-PASSABLE" | "UNGROUNDED" | "AUTHORITY-UNREACHABLE";

export type LintWarning = {
  readonly code: LintCode;
  /** A JSON pointer into the contract. */
  readonly path: string;
  /** As written; absent for the warnings about the whole list. */
  readonly check?: string;
  /** One sentence for a person: what the shape lets through. */
  readonly message: string;
  /** What to write instead. */
  readonly hint: string;
};

/** What lint looks at; a whole contract has all of it. */
export type LintedContract = Reachable & { readonly goal: string; readonly acceptance: readonly string[] };

export type LintOptions = {
  /**
   * "some": the contract has documents that were not read, so that nothing is said of what no document has.
   * Warnings that further documents could not take back are given all the same.
   */
  readonly documents?: "all" | "some";
};

/**
 * Lints a contract.
 *
 * @returns at most one of SHAPE-ONLY and PARROT-PASSABLE, first; then at most one warning for each check, in their order
 * Errors:  none. Time is linear in the texts for each check
 * Source:  delegation contract, section 6
 */
export function lintContract(contract: LintedContract, options: LintOptions = {}): readonly LintWarning[] {
  const linter = new Linter(contract);
  const checks = contract.acceptance.flatMap((line, index) => {
    const parsed = parseCheck(line);
    return parsed.ok ? [{ check: parsed.check, path: pointerTo("/acceptance", index) }] : [];
  });
  const warnings = linter.list(checks.map(({ check }) => check));
  for (const { check, path } of checks) {
    const warning = isTextCheck(check) ? linter.one(check, path, options.documents ?? "all") : null;
    if (warning !== null) warnings.push(warning);
  }
  return warnings;
}

/** A warning as one line of `acceptance_lint`. */
export function lintLine(warning: LintWarning): string {
  const about = warning.check === undefined ? "" : `"${cut(warning.check)}": `;
  return `${warning.code}: ${about}${warning.message}. ${warning.hint}`;
}

class Linter {
  /** Of each document that is not blank. */
  private readonly filled: readonly string[];
  private readonly all: string;
  private anchor: string | null | undefined;

  constructor(private readonly contract: LintedContract) {
    const texts = contract.context.map(({ text }) => text);
    this.filled = texts.filter((text) => !isBlank(text));
    this.all = texts.map((text) => `${text}\n`).join("");
  }

  /** The warning about the list as a whole, if any. */
  list(checks: readonly Check[]): LintWarning[] {
    const content = checks.filter(isTextCheck);
    const path = "/acceptance";
    if (content.length === 0) {
      const message = "the checks verify that fields or files are there, and nothing that an answer says";
      const hint = `Add one contains: or regex: on something that only the documents say${this.offer()}`;
      return [{ code: "SHAPE-ONLY", path, message, hint }];
    }
    if (!content.every((check) => this.isEchoable(check))) return [];
    const message = "an answer that repeats the goal passes every content check, so no second seat is ever asked";
    const hint = `Anchor a check on a term or figure that the documents have and the goal has not${this.offer()}`;
    return [{ code: "PARROT-PASSABLE", path, message, hint }];
  }

  one(check: TextCheck, path: string, documents: "all" | "some"): LintWarning | null {
    const { line } = check;
    if (isUnreachable(check, this.contract)) {
      if (documents === "some" && check.authority === "grounded") return null;
      return { code: "AUTHORITY-UNREACHABLE", path, check: line, ...this.unreachable(check) };
    }
    if (documents === "some" || check.verb === "not_contains" || this.isGrounded(check)) return null;
    const message = "it matches nothing in the documents, so that a right answer may fail it";
    return { code: "UNGROUNDED", path, check: line, message, hint: this.ungroundedHint(check) };
  }

  /** Whether the check would pass if the answer, and every string of the result, were the goal. */
  private isEchoable(check: TextCheck): boolean {
    const { goal } = this.contract;
    if (isUnreachable(check, this.contract)) return false;
    const isGrounded = check.authority === "grounded";
    switch (check.verb) {
      case "contains":
        return goal.includes(check.arg) && (!isGrounded || this.filled.some((text) => text.includes(check.arg)));
      case "not_contains":
        return !goal.includes(check.arg);
      case "regex":
        return isGrounded ? occursInAny(nonEmpty(check.pattern.matches(goal)), this.filled) : check.pattern.test(goal);
      default:
        return check satisfies never;
    }
  }

  private isGrounded(check: Exclude<TextCheck, { verb: "not_contains" }>): boolean {
    if (check.authority !== "grounded") {
      return check.verb === "contains" ? this.all.includes(check.arg) : check.pattern.test(this.all);
    }
    return this.filled.some((text) => {
      if (check.verb === "contains") return text.includes(check.arg);
      for (const _ of nonEmpty(check.pattern.matches(text))) return true;
      return false;
    });
  }

  private unreachable(check: TextCheck): { readonly message: string; readonly hint: string } {
    if (check.authority === "grounded") {
      const message = "it can only be unknown: the contract has no document with text, so no seat can close it";
      return { message, hint: "Give the contract documents, or drop @grounded:" };
    }
    const field = check.authority === "field" ? check.field : "";
    const why =
      this.contract.output_schema === null ? "there is no output_schema" : "output_schema does not declare it";
    const message = `it can only be unknown: it reads field "${cut(field)}", and ${why}, so no seat can close it`;
    return { message, hint: "Declare the field under properties of output_schema, spelled the same way" };
  }

  private ungroundedHint(check: TextCheck): string {
    if (this.filled.length === 0) return "Give the contract documents: without any, nothing can vouch for this check";
    const spelled = check.verb === "contains" ? this.otherCase(check.arg) : null;
    if (spelled !== null) return `The documents spell it "${cut(spelled)}"`;
    return `Anchor on text that the documents carry${this.offer()}`;
  }

  /** The text as the documents have it, where they have it in other letters. */
  private otherCase(text: string): string | null {
    const folded = this.all.toLowerCase();
    const at = folded.length === this.all.length ? folded.indexOf(text.toLowerCase()) : -1;
    return at < 0 ? null : this.all.slice(at, at + text.length);
  }

  private offer(): string {
    if (this.anchor === undefined) this.anchor = findAnchor(this.contract.goal, this.filled);
    return this.anchor === null ? "" : `, for example contains:${this.anchor}`;
  }
}

function* nonEmpty(matches: Iterable<string>): Iterable<string> {
  for (const match of matches) if (match !== "") yield match;
}
