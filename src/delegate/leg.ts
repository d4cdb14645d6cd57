/**
 * The life of one leg: placed, waited for, offered elsewhere, graded, tried once more, published. One result comes out of
 * it, whatever happens, and exactly one.
 *
 * Source: delegation run, sections 3.2 to 3.4, 4.7, 4.10, 4.11, 8
 */
import { bestAttempt } from "../core/delegation/attempts.ts";
import { isBlank } from "../core/delegation/blank.ts";
import type { CallLeg } from "../core/delegation/legs.ts";
import type { Attempt, LegResult } from "../core/delegation/result.ts";
import { RETRY_FLOOR_SEC, retryBudgetSec, retryNeed } from "../core/delegation/retry.ts";
import { type Settled, settleResult, unsettled } from "../core/delegation/settle-result.ts";
import type { WireResult } from "../core/delegation/wire-result.ts";
import { type Decision, dealLine, dealReplacement, dealRetry } from "../core/placement/deal.ts";
import { placementDraw } from "../core/placement/draw.ts";
import { whyNoPlace } from "../core/placement/no-place.ts";
import { isBarred } from "../core/placement/pin.ts";
import { LOCAL, type Spot } from "../core/placement/place.ts";
import type { PlaceOutcome } from "../core/placement/port.ts";
import { fullSentence, missesSentence, spotText } from "../core/placement/sentence.ts";
import { cooldownMs, isForRoom, submitMeaning } from "../core/placement/submit-answer.ts";
import { surveyPlaces, takersOf } from "../core/placement/survey.ts";
import { Account, type Where } from "./account.ts";
import { type Ended, runAttempt } from "./attempt.ts";
import type { Desk } from "./desk.ts";
import { outcomeText, stoppedText } from "./told.ts";
import { DEADLINE_MARGIN_MS, type WaitingRoom } from "./waiting-room.ts";

type Placing = Decision & { readonly kind: "place" };

/** A place that ran the leg, with what its result is worth. */
type Ran = Where & { readonly decision: Decision; readonly settled: Settled };

/** What comes next: the end of the leg, or another place. */
type Next = { readonly result: LegResult } | { readonly decision: Decision; readonly kind: Attempt["kind"] };

/** A place that has the job and is silent; `found` is its result where it is one to publish, else null. */
type Silent = { readonly ended: Ended; readonly silent_sec: number; readonly found: Promise<Ran | null> };

/** How often another place is looked for while a silent one is waited for. */
const LOOK_AGAIN_MS = 15_000;

/** Offers of one leg over all its waits: a place that keeps taking it and giving it back is left in the end. */
const MOST_OFFERS = 32;
/** A place that has turned a leg away so often is not believed any more that it has room. */
const STUBBORN_REFUSALS = 2;
const STUBBORN_COOLDOWN_MS = 5_000;

/**
 * Lives one leg.
 *
 * @param decision where it was dealt; a leg that is dealt a place is bound for it
 * Errors: none; a defect is a leg that failed
 */
export async function liveLeg(desk: Desk, room: WaitingRoom, leg: CallLeg, decision: Decision): Promise<LegResult> {
  const account = new Account(desk, leg);
  const life = new LegLife(desk, room, leg, account);
  try {
    return await life.live(decision);
  } catch (error) {
    desk.unbind(leg.index);
    const why = error instanceof Error ? error.message : String(error);
    return account.publish(unsettled("failed", `internal: ${why}`, ""), decision);
  } finally {
    life.stopSilent();
  }
}

class LegLife {
  /** The owner of the job that says nothing; its answer still counts when it comes before another's. */
  private silent: Silent | null = null;

  constructor(
    private readonly desk: Desk,
    private readonly room: WaitingRoom,
    private readonly leg: CallLeg,
    private readonly account: Account,
  ) {}

  async live(dealt: Decision): Promise<LegResult> {
    let next: Next = { decision: dealt, kind: "first" };
    while (!("result" in next)) next = await this.step(next.decision, next.kind);
    return next.result;
  }

  /** A leg that goes on behind a silent place is told to stop there. */
  stopSilent(): void {
    this.silent?.ended.stop();
  }

