/** Writes a brief, byte for byte: the core that ends at `## Skills loaded`, and the process-state block behind it. */
import { type Flow, phaseOf } from "../tracker/flow.ts";
import { renderPhases, renderPlan } from "../tracker/status-text.ts";
import type { Task } from "../tracker/task.ts";
import {
  type Brief,
  GATE_LINE,
  type Leg,
  PROCESS_HEADING,
  type ProcessState,
  type PullRequest,
  prIdentity,
  REPO_FIELDS,
  type RepoFields,
  type RepoState,
  type Subject,
  TITLE_START,
} from "./brief.ts";

/** What the block says besides the two tracker outputs. */
export type ProcessBlock = {
  readonly subject: Subject;
  readonly prs: readonly PullRequest[];
  readonly rework_base: string | null;
  readonly legs: readonly Leg[];
};

/** The whole text of a brief. For a brief that holds what its grammar can say, reading it back gives the same brief. */
export function renderBrief(brief: Brief): string {
  const { process: state } = brief;
  if (state === null) return renderCore(brief);
  const flow = { phases: state.phases, tasks: state.plan?.tasks ?? [] };
  return renderCore(brief) + renderProcess(flow, state);
}

/**
 * The core: one blank line before each heading, none behind it.
 *
 * Source: flow state, section 10.4
 */
export function renderCore({ title, intent, repo_state, decisions, open_questions, skills }: Omit<Brief, "process">) {
  const lines = [
    title === "" ? TITLE_START : `${TITLE_START} ${title}`,
    "",
    "## Intent",
    ...(intent === "" ? [] : [intent]),
    "",
    ...repoLines(repo_state),
    "",
    "## Decisions",
    ...bullets(decisions.map(({ text, rejected }) => (rejected ? `rejected: ${text}` : text))),
    "",
    "## Open questions",
    ...bullets(open_questions),
    "",
    ...(skills.length === 0 ? ["## Skills loaded: none"] : ["## Skills loaded", ...skills.map((name) => `- ${name}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * The block as it is appended to a core: it begins with the blank line and ends behind the gate-history line.
 *
 * Source: flow state, section 10.4
 */
export function renderProcess(flow: Pick<Flow, "phases" | "tasks">, block: ProcessBlock): string {
  const lines = [
    "",
    PROCESS_HEADING,
    "",
    renderPhases(flow.phases),
    "",
    renderPlan(flow.tasks),
    "",
    ...subjectLines(block.subject),
    ...block.prs.flatMap((pr) => [`PR: ${prIdentity(pr)}`, `Pre-rework head: ${pr.pre_rework_head}`]),
    ...(block.rework_base === null ? [] : [`Rework base: ${block.rework_base}`]),
    ...legLines(block.legs),
    GATE_LINE,
  ];
  return `${lines.join("\n")}\n`;
}

/** The process state that a block says, for a flow with a phase in progress; null for one without. */
export function processState(flow: Pick<Flow, "phases" | "tasks">, block: ProcessBlock): ProcessState | null {
  const active = flow.phases.find(({ status }) => status === "in_progress");
  if (active === undefined) return null;
  const { tasks } = flow;
  const done = tasks.filter(({ status }) => status === "complete" || status === "skipped").length;
  return {
    phases: flow.phases,
    active: active.name,
    substep: phaseOf(flow, active.name).substep ?? null,
    plan:
      tasks.length === 0
        ? null
        : { done, total: tasks.length, tasks: tasks.map(({ name, status }, index) => ({ index, name, status })) },
    ...block,
    legs: block.legs.length < 2 ? [] : block.legs,
  };
}

/** The subject of a task plan: the first task in progress. */
export function taskSubject(tasks: readonly Task[]): Subject {
  return { kind: "task", active_task: tasks.find(({ status }) => status === "in_progress")?.name ?? null };
}

function subjectLines(subject: Subject): readonly string[] {
  if (subject.kind === "task") return [`Active task: ${subject.active_task ?? "none"}`];
  return [`Ledger: ${subject.path}`, `Last decision: ${subject.last_decision ?? "none"}`];
}

/** A flow with one member has no block. */
function legLines(legs: readonly Leg[]): readonly string[] {
  if (legs.length < 2) return [];
  const entries = legs.flatMap(({ repo, worktree, branch, head, dirty, receipt }) => [
    `- repo: ${repo}`,
    `  worktree: ${worktree}`,
    `  branch: ${branch}`,
    `  HEAD: ${head}`,
    `  dirty: ${dirty}`,
    ...((receipt ?? null) === null ? [] : [`  receipt: ${receipt}`]),
  ]);
  return ["legs:", ...entries];
}

function repoLines(state: RepoState | null): readonly string[] {
  if (state === null) return [];
  if (state.kind === "not-a-git-repo") return ["## Repo state: not a git repo"];
  if (state.kind === "unavailable") {
    return [`## Repo state: unavailable${state.reason === null ? "" : ` (${state.reason})`}`];
  }
  return ["## Repo state", ...REPO_FIELDS.flatMap(([name, key]) => fieldLines(name, state.fields[key]))];
}

function fieldLines(name: string, value: RepoFields[keyof RepoFields]): readonly string[] {
  if (value === null) return [];
  const [first = "", ...further] =
    typeof value === "string" ? [value] : "kind" in value ? [worktreeText(value)] : value;
  return [first === "" ? `${name}:` : `${name}: ${first}`, ...further.map((line) => `  ${line}`)];
}

function worktreeText(value: NonNullable<RepoFields["worktree"]>): string {
  return value.kind === "yes" ? `yes ${value.path}` : value.kind;
}

function bullets(texts: readonly string[]): readonly string[] {
  if (texts.length === 0) return ["- none"];
  return texts.map((text) => `- ${text.replaceAll("\n", "\n  ")}`);
}
