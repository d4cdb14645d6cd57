/** What a check finds, and what all of them together say. */
import type { World } from "./world.ts";

/**
 * `PASS`: tried, and it works; `WARN`: it works and is not as one would wish, or could not be told; `FAIL`: tried and
 * found wanting; `SKIP`: there is nothing to try, or another finding says why.
 *
 * Source: delegation run, section 2.6
 */
export type Outcome = "PASS" | "WARN" | "FAIL" | "SKIP";

export type Finding = {
  /** The name of the check. */
  readonly check: string;
  /** What was looked at: a path, an event, a command. */
  readonly subject: string;
  readonly outcome: Outcome;
  readonly message: string;
  readonly hint: string | null;
};

export type Check = {
  readonly name: string;
  /** Finds something about each thing it looks at; at least one. Changes nothing but what it makes and removes itself. */
  readonly look: (world: World) => readonly Finding[] | Promise<readonly Finding[]> | AsyncGenerator<Finding>;
};

export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ outcome }) => outcome === "FAIL");
}

/** A check's own way of writing findings. */
export function findingsOf(check: string) {
  const make =
    (outcome: Outcome) =>
    (subject: string, message: string, hint: string | null = null): Finding => ({
      check,
      subject,
      outcome,
      message,
      hint,
    });
  return { pass: make("PASS"), warn: make("WARN"), fail: make("FAIL"), skip: make("SKIP") };
}
