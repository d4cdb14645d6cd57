/** What plan check finds: which check, what is wrong, where, what was expected, and what to do. */
import { oneLine } from "../acceptance/quoting.ts";

/** The most that is listed; further ones are counted. */
export const FINDINGS_LISTED = 10_000;
/**
 * And the most that their reasons and lines come to, in UTF-16 code units. Each quotes its line: without this, a long line
 * with a finding in each word would be told of in the square of its length.
 */
export const LISTED_CHARACTERS = 8 * 1024 * 1024;

/** Check to its classes; each class says what was expected there and what mends it. */
export const CHECKS = {
  input: {
    unreadable: ["a file that can be read", "Name a plan and a spec that exist and are UTF-8 text"],
    "no-checkout": ["a plan inside a git checkout", "Run git init, or name the plan in its checkout"],
    "no-spec-header": ["**Spec:** <path of the spec>", "Add the line, or name the spec with --spec"],
    "no-waves": ["## Wave N — label", "Put the tasks under wave headings"],
    "no-tasks": ["### Task N: label", "Write each task under its own heading"],
    "spec-unreadable": ["a spec that can be read", "Mend the **Spec:** line"],
    "ledger-allowance": ["**Allowance:** <digits>", "Add the line to the ledger's header"],
    "ledger-no-rows": ["a table with rows under ## Rows", "Add a row for each requirement"],
    "ledger-row": ["| row <n> | <status> | <tries> | <requirement> |", "Mend the row"],
    "ledger-duplicate": ["each row id once", "Give the row an id of its own"],
    "ledger-tries": ["no more tries than the allowance", "Settle the row, or have the allowance raised"],
  },
  "table-closure": {
    "no-table": ["## Spec coverage with a table", "Add the section: anchor, requirement, owner"],
    "owner-malformed": ["Task <n>, a list of them, Verification, or waived: <reason>", "Mend the owner cell"],
    "mechanical-verification": ["a task as the owner of a mechanical row", "Name the task that does it"],
    "anchor-unparseable": ['§ "heading" L<n>-L<n>', "Cite the spec's heading and lines"],
    "verification-no-literal": ["a backtick literal in the cited spec lines", "Cite the lines that name the command"],
    "unknown-task": ["the number of a task of this plan", "Mend the owner cell, or add the task"],
    "anchor-not-in-task": ["the same anchor in the owner's **Spec:** line", "Make row and task cite the same lines"],
    "task-uncovered": ["a coverage row that the task owns", "Add the row, or drop the task"],
    "task-no-anchor": ["an anchor in the task's **Spec:** line, or a mechanical row", "Add one of the two"],
  },
  "quote-integrity": {
    "verification-literal-missing": ["the literal in **Verification:**", "Add it to the header line"],
    "task-literal-missing": ["the literal in the task's body", "Quote it in the task"],
  },
  "anchor-resolution": {
    "anchor-line-unparseable": ['§ "heading" L<n>-L<n>', "Cite the spec's heading and lines"],
    "heading-missing": ["a heading of the spec, to the letter", "Cite a heading that is there"],
    "heading-ambiguous": ["a heading that the spec has once", "Make the spec's headings differ, or cite another"],
    "range-bounds": ["lines that the spec has, the first not behind the last", "Cite lines that are there"],
    "range-outside-section": ["lines of the cited heading's section", "Cite lines inside of the section"],
  },
  "paths-exist": {
    "files-block-missing": ["**Files:** with a line for each file", "Add the block to the task"],
    "glob-invalid": ["a glob of *, ?, **, [...] and {a,b}", "Mend the glob"],
    "glob-empty": ["a glob that matches a file", "Mend the glob, or drop the line"],
    "modify-missing": ["a path that exists", "Mend the path, or make it a Create: line"],
  },
  "tests-block": {
    "test-path-unknown": ["a path that exists, or that a task creates", "Mend the path, or add a Create: line"],
    "block-misplaced": ["**Tests:** directly behind the Files: entries", "Move the block there"],
    "block-missing": ["**Tests:** directly behind the Files: entries", "Add the block"],
    "block-empty": ["a command bullet, or a none: bullet", "Add one"],
    "bullet-malformed": ["- `command`, - via: <seam>, - none: <category> or - baseline: <value>", "Mend the bullet"],
    "block-contradictory": ["one none: bullet alone, or commands", "Keep one of the two"],
    "test-path-unused": ["no Test: path where the task has no tests", "Drop the line, or add a command"],
    "shell-unsupported": ["a plain command", "Write the command without a shell or a folder of its own"],
    "segment-unanchored": ["a Test: path of the task in each part of the command", "Name the test file"],
    "selector-broadening": ["a selector that names one file or test", "Name the test file or the test"],
    "full-suite-command": ["a command for this task's tests alone", "Leave the full suite to the verify phase"],
  },
  "baseline-line": {
    "baseline-missing": ["- baseline: <value>", "Have the plan's author run the baseline"],
    "baseline-unexpected": ["no baseline: without a command", "Drop the bullet, or add the command"],
    "baseline-duplicate": ["one baseline: bullet", "Keep the one that was measured"],
    "baseline-malformed": ["pass @ <sha>, new @ <sha>, or fail <exit> @ <sha>", "Have the baseline run anew"],
    "baseline-sha-mismatch": ["one base for the whole plan", "Have the baseline run anew"],
    "baseline-new-existing": ["new only where every Test: path is created", "Have the baseline run anew"],
    "baseline-unreported": ['a "- Task <n>: " row in ## Open Questions', "Ask what the failure means"],
  },
  "placeholder-scan": {
    "banned-token": ["what is meant, spelled out", "Replace the placeholder"],
  },
  "wave-file-disjointness": {
    overlap: ["no file in two tasks of a wave", "Move one of the tasks to another wave"],
    "glob-invalid": ["a glob of *, ?, **, [...] and {a,b}", "Mend the glob"],
  },
  "header-entrypoint": {
    "header-missing": ["**Verification:** <command> above a --- line", "Add what is missing"],
    "run-segment": ["a command for this task alone", "Leave the full suite to the verify phase"],
    "prose-entrypoint": ["the command in the header alone", "Take it out of the waves"],
  },
  "header-happy-path": {
    "line-malformed": ["**Happy path:** <label> - `<command>` (~<duration>)", "Mend the line"],
  },
  "waiver-literal": {
    "waived-literal": ["a waived row without a code literal", "Give the requirement to a task"],
  },
  "open-questions": {
    "section-empty": ["- none, or a question a row", "Write - none"],
    "section-contradictory": ["- none alone, or questions", "Drop the - none row"],
    "baseline-task": ["no open row", "Land a fix, narrow the command or amend the spec"],
    "baseline-global": ["no open row", "Restore the worktree and have the baseline run anew"],
    "contract-question": ["no open row", "Answer the question, and drop the row"],
  },
  internal: {
    internal: ["a check that runs to its end", "Report it"],
  },
} as const satisfies Record<string, Record<string, readonly [string, string]>>;

