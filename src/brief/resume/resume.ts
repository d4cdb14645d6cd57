/** Resumes a flow from a handoff brief, a worktree or a spec: what is checked first, and then the calls. */
import type { Brief, ProcessState, PullRequest } from "../../core/brief/brief.ts";
import { prIdentity } from "../../core/brief/brief.ts";
import { callLine } from "../../core/brief/call-text.ts";
import { firstStop, parseBrief, stopDetails } from "../../core/brief/parse.ts";
import { quoteWords } from "../../core/brief/quote.ts";
import { type Call, planRestore, savedTasks, shipRetryCalls } from "../../core/brief/restore.ts";
import type { Grant } from "../../core/brief/spec-header.ts";
import { stop } from "../../core/brief/stop.ts";
import { parseLedger } from "../../core/ledger/ledger-file.ts";
import type { Flow } from "../../core/tracker/flow.ts";
import type { PhaseName } from "../../core/tracker/phase.ts";
import { renderPlan } from "../../core/tracker/status-text.ts";
import type { Task } from "../../core/tracker/task.ts";
import { admitLegs } from "./admission.ts";
import { blockDigest, enterBrief, enterWorktree } from "./entry.ts";
import { classify, type Input, type Operands, primaryOf } from "./operands.ts";
import { noticePlain, noticeTurn } from "./plain.ts";
import { checkPullRequests } from "./pull-request.ts";
import { answerTo } from "./question.ts";
import { type Found, findSubjects, pinnedSubjects, planReconstruction } from "./reconstruct.ts";
import { briefContext, checkSpecHeader, resolveSubjects } from "./resolve.ts";
import { makeCalls, type Restored, type RestoreOrder, statedStop } from "./restore.ts";
import { openSeed } from "./seed.ts";
import type { ResumeWorld } from "./world.ts";

export type ResumeOptions = {
  /** Everything is checked and the calls are printed; none is made. */
  readonly planOnly: boolean;
  /** Absolute; null: skills are named and not looked up. */
  readonly skillsDir: string | null;
};

export type Resumed = {
  readonly route: "process-state" | "hotfix" | "new-flow" | "reconstruction" | "seed";
  readonly active: PhaseName | null;
  readonly calls: readonly Call[];
  readonly prs: readonly PullRequest[];
  readonly rework_base: string | null;
  /** Whether the calls were made. */
  readonly restored: boolean;
};

const NO_CALLS = { active: null, calls: [], prs: [], rework_base: null, restored: false };

/**
 * Errors: every stop of sections 12 to 14 under its code, `answer_needed`, `usage`, those of the store, `git_missing`
 * Source: flow state, section 12
 */
export function resume(world: ResumeWorld, operands: Operands, options: ResumeOptions): Resumed {
  const input = classify(world, operands);
  if (input.kind === "brief") return resumeBrief(world, input, options);
  if (input.kind === "worktree") {
    const { worktree } = enterWorktree(world, input.path);
    return reconstruct(world, worktree, null, { ...options, route: "reconstruction", found: null });
  }
  const primary = primaryOf(world);
  if (primary === null) throw new Error("a seed was found without a primary checkout");
  const { worktree, spec } = openSeed(world, input.path, primary, options.planOnly);
  const found = pinnedSubjects(world, worktree, spec);
  return reconstruct(world, worktree, null, { ...options, route: "seed", found });
}

type BriefInput = Extract<Input, { kind: "brief" }>;

function resumeBrief(world: ResumeWorld, input: BriefInput, options: ResumeOptions): Resumed {
  const brief = readBrief(input);
  const entry = enterBrief(world, input, brief, options);
  noticeTurn(world, brief);
  const { process } = brief;
  if (process === null && brief.skills.includes("chase-bug")) return hotfix(world, brief, entry?.worktree ?? null);
  if (process === null && entry === null) {
    world.say("Route: new flow");
    world.say(brief.intent);
    noticePlain(world, brief);
    return { ...NO_CALLS, route: "new-flow" };
  }
  if (entry === null) throw new Error("a process state is restored in a worktree");
  if (process === null) {
    return reconstruct(world, entry.worktree, brief, { ...options, route: "reconstruction", found: null });
  }
  return restore(world, { input, brief, process, worktree: entry.worktree, options });
}

