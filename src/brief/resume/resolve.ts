/** Which spec, plan or ledger a flow goes on with, and whether its spec lets it. */
import type { Brief, ProcessState } from "../../core/brief/brief.ts";
import { type Candidates, candidateDirs, isUnder } from "../../core/brief/candidates.ts";
import { type Grant, readSpecHeader } from "../../core/brief/spec-header.ts";
import { stop } from "../../core/brief/stop.ts";
import { WritError } from "../../core/error.ts";
import { isLedger, parseLedger } from "../../core/ledger/ledger-file.ts";
import { plansDir } from "../../core/tracker/settings.ts";
import { deriveBase, readCandidates } from "../candidates.ts";
import { asked } from "../git-facts.ts";
import { answerTo, choosePath } from "./question.ts";
import type { ResumeWorld } from "./world.ts";

/** Paths absolute under the worktree. */
export type Subjects = {
  /** Null where an active brainstorm has none. */
  readonly spec: string | null;
  /** The plan, or the ledger of a ledger flow; null where none is needed, or it is not there. */
  readonly plan: string | null;
};

/**
 * The spec and plan of a process-state restore.
 *
 * @param mayLackPlan a coordinated ship brief, whose plan may have been stripped
 * Errors: `candidates`, `not_found`, `answer_needed`, `usage`
 * Source: flow state, section 12.7
 */
export function resolveSubjects(
  world: ResumeWorld,
  worktree: string,
  state: ProcessState,
  { mayLackPlan, about }: { readonly mayLackPlan: boolean; readonly about: readonly string[] },
): Subjects {
  if (state.subject.kind === "ledger") return resolveLedger(world, worktree, state.subject.path);
  const found = openCandidates(world, worktree);
  const spec = chooseSpec(world, worktree, found, { about, isOptional: state.active === "brainstorm" });
  if (spec === null || state.active === "brainstorm" || state.active === "plan") return { spec, plan: null };
  const plans = plansOf(world, worktree, found, spec);
  if (plans.length === 0 && mayLackPlan) return { spec, plan: null };
  if (plans.length === 0) throw stop("candidates", `no plan pairs with ${spec}`, { path: spec });
  return { spec, plan: choosePlan(world, plans, about) };
}

/** Errors: `answer_needed`, `usage` */
export function openCandidates(world: ResumeWorld, worktree: string): Candidates {
  const { specDirs } = world.settingsAt(worktree);
  const base = baseOf(world, worktree);
  return readCandidates(world, { worktree, base, specDirs });
}

/** The commit that the branch is counted from: derived, else a person's answer. */
export function baseOf(world: ResumeWorld, worktree: string): string {
  const derived = deriveBase(world, worktree);
  if (derived !== null) return derived;
  const commit = (ref: string) =>
    asked(world, worktree, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`);
  const { base } = world.answers;
  const given = base === null ? null : commit(base);
  if (base !== null && given === null) throw new WritError("usage", `--base names no commit: ${base}`);
  return answerTo(world, {
    name: "base",
    flag: "--base <ref>",
    about: [],
    given,
    prompt: "Which commit did the branch start from?",
    read: (typed) => (typed === "" ? null : commit(typed)),
  });
}

/** Errors: `candidates`, `answer_needed`, `usage` */
export function chooseSpec(
  world: ResumeWorld,
  worktree: string,
  { specs }: Candidates,
  { about, isOptional }: { readonly about: readonly string[]; readonly isOptional: boolean },
): string | null {
  const paths = specs.map((path) => world.resolve(worktree, path));
  const [only, ...further] = paths;
  if (only === undefined) {
    if (isOptional) return null;
    const dirs = candidateDirs(world.settingsAt(worktree).specDirs).join(", ");
    throw stop("candidates", `no spec candidate under ${dirs} - start with brainstorming or pass the spec path`, {
      hint: "writ phase start brainstorm",
    });
  }
  if (further.length === 0) return only;
  return choosePath(world, { name: "spec", flag: "--spec <path>", paths, given: world.answers.spec, about });
}

export function plansOf(world: ResumeWorld, worktree: string, found: Candidates, spec: string): readonly string[] {
  const own = [...found.plans].find(([path]) => world.resolve(worktree, path) === spec)?.[1] ?? [];
  return own.map((path) => world.resolve(worktree, path));
}

export function choosePlan(world: ResumeWorld, paths: readonly string[], about: readonly string[]): string {
  const [only, ...further] = paths;
  if (only !== undefined && further.length === 0) return only;
  return choosePath(world, { name: "plan", flag: "--plan <path>", paths, given: world.answers.plan, about });
}

/** A ledger names its spec, whatever the two are called. */
function resolveLedger(world: ResumeWorld, worktree: string, named: string): Subjects {
  const ledger = world.resolve(worktree, named);
  const below = world.below(worktree, ledger);
  const read = world.readFile(ledger);
  if (read === null) throw stop("not_found", `not found: ${named}`, { path: ledger });
  if (!isLedger(read.text)) throw stop("candidates", `not a loop ledger: ${named}`, { path: ledger });
  const { spec } = parseLedger(read.text);
  const specPath = spec === null ? null : world.resolve(worktree, spec);
  const specBelow = specPath === null ? null : world.below(worktree, specPath);
  const isPaired =
    specBelow !== null &&
    below !== null &&
    world.settingsAt(worktree).specDirs.some((dir) => isUnder(specBelow, dir) && isUnder(below, plansDir(dir)));
  if (specPath === null || !isPaired) {
    throw stop("candidates", `ledger and spec are not paired: ${named} vs ${spec ?? "none"}`, { path: ledger });
  }
  if (world.kindOf(specPath) !== "file") throw stop("not_found", `not found: ${spec}`, { path: specPath });
  return { spec: specPath, plan: ledger };
}

/**
 * Entry check 6: the deferral always, the grant where a flow goes on behind brainstorm.
 *
 * @returns null where no grant is read
 * Errors: `spec_header`
 * Source: flow state, section 12.9
 */
export function checkSpecHeader(world: ResumeWorld, spec: string | null, isBrainstorm: boolean): Grant | null {
  const text = spec === null ? null : (world.readFile(spec)?.text ?? null);
  if (spec === null || text === null) return null;
  const { grant, deferral } = readSpecHeader(text);
  if (!isBrainstorm && grant.kind === "malformed") {
    throw stop("spec_header", `spec grant line is malformed: ${spec}`, { path: spec, details: grant.lines });
  }
  if (deferral !== null) throw stop("spec_header", `spec is deferred: ${spec}`, { path: spec, details: [deferral] });
  return isBrainstorm ? null : grant;
}

/** What a question is told about the brief. */
export function briefContext(brief: Brief | null): readonly string[] {
  if (brief === null) return ["no brief context available"];
  const decisions = brief.decisions.map(({ text, rejected }) => `- ${rejected ? "rejected: " : ""}${text}`);
  return [`Intent: ${brief.intent}`, ...(decisions.length === 0 ? [] : ["Decisions:", ...decisions])];
}
