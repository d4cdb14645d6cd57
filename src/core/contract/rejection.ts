/** A write or a close that the validator turned down, as one error. */
import { WritError } from "../error.ts";
import type { Issue } from "../result.ts";
import { REPAIR_MESSAGE } from "./hints.ts";

/**
 * The error of code `validation`, with all issues, their codes and the repair text.
 *
 * @param message what a person reads behind `Rejected: `
 */
export function validationError(
  issues: readonly Issue[],
  message = "write failed validation -- no changes were persisted.",
): WritError {
  return new WritError("validation", message, {
    status: "rejected",
    issues,
    details: { codes: codesOf(issues), repair_message: REPAIR_MESSAGE },
  });
}

/** The distinct codes, in order of first appearance. */
export function codesOf(issues: readonly Issue[]): readonly string[] {
  return [...new Set(issues.map((issue) => issue.code))];
}