/** Errors: the first stop, under the issue's own code */
function readBrief({ text, path }: BriefInput): Brief {
  const { brief, issues } = parseBrief(text);
  const found = firstStop(issues);
  if (brief !== null) return brief;
  if (found === null) throw new Error("a text without a stop is a brief");
  throw stop("brief_unreadable", found.message, { path, details: stopDetails(text, found), name: found.code });
}

/** Source: flow state, section 12.5 */
function hotfix(world: ResumeWorld, brief: Brief, worktree: string | null): Resumed {
  world.say("Route: hotfix");
  world.say(`Record: ${recordOf(world, brief, worktree ?? world.cwd) ?? "none"}`);
  return { ...NO_CALLS, route: "hotfix" };
}

/** The first existing path of a hotfix record that decisions or intent name. */
function recordOf(world: ResumeWorld, { decisions, intent }: Brief, folder: string): string | null {
  for (const word of [...decisions.map(({ text }) => text), intent].flatMap((text) => text.split(/\s+/))) {
    const at = word.lastIndexOf("hotfix-");
    const name = at < 0 ? null : /^hotfix-[A-Za-z0-9._-]+\.md/.exec(word.slice(at))?.[0];
    if (name == null) continue;
    const path = word.slice(0, at).replace(/^[`"'(<]+/, "") + name;
    if (world.kindOf(world.resolve(folder, path)) === "file") return path;
  }
  return null;
}

type Restoring = {
  readonly input: BriefInput;
  readonly brief: Brief;
  readonly process: ProcessState;
  readonly worktree: string;
  readonly options: ResumeOptions;
};

/** Process-state restore. Source: flow state, sections 12.7 to 12.13 and 14. */
function restore(world: ResumeWorld, restoring: Restoring): Resumed {
  const { input, brief, process: state, worktree, options } = restoring;
  const isCoordinatedShip = state.active === "ship" && state.legs.length > 1;
  const about = briefContext(brief);
  const { spec, plan } = resolveSubjects(world, worktree, state, { mayLackPlan: isCoordinatedShip, about });
  const grant = checkSpecHeader(world, spec, state.active === "brainstorm");
  checkPullRequests(world, worktree, spec, state);
  const areDelivered = admit(world, worktree, spec, state);
  const { calls, active } = callsOf(world, state, { brief: input.operand, spec, plan }, areDelivered);
  const tasks = savedTasks(state);
  const result: Resumed = {
    route: "process-state",
    active: state.active,
    calls,
    prs: state.prs,
    rework_base: state.rework_base,
    restored: !options.planOnly,
  };
  if (options.planOnly) {
    for (const [index, call] of calls.entries()) world.say(callLine(call, index));
    sayPullRequests(world, state);
    return result;
  }
  const substep = calls.some(({ action }) => action === "substep") ? state.substep : null;
  const restored = makeCalls(world, {
    worktree,
    calls,
    tasks,
    expected: { active, substep },
    brief: briefMark(world, input),
    again: againWith(input, brief, worktree),
  });
  sayPullRequests(world, state);
  if (state.active === "ship") world.say("Ship resumes at verify: the closure review runs again before ship.");
  if (isRetry(state, plan)) {
    world.notice("Retry: companions delivered; re-validate the home against the recorded contracts.");
  }
  const { subject } = state;
  close(world, {
    restored,
    task: subject.kind === "task" ? subject.active_task : null,
    ledger: subject.kind === "ledger" ? plan : null,
    tasks,
    grant: state.active === "brainstorm" ? null : grant,
  });
  return result;
}

function isRetry({ active, legs }: ProcessState, plan: string | null): boolean {
  return active === "ship" && legs.length > 1 && plan === null;
}

function admit(world: ResumeWorld, worktree: string, spec: string | null, state: ProcessState): boolean {
  const specText = spec === null ? null : (world.readFile(spec)?.text ?? null);
  if (state.legs.length < 2) return false;
  const { specDirs, siblings } = world.settingsAt(worktree);
  const home = { worktree, specPath: spec ?? "", specText: specText ?? "", specDirs, siblings };
  return admitLegs(world, home, state);
}

/** Errors: `infeasible`, `candidates`, `answer_needed` */
function callsOf(
  world: ResumeWorld,
  state: ProcessState,
  place: { readonly brief: string; readonly spec: string | null; readonly plan: string | null },
  areDelivered: boolean,
): { readonly calls: readonly Call[]; readonly active: PhaseName } {
  if (isRetry(state, place.plan)) {
    if (!areDelivered) throw stop("candidates", `no plan pairs with ${place.spec ?? "none"}`, { path: place.spec });
    return { calls: shipRetryCalls({ process: state, ...place }), active: "verify" };
  }
  const found = planRestore({ process: state, ...place });
  if (found.kind === "stop") throw stop("infeasible", found.message, { details: found.details });
  if (found.kind === "calls") return { calls: found.calls, active: state.active === "ship" ? "verify" : state.active };
  const target = answerTo(world, {
    name: "target",
    flag: "--target verify or --target stop",
    about: ["Every task is complete or skipped: verify is proposed as the target."],
    given: world.answers.target,
    prompt: "Restore at verify? (verify or stop)",
    read: (typed) => (typed === "verify" || typed === "stop" ? typed : null),
  });
  if (target === "stop") throw statedStop();
  const again = planRestore({ process: state, ...place, target: "verify" });
  if (again.kind !== "calls") throw statedStop();
  return { calls: again.calls, active: "verify" };
}

function briefMark(world: ResumeWorld, { text, path }: BriefInput): RestoreOrder["brief"] {
  const block = blockDigest(world, text);
  const real = path === null ? null : (world.realPath(path) ?? path);
  return block === null ? null : { path: real, block_sha256: block };
}

function againWith({ operand }: BriefInput, brief: Brief, worktree: string): string {
  const named = brief.repo_state?.fields?.worktree?.kind === "yes";
  return `writ resume ${quoteWords(named ? [operand] : [operand, worktree])}`;
}

function sayPullRequests(world: ResumeWorld, { prs, rework_base }: ProcessState): void {
  for (const pr of prs) {
    world.say(`PR: ${prIdentity(pr)}`);
    world.say(`Pre-rework head: ${pr.pre_rework_head}`);
  }
  if (rework_base !== null) world.say(`Rework base: ${rework_base}`);
}

type Closing = {
  readonly restored: Restored;
  /** The brief's active task; null where it has none. */
  readonly task: string | null;
  /** The ledger that is gone on with. */
  readonly ledger: string | null;
  readonly tasks: readonly Task[];
  /** Null where no grant is read. */
  readonly grant: Grant | null;
};

/** Source: flow state, section 12.13 */
function close(world: ResumeWorld, { restored, task, ledger, tasks, grant }: Closing): void {
  if (ledger !== null) sayLedger(world, ledger, restored.flow);
  if (restored.repair !== null) {
    world.say(`Repaired plan: ${restored.repair.repaired} findings (${restored.repair.where})`);
  }
  const first = tasks.find(({ status }) => status === "in_progress")?.name ?? "none";
  const subject = ledger !== null ? "ledger rows" : (task ?? first);
  world.say(`Gate history not restored; re-validating \`${subject}\` before any stage advance`);
  if (grant === null) return;
  world.say(grant.kind === "active" ? `Standing grant active: ${grant.sentence}` : "No standing grant.");
}

function sayLedger(world: ResumeWorld, path: string, flow: Flow): void {
  const { lastDecision } = parseLedger(world.readFile(path)?.text ?? "");
  world.say(renderPlan(flow.tasks));
  world.say(`Last decision: ${lastDecision ?? "none"}`);
}

type Reconstructing = ResumeOptions & {
  readonly route: "reconstruction" | "seed";
  /** Null: the candidates of the branch. */
  readonly found: Found | null;
};

/** Source: flow state, sections 12.14 and 12.15 */
function reconstruct(world: ResumeWorld, worktree: string, brief: Brief | null, options: Reconstructing): Resumed {
  const found = options.found ?? findSubjects(world, worktree, brief);
  const grant = checkSpecHeader(world, found.spec, false);
  const planned = planReconstruction(world, worktree, brief, found);
  if (planned.kind === "not-approved") {
    world.say("Next: brainstorming with the spec as draft");
    return { ...NO_CALLS, route: options.route };
  }
  const { calls, active, tasks, spec, plan, isLedger } = planned;
  const result = { ...NO_CALLS, route: options.route, active, calls, restored: !options.planOnly };
  if (options.planOnly) {
    for (const [index, call] of calls.entries()) world.say(callLine(call, index));
    return result;
  }
  const restored = makeCalls(world, {
    worktree,
    calls,
    tasks,
    expected: { active, substep: null },
    brief: null,
    again: `writ resume ${quoteWords(world.typed)}`,
  });
  if (active === "plan") world.say(`Next: write the plan for ${spec}`);
  close(world, { restored, task: null, ledger: isLedger ? plan : null, tasks, grant });
  return result;
}
