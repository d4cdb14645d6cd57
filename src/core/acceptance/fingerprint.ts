/**
 * The document fingerprint: a tripwire for the wrong document. A pattern that declares a group named `docanchor` looks
 * for words that only the contract's own documents have; an answer without them was likely made from another document.
 *
 * It alone counts against the place that answered, and it alone can be excused: by an answer that says that the
 * documents do not hold what was asked for.
 */
import { isBlank } from "../delegation/blank.ts";
import { readSource } from "../json/source.ts";
import { compilePattern } from "../pattern/re2.ts";
import { isUnreachable, type Reachable } from "./authority.ts";
import type { Check } from "./check.ts";
import type { Outcome } from "./evaluate.ts";

const ANCHOR_GROUP = "docanchor";

const ABSENCE =
  "(?i)\\b(no|not|none|nothing|absent|missing|unavailable|does not (mention|contain|describe|cover|say|exist))\\b";

/** What a fingerprint means. */
export type FingerprintVerdict = {
  /** For the place that answered. */
  readonly node: "pass" | "strike" | "neutral";
  /** Whether its reason stands among the failures. */
  readonly listed: boolean;
  /** Whether another place may be asked. */
  readonly retry: boolean;
  /** Whether an honest absence excuses it; a note says so. */
  readonly excused: boolean;
};

/** True for a `regex` check, qualified or not, with a group named exactly `docanchor`. */
export function isFingerprint(check: Check): boolean {
  return check.verb === "regex" && check.pattern.groupNames.includes(ANCHOR_GROUP);
}

/**
 * True when a structured result says that there was nothing to find: every list at its top is empty, and a text at its
 * top speaks of absence.
 *
 * @param structured the JSON text of a result that the contract's schema was held against; null when there is none
 * Errors: none; what is no object is no honest absence
 */
export function isHonestAbsence(structured: string | null): boolean {
  if (structured === null) return false;
  const read = readSource(structured, { surrogates: "keep" });
  if (!read.ok || read.node.kind !== "object") return false;
  let isSaid = false;
  for (const { value } of read.node.members) {
    if (value.kind === "array" && value.items.length > 0) return false;
    if (value.kind === "string" && !isSaid) isSaid = !isBlank(value.value) && speaksOfAbsence(value.value);
  }
  return isSaid;
}

function speaksOfAbsence(text: string): boolean {
  const compiled = compilePattern(ABSENCE);
  return compiled.ok && compiled.pattern.test(text);
}

/**
 * What a fingerprint means for the place that answered, for the list of failures and for a retry.
 *
 * @param check      a fingerprint
 * @param structured as `isHonestAbsence` takes it
 */
export function judgeFingerprint(
  check: Check,
  outcome: Outcome["outcome"],
  contract: Reachable,
  structured: string | null,
): FingerprintVerdict {
  switch (outcome) {
    case "pass":
      return { node: "pass", listed: false, retry: false, excused: false };
    case "fail":
      return isHonestAbsence(structured)
        ? { node: "neutral", listed: false, retry: false, excused: true }
        : { node: "strike", listed: true, retry: true, excused: false };
    case "unknown":
      return isUnreachable(check, contract) || isHonestAbsence(structured)
        ? { node: "neutral", listed: true, retry: false, excused: false }
        : { node: "strike", listed: true, retry: true, excused: false };
    default:
      return outcome satisfies never;
  }
}
