/** A bare word of `set` that was read as JSON where a text was meant. */
import { WritError } from "../error.ts";
import { isArray, isObject, type JsonValue, jsonType } from "../json/value.ts";
import { quoteWords } from "../record/words.ts";
import { LEVELS, pathOf, TYPED_FIELDS } from "./envelope.ts";
import { aType } from "./hints.ts";
import { splitPath } from "./path.ts";

/** The paths that hold a text: those declared so, and those that a rule needs one at. */
const TEXT_PATHS: ReadonlySet<string> = new Set([
  ...LEVELS.flatMap((level) =>
    TYPED_FIELDS[level].filter(([, type]) => type === "string").map(([key]) => pathOf(level, key)),
  ),
  "evidence_report.verification.command",
  "evidence_report.verification.result",
  "evidence_report.verification.reviewed",
  "approval_request.exact_content",
  "failure_report.attempted",
  "failure_report.symptom",
  "failure_report.severity",
]);

/**
 * The error of a `set`, its hint beginning with how the word is quoted where the word is what is wrong.
 *
 * @param error what the write threw; comes back as it is where the word is not at fault
 * @param typed the word, when it was typed on the command line
 */
export function withQuotingHint(
  error: unknown,
  write: {
    readonly field: string;
    readonly value: JsonValue;
    readonly typed: string | undefined;
  },
): unknown {
  const { value } = write;
  if (!(error instanceof WritError) || error.code !== "validation") return error;
  if (typeof value === "string" || isArray(value) || isObject(value)) return error;
  const path = splitPath(write.field).join(".");
  const at = TEXT_PATHS.has(path) ? error.issues.findIndex((issue) => issue.path === path) : -1;
  if (at < 0) return error;
  const word = write.typed === undefined || write.typed === "-" ? JSON.stringify(value) : write.typed.trim();
  const what = value === null ? "" : `, ${aType(jsonType(value))}`;
  const quoting = `${word} was read as JSON${what}; as a text it is quoted: writ contract set ${path} ${quoteWords([JSON.stringify(word)])}`;
  const { message, hint, status, details, lines, cause } = error;
  return new WritError(error.code, message, {
    path: error.path,
    hint,
    status,
    details,
    lines,
    cause,
    issues: error.issues.map((issue, index) =>
      index === at ? { ...issue, hint: issue.hint === null ? quoting : `${quoting}. ${issue.hint}` } : issue,
    ),
  });
}
