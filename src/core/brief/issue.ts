/** What may be wrong with a brief: every code, whether it stops a consumer, and its text. */

const CODES = {
  "not-a-brief": ["stop", "not a handoff brief"],
  "missing-repo-state": ["stop", "brief has no ## Repo state heading"],
  "duplicate-process-state": ["stop", "duplicate ## Process state section"],
  "phase-block": ["stop", "unparsable process-state phase block"],
  "phase-line": ["stop", "unparsable process-state phase line"],
  "phase-multiple": ["stop", "contradictory process state - more than one phase is in progress"],
  "phase-all-pending": ["stop", "contradictory process state - every phase is pending"],
  "phase-none-active": ["stop", "contradictory process state - no phase is in progress"],
  "plan-block": ["stop", "unparsable process-state plan block"],
  "task-line": ["stop", "unparsable process-state task line"],
  "subject-mixed": ["stop", "process state mixes Active task with ledger fields"],
  "subject-partial": ["stop", "process state is missing a ledger field"],
  "subject-missing": ["stop", "process state has no Active task"],
  "tail-order": ["stop", "process-state field is duplicated or out of order"],
  "tail-line": ["stop", "unexpected process-state line"],
  "pr-pair": ["stop", "unparsable PR pair"],
  "rework-base": ["stop", "unparsable Rework base"],
  legs: ["stop", "unparsable coordinated legs block"],
  "gate-missing": ["stop", "process state has no gate-history line"],
  "after-gate": ["stop", "text after the gate-history line"],
  "title-empty": ["warning", "title is empty"],
  "missing-heading": ["warning", 'missing heading "## %"'],
  "duplicate-heading": ["warning", 'duplicate heading "## %"'],
  "heading-order": ["warning", 'heading "## %" is out of order'],
  "unknown-heading": ["warning", 'unknown heading "## %"'],
  "unclosed-fence": ["warning", "fence is never closed"],
  "intent-empty": ["warning", "## Intent is empty"],
  "repo-state-suffix": ["warning", 'unknown Repo state suffix "%"'],
  "repo-state-body": ["warning", "text under a suffixed ## Repo state heading"],
  "repo-state-line": ["warning", "not a repo-state field: %"],
  "repo-state-duplicate": ["warning", 'duplicate repo-state field "%"'],
  "repo-state-order": ["warning", 'repo-state field "%" is out of order'],
  "repo-state-missing": ["warning", 'missing repo-state field "%"'],
  "worktree-value": ["warning", 'worktree is neither "yes <absolute path>", "no" nor "unavailable"'],
  "head-value": ["warning", "HEAD is not a 40-character sha or unavailable"],
  "decision-line": ["warning", "not a bullet line"],
  "question-line": ["warning", "not a bullet line"],
  "decisions-empty": ["warning", "## Decisions has no bullet"],
  "skills-suffix": ["warning", 'unknown Skills loaded suffix "%"'],
  "skills-body": ["warning", "text under ## Skills loaded: none"],
  "skills-empty": ["warning", "## Skills loaded lists nothing (use ## Skills loaded: none)"],
  "skill-name": ["warning", "not a skill name: %"],
  "task-index": ["warning", "task index % is not %"],
  "plan-counts": ["warning", "plan header counts do not match the task lines"],
  "active-task": ["warning", 'Active task is not the first in-progress task ("%")'],
} as const satisfies Record<string, readonly ["stop" | "warning", string]>;

export type BriefIssueCode = keyof typeof CODES;
export const BRIEF_ISSUE_CODES = Object.keys(CODES) as readonly BriefIssueCode[];

export type BriefIssue = {
  /** From 1; 0 is the whole file. */
  readonly line: number;
  readonly kind: "stop" | "warning";
  readonly code: BriefIssueCode;
  readonly message: string;
  /** The offending lines where they are others than `line` alone. */
  readonly lines?: readonly number[];
};

/** @param words what stands for each `%` of the text, in order */
export function briefIssue(code: BriefIssueCode, line: number, ...words: readonly string[]): BriefIssue {
  const [kind, text] = CODES[code];
  let next = 0;
  return { line, kind, code, message: text.replace(/%/g, () => words[next++] ?? "") };
}

/** What a code says, with `%` for what differs; for those who list all codes. */
export function briefIssueText(code: BriefIssueCode): string {
  return CODES[code][1];
}
