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
import type { Job, JobProgress, WireResult } from "../core/delegation/wire-result.ts";
import { WritError } from "../core/error.ts";
import { medianOf } from "../core/median.ts";
import { chooseSeat } from "../core/node/choose-seat.ts";
import { expectedWaitSec } from "../core/node/expected-wait.ts";
import { interruptedResult } from "../core/node/interrupted.ts";
import { isTerminal, type JobView, type StoredJob } from "../core/node/job.ts";
import { LeaseBook } from "../core/node/lease.ts";
import { PhaseClock } from "../core/node/phase-clock.ts";
import { judgeSubmit, type NodeState, type Refusal } from "../core/node/submit.ts";
import type { PlaceRecord } from "../core/placement/place.ts";
import type { NodeWorld } from "./world.ts";

export type SubmitAnswer =
  | { readonly kind: "accepted"; readonly view: JobView; readonly new_job_wait_sec: number }
  | Refusal;

export type CancelAnswer =
  | { readonly kind: "canceled" }
  /** It ran, and was stopped: its result will say so. */
  | { readonly kind: "stopping"; readonly view: JobView }
  | { readonly kind: "running"; readonly view: JobView }
  | { readonly kind: "terminal"; readonly view: JobView }
  | { readonly kind: "unknown" };

/** How often time is counted into the store, and what is old enough looked for, in milliseconds. */
const TICK_MS = 60_000;
/** How often leases are looked at, a result that could not be stored is tried again, and waiters are told of progress. */
const LEASE_LOOK_MS = 5_000;
const STORE_RETRY_MS = 5_000;
const PROGRESS_MS = 250;
/** The text of a contract is kept so long after the end of its job. */
const CONTRACT_KEPT_MS = 3_600_000;
const HOUR_MS = 3_600_000;
/** Walls that the median is taken of. */
const RECENT = 5;
/** Accepted jobs that are looked at to find one whose seat is free. */
const LOOK_AHEAD = 64;
export const HELD_WAIT_MS = 25_000;

/** A job that runs now. */
type Running = {
  readonly job_id: string;
  readonly seat: string;
  readonly began_ms: number;
  readonly controller: AbortController;
  /** Set by a drain: the job goes back into the line, whatever its run comes to. */
  isReleased: boolean;
  progress: JobProgress | null;
  told_ms: number;
  readonly waits: PhaseClock;
  /** A result that could not be stored yet. */
  unstored: string | null;
  ended: Promise<void>;
};

export class WritNode {
  readonly #world: NodeWorld;
  readonly #running = new Map<string, Running>();
  readonly #leases: LeaseBook;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #progressRevs = new Map<string, number>();
  readonly #walls: number[] = [];
  readonly #stopped = new AbortController();
  #ticked_ms: number;
  #isDraining = false;

  constructor(world: NodeWorld) {
    this.#world = world;
    this.#leases = new LeaseBook(world.settings.poll_lease_sec * 1000);
    this.#ticked_ms = world.clock.ms();
  }

