/** A contract file that a command needs and that is not valid, or does not open: the one error with all its issues. */
import { quoteWords } from "../brief/quote.ts";
import { counted } from "../counted.ts";
import { WritError } from "../error.ts";
import { issueLines } from "../issue-text.ts";
import type { DelegationIssue } from "./issue.ts";

/** How standard input is named. */
const STDIN = "-";

/**
 * @param file   as it was named
 * @param issues at least one
 */
export function badContract(file: string, issues: readonly DelegationIssue[]): WritError {
  const what = file === STDIN ? "The contract on standard input" : `The contract file "${file}"`;
  const message = isUnopened(issues)
    ? `${what} cannot be opened`
    : `${what} is not valid: ${counted(issues.length, "issue")}`;
  return new WritError("bad_contract", message, {
    hint: hintOf("it", [file], issues),
    lines: issues.flatMap((issue) => issueLines(issue)),
    details: { issues: issues.map((issue) => ({ ...issue })) },
  });
}

/**
 * The same for several files: each issue says which of them it is about.
 *
 * @param issues at least one
 */
export function badContracts(files: readonly string[], issues: readonly DelegationIssue[]): WritError {
  const [only] = files;
  if (files.length === 1 && only !== undefined) return badContract(only, issues);
  const faulty = [...new Set(issues.map(({ file }) => file ?? ""))];
  const what = counted(faulty.length, "contract file");
  const message = isUnopened(issues)
    ? `${what} cannot be opened`
    : `${what} ${faulty.length === 1 ? "is" : "are"} not valid: ${counted(issues.length, "issue")}`;
  return new WritError("bad_contract", message, {
    hint: hintOf("them", faulty, issues),
    lines: issues.flatMap((issue) => {
      const [first = "", ...more] = issueLines(issue);
      return [`  ${issue.file ?? ""}:${first.slice(1)}`, ...more];
    }),
    details: { issues: issues.map((issue) => ({ ...issue })) },
  });
}

/** Nothing in them was looked at. */
function isUnopened(issues: readonly DelegationIssue[]): boolean {
  return issues.every(({ code }) => code === "file_unreadable");
}

/** Lint tells more only of what opens, and once more only of what is in a file. */
function hintOf(what: string, files: readonly string[], issues: readonly DelegationIssue[]): string | null {
  const unopened = new Set(issues.flatMap(({ code, file }) => (code === "file_unreadable" ? [file ?? files[0]] : [])));
  const opened = files
    .filter((file) => !unopened.has(file))
    .map((file) => (file === STDIN ? "FILE" : quoteWords([file])));
  if (opened.length === 0) return null;
  const saved = opened.includes("FILE") ? "Save what came on standard input to a FILE. " : "";
  return `${saved}All that can be said of ${what}: writ lint ${opened.join(" ")}${besides(issues)}`;
}

/** Documents are read by lint too where it is told from where: else it would find nothing wrong. */
function besides(issues: readonly DelegationIssue[]): string {
  return issues.some(({ code }) => code.startsWith("path_") || code === "read_root") ? " --read-root DIR" : "";
}
