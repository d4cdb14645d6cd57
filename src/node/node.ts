/**
 * A node: it takes jobs, keeps them durably, runs them on its seats in the order in which they came, and tells whoever
 * asks how they are. It knows no protocol: `wire/` asks it, and answers.
 *
 *   submit -> accepted -> running -> done
 *
 * What is acknowledged is in the store before the answer. What was running when the process died runs once more from the
 * start: a job has no effect outside of its own folder, and nothing partial was visible.
 *
 * Source: delegation run, sections 7.4 to 7.8
 */

import type { JobProgress, WireResult } from "../core/delegation/wire-result.ts";
import { WritError } from "../core/error.ts";
import { medianOf } from "../core/median.ts";
import { chooseSeat, isFree } from "../core/node/choose-seat.ts";
import { expectedWaitSec } from "../core/node/expected-wait.ts";
import { interruptedResult } from "../core/node/interrupted.ts";
import { agesOf, isTerminal, type JobView, type StoredJob } from "../core/node/job.ts";
import { LeaseBook, type LeaseState } from "../core/node/lease.ts";
import { PhaseClock } from "../core/node/phase-clock.ts";
import { type Room, roomOf } from "../core/node/room.ts";
import { LONGEST_WAIT_SEC } from "../core/node/route.ts";
import type { CancelAnswer, NodeRecord, NodeService, SubmitAnswer } from "../core/node/service.ts";
import { judgeSubmit, type NodeState, type Refusal } from "../core/node/submit.ts";
import { PROTOCOL, SCHEMA_VERSION } from "../core/placement/eligibility.ts";
import { toThousandths } from "../core/rounded.ts";
import type { NodeWorld } from "./world.ts";

/** How often the time served is kept and what is old enough is looked for, in milliseconds. */
const TICK_MS = 60_000;
/** How often leases are looked at, a change that could not be stored is tried again, and waiters are told of progress. */
const LOOK_MS = 5_000;
const STORE_RETRY_MS = 5_000;
const PROGRESS_MS = 250;
/** What a run gets to end in, once it was told to. */
const UNWIND_MS = 10_000;
/** The text of a contract is kept so long after the end of its job. */
const CONTRACT_KEPT_MS = 3_600_000;
const HOUR_MS = 3_600_000;
/** Walls that the median is taken of. */
const RECENT = 5;
/** A poll is held no longer. */
const HELD_WAIT_MS = LONGEST_WAIT_SEC * 1000;
/** Above every count of progress in one state. */
const REVS_A_STATE = 1_000_000;

/** A job that runs now. */
type Running = {
  readonly job_id: string;
  readonly seat: string;
  readonly began_ms: number;
  readonly controller: AbortController;
  /** Set by a drain: stopped before its end, it goes back into the line. */
  isReleased: boolean;
  /** Set by whoever took it back: it ends for good. */
  isCanceled: boolean;
  progress: JobProgress | null;
  told_ms: number;
  /** Changes since it began, for revisions. */
  changes: number;
  readonly waits: PhaseClock;
  /** A result that could not be stored yet. */
  unstored: string | null;
  ended: Promise<void>;
};

export class WritNode implements NodeService {
  readonly #world: NodeWorld;
  readonly #running = new Map<string, Running>();
  readonly #leases: LeaseBook;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #walls: number[] = [];
  readonly #stopped = new AbortController();
  /** The time served before this process, and when this process began. */
  readonly #served_ms: number;
  readonly #began_ms: number;
  #isStarted = false;
  #isDraining = false;

  /** Errors: `store_failed` */
  constructor(world: NodeWorld) {
    this.#world = world;
    this.#leases = new LeaseBook(world.settings.poll_lease_sec * 1000);
    this.#served_ms = world.queue.servedMs();
    this.#began_ms = world.clock.ms();
  }

