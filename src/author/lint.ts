/** What can be said of contract files without running anything. */
import { issuesOf, type ReadContracts } from "../core/delegation/contract.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { type LintWarning, lintContract } from "../core/delegation/lint.ts";
import { contractNotes } from "../core/delegation/notes.ts";
import { type AuthorWorld, readContractFile } from "./read.ts";

export type SubtaskLint = {
  readonly index: number;
  readonly valid: boolean;
  readonly issues: readonly DelegationIssue[];
  /** None for a subtask that is not valid: its issues come first. */
  readonly warnings: readonly LintWarning[];
  readonly notes: readonly string[];
};

export type FileLint = {
  readonly file: string;
  /** "unopened": it does not open; "unread": it does not read as a whole, and has no subtasks here. */
  readonly state: "valid" | "invalid" | "unread" | "unopened";
  readonly subtasks: readonly SubtaskLint[];
  /** About the file as a whole; those of a subtask stand with it. */
  readonly issues: readonly DelegationIssue[];
};

/**
 * Judges every file, one after the other; one that does not open does not keep the others from being judged.
 *
 * Errors: none but defects
 */
export function lintFiles(world: AuthorWorld, files: readonly string[]): readonly FileLint[] {
  return files.map((file) => {
    const named = files.length > 1 ? { file } : {};
    const read = readContractFile(world, file);
    return fileLint(file, { ...read, issues: read.issues.map((issue) => ({ ...issue, ...named })) });
  });
}

/** What can be said of contracts that were read. */
export function fileLint(file: string, read: ReadContracts): FileLint {
  const drafts = new Map(read.subtasks.map((draft) => [draft.path, draft]));
  const subtasks = read.places.map((place, index): SubtaskLint => {
    const draft = drafts.get(place);
    if (draft === undefined) return { index, valid: false, issues: issuesOf(read, place), warnings: [], notes: [] };
    const found = lintContract(draft.contract, { documents: draft.isComplete ? "all" : "some" });
    const warnings = found.map((warning) => ({ ...warning, path: place + warning.path }));
    return { index, valid: true, issues: [], warnings, notes: contractNotes(draft) };
  });
  const told = new Set(subtasks.flatMap(({ issues }) => issues));
  const issues = read.issues.filter((issue) => !told.has(issue));
  if (issues.some(({ code }) => code === "file_unreadable")) return { file, state: "unopened", subtasks: [], issues };
  const state = subtasks.length === 0 ? "unread" : subtasks.every(({ valid }) => valid) ? "valid" : "invalid";
  return { file, state, subtasks, issues };
}
