/**
 * A flow without process state, put together from what its branch shows: a spec, a plan, the commits that touched what its
 * tasks declare. Nothing that is found is approval: a person says what it is.
 */
import type { Brief } from "../../core/brief/brief.ts";
import { isUnder } from "../../core/brief/candidates.ts";
import {
  type Call,
  INFEASIBLE_ORDER,
  ledgerBoundary,
  ledgerEntry,
  openingCalls,
  skipped,
  started,
} from "../../core/brief/restore.ts";
import { stop } from "../../core/brief/stop.ts";
import { WritError } from "../../core/error.ts";
import { isLedger, parseLedger } from "../../core/ledger/ledger-file.ts";
import { type PlanFile, parsePlan } from "../../core/plan/plan-file.ts";
import type { PlanTask } from "../../core/plan/task-block.ts";
import { listedRows } from "../../core/tracker/plan-verbs.ts";
import { plansDir } from "../../core/tracker/settings.ts";
import { isSettled, isTaskStatus, offendersOf, type Task, type TaskStatus } from "../../core/tracker/task.ts";
import { asked, linesOf, porcelainOf } from "../git-facts.ts";
import { answerTo } from "./question.ts";
import { baseOf, briefContext, choosePlan, chooseSpec, openCandidates, plansOf } from "./resolve.ts";
import { statedStop } from "./restore.ts";
import type { ResumeWorld } from "./world.ts";

export type Reconstruction =
  /** Nobody approved the spec: no call is made. */
  | { readonly kind: "not-approved"; readonly spec: string }
  | {
      readonly kind: "calls";
      readonly spec: string;
      readonly calls: readonly Call[];
      readonly tasks: readonly Task[];
      readonly active: "plan" | "implement" | "verify";
      readonly isLedger: boolean;
      readonly plan: string | null;
    };

export type Found = { readonly spec: string; readonly plan: string | null };

/** The spec and plan, or ledger, that a worktree brings. Errors: `candidates`, `answer_needed`, `usage` */
export function findSubjects(world: ResumeWorld, worktree: string, brief: Brief | null): Found {
  const found = openCandidates(world, worktree);
  const about = briefContext(brief);
  const spec = chooseSpec(world, worktree, found, { about, isOptional: false });
  if (spec === null) throw new Error("a spec that is needed was not chosen");
  const plans = plansOf(world, worktree, found, spec);
  if (plans.length > 0) return { spec, plan: choosePlan(world, plans, about) };
  const ledgers = found.ledgers
    .map((path) => world.resolve(worktree, path))
    .filter((path) => ledgerSpec(world, worktree, path) === spec);
  return { spec, plan: ledgers.length === 0 ? null : choosePlan(world, ledgers, about) };
}

/** The plan, or ledger, of a spec that was named. Source: flow state, section 12.15, step 7. */
export function pinnedSubjects(world: ResumeWorld, worktree: string, relative: string): Found {
  const spec = world.resolve(worktree, relative);
  const name = relative.slice(relative.lastIndexOf("/") + 1);
  const dir = world.settingsAt(worktree).specDirs.find((each) => isUnder(relative, each));
  const plan = world.resolve(worktree, `${plansDir(dir ?? "doc/specs")}/${name}`);
  return { spec, plan: world.kindOf(plan) === "file" ? plan : null };
}

function ledgerSpec(world: ResumeWorld, worktree: string, path: string): string | null {
  const { spec } = parseLedger(world.readFile(path)?.text ?? "");
  return spec === null ? null : world.resolve(worktree, spec);
}

/**
 * What is to be called, after a person has approved or confirmed.
 *
 * Errors: `answer_needed`, `usage`, `infeasible`, `unreadable`
 * Source: flow state, section 12.14
 */
