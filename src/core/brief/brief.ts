/**
 * A handoff brief as a value: what `brief show --json` prints, `parseBrief` reads and `renderBrief` writes.
 *
 * Source: flow state, section 8.4
 */
import type { Phase, PhaseName } from "../tracker/phase.ts";
import type { TaskStatus } from "../tracker/task.ts";

/** What line 1 of every brief starts with, and its one terminal line. Wire literals. */
export const TITLE_START = "# Handoff:";
export const GATE_LINE = "Gate history not restored - re-validate before advancing.";
export const PROCESS_HEADING = "## Process state";

/** The headings in their fixed order, without `## `. */
export const HEADINGS = [
  "Intent",
  "Repo state",
  "Decisions",
  "Open questions",
  "Skills loaded",
  "Process state",
] as const;
export type Heading = (typeof HEADINGS)[number];

export type Brief = {
  readonly title: string;
  /** May be empty, and may have several lines. */
  readonly intent: string;
  /** Null where the heading is missing. */
  readonly repo_state: RepoState | null;
  readonly decisions: readonly Decision[];
  readonly open_questions: readonly string[];
  readonly skills: readonly string[];
  /** Null: a plain handoff. */
  readonly process: ProcessState | null;
};

export type RepoState =
  | { readonly kind: "fields"; readonly reason: null; readonly fields: RepoFields }
  | { readonly kind: "not-a-git-repo"; readonly reason: null; readonly fields: null }
  | { readonly kind: "unavailable"; readonly reason: string | null; readonly fields: null };

/** A field that is missing is null; "unavailable" is a value. */
export type RepoFields = {
  readonly toplevel: string | null;
  readonly worktree: WorktreeField | null;
  readonly branch: string | null;
  readonly head: string | null;
  readonly base: string | null;
  readonly dirty: readonly string[] | null;
  readonly diff_stat: readonly string[] | null;
  readonly test_cmd: string | null;
};

export type WorktreeField =
  | { readonly kind: "yes"; readonly path: string }
  | { readonly kind: "no" }
  | { readonly kind: "unavailable" };

/** The names of the fields as they are written, in their order, and the key of each. */
export const REPO_FIELDS = [
  ["toplevel", "toplevel"],
  ["worktree", "worktree"],
  ["branch", "branch"],
  ["HEAD", "head"],
  ["base", "base"],
  ["dirty", "dirty"],
  ["diff-stat", "diff_stat"],
  ["test cmd", "test_cmd"],
] as const satisfies readonly (readonly [string, keyof RepoFields])[];

/** `text` is without `rejected: `; continuation lines are joined with LF. */
export type Decision = { readonly text: string; readonly rejected: boolean };

export type ProcessState = {
  readonly phases: readonly Phase[];
  readonly active: PhaseName;
  readonly substep: string | null;
  /** Null for "No plan active."; the counts are those of its header. */
  readonly plan: { readonly done: number; readonly total: number; readonly tasks: readonly IndexedTask[] } | null;
  readonly subject: Subject;
  readonly prs: readonly PullRequest[];
  readonly rework_base: string | null;
  /** Empty, or two and more. */
  readonly legs: readonly Leg[];
};

export type IndexedTask = { readonly index: number; readonly name: string; readonly status: TaskStatus };

export type Subject =
  | { readonly kind: "task"; readonly active_task: string | null }
  | { readonly kind: "ledger"; readonly path: string; readonly last_decision: string | null };

/** `repo` is "owner/name", `pre_rework_head` a full SHA. */
export type PullRequest = { readonly repo: string; readonly number: number; readonly pre_rework_head: string };

export type Leg = {
  readonly repo: string;
  /** Absolute, or "missing". */
  readonly worktree: string;
  readonly branch: string;
  readonly head: string;
  readonly dirty: string;
  readonly receipt: string | null;
};

/** `acme/app#12`: how a pull request is named, and compared. */
export function prIdentity({ repo, number }: Pick<PullRequest, "repo" | "number">): string {
  return `${repo}#${number}`;
}