  /** Finds what a stop left behind. Nothing runs yet. Errors: `store_failed` */
  recover(): void {
    const { queue, settings, log, clock } = this.#world;
    const made = (job: StoredJob) => JSON.stringify(interruptedResult(job, this.#world));
    const { requeued, ended } = queue.recover(settings.restart_reruns, made, this.#now());
    if (requeued > 0) log(`interrupted jobs that run again from the start: ${requeued}`);
    if (ended > 0) log(`jobs that were interrupted too often and end with a defer: ${ended}`);
    // Nobody could reach the node meanwhile: every lease begins anew.
    for (const { job_id } of queue.waiting()) this.#leases.enter(job_id, clock.ms());
  }

  /** Begins to work. */
  start(): void {
    this.#isStarted = true;
    void this.#repeat(TICK_MS, () => this.#tick());
    void this.#repeat(LOOK_MS, () => {
      this.#reap();
      this.#pump();
    });
    this.#pump();
  }

  /** A seat has changed: what waits for it may start. */
  wake(): void {
    this.#pump();
  }

  /** Jobs that run now. */
  get running(): number {
    return this.#running.size;
  }

  get acceptsWrite(): boolean {
    return this.#world.settings.agent_allow_write;
  }

  submit(text: string): SubmitAnswer {
    const { queue, sha256, clock, log } = this.#world;
    // What this very job will wait for; afterwards it would be counted itself.
    const new_job_wait_sec = this.#newJobWaitSec();
    const verdict = judgeSubmit(text, this.#state(), { find: (job_id) => queue.find(job_id), sha256 });
    if (verdict.kind === "refused") return verdict;
    const job_id = verdict.kind === "known" ? verdict.job_id : verdict.submission.job_id;
    if (verdict.kind === "taken") {
      const { submission } = verdict;
      const refusal = this.#store(() => queue.submit(submission, this.#room().max_queue, this.#now()));
      if (refusal !== null) return refusal;
      this.#leases.enter(job_id, clock.ms());
      log(`job ${job_id} accepted${submission.origin === "" ? "" : ` from ${submission.origin}`}`);
    }
    // The view that is acknowledged is the one that was stored: what starts now is told by the next one.
    const view = this.view(job_id);
    if (view === null) throw new Error(`job ${job_id} was stored and is not there`);
    this.#pump();
    return { kind: "accepted", view, new_job_wait_sec };
  }

  #store(work: () => "stored" | "full" | "known"): Refusal | null {
    const refused = (code: "queue_full" | "storage", message: string): Refusal => {
      return { kind: "refused", code, path: null, message, hint: null, retryAfterSec: 5 };
    };
    try {
      return work() === "full" ? refused("queue_full", "The backlog is full") : null;
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      this.#world.log(`cannot store a job: ${error.message}`);
      return refused("storage", "The store of this node cannot be written");
    }
  }

  view(job_id: string): JobView | null {
    const job = this.#world.queue.find(job_id);
    if (job === null) return null;
    this.#asked(job);
    return this.#viewOf(job);
  }

  /** Whoever asks for a job that waits keeps it alive; one that had been let go can start again. */
  #asked({ job_id, state }: StoredJob): void {
    if (state !== "accepted") return;
    const now = this.#world.clock.ms();
    const wasHeld = this.#leases.stateOf(job_id, now) === "held";
    this.#leases.renew(job_id, now);
    if (!wasHeld) queueMicrotask(() => this.#pump());
  }

  async watch(job_id: string, since: number | null, wait_ms: number, signal: AbortSignal): Promise<JobView | null> {
    const first = this.view(job_id);
    if (first === null || isTerminal(first.state) || wait_ms <= 0 || signal.aborted) return first;
    const known = since ?? first.rev;
    if (first.rev > known) return first;
    const woken = new AbortController();
    const stop = this.onChange(job_id, () => woken.abort());
    try {
      await this.#world.sleep(Math.min(wait_ms, HELD_WAIT_MS), AbortSignal.any([signal, woken.signal]));
    } finally {
      stop();
    }
    return this.view(job_id);
  }

  onChange(job_id: string, listener: () => void): () => void {
    const set = this.#watchers.get(job_id) ?? new Set();
    this.#watchers.set(job_id, set);
    set.add(listener);
    return () => {
      if (!set.delete(listener) || set.size > 0) return;
      this.#watchers.delete(job_id);
      this.#leases.renew(job_id, this.#world.clock.ms());
    };
  }

  cancel(job_id: string, isForced: boolean): CancelAnswer {
    const { queue, log } = this.#world;
    const job = queue.find(job_id);
    if (job === null) return { kind: "unknown" };
    if (job.state === "accepted" && queue.cancel(job_id, false, this.#now())) {
      log(`job ${job_id} taken back before it ran`);
      this.#ended(job_id);
      return { kind: "canceled" };
    }
    const now = this.view(job_id);
    if (now === null) return { kind: "unknown" };
    if (now.state === "canceled") return { kind: "canceled" };
    if (now.state !== "running") return { kind: "terminal", view: now };
    const running = this.#running.get(job_id);
    if (!isForced || running === undefined) return { kind: "running", view: now };
    running.isCanceled = true;
    running.controller.abort(new Error("canceled by the caller"));
    return { kind: "stopping", view: now };
  }

  health(): NodeRecord {
    const { node_id, settings, queue, storeReset } = this.#world;
    const { accepted, running } = queue.counts();
    const seats = this.#world.seats();
    const busy = (seat: string) => [...this.#running.values()].filter((each) => each.seat === seat).length;
    return {
      node_id,
      protocol: PROTOCOL,
      schema_versions: [SCHEMA_VERSION],
      draining: this.#isDraining,
      accepts_write: settings.agent_allow_write,
      ...this.#room(),
      running,
      queued: accepted,
      new_job_wait_sec: this.#newJobWaitSec(),
      recent_wall_sec: this.#recentWallSec(),
      seats: seats.map((seat) => ({ ...seat, busy: Math.max(seat.busy, busy(seat.name)) })),
      ...(storeReset ? { store_reset: true } : {}),
    };
  }

  recent(limit: number): readonly JobView[] {
    return this.#world.queue.recent(limit).map((job) => {
      const { result: _, ...view } = this.#viewOf(job);
      return view;
    });
  }

  /**
   * Stops in order: nothing new is taken or started, what runs gets its time and then goes back into the line.
   *
   * @param hurry ends the waiting early
   */
  async drain(hurry: AbortSignal): Promise<void> {
    this.#isDraining = true;
    await this.#untilIdle(this.#world.settings.drain_sec * 1000, hurry);
    for (const running of this.#running.values()) {
      running.isReleased = true;
      running.controller.abort(new Error("the node is being stopped"));
    }
    await this.#untilIdle(UNWIND_MS, new AbortController().signal);
    for (const { job_id } of this.#running.values()) {
      this.#world.log(`job ${job_id} does not stop; it goes back into the line all the same`);
      this.#quietly(() => this.#world.queue.release(job_id, this.#now()));
    }
    this.#quietly(() => this.#tick());
    this.#stopped.abort();
  }

  /** Until nothing runs any more, at most so long. */
  async #untilIdle(ms: number, hurry: AbortSignal): Promise<void> {
    const idle = new AbortController();
    const all = Promise.all([...this.#running.values()].map(({ ended }) => ended)).then(() => idle.abort());
    await Promise.race([all, this.#world.sleep(ms, AbortSignal.any([hurry, idle.signal]))]);
    idle.abort();
  }

  // What goes on by itself.

  async #repeat(ms: number, work: () => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#world.sleep(ms, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      this.#quietly(work);
    }
  }

  /** A disk that is full for a while does not end the node. */
  #quietly(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      this.#world.log(error.message);
    }
  }