export function planReconstruction(
  world: ResumeWorld,
  worktree: string,
  brief: Brief | null,
  { spec, plan }: Found,
): Reconstruction {
  if (plan === null) return approve(world, brief, spec);
  const read = world.readFile(plan);
  if (read === null)
    throw stop("unreadable", `unreadable: ${plan}`, { path: plan, details: [world.whyUnreadable(plan)] });
  if (isLedger(read.text)) return confirmLedger(world, brief, spec, plan);
  const parsed = parsePlan(read.text);
  const proposal = propose(world, worktree, plan, parsed);
  const { tasks, stage } = confirm(world, worktree, brief, { spec, plan, ...proposal });
  const reason = `resume: ${spec}`;
  return {
    kind: "calls",
    spec,
    plan,
    tasks,
    active: stage,
    isLedger: false,
    calls: [
      ...openingCalls(spec),
      { tool: "plan", action: "check", path: plan, on_fail: "repair" },
      skipped("plan", reason),
      ...(stage === "verify" ? [skipped("implement", reason)] : []),
      started(stage),
      ...(tasks.length === 0 ? [] : [{ tool: "plan", action: "init", tasks } as const]),
    ],
  };
}

function approve(world: ResumeWorld, brief: Brief | null, spec: string): Reconstruction {
  const isApproved = answerTo(world, {
    name: "approved",
    flag: "--approved or --not-approved",
    about: [`Spec: ${spec}`, ...briefContext(brief)],
    given: world.answers.approved,
    prompt: "Is this spec approved? (yes or no)",
    read: yesOrNo,
  });
  if (!isApproved) return { kind: "not-approved", spec };
  return { kind: "calls", spec, plan: null, tasks: [], active: "plan", isLedger: false, calls: openingCalls(spec) };
}

function confirmLedger(world: ResumeWorld, brief: Brief | null, spec: string, ledger: string): Reconstruction {
  const isConfirmed = answerTo(world, {
    name: "confirm",
    flag: "--confirm",
    about: [`Spec: ${spec}`, `Ledger: ${ledger}`, ...briefContext(brief)],
    given: world.answers.confirm ? true : null,
    prompt: "Go on with this ledger? (yes or no)",
    read: yesOrNo,
  });
  if (!isConfirmed) return { kind: "not-approved", spec };
  const calls = [...openingCalls(spec), ...ledgerEntry(ledger, spec), started("implement"), ...ledgerBoundary(ledger)];
  return { kind: "calls", spec, plan: ledger, tasks: [], active: "implement", isLedger: true, calls };
}

function yesOrNo(typed: string): boolean | null {
  if (/^y(?:es)?$/i.test(typed)) return true;
  return /^no?$/i.test(typed) ? false : null;
}

type Proposed = { readonly task: PlanTask; readonly commits: readonly string[]; readonly status: TaskStatus };
type Stage = "implement" | "verify";
type Proposal = { readonly rows: readonly Proposed[]; readonly stage: Stage; readonly note: string | null };

/** A task is complete when a commit behind the plan's own touched what it declares. */
function propose(world: ResumeWorld, worktree: string, plan: string, { tasks }: PlanFile): Proposal {
  const base = baseOf(world, worktree);
  const path = world.below(worktree, plan) ?? plan;
  const range = (from: string) => `${from}..HEAD`;
  const added = asked(
    world,
    worktree,
    "--literal-pathspecs",
    "log",
    "--diff-filter=A",
    "--format=%H",
    "--reverse",
    range(base),
    "--",
    path,
  );
  const commit = linesOf(added ?? "")[0] ?? null;
  const isAtBase = commit === null && asked(world, worktree, "cat-file", "-e", `${base}:${path}`) !== null;
  const rows = tasks.map((task): Proposed => {
    const paths = [...new Set((task.files?.entries ?? []).map(pathspec))];
    // Without a path the log would be of everything.
    const log =
      commit === null || paths.length === 0
        ? null
        : asked(world, worktree, "log", "--format=%h", range(commit), "--", ...paths);
    const commits = linesOf(log ?? "");
    return { task, commits, status: commits.length > 0 ? "complete" : "pending" };
  });
  const note = isAtBase ? "plan predates base; no post-base task evidence" : "plan uncommitted; no task evidence";
  const isPending = rows.some(({ status }) => status === "pending");
  return { rows, stage: isPending || rows.length === 0 ? "implement" : "verify", note: commit === null ? note : null };
}

