/**
 * One job at this place, from a contract to the result that crosses back. The same for a leg that runs here and for one
 * that a node was given.
 *
 *   checks  ->  slot  ->  model ready  ->  folder  ->  loop  ->  structured form  ->  diff  ->  clean up
 *
 * Whatever goes wrong is a result with its class and its reason; the transcript ends here.
 * Source: delegation run, sections 5.1, 6.1 and 7.7
 */
import type { DelegationContract } from "../core/delegation/contract.ts";
import type { Job, TraceEntry, WireResult } from "../core/delegation/wire-result.ts";
import { WritError } from "../core/error.ts";
import { CallLedger } from "../core/seat/call-ledger.ts";
import type { SeatPin, ToolSpec } from "../core/seat/endpoint.ts";
import {
  canceled,
  type Defer,
  doorClosed,
  loopFault,
  toolsNotSupported,
  unknownProfile,
} from "../core/seat/reasons.ts";
import { PROFILE_NAMES, toolsOf } from "../core/seat/tool-specs.ts";
import { completionBudgets, observationCap } from "../core/seat/window.ts";
import type { Workspace } from "../core/seat/workspace.ts";
import { admit, takeSlot } from "./admission.ts";
import { Calls } from "./calls.ts";
import { Conversation } from "./conversation.ts";
import { type JobOptions, type JobState, keepRates, openState } from "./job-state.ts";
import { Loop, type LoopEnd } from "./loop.ts";
import { openingOf, seedReads } from "./opening.ts";
import { Sender } from "./sender.ts";
import { NOT_STRUCTURED, type Structured, structureAnswer } from "./structured-step.ts";
import { Toolbox } from "./toolbox.ts";
import type { JobWorld } from "./world.ts";
import { NO_DOOR, type Published, publishDiff } from "./write-door.ts";

/**
 * Works on a job until there is a result.
 *
 * Errors: none but defects; the folder of the job is gone and its slot is free on every way out
 */
export async function runJob(world: JobWorld, job: Job, options: JobOptions): Promise<WireResult> {
  const state = openState(world, job, options, job.contract.timeout_sec * 1000);
  const done = await admitted(state).catch(placeFault);
  keepRates(state);
  const isUnseen = state.signal.aborted || state.meter.answers === 0;
  const pin = isUnseen ? null : await state.pin();
  return resultOf(state, done, pin);
}

/** What came of the parts of a job. */
type Done = {
  readonly end: LoopEnd;
  readonly structured: Structured;
  readonly published: Published;
  readonly trace: readonly TraceEntry[];
};

async function admitted(state: JobState): Promise<Done> {
  const planned = planTools(state.world, state.job.contract);
  if (!planned.ok) return deferred(planned.defer);
  if (state.signal.aborted) return deferred(canceled());
  const taken = await takeSlot(state);
  if (!taken.ok) return deferred(taken.defer);
  try {
    const defer = await admit(state);
    return defer === null ? await inFolder(state, planned.tools) : deferred(defer);
  } finally {
    taken.slot.release();
  }
}

type Planned =
  | { readonly ok: true; readonly tools: readonly ToolSpec[] }
  | { readonly ok: false; readonly defer: Defer };

/** The tools of a task at this place, none in single-shot mode; or why the place cannot take it. */
function planTools({ seat, agent_allow_write, env_rules }: JobWorld, contract: DelegationContract): Planned {
  const refused = (defer: Defer): Planned => ({ ok: false, defer });
  const { write_root } = contract;
  const profile = contract.profile === "" ? seat.profile : contract.profile;
  const spent = Object.entries(env_rules.max_calls_per_tool).flatMap(([name, most]) => (most === 0 ? [name] : []));
  const tools = toolsOf({ profile, write_root, deny_tools: [...env_rules.deny_tools, ...spent] });
  if (tools === null) return refused(unknownProfile(profile, PROFILE_NAMES));
  if (write_root !== "" && !agent_allow_write) return refused(doorClosed("agent_allow_write is false here"));
  // Without a tool that looks at anything, the documents go into the message.
  const isSingleShot = !seat.tools || tools.every(({ name }) => name === "finish");
  if (isSingleShot && write_root !== "") return refused(toolsNotSupported());
  return { ok: true, tools: isSingleShot ? [] : tools };
}

async function inFolder(state: JobState, tools: readonly ToolSpec[]): Promise<Done> {
  const { world, job } = state;
  const { context, write_root } = job.contract;
  const workspace = world.openWorkspace(job.job_id);
  try {
    workspace.fill(context);
    if (write_root === "") return await work(state, tools, workspace, null);
    const made = workspace.makeRoot(write_root);
    if (!made.ok) return deferred(made.kind === "failed" ? loopFault(made.message) : doorClosed(made.message));
    return await work(state, tools, workspace, workspace.snapshot(write_root));
  } finally {
    workspace.remove();
  }
}