  /** Finds what a stop left behind, and begins to work. Errors: `store_failed` */
  start(): void {
    const { queue, settings, log, clock } = this.#world;
    const { requeued, ended } = queue.recover(settings.restart_reruns, (job) =>
      JSON.stringify(interruptedResult(job, this.#world)),
    );
    if (requeued > 0) log(`${requeued} interrupted jobs run again from the start`);
    if (ended > 0) log(`${ended} jobs were interrupted too often and end with a defer`);
    // Nobody could reach the node meanwhile: every lease begins anew.
    for (const { job_id } of queue.waiting(Number.MAX_SAFE_INTEGER)) this.#leases.renew(job_id, clock.ms());
    void this.#repeat(TICK_MS, () => this.#tick());
    void this.#repeat(LEASE_LOOK_MS, () => this.#reap());
    this.#pump();
  }

  /** Judges a submit and stores it. The answer is durable when it is given. */
  submit(text: string): SubmitAnswer {
    const { queue, sha256, clock, settings } = this.#world;
    const verdict = judgeSubmit(text, this.#state(), { find: (job_id) => queue.find(job_id), sha256 });
    if (verdict.kind === "refused") return verdict;
    const job_id = verdict.kind === "known" ? verdict.job_id : verdict.submission.job_id;
    if (verdict.kind === "taken") {
      const refusal = this.#store(() => queue.submit(verdict.submission, settings.max_queue));
      if (refusal !== null) return refusal;
    }
    this.#leases.renew(job_id, clock.ms());
    this.#pump();
    const view = this.view(job_id);
    if (view === null) throw new Error(`job ${job_id} was stored and is not there`);
    return { kind: "accepted", view, new_job_wait_sec: this.#newJobWaitSec() ?? 0 };
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

  /** How a job is; null where there is none. It counts as asked for. */
  view(job_id: string): JobView | null {
    const job = this.#world.queue.find(job_id);
    if (job === null) return null;
    this.#leases.renew(job_id, this.#world.clock.ms());
    return this.#viewOf(job);
  }

  /** The text of the result of a job that is done; null where there is none yet, or no such job. */
  result(job_id: string): string | null {
    return this.#world.queue.find(job_id)?.result ?? null;
  }

  /** The view of a job as soon as its revision is another than `since`, or it has ended, or the time is up. */
  async watch(job_id: string, since: number, wait_ms: number, signal: AbortSignal): Promise<JobView | null> {
    const first = this.view(job_id);
    if (first === null || first.rev !== since || isTerminal(first.state) || wait_ms <= 0) return first;
    const woken = new AbortController();
    const stop = this.onChange(job_id, () => woken.abort());
    try {
      await this.#world.sleep(Math.min(wait_ms, HELD_WAIT_MS), AbortSignal.any([signal, woken.signal]));
    } finally {
      stop();
    }
    return this.view(job_id);
  }

  /** Calls back at every change of a job that somebody may wait for; returns what ends that. */
  onChange(job_id: string, listener: () => void): () => void {
    const set = this.#watchers.get(job_id) ?? new Set();
    this.#watchers.set(job_id, set);
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0) this.#watchers.delete(job_id);
    };
  }

  /** Takes a job back: one that waits never runs; one that runs is stopped when that is asked for. */
  cancel(job_id: string, isForced: boolean): CancelAnswer {
    const job = this.#world.queue.find(job_id);
    if (job === null) return { kind: "unknown" };
    if (job.state === "accepted" && this.#world.queue.cancel(job_id, false)) {
      this.#changed(job_id);
      return { kind: "canceled" };
    }
    const now = this.view(job_id);
    if (now === null) return { kind: "unknown" };
    if (now.state === "canceled") return { kind: "canceled" };
    if (now.state !== "running") return { kind: "terminal", view: now };
    if (!isForced) return { kind: "running", view: now };
    this.#running.get(job_id)?.controller.abort(new Error("canceled by the caller"));
    return { kind: "stopping", view: now };
  }

  /** What placement needs to know of this node. */
  health(): PlaceRecord & { readonly store_reset?: true } {
    const { node_id, settings, queue, storeReset } = this.#world;
    const { accepted, running } = queue.counts();
    const busy = (seat: string) => [...this.#running.values()].filter((each) => each.seat === seat).length;
    return {
      node_id,
      protocol: 1,
      schema_versions: [1],
      draining: this.#isDraining,
      accepts_write: settings.agent_allow_write,
      max_running: settings.max_running,
      running,
      queued: accepted,
      max_queue: settings.max_queue,
      new_job_wait_sec: this.#newJobWaitSec(),
      recent_wall_sec: medianOf(this.#walls),
      seats: this.#world.seats().map((seat) => ({ ...seat, busy: Math.max(seat.busy, busy(seat.name)) })),
      ...(storeReset ? { store_reset: true } : {}),
    };
  }

  /** The last jobs, newest first, without contract and output. */
  recent(limit: number): readonly JobView[] {
    return this.#world.queue.recent(limit).map((job) => this.#viewOf(job));
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /**
   * Stops in order: nothing new is taken or started, what runs gets its time and then goes back into the line.
   *
   * @param hurry ends the waiting early
   */
  async drain(hurry: AbortSignal): Promise<void> {
    this.#isDraining = true;
    const over = new AbortController();
    const time = this.#world.sleep(this.#world.settings.drain_sec * 1000, AbortSignal.any([hurry, over.signal]));
    await Promise.race([Promise.all([...this.#running.values()].map(({ ended }) => ended)), time]);
    over.abort();
    for (const running of this.#running.values()) {
      running.isReleased = true;
      running.controller.abort(new Error("the node is being stopped"));
    }
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    this.#tick();
    this.#stopped.abort();
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

  #tick(): void {
    const { queue, clock, settings } = this.#world;
    const now = clock.ms();
    queue.tick(now - this.#ticked_ms);
    this.#ticked_ms = now;
    queue.expire({ job_ms: settings.retain_hours * HOUR_MS, contract_ms: CONTRACT_KEPT_MS });
  }

  #reap(): void {
    const { queue, clock, log } = this.#world;
    for (const { job_id } of queue.waiting(Number.MAX_SAFE_INTEGER)) {
      if (this.#leases.stateOf(job_id, clock.ms()) !== "over") continue;
      if (!queue.cancel(job_id, true)) continue;
      log(`job ${job_id} was given up: nobody asked for it`);
      this.#changed(job_id);
    }
  }

  /** Starts what can start. */
  #pump(): void {
    if (this.#isDraining) return;
    const { queue, clock, settings } = this.#world;
    for (const job of queue.waiting(LOOK_AHEAD)) {
      if (settings.max_running >= 0 && this.#running.size >= settings.max_running) return;
      if (this.#leases.stateOf(job.job_id, clock.ms()) !== "held") continue;
      const contract = this.#world.readContract(job.contract ?? "");
      const taken = [...this.#running.values()].map(({ seat }) => seat);
      const seat = chooseSeat(contract, job.seat, this.#world.seats(), taken);
      if (seat === null || !queue.claim(job.job_id)) continue;
      this.#begin({ job_id: job.job_id, contract, contract_sha256: job.contract_sha256 }, seat);
    }
  }

  #begin(job: Job, seat: string): void {
    this.#countTime();
    const running: Running = {
      job_id: job.job_id,
      seat,
      began_ms: this.#world.clock.ms(),
      controller: new AbortController(),
      isReleased: false,
      progress: null,
      told_ms: Number.NEGATIVE_INFINITY,
      waits: new PhaseClock(),
      unstored: null,
      ended: Promise.resolve(),
    };
    this.#running.set(job.job_id, running);
    running.ended = this.#work(running, job);
    this.#changed(job.job_id);
  }

  async #work(running: Running, job: Job): Promise<void> {
    const { clock, queue, log } = this.#world;
    try {
      const outcome = await this.#runOnce(running, job);
      this.#countTime();
      if (running.isReleased) this.#quietly(() => queue.release(job.job_id));
      else if (typeof outcome === "string") this.#quietly(() => queue.fail(job.job_id, outcome));
      else {
        this.#walls.push((clock.ms() - running.began_ms) / 1000);
        if (this.#walls.length > RECENT) this.#walls.shift();
        await this.#keep(running, JSON.stringify(outcome));
      }
    } catch (error) {
      log(`job ${job.job_id}: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#running.delete(job.job_id);
      this.#changed(job.job_id);
      this.#pump();
    }
  }

  /** The result, or one line about the fault of this program. */
  async #runOnce(running: Running, job: Job): Promise<WireResult | string> {
    try {
      return await this.#world.runJob(job, running.seat, {
        signal: running.controller.signal,
        onProgress: (progress) => this.#progressed(running, progress),
      });
    } catch (error) {
      this.#world.log(`job ${job.job_id} failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** A job is done once its result is stored, however long that takes; until then polls are answered with it. */
  async #keep(running: Running, result: string): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        this.#world.queue.finish(running.job_id, result);
        return;
      } catch (error) {
        if (!(error instanceof WritError)) throw error;
        this.#world.log(`cannot store the result of job ${running.job_id}: ${error.message}`);
        running.unstored = result;
        this.#changed(running.job_id);
        if (running.isReleased) return;
        await this.#world.sleep(STORE_RETRY_MS, this.#stopped.signal);
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
    this.#progressRevs.set(job_id, (this.#progressRevs.get(job_id) ?? 0) + 1);
    if (!this.#running.has(job_id) && !this.#watchers.has(job_id)) this.#progressRevs.delete(job_id);
    for (const listener of [...(this.#watchers.get(job_id) ?? [])]) listener();
  }

  /** Times are counted before a state changes, so that each state gets its own. */
  #countTime(): void {
    this.#quietly(() => this.#tick());
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
      maxQueue: settings.max_queue,
      newJobWaitSec: this.#newJobWaitSec() ?? 0,
      freeBytes: this.#world.freeBytes(),
    };
  }

  #newJobWaitSec(): number | null {
    const { accepted, running } = this.#world.queue.counts();
    return expectedWaitSec({
      accepted,
      running,
      maxRunning: this.#world.settings.max_running,
      recentWallSec: medianOf(this.#walls),
    });
  }

  #viewOf(job: StoredJob): JobView {
    const running = this.#running.get(job.job_id);
    const since = Math.max(0, this.#world.clock.ms() - this.#ticked_ms);
    const more = (state: StoredJob["state"]) => (job.state === state ? since : 0);
    const result = job.result ?? running?.unstored ?? null;
    return {
      job_id: job.job_id,
      state: job.state,
      rev: job.rev * 1_000_000 + (this.#progressRevs.get(job.job_id) ?? 0),
      queue_position: job.state === "accepted" ? this.#world.queue.position(job.job_id) : 0,
      age_ms: job.age_ms + since,
      queued_ms: job.queued_ms + more("accepted"),
      running_ms: job.running_ms + more("running"),
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
