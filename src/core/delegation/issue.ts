/** What is wrong in a contract file: codes, places and messages; the words of each message are made where it is found. */

/**
 * Every code, in the order in which the issues of one subtask are told: first what stops the reading of the file, then
 * the types of the whole file, then the rules, field by field.
 */
export const DELEGATION_ISSUE_CODES = [
  "file_unreadable",
  "file_too_large",
  "not_json",
  "too_deep",
  "duplicate_key",
  "not_an_object",
  "no_subtasks",
  "too_many_subtasks",
  "type_mismatch",
  "read_root",
  "path_empty",
  "path_nul",
  "path_outside",
  "path_missing",
  "path_link",
  "path_not_a_directory",
  "path_is_a_directory",
  "path_not_a_file",
  "path_changed",
  "not_text",
  "goal_required",
  "thinking",
  "write_root",
  "too_many_docs",
  "doc_name",
  "doc_collision",
  "context_too_large",
  "output_schema",
  "acceptance",
] as const;

export type DelegationIssueCode = (typeof DELEGATION_ISSUE_CODES)[number];

export type DelegationIssue = {
  /** Stable; what programs match on. */
  readonly code: DelegationIssueCode;
  /** A JSON pointer into the file, by the keys as they are written there; "" is the file as a whole. */
  readonly path: string;
  /** For a person; no promise to programs. */
  readonly message: string;
  /** What to write instead; null when there is nothing to say. */
  readonly hint: string | null;
  /** The code of the parse error, for a check that does not parse. */
  readonly cause?: string;
  /** Which file, where several were named. */
  readonly file?: string;
};
