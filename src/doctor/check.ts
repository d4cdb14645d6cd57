/** What a check finds, and what all of them together say. */
import type { World } from "./world.ts";

/**
 * `finding`: looked at and found wanting; `unknown`: could not be looked at; `skipped`: there is nothing to look at,
 * or another finding says why.
 */
export type Outcome = "ok" | "finding" | "unknown" | "skipped";

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
  readonly look: (world: World) => readonly Finding[] | Promise<readonly Finding[]>;
};

export type Verdict = "well" | "findings" | "unknown";

/** A finding outranks what could not be told. Nothing looked at is not well. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const has = (outcome: Outcome) => findings.some((finding) => finding.outcome === outcome);
  if (has("finding")) return "findings";
  return has("unknown") || !has("ok") ? "unknown" : "well";
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
  return { ok: make("ok"), finding: make("finding"), unknown: make("unknown"), skipped: make("skipped") };
}