  /** The time that this node has served, over all its starts. */
  #now(): number {
    return this.#served_ms + this.#world.clock.ms() - this.#began_ms;
  }

  #tick(): void {
    const { queue, settings } = this.#world;
    queue.tick(this.#now());
    queue.expire({ job_ms: settings.retain_hours * HOUR_MS, contract_ms: CONTRACT_KEPT_MS }, this.#now());
  }

  #leaseOf(job_id: string): LeaseState {
    return this.#watchers.has(job_id) ? "held" : this.#leases.stateOf(job_id, this.#world.clock.ms());
  }

  #reap(): void {
    const { queue, log } = this.#world;
    for (const { job_id } of queue.waiting()) {
      if (this.#leaseOf(job_id) !== "over" || !queue.cancel(job_id, true, this.#now())) continue;
      log(`job ${job_id} given up: nobody asked for it`);
      this.#ended(job_id);
    }
  }

  /** Starts what can start. */
  #pump(): void {
    this.#quietly(() => {
      while (this.#startNext());
    });
  }

  /** The first job in the line whose seat is free. False: none starts now. */
  #startNext(): boolean {
    const { queue } = this.#world;
    const { max_running } = this.#room();
    if (!this.#isStarted || this.#isDraining || this.#stopped.signal.aborted) return false;
    if (max_running >= 0 && this.#running.size >= max_running) return false;
    const seats = this.#world.seats();
    const taken = [...this.#running.values()].map(({ seat }) => seat);
    // Most of the time none is, and the line may be long.
    if (!seats.some((seat) => isFree(seat, taken))) return false;
    for (const job of queue.waiting()) {
      if (this.#leaseOf(job.job_id) !== "held") continue;
      const seat = chooseSeat(job, seats, taken);
      if (seat === null || !queue.claim(job.job_id, this.#now())) continue;
      this.#begin(job, seat);
      return true;
    }
    return false;
  }

  #begin({ job_id, contract_sha256 }: StoredJob, seat: string): void {
    const { clock, log } = this.#world;
    const running: Running = {
      job_id,
      seat,
      began_ms: clock.ms(),
      controller: new AbortController(),
      isReleased: false,
      isCanceled: false,
      progress: null,
      told_ms: Number.NEGATIVE_INFINITY,
      changes: 0,
      waits: new PhaseClock(),
      unstored: null,
      ended: Promise.resolve(),
    };
    this.#running.set(job_id, running);
    log(`job ${job_id} starts on ${seat}`);
    running.ended = this.#work(running, contract_sha256);
    this.#changed(job_id);
  }

  async #work(running: Running, contract_sha256: string): Promise<void> {
    const { clock, queue, log } = this.#world;
    const { job_id } = running;
    try {
      const outcome = await this.#runOnce(running, contract_sha256);
      const sec = (clock.ms() - running.began_ms) / 1000;
      if (typeof outcome === "string") {
        await this.#keep(running, null, () => queue.fail(job_id, outcome, this.#now()));
        log(`job ${job_id} failed by a fault of this program: ${outcome}`);
      } else if (running.isReleased && !running.isCanceled && outcome.defer_class === "canceled") {
        await this.#keep(running, null, () => queue.release(job_id, this.#now()));
        log(`job ${job_id} goes back into the line`);
      } else {
        // What was over at once says nothing of how long a job takes here.
        if (outcome.steps > 0) this.#walls.push(sec);
        if (this.#walls.length > RECENT) this.#walls.shift();
        const result = JSON.stringify(outcome);
        await this.#keep(running, result, () => queue.finish(job_id, result, this.#now()));
        log(`job ${job_id} done in ${sec.toFixed(1)} s${outcome.deferred ? `, deferred: ${outcome.defer_class}` : ""}`);
      }
    } catch (error) {
      log(`job ${job_id}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    } finally {
      this.#running.delete(job_id);
      this.#ended(job_id);
      this.#pump();
    }
  }

  /** The result, or one line about the fault of this program. */
  async #runOnce(running: Running, contract_sha256: string): Promise<WireResult | string> {
    const { job_id, seat, controller } = running;
    try {
      const text = this.#world.queue.contract(job_id);
      if (text === null) return "its contract is not in the store any more";
      const contract = this.#world.readContract(text);
      return await this.#world.runJob({ job_id, contract, contract_sha256 }, seat, {
        signal: controller.signal,
        onProgress: (progress) => this.#progressed(running, progress),
      });
    } catch (error) {
      this.#world.log(`job ${job_id}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
      return error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * An end counts once it is stored, however long that takes; until then polls are answered with what is known. A node
   * that is being stopped tries once more and leaves it: the job then runs again.
   *
   * @param result that a job is done with; null for the other ends
   */
  async #keep(running: Running, result: string | null, store: () => void): Promise<void> {
    const { controller } = running;
    for (;;) {
      const isLast = running.isReleased || this.#stopped.signal.aborted;
      try {
        store();
        running.unstored = null;
        return;
      } catch (error) {
        if (!(error instanceof WritError)) throw error;
        this.#world.log(`cannot store how job ${running.job_id} ended: ${error.message}`);
        if (isLast) return;
        running.unstored = result;
        this.#changed(running.job_id);
        // A run that was canceled has its signal fired already.
        const stop = running.isCanceled ? this.#stopped.signal : controller.signal;
        await this.#world.sleep(STORE_RETRY_MS, AbortSignal.any([stop, this.#stopped.signal]));
      }
    }
  }

  #progressed(running: Running, progress: JobProgress): void {
    running.progress = progress;
    const now = this.#world.clock.ms();
    running.waits.enter(progress.phase, now);
    if (now - running.told_ms < PROGRESS_MS) return;
    running.told_ms = now;
    this.#changed(running.job_id);
  }

  #changed(job_id: string): void {
    const running = this.#running.get(job_id);
    if (running !== undefined) running.changes += 1;
    for (const listener of [...(this.#watchers.get(job_id) ?? [])]) listener();
  }

  #ended(job_id: string): void {
    this.#leases.forget(job_id);
    this.#changed(job_id);
  }

  #state(): NodeState {
    const { settings, queue } = this.#world;
    const { accepted, running } = queue.counts();
    return {
      isDraining: this.#isDraining,
      acceptsWrite: settings.agent_allow_write,
      profiles: settings.profiles,
      seats: this.#world.seats(),
      backlog: accepted + running,
      maxQueue: this.#room().max_queue,
      newJobWaitSec: this.#newJobWaitSec(),
      freeBytes: this.#world.freeBytes(),
    };
  }

  #room(): Room {
    return roomOf(this.#world.settings, this.#world.seats());
  }

  #newJobWaitSec(): number | null {
    const { accepted, running } = this.#world.queue.counts();
    return expectedWaitSec({
      accepted,
      running,
      maxRunning: this.#room().max_running,
      recentWallSec: this.#recentWallSec(),
    });
  }

  #recentWallSec(): number | null {
    const median = medianOf(this.#walls);
    return median === null ? null : toThousandths(median);
  }

  #viewOf(job: StoredJob): JobView {
    const running = this.#running.get(job.job_id);
    const result = job.result ?? running?.unstored ?? null;
    return {
      job_id: job.job_id,
      state: job.state,
      rev: (job.rev - 1) * REVS_A_STATE + 1 + (job.state === "running" ? (running?.changes ?? 0) : 0),
      queue_position: job.state === "accepted" ? this.#world.queue.position(job.job_id) : 0,
      ...agesOf(job, this.#now()),
      wall_sec: job.wall_sec,
      waits: running?.waits.read(this.#world.clock.ms()) ?? { admission_sec: 0, contention_sec: 0 },
      ...(running === undefined || running.progress === null ? {} : { progress: running.progress }),
      restarts: job.restarts,
      ...(job.reaped ? { reaped: true } : {}),
      ...(result === null ? {} : { result }),
      ...(job.error === null ? {} : { error: { code: "internal", path: null, message: job.error, hint: null } }),
    };
  }
}
