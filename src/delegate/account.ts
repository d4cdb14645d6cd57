/** What one leg has behind it: its attempts, who turned it away, what its waits and refusals took. */

import { legResult } from "../core/delegation/leg-result.ts";
import type { CallLeg } from "../core/delegation/legs.ts";
import type { Attempt, LegResult } from "../core/delegation/result.ts";
import { type Settled, unsettled } from "../core/delegation/settle-result.ts";
import type { WireResult } from "../core/delegation/wire-result.ts";
import type { Decision } from "../core/placement/deal.ts";
import { routeOf } from "../core/placement/pin.ts";
import { LOCAL, type Spot } from "../core/placement/place.ts";
import { placementSentence } from "../core/placement/sentence.ts";
import { isScriptedModel } from "../core/seat/scripted-model.ts";
import type { Ended } from "./attempt.ts";
import type { Desk } from "./desk.ts";
import { attemptStatus, outcomeText, soonestSec } from "./told.ts";

export type Refusal = {
  readonly place: string;
  readonly said: string;
  /** It has no room now, and may have some later. */
  readonly is_for_room: boolean;
  /** Its write door is closed. */
  readonly is_door: boolean;
};

/** Where the published attempt ran. */
export type Where = {
  readonly node: string;
  readonly seat: string;
  readonly job_id: string;
  readonly queue_wait_sec: number;
};

const NOWHERE: Where = { node: "", seat: "", job_id: "", queue_wait_sec: 0 };

/** Also where the place was lost before it said so. */
function isScripted(decision: Decision): boolean {
  return decision.kind === "place" && isScriptedModel(decision.candidate.seat.model);
}

export class Account {
  readonly attempts: Attempt[] = [];
  /** Where the leg was offered, in order. */
  readonly offered: Spot[] = [];
  readonly refusals: Refusal[] = [];
  placedMs: number | null = null;
  capacityWaitMs = 0;
  /** What of it counts against the bound of waiting for room: a place that turns the leg away again gives none of it back. */
  roomWaitMs = 0;
  refusedMs = 0;
  /** Remotes that it was offered since it last had a choice of all. */
  furtherRemotes = 0;
  replacements = 0;
  retriedOn = "";
  retryNote = "";

  constructor(
    private readonly desk: Desk,
    private readonly leg: CallLeg,
  ) {}

  /** What refusals have left of the wall, in seconds; waits are not charged. */
  get wallLeft(): number {
    return Math.ceil(this.leg.contract.timeout_sec - this.refusedMs / 1000);
  }

  /** What the call has left, in seconds. */
  get callLeft(): number {
    const { deadlineMs, world } = this.desk;
    return deadlineMs === null ? Number.POSITIVE_INFINITY : (deadlineMs - world.clock.ms()) / 1000;
  }

  /** An attempt that brought a result. */
  noteRan(ended: Ended, settled: Settled, wire: WireResult): void {
    const { status, reason, defer_class } = settled;
    const why = { ...(reason === "" ? {} : { reason }), ...(defer_class === "" ? {} : { defer_class }) };
    const seat = wire.seat === "" ? ended.spot.seat : wire.seat;
    this.push(ended, { seat, status, ...why, steps: wire.steps, tokens: wire.tokens.completion });
  }

  /** An attempt that brought none. */
  noteMissed(ended: Ended, outcome: Exclude<Ended["outcome"], { kind: "ran" }>): void {
    const answer =
      outcome.kind === "refused"
        ? {
            ...(outcome.http === null ? {} : { http: outcome.http }),
            ...(outcome.code === "" ? {} : { code: outcome.code }),
          }
        : {};
    const blamed = outcome.kind === "gave_up" ? { defer_class: outcome.defer_class } : {};
    const reason = outcomeText(ended, outcome);
    const { seat } = ended.spot;
    this.push(ended, { seat, status: attemptStatus(outcome), ...answer, reason, ...blamed, steps: 0, tokens: 0 });
  }

