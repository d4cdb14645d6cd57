/** Makes the calls of a restore, one by one, on the store of the target worktree. */
import { callLine } from "../../core/brief/call-text.ts";
import { type Call, INFEASIBLE_STATED } from "../../core/brief/restore.ts";
import { stop } from "../../core/brief/stop.ts";
import { type ErrorCode, WritError } from "../../core/error.ts";
import { checkAllowance } from "../../core/ledger/check.ts";
import { type LedgerFile, parseLedger } from "../../core/ledger/ledger-file.ts";
import { refreshTasks } from "../../core/ledger/refresh.ts";
import type { Finding } from "../../core/plan/finding.ts";
import { continuationLines, repairFindingText } from "../../core/plan/repair.ts";
import type { TrackerAnswer } from "../../core/tracker/answer.ts";
import { type Flow, flowText, INITIAL_FLOW, isIdle, phaseOf, settleImplement } from "../../core/tracker/flow.ts";
import type { PhaseName } from "../../core/tracker/phase.ts";
import { movePhase } from "../../core/tracker/phase-verbs.ts";
import { movePlan } from "../../core/tracker/plan-verbs.ts";
import type { ArchivedFlow, FlowRecord, FlowStore } from "../../core/tracker/repository.ts";
import { renderPhases, renderPlan } from "../../core/tracker/status-text.ts";
import type { Task } from "../../core/tracker/task.ts";
import { checkPlanFile, recordCheck } from "../check-plan.ts";
import { porcelainOf } from "../git-facts.ts";
import { type PlanRepair, repairPlanFile } from "../repair-plan.ts";
import type { ResumeWorld } from "./world.ts";

export type RestoreOrder = {
  readonly worktree: string;
  readonly calls: readonly Call[];
  /** The saved task list: evidence for plan repair. */
  readonly tasks: readonly Task[];
  readonly expected: { readonly active: PhaseName; readonly substep: string | null };
  /** The brief that is restored, for the mark of a restore that stops; null where there is none. */
  readonly brief: { readonly path: string | null; readonly block_sha256: string } | null;
  /** How to go on after a repair that stopped. */
  readonly again: string;
};

export type Restored = {
  readonly flow: Flow;
  /** Null where the plan passed at once. */
  readonly repair: { readonly repaired: number; readonly where: string } | null;
};

/**
 * Makes the calls. A former flow is archived in the transaction of the first; a restore that stops behind it leaves the
 * calls that were made, and a mark, so that the same brief can be resumed again.
 *
 * Errors: `restore`, `plan_findings`, `repair_stopped`, `host`, those of the store
 * Source: flow state, sections 12.4, 12.11 and 13
 */
export function makeCalls(world: ResumeWorld, order: RestoreOrder): Restored {
  const store = world.storeAt(order.worktree);
  let repair: Restored["repair"] = null;
  let made = 0;
  try {
    for (const [index, call] of order.calls.entries()) {
      world.say(callLine(call, index));
      if (call.tool === "host") host(world, order.worktree, call.action, call.path);
      else if (call.action === "check") repair = check(world, order, store, call) ?? repair;
      else if (call.action === "refresh") refresh(world, store, call.path);
      else track(world, order, store, index, call);
      made = index + 1;
    }
    const { flow } = store.read();
    compare(order, flow);
    return { flow, repair };
  } catch (error) {
    if (made > 0) leaveMark(world, store, order);
    throw error;
  }
}

type TrackerCall = Exclude<Call, { tool: "host" } | { action: "check" } | { action: "refresh" }>;

function track(world: ResumeWorld, order: RestoreOrder, store: FlowStore, index: number, call: TrackerCall): void {
  const settings = world.settingsAt(order.worktree);
  const digestOf = (path: string) => world.readFile(path)?.sha256 ?? null;
  const at = world.now();
  store.write((record) => {
    const { flow, archive } =
      index === 0 ? cleared(world, record, order, at) : { flow: record.flow, archive: undefined };
    const mark = index === 0 ? null : record.mark;
    const answer = move(flow, call, { settings, digestOf });
    if (answer.ok) {
      return { record: { flow: answer.flow, mark }, ...(archive === undefined ? {} : { archive }), value: null };
    }
    const first = answer.refusal.message.split("\n", 1)[0] ?? "";
    throw stop("restore", `restore refused at call ${index + 1}: ${first}`);
  });
}

/**
 * The empty flow that a restore begins with. What was there goes into the archive: a flow that was handed off by this very
 * brief, or the tasks that an idle one left behind. Any other flow was started meanwhile.
 */
function cleared(
  world: ResumeWorld,
  { flow, mark }: FlowRecord,
  { brief }: RestoreOrder,
  at: string,
): { readonly flow: Flow; readonly archive: ArchivedFlow | undefined } {
  const isHandedOff =
    mark !== null &&
    brief !== null &&
    mark.block_sha256 === brief.block_sha256 &&
    mark.state_sha256 === world.sha256(flowText(flow));
  if (!isIdle(flow) && !isHandedOff) {
    throw stop("restore", "restore refused at call 1: another flow was started meanwhile");
  }
  if (flowText(flow) === flowText(INITIAL_FLOW)) return { flow, archive: undefined };
  return { flow: INITIAL_FLOW, archive: { at, brief_path: isHandedOff ? mark.brief_path : null, flow } };
}