  private async step(decision: Decision, kind: Attempt["kind"]): Promise<Next> {
    if (this.desk.stopped !== null) {
      this.desk.unbind(this.leg.index);
      return { result: this.account.publishStopped(this.unplaced(), decision) };
    }
    switch (decision.kind) {
      case "none":
        return { result: this.publishNoPlace(decision) };
      case "wait":
        return await this.wait(decision, kind);
      case "place": {
        const offered = await this.offer(decision, kind);
        if (offered === "stopped") return { result: this.account.publishStopped(this.unplaced(), decision) };
        return "settled" in offered ? { result: this.publishRan(offered) } : await this.judge(offered);
      }
      default:
        return decision satisfies never;
    }
  }

  /** Where a leg is that no place runs; one that fell silent with it may still run it. */
  private unplaced(): string {
    if (this.silent === null) return "never placed";
    const { ended, silent_sec } = this.silent;
    this.desk.noteLeft(ended.job, ended.spot.place);
    const why = `it had not answered for ${Math.round(silent_sec)}s`;
    return stoppedText(ended, { kind: "stopped", state: "running", why });
  }

  private async wait(decision: Decision, kind: Attempt["kind"]): Promise<Next> {
    const { desk, leg, account } = this;
    desk.emit({ kind: "waiting", index: leg.index, why: missesSentence(decision) });
    // A place that has no room may have some later; any other refusal stands.
    const without = account.refusals
      .filter(({ is_for_room }) => !is_for_room)
      .map(({ place }) => ({ place, seat: "" }));
    const leave = new AbortController();
    const waiting = this.room.enter(leg, decision, { without, spent_ms: account.roomWaitMs, left: leave.signal });
    const first = await this.first(waiting);
    if ("settled" in first) leave.abort();
    const waited = await waiting;
    account.capacityWaitMs += waited.waited_ms;
    account.roomWaitMs += waited.counted_ms;
    if ("settled" in first) {
      if (waited.kind === "place") desk.unbind(leg.index);
      return { result: this.publishRan(await this.takeLate(first)) };
    }
    switch (waited.kind) {
      case "place":
        account.furtherRemotes = 0;
        return { decision: waited.decision, kind };
      case "over": {
        const last = waited.decision;
        if (last.kind === "none") return { result: this.publishNoPlace(last) };
        const sec = Math.round((desk.deadlineMs === null ? account.roomWaitMs : waited.waited_ms) / 1000);
        const margin = `the last ${DEADLINE_MARGIN_MS / 1000}s before the call deadline are kept for work`;
        const why = desk.deadlineMs === null ? missesSentence(last) : `${missesSentence(last)}; ${margin}`;
        const reason = `no eligible place had room for ${sec}s: ${why}`;
        return { result: account.publish(unsettled("deferred", reason, "capacity"), last) };
      }
      case "stopped":
        return { result: account.publishStopped("never placed; it waited for room", decision) };
      default:
        return waited satisfies never;
    }
  }

  /** Runs the leg where it was dealt. What comes back is how that ended, or the answer of a silent place before it. */
  private async offer(dealt: Placing, kind: Attempt["kind"], timeout_sec?: number): Promise<Ended | Ran | "stopped"> {
    const { desk, leg, account } = this;
    const isIn = await desk.window.enter(leg.index, dealt.candidate.spot.place, desk.signal);
    if (!isIn) {
      desk.unbind(leg.index);
      return "stopped";
    }
    const decision = dealt.isLine && kind === "first" ? await this.shorterLine(dealt) : dealt;
    account.placedMs ??= desk.world.clock.ms();
    account.offered.push(decision.candidate.spot);
    if (kind === "replacement") {
      account.replacements += 1;
      if (account.replacements === 1) desk.replaced += 1;
      if (decision.candidate.spot.place !== LOCAL) account.furtherRemotes += 1;
    }
    const cancel = new AbortController();
    const wall = timeout_sec ?? account.wallLeft;
    const running = runAttempt(desk, leg, decision, { kind, timeout_sec: wall, cancel: cancel.signal });
    const first = await this.first(running);
    if (!("settled" in first)) return first;
    cancel.abort();
    account.noteBeaten(await running, first.node);
    return await this.takeLate(first);
  }

