/** A contract file that a command needs and that is not valid: the one error with all its issues. */
import { counted } from "../counted.ts";
import { WritError } from "../error.ts";
import { issueLines } from "../issue-text.ts";
import type { DelegationIssue } from "./issue.ts";

/**
 * @param file   as it was named
 * @param issues at least one
 */
export function badContract(file: string, issues: readonly DelegationIssue[]): WritError {
  const count = counted(issues.length, "issue");
  return new WritError("bad_contract", `The contract file "${file}" is not valid: ${count}`, {
    hint: `All that can be said of it: writ lint ${file}${besides(issues)}`,
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
  const faulty = new Set(issues.map(({ file }) => file));
  const count = counted(issues.length, "issue");
  const what = faulty.size === 1 ? "1 contract file is" : `${faulty.size} contract files are`;
  return new WritError("bad_contract", `${what} not valid: ${count}`, {
    hint: `All that can be said of them: writ lint ${[...faulty].join(" ")}${besides(issues)}`,
    lines: issues.flatMap((issue) => {
      const [first = "", ...more] = issueLines(issue);
      return [`  ${issue.file ?? ""}:${first.slice(1)}`, ...more];
    }),
    details: { issues: issues.map((issue) => ({ ...issue })) },
  });
}

/** Documents are read by lint too where it is told from where: else it would find nothing wrong. */
function besides(issues: readonly DelegationIssue[]): string {
  return issues.some(({ code }) => code.startsWith("path_") || code === "read_root") ? " --read-root DIR" : "";
}