function pathspec({ path, isGlob }: { readonly path: string; readonly isGlob: boolean }): string {
  return `:(${isGlob ? "glob" : "literal"})${path}`;
}

type Snapshot = { readonly tasks: readonly Task[]; readonly stage: Stage };

function confirm(
  world: ResumeWorld,
  worktree: string,
  brief: Brief | null,
  { spec, plan, rows, stage, note }: Proposal & { readonly spec: string; readonly plan: string },
): Snapshot {
  const { answers } = world;
  const unknown = [...answers.tasks.keys()].find((number) => rows.every(({ task }) => task.number !== number));
  if (unknown !== undefined) throw new WritError("usage", `--task ${unknown}: the plan has no such task`);
  let edits: ReadonlyMap<number, TaskStatus> = answers.tasks;
  let chosen = answers.stage ?? stage;
  let fault: WritError | null = null;
  for (;;) {
    const snapshot = { tasks: snapshotOf(rows, edits), stage: chosen };
    fault = faultOf(snapshot);
    if (answers.confirm) {
      if (fault !== null) throw fault;
      return snapshot;
    }
    const proposal = rows.map(({ task, commits }, index) => {
      const status = snapshot.tasks[index]?.status ?? "pending";
      return `Task ${task.number}: ${task.title} - ${commits.join(", ") || "no commit"} - ${status}`;
    });
    const typed = answerTo(world, {
      name: "confirm",
      flag: "--confirm",
      about: [
        `Spec: ${spec}`,
        `Plan: ${plan}`,
        ...briefContext(brief),
        ...(note === null ? [] : [`Note: ${note}`]),
        ...proposal,
        ...(porcelainOf(world, worktree) ?? []),
        `Stage: ${chosen}`,
        ...(fault === null ? [] : [fault.message, ...fault.lines]),
      ],
      given: null,
      prompt: "Confirm? (yes, or changes such as 2=complete stage=verify)",
      read: (text) => (text === "" ? null : text),
    });
    if (yesOrNo(typed) === true && fault === null) return snapshot;
    const read = readEdits(typed, rows);
    edits = new Map([...edits, ...read.tasks]);
    chosen = read.stage ?? chosen;
  }
}

function snapshotOf(rows: readonly Proposed[], edits: ReadonlyMap<number, TaskStatus>): readonly Task[] {
  return rows.map(({ task, status }) => ({
    name: `W${task.wave}: ${task.title}`,
    status: edits.get(task.number) ?? status,
  }));
}

/** Why a snapshot cannot be restored; null when it can. Source: flow state, section 12.10. */
function faultOf({ tasks, stage }: Snapshot): WritError | null {
  const offenders = offendersOf(tasks);
  if (offenders.length > 0) {
    return stop("infeasible", INFEASIBLE_ORDER, { details: listedRows(offenders, tasks) });
  }
  return stage === "implement" && tasks.length > 0 && tasks.every(isSettled) ? statedStop() : null;
}

/** Changes that were typed: `2=complete stage=verify`. What is none of them is passed over, and asked for again. */
function readEdits(typed: string, rows: readonly Proposed[]) {
  const tasks = new Map<number, TaskStatus>();
  let stage: Stage | null = null;
  for (const word of typed.split(/\s+/)) {
    const [left = "", right = ""] = word.split("=");
    if (left === "stage" && (right === "implement" || right === "verify")) stage = right;
    if (/^\d{1,6}$/.test(left) && isTaskStatus(right) && rows.some(({ task }) => task.number === Number(left))) {
      tasks.set(Number(left), right);
    }
  }
  return { tasks, stage };
}