/** What the place itself refuses: its disk, its state folder. Anything else that is thrown is a defect. */
function placeFault(error: unknown): Done {
  if (error instanceof WritError) return deferred(loopFault(error.message));
  throw error;
}

/** The loop, the structured form and the diff. @param before of the write root; null where no door is open */
async function work(
  state: JobState,
  tools: readonly ToolSpec[],
  workspace: Workspace,
  before: ReturnType<Workspace["snapshot"]> | null,
): Promise<Done> {
  const { world, job, endpoint, signal } = state;
  const { contract } = job;
  const { seat, limits, env_rules } = world;
  const ctx = seat.ctx_tokens > 0 ? seat.ctx_tokens : await endpoint.windowTokens(signal);
  const { max_calls_per_tool } = env_rules;
  const caps = { ...limits, documents: contract.context.length, max_calls_per_tool };
  const ledger = new CallLedger(
    tools.map(({ name }) => name),
    caps,
  );
  const conversation = new Conversation(state, openingOf(contract, tools), ctx, (ids) => ledger.lose(ids));
  const toolbox = new Toolbox(world, workspace, contract);
  const sender = new Sender(state);
  const calls = new Calls(state, ledger, toolbox);
  const loop = new Loop(state, { conversation, sender, ledger, calls, toolbox, tools });

  state.wall.start();
  if (seat.seed_reads && tools.some(({ name }) => name === "read_file")) {
    const budget = conversation.budget(tools, completionBudgets(seat, ctx).step_tokens);
    const characters = observationCap(budget, env_rules.max_observation_tokens);
    const seeded = await seedReads(contract, { budget, characters }, { conversation, toolbox, signal });
    if (seeded !== null) {
      conversation.add(seeded.turn);
      loop.trace.push(...seeded.trace);
    }
  }
  const end = await loop.run();
  // An answer was given: what serves the seat is asked while it makes the form of it.
  if (end.defer === null) void state.pin();
  const structured =
    end.defer === null ? await structureAnswer(state, sender, end.output, conversation.ctx) : NOT_STRUCTURED;
  const is_finished = end.defer === null && structured.defer === null;
  const run = { write_root: contract.write_root, is_finished, refused_writes: toolbox.refused_writes };
  const published = before === null ? NO_DOOR : publishDiff(before, workspace.snapshot(contract.write_root), run);
  return { end, structured, published, trace: loop.trace };
}

/** A job that ended before its first turn. */
function deferred(defer: Defer): Done {
  const { stop_reason } = defer;
  const end: LoopEnd = { output: "", defer, steps: 0, stop_reason, forced_final: false, output_truncated: false };
  return { end, structured: NOT_STRUCTURED, published: NO_DOOR, trace: [] };
}

function resultOf(state: JobState, { end, structured, published, trace }: Done, pin: SeatPin | null): WireResult {
  const { world, job, endpoint, meter, waits, wall } = state;
  // The first of them ended the job: what comes behind it did not change that.
  const defer = end.defer ?? structured.defer ?? published.defer;
  const isMiss = structured.defer !== null && structured.defer.defer_class !== "canceled";
  return {
    schema_version: 1,
    job_id: job.job_id,
    contract_sha256: job.contract_sha256,
    node_id: world.node_id,
    seat: world.seat.name,
    output: end.output,
    structured: structured.structured,
    schema_miss: isMiss,
    steps: end.steps,
    max_steps: job.contract.max_steps,
    stop_reason: stopReason(end, structured),
    stop_note: end.defer?.stop_note ?? "",
    forced_final: end.forced_final,
    output_truncated: end.output_truncated,
    deferred: defer !== null,
    reason: defer?.reason ?? "",
    defer_class: defer?.defer_class ?? "",
    diff: published.diff,
    diff_files: published.diff_files,
    write_note: published.write_note,
    repack: structured.repack,
    tokens: meter.toTokens(),
    timings: meter.toTimings(),
    trace,
    waits: waits.toWaits(),
    wall_ms: Math.round(wall.elapsed_ms()),
    seat_pin: pin,
    scripted: endpoint.isScripted(),
    writ_version: world.version,
  };
}

/** An answer that is there stopped the loop as it did, also where its form could not be made of it. */
function stopReason(end: LoopEnd, { defer }: Structured): WireResult["stop_reason"] {
  if (defer === null || defer.defer_class === "abstention") return end.stop_reason;
  return defer.stop_reason;
}
