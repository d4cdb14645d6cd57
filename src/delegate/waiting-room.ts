/**
 * Where legs wait until some place has room: one look at the fleet for all of them, first come first served.
 *
 * A leg's budget counts only the time in which no sister is executed on a place that could take it: eight legs for one
 * slow slot run one after the other, and none is given up while its sisters make room.
 *
 * Source: delegation run, section 8.1
 */
import type { CallLeg } from "../core/delegation/legs.ts";
import { ableSpots, type Decision, dealWaiting } from "../core/placement/deal.ts";
import type { Spot } from "../core/placement/place.ts";
import { missesKey, missesSentence } from "../core/placement/sentence.ts";
import type { Desk } from "./desk.ts";

export type Waited = Outcome & {
  /** All of it, in milliseconds; and what of it counts. */
  readonly waited_ms: number;
  readonly counted_ms: number;
};

type Outcome =
  | { readonly kind: "place"; readonly decision: Decision & { readonly kind: "place" } }
  /** The budget is used up. */
  | { readonly kind: "over"; readonly decision: Decision }
  | { readonly kind: "stopped" };

export type Waiting = {
  /** Places that said that they will never take it. */
  readonly without: readonly Spot[];
  /** What of its budget earlier waits have used, in milliseconds. */
  readonly spent_ms: number;
  /** It waits no more. */
  readonly left: AbortSignal;
};

const TICK_MS = 3000;
/** A call that has a deadline waits up to so long before it. */
export const DEADLINE_MARGIN_MS = 20_000;

type Waiter = {
  readonly leg: CallLeg;
  readonly without: readonly Spot[];
  readonly spent_ms: number;
  readonly since: number;
  readonly settle: (waited: Waited) => void;
  readonly fail: (error: unknown) => void;
  counted_ms: number;
  decision: Decision;
};

export class WaitingRoom {
  private waiters: Waiter[] = [];
  private isOpen = false;
  private wake = new AbortController();

  constructor(private readonly desk: Desk) {
    desk.onLeave = () => this.wake.abort();
    desk.signal.addEventListener("abort", () => this.wake.abort(), { once: true });
  }

  /**
   * Waits until a place takes the leg; it is bound for that place then.
   *
   * @param decision why it waits
   */
  enter(leg: CallLeg, decision: Decision, { without, spent_ms, left }: Waiting): Promise<Waited> {
    const { capacity_wait_sec } = this.desk.world.limits;
    const atOnce = { waited_ms: 0, counted_ms: 0 };
    if (this.desk.stopped !== null || left.aborted) return Promise.resolve({ kind: "stopped", ...atOnce });
    if (capacity_wait_sec < 0) return Promise.resolve({ kind: "over", decision, ...atOnce });
    return new Promise((settle, fail) => {
      const since = this.desk.world.clock.ms();
      const waiter: Waiter = { leg, without, spent_ms, since, settle, fail, counted_ms: 0, decision };
      this.waiters.push(waiter);
      left.addEventListener("abort", () => this.settle(waiter, { kind: "stopped" }), { once: true });
      this.waiters.sort((one, other) => one.leg.index - other.leg.index);
      if (!this.isOpen) void this.serve();
    });
  }

  private async serve(): Promise<void> {
    this.isOpen = true;
    const { clock } = this.desk.world;
    try {
      while (this.waiters.length > 0) {
        const before = clock.ms();
        const counting = new Set(this.waiters.filter((each) => !this.isServed(each)));
        await this.pause(before);
        const passed = clock.ms() - before;
        for (const each of counting) each.counted_ms += passed;
        if (this.desk.stopped !== null) break;
        await this.look();
      }
      for (const each of this.waiters) this.settle(each, { kind: "stopped" });
    } catch (error) {
      // A defect: told by each leg that was waiting.
      for (const each of this.waiters) each.fail(error);
    } finally {
      this.waiters = [];
      this.isOpen = false;
    }
  }

  /** Until the next look is due, or something has changed. */
  private async pause(now: number): Promise<void> {
    const left = Math.min(TICK_MS, ...this.waiters.map((each) => this.leftMs(each, now)));
    if (!this.wake.signal.aborted) await this.desk.world.clock.sleep(Math.max(0, left), this.wake.signal);
    // What changes from here on, also during the look, is looked at again.
    if (this.wake.signal.aborted) this.wake = new AbortController();
  }

  private async look(): Promise<void> {
    const { desk } = this;
    const snapshot = await desk.fleet.read(desk.lastLeaveMs);
    if (desk.stopped !== null) return;
    const now = desk.world.clock.ms();
    for (const each of [...this.waiters]) {
      const told = missesKey(each.decision);
      each.decision = dealWaiting(desk.placedLeg(each.leg), desk.call.routing, desk.situation(snapshot), each.without);
      if (each.decision.kind === "place") {
        desk.bind(each.leg.index, each.decision.candidate.spot);
        this.settle(each, { kind: "place", decision: each.decision });
      } else if (this.leftMs(each, now) <= 0) {
        this.settle(each, { kind: "over", decision: each.decision });
      } else if (missesKey(each.decision) !== told) {
        desk.emit({ kind: "waiting", index: each.leg.index, why: missesSentence(each.decision) });
      }
    }
  }

  private settle(waiter: Waiter, outcome: Outcome): void {
    this.waiters = this.waiters.filter((each) => each !== waiter);
    const waited_ms = this.desk.world.clock.ms() - waiter.since;
    waiter.settle({ ...outcome, waited_ms, counted_ms: waiter.counted_ms });
  }

  private leftMs(waiter: Waiter, now: number): number {
    const { deadlineMs, world } = this.desk;
    if (deadlineMs !== null) return deadlineMs - DEADLINE_MARGIN_MS - now;
    if (this.isServed(waiter)) return TICK_MS;
    return world.limits.capacity_wait_sec * 1000 - waiter.spent_ms - waiter.counted_ms;
  }

  /** A sister is executed where this leg could be. */
  private isServed({ decision }: Waiter): boolean {
    return this.desk.isExecutingOn(ableSpots(decision));
  }
}
