/** What the legs of one call share: the places, who is bound where, the window, and what stops all of them. */

import { counted } from "../core/counted.ts";
import type { CallLeg } from "../core/delegation/legs.ts";
import type { Job } from "../core/delegation/wire-result.ts";
import type { Cooldown } from "../core/placement/eligibility.ts";
import { estimateTokens } from "../core/placement/estimate.ts";
import { isBarred } from "../core/placement/pin.ts";
import { LOCAL, type Snapshot, type Spot } from "../core/placement/place.ts";
import type { Leg as PlacedLeg, Situation } from "../core/placement/survey.ts";
import { Fleet } from "./fleet.ts";
import { Window } from "./window.ts";
import type { Call, CallOptions, DelegateEvent, DelegateWorld } from "./world.ts";

/** Why a call ends before its legs do. */
export type StopCause = "canceled" | "deadline";

type Bound = { readonly spot: Spot; startedMs: number | null; isWaiting: boolean };

/** How long a leg that was stopped is waited for; behind it there is time left to print. */
const UNWIND_MS: Readonly<Record<StopCause, number>> = { canceled: 6000, deadline: 8000 };

export class Desk {
  readonly run_id: string;
  readonly startedMs: number;
  readonly fleet: Fleet;
  readonly window: Window;
  readonly cooldowns = new Map<string, Cooldown>();
  /** Places that were passed over for wrong answers. */
  readonly passedOver = new Set<string>();
  /** When the whole call ends; null: never by itself. */
  readonly deadlineMs: number | null;
  quarantined: ReadonlySet<string> = new Set();
  /** When a leg last left a place: what was read before tells less room than there is. */
  lastLeaveMs = 0;
  /** Called when a leg has left a place. */
  onLeave: () => void = () => {};
  /** Called with each reading of the places that something was decided from. */
  onDecide: (snapshot: Snapshot) => void = () => {};
  replaced = 0;
  replacementRecovered = 0;
  orphaned = 0;
  fleetUnreachable = 0;
  unfinished: number;
  /** Legs that had not ended when the call was stopped. */
  unfinishedAtStop = 0;
  private readonly bound = new Map<number, Bound>();
  /** Places where a job may go on that nobody follows any more, by its id. */
  private readonly left = new Map<string, string>();
  /** Jobs of each leg that have a result; and the legs of which the result that counts is kept. */
  private readonly ran = new Map<number, { readonly place: string; readonly job_id: string }[]>();
  private readonly kept = new Set<number>();
  private readonly stopping = new AbortController();
  private cause: StopCause | null = null;
  private decidedFrom: Snapshot | null = null;
  private readonly placed = new Map<number, PlacedLeg>();

  constructor(
    readonly world: DelegateWorld,
    readonly call: Call,
    private readonly onEvent: CallOptions["onEvent"],
  ) {
    this.run_id = world.mint.runId();
    this.startedMs = world.clock.ms();
    this.deadlineMs = call.timeout_sec === null ? null : this.startedMs + call.timeout_sec * 1000;
    this.fleet = new Fleet(world, call.routing, this.stopping.signal);
    this.window = new Window(call.width);
    this.unfinished = call.legs.length;
  }

  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** null while the call goes on. */
  get stopped(): StopCause | null {
    return this.cause;
  }

  stop(cause: StopCause): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.unfinishedAtStop = this.unfinished;
    this.stopping.abort();
  }

  get unwindMs(): number {
    return UNWIND_MS[this.cause ?? "canceled"];
  }

  emit(event: DelegateEvent): void {
    try {
      this.onEvent(event);
    } catch {
      // A display that fails must not take a leg with it.
    }
  }

  placedLeg(leg: CallLeg): PlacedLeg {
    const known = this.placed.get(leg.index);
    if (known !== undefined) return known;
    const made = {
      index: leg.index,
      contract: leg.contract,
      estimate: estimateTokens(leg.contract),
      seat: this.call.seat,
    };
    this.placed.set(leg.index, made);
    return made;
  }

  situation(snapshot: Snapshot): Situation {
    if (snapshot !== this.decidedFrom) this.onDecide(snapshot);
    this.decidedFrom = snapshot;
    if (!isBarred(this.call.routing, "remote")) {
      for (const { name } of snapshot) if (this.quarantined.has(name)) this.passedOver.add(name);
    }
    return {
      run_id: this.run_id,
      snapshot,
      now_ms: this.world.clock.ms(),
      deadline_ms: this.deadlineMs,
      quarantined: this.quarantined,
      cooldowns: this.cooldowns,
      committed: this.committedTo(snapshot),
      default_seat: this.world.default_seat,
    };
  }

  bind(index: number, spot: Spot): void {
    this.bound.set(index, { spot, startedMs: null, isWaiting: false });
  }

  start(index: number): void {
    const bound = this.bound.get(index);
    if (bound !== undefined) bound.startedMs = this.world.clock.ms();
  }

  setWaiting(index: number, isWaiting: boolean): void {
    const bound = this.bound.get(index);
    if (bound !== undefined) bound.isWaiting = isWaiting;
    this.window.setWaiting(index, isWaiting);
  }

  /** The leg is bound for nowhere, and keeps its position. */
  release(index: number): void {
    this.bound.delete(index);
  }

  unbind(index: number): void {
    this.bound.delete(index);
    this.window.leave(index);
    this.lastLeaveMs = this.world.clock.ms();
    this.onLeave();
  }

  /** A place has handed back the result of a leg's job. It is not asked for again once the leg is kept. */
  noteRan(index: number, place: string, job_id: string): void {
    if (place === LOCAL) return;
    if (this.kept.has(index)) this.fleet.find(place)?.forget(job_id);
    else this.ran.set(index, [...(this.ran.get(index) ?? []), { place, job_id }]);
  }

  /** A job may go on at its place, and nobody follows it any more. */
  noteLeft({ job_id }: Job, place: string): void {
    if (place !== LOCAL) this.left.set(job_id, place);
  }

  /** One sentence about the jobs that were left at places; null: none was. */
  get toldLeft(): string | null {
    const places = [...new Set(this.left.values())].join(", ");
    return this.left.size === 0
      ? null
      : `${counted(this.left.size, "job")} may still run at ${places}: writ runs recover collects what they bring`;
  }

  /** The result of a leg is on record: its places may forget what they handed back. */
  noteKept(index: number): void {
    this.kept.add(index);
    for (const { place, job_id } of this.ran.get(index) ?? []) this.fleet.find(place)?.forget(job_id);
    this.ran.delete(index);
  }

  /** Whether a leg of this call is executed on one of the spots. */
  isExecutingOn(spots: readonly Spot[]): boolean {
    return [...this.bound].some(
      ([index, { spot, startedMs }]) =>
        startedMs !== null &&
        this.window.isExecuting(index) &&
        spots.some((other) => other.place === spot.place && (spot.place !== LOCAL || other.seat === spot.seat)),
    );
  }

  /** Legs that are bound for a place and that its record does not count. */
  private committedTo(snapshot: Snapshot): readonly Spot[] {
    const taken = new Map(snapshot.map(({ name, taken_ms }) => [name, taken_ms]));
    return [...this.bound.values()].flatMap(({ spot, startedMs, isWaiting }) => {
      const isCounted = startedMs !== null && startedMs < (taken.get(spot.place) ?? 0);
      // Here a slot is counted when it is held, and a leg that waits holds none.
      return isCounted && !(spot.place === LOCAL && isWaiting) ? [] : [spot];
    });
  }
}