  /** What is awaited, or before it the answer of a place that fell silent with the leg. */
  private first<T extends object>(awaited: Promise<T>): Promise<T | Ran> {
    const { silent } = this;
    if (silent === null) return awaited;
    return Promise.race<T | Ran>([awaited, silent.found.then<T | Ran>((found) => found ?? awaited)]);
  }

  private async takeLate(late: Ran): Promise<Ran> {
    this.account.noteLate(late, late.settled);
    await this.mark({ place: late.node, seat: late.seat }, late.settled);
    return late;
  }

  /** Lines move while a leg waits for its position: the seat is chosen once more. */
  private async shorterLine(dealt: Placing): Promise<Placing> {
    const { desk, leg } = this;
    const snapshot = await desk.fleet.readHere();
    desk.release(leg.index);
    const decision = dealLine(desk.placedLeg(leg), desk.call.routing, desk.situation(snapshot));
    const chosen = decision.kind === "place" ? decision : dealt;
    desk.bind(leg.index, chosen.candidate.spot);
    return chosen;
  }

  /** What an attempt means. */
  private async judge(ended: Ended): Promise<Next> {
    const { desk, account } = this;
    const { outcome, decision, kind } = ended;
    if (mayGoOn(outcome)) desk.noteLeft(ended.job, ended.spot.place);
    const isTaken = outcome.kind !== "refused" && outcome.kind !== "withdrawn";
    if (kind === "replacement" && isTaken) desk.replacementRecovered += 1;
    switch (outcome.kind) {
      case "ran":
        return { result: await this.grade(ended, outcome.result, outcome.queued_sec) };
      case "refused":
      case "withdrawn":
        return await this.turnAway(ended, outcome);
      case "silent":
        return await this.outlive(ended, outcome);
      case "gave_up": {
        account.noteMissed(ended, outcome);
        const where = whereOf(ended, outcome.queued_sec);
        return { result: account.publish(unsettled("deferred", outcome.reason, outcome.defer_class), decision, where) };
      }
      case "lost":
      case "failed": {
        account.noteMissed(ended, outcome);
        const next = outcome.kind === "lost" ? await this.replaceLost(ended) : null;
        if (next !== null) return next;
        return { result: account.publish(unsettled("failed", outcome.reason, ""), decision, whereOf(ended)) };
      }
      case "stopped":
      case "abandoned": {
        account.noteMissed(ended, outcome);
        const told = stoppedText(ended, outcome);
        const where = whereOf(ended);
        if (desk.stopped !== null) return { result: account.publishStopped(told, decision, where) };
        // A node may keep a job from its end by what it says of it; nothing here does.
        const isTheirs = outcome.kind === "abandoned" && ended.spot.place !== LOCAL;
        const settled = isTheirs
          ? unsettled("deferred", told, "infrastructure")
          : unsettled("failed", `internal: ${told}`, "");
        return { result: account.publish(settled, decision, where) };
      }
      default:
        return outcome satisfies never;
    }
  }

  private async grade(ended: Ended, came: WireResult, queued_sec: number): Promise<LegResult> {
    const { desk, account } = this;
    const wire = await this.withForm(ended, came);
    const ran = this.ranOf(ended, wire, queued_sec);
    const { settled } = ran;
    account.noteRan(ended, settled, wire);
    // A job that was stopped with the call tells what it had done, and the call says why it ended.
    if (desk.stopped !== null && settled.status === "deferred" && settled.defer_class === "canceled") {
      const told = stoppedText(ended, { kind: "stopped", state: "stopped" });
      return account.publishStopped(told, ended.decision, ran, settled.result);
    }
    await this.mark(ended.spot, settled);
    return this.publishRan(await this.retry(ran, ended, wire));
  }

