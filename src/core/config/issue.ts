/** What is wrong with a config: codes, places and messages; and the one error that holds all of it. */
import { counted } from "../counted.ts";
import { type ErrorCode, WritError } from "../error.ts";
import { issueLines } from "../issue-text.ts";

/** In the order of how much of the file they are about. */
export const CONFIG_ISSUE_CODES = [
  "file_missing",
  "file_unreadable",
  "file_too_large",
  "not_json",
  "too_deep",
  "duplicate_key",
  "not_an_object",
  "unknown_key",
  "missing_key",
  "type_mismatch",
  "out_of_range",
  "bad_value",
  "not_unique",
  "no_such_seat",
  "reserved_key",
  "bad_url",
  "literal_secret",
  "bad_token",
  "not_built",
  "more",
] as const;

export type ConfigIssueCode = (typeof CONFIG_ISSUE_CODES)[number];

export type ConfigIssue = {
  /** Stable; what programs match on. */
  readonly code: ConfigIssueCode;
  /** The key, `seats[0].name`; the variable or the option where the value came from there; "" is the file as a whole. */
  readonly path: string;
  /** For a person; no promise to programs. Holds no secret. */
  readonly message: string;
  readonly hint: string | null;
  /** Where in the file, both from 1; null where it is about no place in it. */
  readonly line: number | null;
  readonly column: number | null;
};

/** @param file null where the config is the built-in one */
export function badConfig(
  file: string | null,
  issues: readonly ConfigIssue[],
  code: ErrorCode = "bad_config",
): WritError {
  const count = counted(issues.length, "issue");
  return new WritError(code, `${blamed(file, issues)} is not valid: ${count}`, {
    hint: "writ docs configuration lists every key",
    lines: issues.flatMap(configIssueLines),
    details: { file, issues: issues.map((issue) => ({ ...issue })) },
  });
}

/** Where somebody has to look: a file that nothing is wrong with is not named. */
function blamed(file: string | null, issues: readonly ConfigIssue[]): string {
  const isTyped = ({ path, line }: ConfigIssue) => line === null && /^(?:--|[A-Z]+$)/.test(path);
  const isVariable = ({ path, line }: ConfigIssue) => line === null && path.startsWith("WRIT_");
  if (issues.length > 0 && issues.every(isTyped)) return "What was typed";
  if (file === null || (issues.length > 0 && issues.every(isVariable))) return "The config from the environment";
  if (issues.every((issue) => isTyped(issue) || isVariable(issue))) return "What was typed, with the environment,";
  return `The config "${file}"`;
}

/** What an error of `badConfig` was made of. */
export function issuesBehind({ details }: WritError): { file: string | null; issues: readonly ConfigIssue[] } {
  return details as unknown as { file: string | null; issues: readonly ConfigIssue[] };
}

/** An issue as a person reads it, indented; its hint stands under it. */
export function configIssueLines(issue: ConfigIssue): readonly string[] {
  const { line, column } = issue;
  return issueLines(issue, line === null ? "" : `line ${line}, column ${column}: `);
}