  /** An attempt that another place's answer made needless. */
  noteBeaten(ended: Ended, by: string): void {
    const { outcome, spot } = ended;
    const isBack = outcome.kind === "stopped" && outcome.state === "withdrawn";
    const status = isBack ? "withdrawn" : "abandoned";
    this.push(ended, { seat: spot.seat, status, reason: `${by} answered first`, steps: 0, tokens: 0 });
  }

  /** An attempt that was given up, and whose result came and is published after all. */
  noteLate({ job_id, seat }: Where, { status, result }: Settled): void {
    const at = this.attempts.findIndex((attempt) => attempt.job_id === job_id);
    const attempt = this.attempts[at];
    if (attempt === undefined || result === null) return;
    const { reason: _, ...rest } = attempt;
    this.attempts[at] = { ...rest, seat, status, steps: result.steps, tokens: result.tokens.completion };
  }

  private push(
    { kind, spot, job, wall_ms }: Ended,
    { seat, status, ...more }: Omit<Attempt, "n" | "kind" | "node" | "job_id" | "wall_ms">,
  ): void {
    const head = { n: this.attempts.length + 1, kind, node: spot.place, seat, job_id: job.job_id, status };
    const { steps, tokens, ...why } = more;
    this.attempts.push({ ...head, ...why, wall_ms: Math.round(wall_ms), steps, tokens });
  }

  /** The leg is turned away by all: what that makes of it. */
  refusedByAll(isAuth: boolean): Settled {
    const told = this.toldRefusals();
    if (this.refusals.every(({ is_door }) => is_door))
      return unsettled("deferred", `write door closed: ${told}`, "write");
    if (isAuth) return unsettled("failed", `auth rejected: ${told}`, "");
    const count = new Set(this.refusals.map(({ place }) => place)).size;
    return unsettled("failed", `placement refused: ${count} place(s) refused and none ran it (${told})`, "");
  }

  /** The result of a leg; `where` is left out where no place ran it. */
  publish(settled: Settled, decision: Decision, where: Where = NOWHERE): LegResult {
    const { desk, leg } = this;
    const { call, world } = desk;
    const isPinned = call.routing.kind === "pinned";
    if (where.node === LOCAL && !isPinned && desk.fleet.isUnreachable) desk.fleetUnreachable += 1;
    const now_ms = world.clock.ms();
    return legResult({
      index: leg.index,
      settled,
      node: where.node,
      seat: where.seat,
      is_scripted: where.node !== "" && isScripted(decision),
      job_id: where.job_id,
      queue_wait_sec: where.queue_wait_sec,
      placement: placementSentence(decision),
      route: routeOf(call.routing),
      route_asked: call.route,
      pin_reason: call.routing.kind === "pinned" ? call.routing.reason : "",
      max_steps: leg.contract.max_steps,
      acceptance_lint: leg.acceptance_lint,
      wall_ms: this.placedMs === null ? 0 : now_ms - this.placedMs,
      capacity_wait_sec: this.capacityWaitMs / 1000,
      retry_after_sec:
        settled.defer_class === "capacity" && where.node === "" ? soonestSec(decision, now_ms, desk.cooldowns) : 0,
      attempts: this.attempts,
      retried_on: this.retriedOn,
      retry_note: this.retryNote,
      replacements: this.replacements,
      replacement_note: this.replacements === 0 ? "" : this.toldRefusals(),
      contract_sha256: leg.contract_sha256,
    });
  }

  /** The result of a leg that the end of the call caught. */
  publishStopped(told: string, decision: Decision, where?: Where, result: WireResult | null = null): LegResult {
    const { stopped, unfinishedAtStop } = this.desk;
    const settled: Settled =
      stopped === "deadline"
        ? unsettled("deferred", `call deadline reached; ${unfinishedAtStop} unfinished; ${told}`, "budget")
        : unsettled("deferred", `canceled by the caller; ${told}`, "canceled");
    return this.publish({ ...settled, result }, decision, where);
  }

  private toldRefusals(): string {
    return this.refusals.map(({ place, said }) => `${place}: ${said}`).join("; ");
  }
}