  /** An answer that came from a node without its structured form gets it here, where that is possible at once. */
  private async withForm({ job, spot, wall_ms }: Ended, wire: WireResult): Promise<WireResult> {
    const { desk, leg } = this;
    const { local } = desk.world;
    const isMissing = wire.schema_miss && wire.deferred && wire.job_id === job.job_id && !isBlank(wire.output);
    if (!isMissing || spot.place === LOCAL || local === null || isBarred(desk.call.routing, "local")) return wire;
    const left_ms = job.contract.timeout_sec * 1000 - Math.min(wire.wall_ms, wall_ms);
    if (left_ms < RETRY_FLOOR_SEC * 1000 || desk.stopped !== null) return wire;
    const survey = surveyPlaces(desk.placedLeg(leg), desk.situation(await desk.fleet.readHere()));
    const seat = takersOf(survey, "local")[0]?.spot.seat;
    if (seat === undefined) return wire;
    const made = await local.structure(job, seat, wire.output, { signal: desk.signal, wall_ms: left_ms });
    return made === null
      ? wire
      : { ...wire, ...made, schema_miss: false, deferred: false, reason: "", defer_class: "" };
  }

  private ranOf({ job, spot, decision }: Ended, wire: WireResult, queue_wait_sec: number): Ran {
    const settled = settleResult(job, wire);
    const seat = wire.seat === "" ? spot.seat : wire.seat;
    return { node: spot.place, seat, job_id: job.job_id, decision, settled, queue_wait_sec };
  }

  /** What the answer says about a place that is not this one. */
  private async mark({ place }: Spot, { verdict }: Settled): Promise<void> {
    if (place === LOCAL || (verdict !== "pass" && verdict !== "strike")) return;
    const { marks } = this.desk.world;
    await marks.settle(place, verdict);
    this.desk.quarantined = await marks.quarantined();
  }

  // Trying once more.

  /** The better of the attempt and of one on another seat, where that may help. */
  private async retry(first: Ran, ended: Ended, wire: WireResult): Promise<Ran> {
    const { desk, leg, account } = this;
    const need = retryNeed(first.settled);
    if (!need.retry || !desk.call.retries || desk.stopped !== null) return first;
    const wall = leg.contract.timeout_sec;
    // What a place claims to have spent is no more than what was seen from here.
    const spent_ms = Math.min(wire.wall_ms, ended.wall_ms);
    const left = Math.floor(Math.min(retryBudgetSec(wall, spent_ms, first.settled), account.callLeft));
    if (left < RETRY_FLOOR_SEC) {
      account.retryNote = `retry skipped: ${Math.max(0, left)}s of ${wall}s left`;
      return first;
    }
    const snapshot = await desk.fleet.read(desk.lastLeaveMs);
    if (desk.stopped !== null) return first;
    const situation = desk.situation(snapshot);
    const decision = dealRetry(desk.placedLeg(leg), desk.call.routing, situation, account.offered, need.elsewhere);
    if (decision.kind !== "place") {
      const full = fullSentence(decision);
      account.retryNote = `no other eligible seat${full === "" ? "" : `: ${full}`}`;
      return first;
    }
    desk.bind(leg.index, decision.candidate.spot);
    const second = await this.offer(decision, "retry", left);
    if (second === "stopped") {
      account.retryNote = `retry on ${spotText(decision.candidate.spot)} was not begun: the call was stopped`;
      return first;
    }
    return "settled" in second ? second : await this.gradeRetry(first, second);
  }

  private async gradeRetry(first: Ran, second: Ended): Promise<Ran> {
    const { account } = this;
    const { outcome, spot } = second;
    account.retriedOn = spot.place;
    if (mayGoOn(outcome)) this.desk.noteLeft(second.job, spot.place);
    if (outcome.kind === "ran") {
      const wire = await this.withForm(second, outcome.result);
      const other = this.ranOf(second, wire, outcome.queued_sec);
      account.noteRan(second, other.settled, wire);
      await this.mark(spot, other.settled);
      const { best, note } = bestAttempt(first, other);
      account.retryNote = note;
      return best;
    }
    if (outcome.kind === "silent") this.leave(second, outcome);
    account.noteMissed(second, outcome);
    account.retryNote = `second attempt on ${spotText(spot)}: ${outcomeText(second)}`;
    return first;
  }

  // Being turned away, and silence.

