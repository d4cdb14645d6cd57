/**
 * One call: its legs are dealt, run, graded and put together into one document. Every leg has exactly one result in it,
 * whatever the places do.
 *
 * Source: delegation run, sections 1.6, 3, 4.6, 8, 16
 */
import { counted } from "../core/counted.ts";
import type { LegResult, ResultDocument } from "../core/delegation/result.ts";
import { summarise, type Tally } from "../core/delegation/summary.ts";
import { dealLegs } from "../core/placement/deal.ts";
import { Desk } from "./desk.ts";
import { liveLeg } from "./leg.ts";
import { RunKeeper } from "./run-keeper.ts";
import { WaitingRoom } from "./waiting-room.ts";
import type { Call, CallOptions, DelegateWorld } from "./world.ts";

/**
 * Runs a call to its end.
 *
 * @param call valid in every part, with one leg at least
 * @returns    the document, also for a call that was stopped
 * Errors: none but defects
 */
export async function delegate(world: DelegateWorld, call: Call, options: CallOptions): Promise<ResultDocument> {
  const started_at = world.clock.now();
  const results = new Map<number, LegResult>();
  const desk: Desk = new Desk(world, call, (event) => {
    keeper.note(event);
    options.onEvent(event);
  });
  const keeper: RunKeeper = new RunKeeper(world, call, () => headOf(), desk.startedMs);
  const sorted = () => [...results.values()].sort((left, right) => left.index - right.index);
  const before = { ...world.intents };
  const headOf = () => ({
    schema_version: 1 as const,
    run_id: desk.run_id,
    summary: summarise(sorted(), tallyOf(desk, keeper, before)),
    writ_version: world.version,
    started_at,
    wall_ms: Math.round(world.clock.ms() - desk.startedMs),
  });

  const over = new AbortController();
  const cancel = () => desk.stop("canceled");
  if (options.signal.aborted) cancel();
  options.signal.addEventListener("abort", cancel, { once: true });
  if (call.timeout_sec !== null) {
    void world.clock.sleep(call.timeout_sec * 1000, over.signal).then(() => {
      if (!over.signal.aborted) desk.stop("deadline");
    });
  }
  try {
    desk.emit({ kind: "started", run_id: desk.run_id, legs: call.legs.length, route: call.route });
    desk.quarantined = await world.marks.quarantined();
    desk.onDecide = (snapshot) => keeper.notePlaces(snapshot);
    const snapshot = await desk.fleet.read();
    const legs = call.legs.map((leg) => desk.placedLeg(leg));
    const decisions = dealLegs(legs, call.routing, desk.situation(snapshot));
    for (const [index, decision] of decisions.entries()) {
      if (decision.kind === "place") desk.bind(call.legs[index]?.index ?? index, decision.candidate.spot);
    }
    const room = new WaitingRoom(desk);
    await Promise.all(
      call.legs.map(async (leg, at) => {
        const decision = decisions[at];
        if (decision === undefined) throw new Error(`leg ${at} was not dealt`);
        const result = await liveLeg(desk, room, leg, decision);
        results.set(leg.index, result);
        desk.unfinished -= 1;
        keeper.keep(leg, result, () => desk.noteKept(leg.index));
        desk.emit({ kind: "done", index: leg.index, result });
      }),
    );
    if (desk.fleetUnreachable > 0) {
      desk.emit({ kind: "notice", text: `no remote answered; ${counted(desk.fleetUnreachable, "leg")} ran here` });
    }
    if (desk.toldLeft !== null) desk.emit({ kind: "notice", text: desk.toldLeft });
  } finally {
    over.abort();
    options.signal.removeEventListener("abort", cancel);
  }
  await keeper.close();
  const { schema_version, run_id, summary, ...tail } = headOf();
  return { schema_version, run_id, summary, results: sorted(), ...tail };
}

/** @param before the ledger's counts when the call began */
function tallyOf(desk: Desk, keeper: RunKeeper, before: DelegateWorld["intents"]): Tally {
  const { intents } = desk.world;
  return {
    fleet_unreachable: desk.fleetUnreachable,
    replaced: desk.replaced,
    replacement_recovered: desk.replacementRecovered,
    orphaned: desk.orphaned,
    quarantined: desk.passedOver.size,
    telemetry_lost: keeper.lost + intents.lost - before.lost,
    telemetry_attempted: keeper.attempted + intents.attempted - before.attempted,
  };
}