export type CheckName = keyof typeof CHECKS;
export type ClassOf<C extends CheckName> = keyof (typeof CHECKS)[C] & string;

export type Finding = {
  readonly check: CheckName;
  readonly class: string;
  /** On one line. */
  readonly reason: string;
  /** The task that it belongs to; null where it belongs to none. */
  readonly task: number | null;
  /** From 1; 0 is the whole file. */
  readonly line: number;
  /** In code units, from 1; 0 where the line is 0. */
  readonly column: number;
  /** The literal, path or segment that it is about; null where the place says it all. */
  readonly about: string | null;
  /** The offending line as it stands; empty for the whole file. */
  readonly evidence: string;
  readonly expected: string;
  readonly hint: string;
};

export type Place = {
  readonly task?: number | null;
  readonly line?: number;
  /** From 0, in code units. */
  readonly at?: number;
  readonly about?: string;
};

/** Gathers findings about one document, in the order in which they are added. */
export class Findings {
  readonly list: Finding[] = [];
  /** All of them, also those that are not listed. */
  count = 0;
  private characters = 0;

  constructor(private readonly lines: readonly string[]) {}

  add<C extends CheckName>(check: C, name: ClassOf<C>, reason: string, place: Place = {}): void {
    this.count += 1;
    this.characters += reason.length + (this.lines[(place.line ?? 0) - 1]?.length ?? 0);
    const isFull = this.list.length >= FINDINGS_LISTED || this.characters > LISTED_CHARACTERS;
    if (isFull && this.list.length > 0) return;
    this.list.push(findingOf(check, name, reason, place, this.lines));
  }
}

export function findingOf<C extends CheckName>(
  check: C,
  name: ClassOf<C>,
  reason: string,
  { task = null, line = 0, at = 0, about }: Place = {},
  lines: readonly string[] = [],
): Finding {
  const classes: Readonly<Record<string, readonly [string, string]>> = CHECKS[check];
  const [expected, hint] = classes[name] ?? ["", ""];
  const evidence = lines[line - 1] ?? "";
  const column = line === 0 ? 0 : at + 1;
  // A literal, a path or a question may hold a line end.
  return {
    check,
    class: name,
    reason: oneLine(reason),
    task,
    line,
    column,
    about: about ?? null,
    evidence,
    expected,
    hint,
  };
}