  private async turnAway(
    ended: Ended,
    outcome: Extract<PlaceOutcome, { kind: "refused" | "withdrawn" }>,
  ): Promise<Next> {
    const { desk, leg, account } = this;
    const { place } = ended.spot;
    const said = outcomeText(ended);
    account.noteMissed(ended, outcome);
    desk.emit({ kind: "refused", index: leg.index, node: place, said });
    const meaning = outcome.kind === "withdrawn" ? "refused" : submitMeaning(outcome.http, outcome.code);
    if (meaning !== "refused" && meaning !== "auth") {
      const reason = `${meaning === "fault" ? "internal" : "placement refused"}: ${place}: ${said}`;
      return { result: account.publish(unsettled("failed", reason, ""), ended.decision, whereOf(ended)) };
    }
    const isAuth = meaning === "auth";
    const is_door = outcome.kind === "refused" && outcome.code === "write_door_closed";
    const is_for_room = outcome.kind === "withdrawn" || isForRoom(outcome.http);
    account.refusals.push({ place, said, is_for_room, is_door });
    if (outcome.kind === "refused") account.refusedMs += ended.wall_ms;
    // A place that will never take this leg may take its sisters.
    const isOfLeg = outcome.kind === "refused" && (isAuth || outcome.http === 400 || outcome.http === 426);
    if (!isOfLeg) this.coolDown(place, outcome.kind === "refused" ? outcome.retry_after_sec : null);
    if (desk.stopped !== null) {
      return { result: account.publishStopped(`never placed; ${place} did not take it`, ended.decision) };
    }
    const isEnough = account.wallLeft < RETRY_FLOOR_SEC || account.attempts.length >= MOST_OFFERS;
    const other = isEnough ? null : await this.findOther(ended, isAuth);
    if (other?.kind === "place") {
      desk.bind(leg.index, other.candidate.spot);
      return { decision: other, kind: "replacement" };
    }
    const isRoomAwaited = other?.kind === "wait" || account.refusals.some((refusal) => refusal.is_for_room);
    if (other !== null && isRoomAwaited) {
      return { decision: { kind: "wait", survey: other.survey, routing: other.routing }, kind: "replacement" };
    }
    return { result: account.publish(account.refusedByAll(isAuth), ended.decision) };
  }

  /** Another place for a leg whose owner lost it; null where there is none, or no time for it. */
  private async replaceLost(ended: Ended): Promise<Next | null> {
    const { desk, leg, account } = this;
    account.refusedMs += ended.wall_ms;
    if (desk.stopped !== null || account.wallLeft < RETRY_FLOOR_SEC || account.attempts.length >= MOST_OFFERS)
      return null;
    const other = await this.findOther(ended);
    if (other?.kind !== "place") return null;
    desk.bind(leg.index, other.candidate.spot);
    return { decision: other, kind: "replacement" };
  }

  /**
   * Another place for the leg; null where the call was stopped meanwhile.
   *
   * @param isAuth places that take the same token would say the same, and the leg goes to remotes only
   */
  private async findOther(ended: Ended, isAuth = false): Promise<Decision | null> {
    const { desk, leg, account } = this;
    const snapshot = await desk.fleet.read(desk.lastLeaveMs);
    if (desk.stopped !== null) return null;
    const token = desk.fleet.find(ended.spot.place)?.token;
    const alike = isAuth
      ? [LOCAL, ...snapshot.map(({ name }) => name).filter((name) => desk.fleet.find(name)?.token === token)]
      : [];
    const used = [...account.offered, ...alike.map((place) => ({ place, seat: "" }))];
    const situation = desk.situation(snapshot);
    return dealReplacement(desk.placedLeg(leg), desk.call.routing, situation, used, account.furtherRemotes);
  }

  private coolDown(place: string, retry_after_sec: number | null): void {
    const { desk, leg, account } = this;
    const since_ms = desk.world.clock.ms();
    const draw = placementDraw(desk.run_id, leg.index, { place, seat: String(account.attempts.length) });
    const isStubborn = account.refusals.filter((refusal) => refusal.place === place).length >= STUBBORN_REFUSALS;
    const least_ms = isStubborn ? STUBBORN_COOLDOWN_MS : 0;
    const until_ms = since_ms + Math.max(least_ms, cooldownMs(retry_after_sec, draw));
    desk.cooldowns.set(place, { since_ms, until_ms, isStubborn });
  }