function move(flow: Flow, call: TrackerCall, facts: Parameters<typeof movePhase>[2]): TrackerAnswer {
  if (call.action === "init") return movePlan(flow, call);
  return movePhase(flow, call.action === "start" ? { ...call, force: false } : call, facts);
}

/** @returns what was repaired, where anything was */
function check(
  world: ResumeWorld,
  { worktree, tasks, again }: RestoreOrder,
  store: FlowStore,
  { path, on_fail }: Extract<Call, { action: "check" }>,
): Restored["repair"] {
  // The spec is the one that the plan itself names.
  const operands = { cwd: worktree, plan: path, spec: null };
  const found = checkPlanFile(world, operands);
  recordCheck(store, found);
  if (found.report.count === 0) return null;
  if (on_fail === "stop") {
    const { findings, count } = found.report;
    const message = `FAIL (${count} findings)`;
    throw wanting("plan_findings", message, [message, ...findings.map(repairFindingText)], { findings, path, again });
  }
  const repair = repairPlanFile(world, operands, tasks);
  recordCheck(store, repair.check);
  if (!repair.ok) throw repairStop(repair, path, again);
  return repair.where === null ? null : { repaired: repair.repaired, where: repair.where };
}

function repairStop({ repair }: Extract<PlanRepair, { ok: false }>, path: string, again: string): WritError {
  const { stop: line, findings } = repair;
  const message = line ?? continuationLines(findings).join("\n");
  const lines = [...findings.map(repairFindingText), message];
  return wanting("repair_stopped", message, lines, { findings, path, again });
}

/** @param lines as a person reads it; the document has the message and the findings apart */
function wanting(
  code: ErrorCode,
  message: string,
  lines: readonly string[],
  about: { readonly findings: readonly Finding[]; readonly path: string; readonly again: string },
): WritError {
  const findings = about.findings.map(({ check: name, class: kind, reason, task, line, evidence }) => ({
    check: name,
    class: kind,
    reason,
    ...(task === null ? {} : { task }),
    line,
    evidence,
  }));
  return new WritError(code, lines.join("\n"), {
    path: about.path,
    hint: about.again,
    layout: "plain",
    details: { message, findings },
  });
}

/** What can be decided here of the steps whose procedure is the host's. Source: flow state, section 12.11, "Host calls". */
function host(
  world: ResumeWorld,
  worktree: string,
  action: Extract<Call, { tool: "host" }>["action"],
  path: string,
): void {
  const ledger = openLedger(world, path);
  if (action === "pending-recovery") {
    if (ledger.pending === null || world.answers.pendingRecovered) return;
    throw stop("host", `ledger has a pending return: ${ledger.pending}`, {
      path,
      hint: "recover it, then resume with --pending-recovered",
    });
  }
  if (action === "ledger-migrate") {
    const below = world.below(worktree, path) ?? path;
    const dirty = porcelainOf(world, worktree, below);
    if (dirty !== null && dirty.length === 0) return;
    throw stop("host", `ledger is not clean: ${path}`, { path, hint: "commit the ledger, or take its changes back" });
  }
  const [finding] = checkAllowance(ledger).findings;
  if (finding !== undefined) throw stop("host", finding.reason, { path });
}

function openLedger(world: ResumeWorld, path: string): LedgerFile {
  const read = world.readFile(path);
  if (read === null) throw stop("host", `unreadable: ${path}`, { path });
  return parseLedger(read.text);
}

function refresh(world: ResumeWorld, store: FlowStore, path: string): void {
  const ledger = openLedger(world, path);
  store.write((record) => {
    const found = refreshTasks(record.flow.tasks, ledger);
    if (!found.ok) throw stop("host", found.message, { path, details: found.details });
    return { record: { ...record, flow: settleImplement({ ...record.flow, tasks: found.tasks }) }, value: null };
  });
}

/** Nothing is patched: what is not as it was to be is told. */
function compare({ expected, calls }: RestoreOrder, flow: Flow): void {
  const phase = phaseOf(flow, expected.active);
  const init = calls.find((call) => call.action === "init");
  const isLedger = calls.some(({ action }) => action === "refresh");
  // The rows of a ledger may all be settled: implement is then complete by itself.
  const isActive = phase.status === "in_progress" || (isLedger && settledBy(flow, expected.active));
  const isShown = (phase.substep ?? null) === expected.substep || phase.status !== "in_progress";
  const areTasks = init === undefined || isLedger || JSON.stringify(flow.tasks) === JSON.stringify(init.tasks);
  if (isActive && isShown && areTasks) return;
  throw stop("restore", "restore mismatch", {
    details: [...renderPhases(flow.phases).split("\n"), ...renderPlan(flow.tasks).split("\n")],
  });
}

function settledBy(flow: Flow, active: PhaseName): boolean {
  return active === "implement" && phaseOf(flow, active).status === "complete";
}

/** Source: flow state, section 12.4, the last paragraph of "Resume in place" */
function leaveMark(world: ResumeWorld, store: FlowStore, { brief }: RestoreOrder): void {
  if (brief === null) return;
  const at = world.now();
  store.write(({ flow }) => ({
    record: {
      flow,
      mark: {
        state_sha256: world.sha256(flowText(flow)),
        brief_path: brief.path,
        block_sha256: brief.block_sha256,
        at,
      },
    },
    value: null,
  }));
}

/** The stop of a person who does not take the proposed target. */
export function statedStop(): WritError {
  return stop("infeasible", INFEASIBLE_STATED);
}
