/**
 * One leg at one place: started, watched, and ended within bounds whatever the place does.
 *
 * Source: delegation run, sections 1.6, 8.5
 */

import { contractDigest } from "../core/delegation/contract-digest.ts";
import type { CallLeg } from "../core/delegation/legs.ts";
import type { Attempt } from "../core/delegation/result.ts";
import type { Job, JobPhase } from "../core/delegation/wire-result.ts";
import { MAX_DEADLINE_SEC } from "../core/node/job.ts";
import type { Decision } from "../core/placement/deal.ts";
import { LOCAL, type Spot } from "../core/placement/place.ts";
import type { PlaceOutcome, PlaceProgress } from "../core/placement/port.ts";
import { placementReason, spotText } from "../core/placement/sentence.ts";
import type { Desk } from "./desk.ts";
import { queueBudgetMs } from "./remote-place.ts";

export type Ended = {
  readonly job: Job;
  readonly spot: Spot;
  readonly decision: Decision;
  readonly kind: Attempt["kind"];
  readonly wall_ms: number;
  readonly outcome: PlaceOutcome | Abandoned;
  /** What the leg was doing when it was last heard of. */
  readonly doing: string;
  /** Ends a job that goes on behind a place that is silent. */
  readonly stop: () => void;
  /** What it tells of such a job is passed on no more: the leg is elsewhere. */
  readonly mute: () => void;
};

/** The place did not end the job although it was told to, or for longer than any job may take. */
export type Abandoned = { readonly kind: "abandoned"; readonly after_sec: number; readonly was_stopped: boolean };

/** Phases in which a job waits for its seat and is not executed. */
const WAITING: ReadonlySet<JobPhase> = new Set(["admission", "contention"]);

/** A place is given so much beyond all its waits before it is given up, in seconds. */
const GRACE_SEC = 120;
/** Seats that go down under a run are waited for at most so often. */
const RECOVERIES = 2;

export type AttemptOptions = {
  readonly kind: Attempt["kind"];
  /** The wall of this attempt. */
  readonly timeout_sec: number;
  /** Ends this attempt alone. */
  readonly cancel: AbortSignal;
};

/**
 * Runs a leg where it was placed. It holds a position of the window meanwhile.
 *
 * Errors: none; a place that throws has a defect, and that is an outcome `failed`
 */
export async function runAttempt(
  desk: Desk,
  leg: CallLeg,
  decision: Decision & { readonly kind: "place" },
  { kind, timeout_sec, cancel }: AttemptOptions,
): Promise<Ended> {
  const { spot } = decision.candidate;
  const { clock } = desk.world;
  const contract = timeout_sec === leg.contract.timeout_sec ? leg.contract : { ...leg.contract, timeout_sec };
  const job_id = desk.world.mint.jobId();
  const contract_sha256 = contract === leg.contract ? leg.contract_sha256 : contractDigest(contract, desk.world.sha256);
  const job: Job = { job_id, contract, contract_sha256 };
  const own = new AbortController();
  const signal = AbortSignal.any([desk.signal, cancel, own.signal]);
  const started = clock.ms();
  desk.start(leg.index);
  const place = { node: spot.place, seat: spot.seat };
  desk.emit({ kind: "placed", index: leg.index, attempt: kind, ...place, reason: placementReason(decision) });
  let doing = "starting";
  let isMuted = false;
  const mute = () => {
    isMuted = true;
  };
  const onProgress = (progress: PlaceProgress) => {
    if (isMuted) return;
    if (progress.kind === "silent") {
      desk.emit({ index: leg.index, node: spot.place, ...progress });
      return;
    }
    doing = doingOf(progress);
    desk.setWaiting(leg.index, progress.kind === "queued" || WAITING.has(progress.progress.phase));
    if (progress.kind === "running") desk.emit({ kind: "progress", index: leg.index, progress: progress.progress });
    else {
      const { position, about_sec } = progress;
      desk.emit({ kind: "queued", index: leg.index, position, about_sec });
    }
  };
  const left_sec = desk.deadlineMs === null ? 0 : Math.max(1, Math.ceil((desk.deadlineMs - started) / 1000));
  // A node takes no longer one, and nobody waits so long.
  const deadline_sec = Math.min(left_sec, MAX_DEADLINE_SEC);
  const running = (async (): Promise<PlaceOutcome> => {
    try {
      const port = spot.place === LOCAL ? desk.world.local : desk.fleet.find(spot.place);
      if (port === null) return { kind: "failed", reason: `internal: there is no place "${spot.place}"` };
      return await port.run(job, seatFor(desk, spot, kind), {
        signal,
        onProgress,
        deadline_sec,
        of: { run: desk.run_id, leg: leg.index },
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: "failed", reason: `internal: ${spotText(spot)}: ${why}` };
    }
  })();
  // What lies at a node that says nothing of its wait is left there for so long.
  const lying_sec = spot.place === LOCAL ? 0 : queueBudgetMs(null, timeout_sec) / 1000;
  const outcome = await boundedBy(desk, running, { own, cancel, timeout_sec, lying_sec });
  desk.unbind(leg.index);
  if (outcome.kind === "ran") desk.noteRan(leg.index, spot.place, job_id);
  const wall_ms = clock.ms() - started;
  return { job, spot, decision, kind, wall_ms, outcome, doing, stop: () => own.abort(), mute };
}

/** A node chooses among its seats itself, unless the caller named one, or the leg had its turn on another. */
function seatFor({ call }: Desk, { place, seat }: Spot, kind: Attempt["kind"]): string {
  return place === LOCAL || kind === "retry" ? seat : call.seat;
}

/** The outcome, or that there was none in time. */
async function boundedBy(
  desk: Desk,
  running: Promise<PlaceOutcome>,
  bounds: { own: AbortController; cancel: AbortSignal; timeout_sec: number; lying_sec: number },
): Promise<PlaceOutcome | Abandoned> {
  const { own, cancel, timeout_sec, lying_sec } = bounds;
  const { clock, limits } = desk.world;
  const settled = new AbortController();
  void running.finally(() => settled.abort());
  const waits = [limits.slot_wait_sec, limits.contention_wait_sec, (1 + RECOVERIES) * limits.admission_wait_sec];
  // Twice: a node may let it lie as long as it may run.
  const most_sec = lying_sec + 2 * timeout_sec + waits.reduce((sum, wait) => sum + Math.max(0, wait), 0) + GRACE_SEC;
  // Whichever is first: it has ended, it is to end, or it takes longer than anything may.
  await clock.sleep(most_sec * 1000, AbortSignal.any([settled.signal, desk.signal, cancel]));
  const was_stopped = desk.stopped !== null || cancel.aborted;
  if (!settled.signal.aborted) {
    own.abort();
    await clock.sleep(desk.unwindMs, settled.signal);
  }
  if (settled.signal.aborted) return await running;
  const after_sec = was_stopped ? desk.unwindMs / 1000 : most_sec;
  return { kind: "abandoned", after_sec, was_stopped };
}

function doingOf(progress: Exclude<PlaceProgress, { kind: "silent" }>): string {
  if (progress.kind === "queued") {
    return progress.position === null ? "queued" : `queued at position ${progress.position}`;
  }
  const { phase, step, max_steps, tool } = progress.progress;
  switch (phase) {
    case "admission":
      return "loading model";
    case "contention":
      return "seat busy";
    case "seat_down":
      return "seat down";
    case "repack":
      return "structuring";
    default:
      return `step ${step}/${max_steps}${tool === "" ? "" : ` ${tool}`}`;
  }
}