  /** The owner of the job is silent: the leg is offered elsewhere, once; until somebody takes it the owner is waited for. */
  private async outlive(ended: Ended, outcome: Extract<PlaceOutcome, { kind: "silent" }>): Promise<Next> {
    const { desk, leg, account } = this;
    const other = this.silent === null && desk.stopped === null ? await this.findOther(ended) : null;
    if (other?.kind === "place") return this.leaveBehind(ended, outcome, other, outcome.late());
    const since_ms = desk.world.clock.ms();
    const waiting = outcome.outwait();
    const later = await this.findLater(ended, outcome, waiting);
    if (later !== null) return this.leaveBehind(ended, outcome, later, waiting);
    const late = await this.first(waiting);
    if ("settled" in late) {
      ended.stop();
      account.noteBeaten({ ...ended, outcome: await waiting }, late.node);
      return { result: this.publishRan(await this.takeLate(late)) };
    }
    if (late.kind === "ran") desk.noteRan(leg.index, ended.spot.place, ended.job.job_id);
    const wall_ms = ended.wall_ms + desk.world.clock.ms() - since_ms;
    return await this.judge({ ...ended, outcome: late, wall_ms });
  }

  /** A place that takes the leg after all, while its owner is waited for and still says nothing; null: that wait is over. */
  private async findLater(
    ended: Ended,
    { isStill }: Extract<PlaceOutcome, { kind: "silent" }>,
    waiting: Promise<PlaceOutcome>,
  ): Promise<Placing | null> {
    const { desk } = this;
    if (this.silent !== null || isStill === undefined) return null;
    const over = new AbortController();
    const end = () => over.abort();
    waiting.then(end, end);
    const signal = AbortSignal.any([over.signal, desk.signal]);
    while (!signal.aborted) {
      await desk.world.clock.sleep(LOOK_AGAIN_MS, signal);
      if (signal.aborted || !isStill()) continue;
      const other = await this.findOther(ended);
      // It may have spoken meanwhile: what it says then is what counts.
      if (other?.kind === "place" && !signal.aborted && isStill()) return other;
    }
    return null;
  }

  /** The leg goes on elsewhere, and what its silent owner says before that is done still counts. */
  private leaveBehind(
    ended: Ended,
    outcome: Extract<PlaceOutcome, { kind: "silent" }>,
    other: Placing,
    speaking: Promise<PlaceOutcome>,
  ): Next {
    const { desk, leg, account } = this;
    account.noteMissed(ended, outcome);
    ended.mute();
    const found = speaking.then(
      (late): Ran | null => {
        if (late.kind !== "ran") return null;
        desk.noteRan(leg.index, ended.spot.place, ended.job.job_id);
        const ran = this.ranOf(ended, late.result, late.queued_sec);
        return ran.settled.status === "succeeded" ? ran : null;
      },
      // A place that breaks its promise says nothing: the other one decides.
      () => null,
    );
    this.silent = { ended, silent_sec: outcome.silent_sec, found };
    desk.orphaned += 1;
    desk.bind(leg.index, other.candidate.spot);
    return { decision: other, kind: "orphan" };
  }

  /** The leg does not wait for a place that is silent: what lies there is taken back, where it answers at all. */
  private leave(ended: Ended, { late }: Extract<PlaceOutcome, { kind: "silent" }>): void {
    const { desk, leg } = this;
    ended.stop();
    const note = (outcome: PlaceOutcome) => {
      if (outcome.kind === "ran") desk.noteRan(leg.index, ended.spot.place, ended.job.job_id);
    };
    late().then(note, () => {}); // a place that breaks its promise leaves its intent open
  }

  // Publishing.

  private publishNoPlace(decision: Decision): LegResult {
    const { defer_class, reason } = whyNoPlace(decision);
    return this.account.publish(unsettled("deferred", reason, defer_class), decision);
  }

  private publishRan(ran: Ran): LegResult {
    return this.account.publish(ran.settled, ran.decision, ran);
  }
}

/** Whether the job may go on there, and its result is still wanted. */
function mayGoOn(outcome: Ended["outcome"]): boolean {
  return (
    outcome.kind === "gave_up" ||
    outcome.kind === "abandoned" ||
    (outcome.kind === "stopped" && outcome.state === "running")
  );
}

function whereOf({ spot, job }: Ended, queue_wait_sec = 0): Where {
  return { node: spot.place, seat: spot.seat, job_id: job.job_id, queue_wait_sec };
}
