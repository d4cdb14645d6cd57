/**
 * Which leg goes where: all legs of a call together, before the first one starts, and single legs later.
 *
 * A decision touches nothing. It carries the survey that it was made from, so that what is told of it is the decision's
 * own output.
 *
 * Source: delegation run, sections 4.6, 4.7, 4.10
 */
import { isBarred, type Routing } from "./pin.ts";
import type { Spot } from "./place.ts";
import { compareRanks } from "./rank.ts";
import {
  type Candidate,
  candidatesOf,
  type Leg,
  type Situation,
  type Survey,
  surveyPlaces,
  takersOf,
} from "./survey.ts";

export type Decision = {
  readonly survey: Survey;
  readonly routing: Routing;
} & (
  | {
      readonly kind: "place";
      readonly candidate: Candidate;
      /** It has no slot free now: the leg stands in the seat's line. */
      readonly isLine: boolean;
    }
  /** Some place could run it, and none has room. */
  | { readonly kind: "wait" }
  /** No place can ever run it. */
  | { readonly kind: "none" }
);

/**
 * Deals all legs of a call against one snapshot.
 *
 * @param legs in the order of the call
 * @returns    one decision a leg, in that order. No place is dealt more legs than it has room for, but for a seat's line
 * Errors:     none
 */
export function dealLegs(legs: readonly Leg[], routing: Routing, situation: Situation): readonly Decision[] {
  const committed: Spot[] = [...situation.committed];
  const dealt = new Map<string, number>();
  return legs.map((leg, order) => {
    const now = { ...situation, committed: [...committed] };
    const survey = surveyPlaces(leg, now);
    // Without what this deal has given away: whether the fleet takes such a leg at all just now.
    const untouched = routing.kind === "spread" ? surveyPlaces(leg, situation) : survey;
    const chosen =
      routing.kind === "spread"
        ? chooseSpread(survey, untouched, dealt, order === 0, now)
        : chooseOne(survey, routing, now);
    const decision = decisionOf(survey, routing, chosen);
    if (decision.kind === "place") {
      const { spot } = decision.candidate;
      committed.push(spot);
      dealt.set(spot.place, (dealt.get(spot.place) ?? 0) + 1);
    }
    return decision;
  });
}

/**
 * Where a leg that waits for room may go now: a local seat with a free slot, else the best remote. Into a line only where
 * no remote could run it any more.
 *
 * @param without places that said that they will never take it
 */
export function dealWaiting(leg: Leg, routing: Routing, situation: Situation, without: readonly Spot[] = []): Decision {
  const survey = surveyPlaces(leg, situation, without);
  const chosen = chooseOne(survey, routing.kind === "spread" ? { kind: "auto", hint: null } : routing, situation);
  return decisionOf(survey, routing, chosen);
}

/**
 * Another place for a leg that a place turned away: a remote, at most twice, then the local place.
 *
 * @param used     where the leg has been offered; their places are out of the question
 * @param remotes  how many further remotes it has been offered since the first placement
 */
export function dealReplacement(
  leg: Leg,
  routing: Routing,
  situation: Situation,
  used: readonly Spot[],
  remotes: number,
): Decision {
  const places = used.map(({ place }) => ({ place, seat: "" }));
  const survey = surveyPlaces(leg, situation, places);
  const further = remotes < MOST_FURTHER_REMOTES && !isBarred(routing, "remote") ? takersOf(survey, "remote") : [];
  const local = isBarred(routing, "local") ? [] : lineOf(survey, situation);
  return decisionOf(survey, routing, further[0] ?? local[0] ?? null);
}

const MOST_FURTHER_REMOTES = 2;

/**
 * Another seat for a leg that was run and is to be tried once more. A local seat may be one whose line it stands in.
 *
 * @param used      where it has been run
 * @param elsewhere whether another seat of the same place will not do
 */
export function dealRetry(
  leg: Leg,
  routing: Routing,
  situation: Situation,
  used: readonly Spot[],
  elsewhere: boolean,
): Decision {
  const without = elsewhere ? used.map(({ place }) => ({ place, seat: "" })) : used;
  const survey = surveyPlaces(leg, situation, without);
  const takers = [
    ...(isBarred(routing, "local") ? [] : takersOf(survey, "local")),
    ...(isBarred(routing, "remote") ? [] : takersOf(survey, "remote")),
  ].sort(byRank);
  const line = isBarred(routing, "local") ? [] : lineOf(survey, situation);
  return decisionOf(survey, routing, takers[0] ?? line[0] ?? null);
}

/** The local seat for a leg whose turn in the line has come: a free slot where there is one now. */
export function dealLine(leg: Leg, routing: Routing, situation: Situation): Decision {
  const survey = surveyPlaces(leg, situation);
  return decisionOf(survey, routing, lineOf(survey, situation)[0] ?? null);
}

/** The seats that could take the leg, now or later, on this route. */
export function ableSpots(decision: Decision): readonly Spot[] {
  const { survey, routing } = decision;
  return (["local", "remote"] as const)
    .filter((kind) => !isBarred(routing, kind))
    .flatMap((kind) => candidatesOf(survey, kind))
    .map(({ spot }) => spot);
}

function chooseOne(survey: Survey, routing: Exclude<Routing, { kind: "spread" }>, situation: Situation) {
  const remote = takersOf(survey, "remote")[0] ?? null;
  if (routing.kind === "pinned") return routing.to === "remote" ? remote : (lineOf(survey, situation)[0] ?? null);
  const local = localTakers(survey, situation)[0] ?? null;
  const first = routing.hint === "remote" ? (remote ?? local) : (local ?? remote);
  if (first !== null) return first;
  return candidatesOf(survey, "remote").length === 0 ? (lineOf(survey, situation)[0] ?? null) : null;
}

/** The place that has been dealt the fewest legs in this deal: one round after the other. */
function chooseSpread(
  survey: Survey,
  untouched: Survey,
  dealt: ReadonlyMap<string, number>,
  isFirst: boolean,
  situation: Situation,
): Candidate | null {
  const line = lineOf(survey, situation)[0] ?? null;
  if (line !== null && (isFirst || takersOf(untouched, "remote").length === 0)) return line;
  const local = localTakers(survey, situation).slice(0, 1);
  const remotes = survey
    .filter(({ place }) => place.kind === "remote")
    .flatMap(({ able }) => able.filter(({ miss }) => miss === null).slice(0, 1))
    .sort(byRank);
  const count = ({ spot }: Candidate) => dealt.get(spot.place) ?? 0;
  return [...local, ...remotes].reduce<Candidate | null>(
    (best, each) => (best === null || count(each) < count(best) ? each : best),
    null,
  );
}

/** Local seats with a free slot: the default one first, then by rank. */
function localTakers(survey: Survey, { default_seat }: Situation): readonly Candidate[] {
  const takers = takersOf(survey, "local");
  const first = takers.find(({ spot }) => spot.seat === default_seat);
  return first === undefined ? takers : [first, ...takers.filter((each) => each !== first)];
}

/** Local seats that could run the leg: those with a free slot first, then the shortest line for its slots. */
function lineOf(survey: Survey, situation: Situation): readonly Candidate[] {
  const length = ({ spot, seat }: Candidate) =>
    (seat.busy + situation.committed.filter((each) => each.place === spot.place && each.seat === spot.seat).length) /
    Math.max(1, seat.slots);
  const free = localTakers(survey, situation);
  const rest = candidatesOf(survey, "local").filter(({ miss }) => miss !== null);
  return [...free, ...rest.sort((left, right) => length(left) - length(right) || byRank(left, right))];
}

function byRank(left: Candidate, right: Candidate): number {
  return compareRanks(left.rank, right.rank);
}

function decisionOf(survey: Survey, routing: Routing, candidate: Candidate | null): Decision {
  if (candidate !== null) return { kind: "place", survey, routing, candidate, isLine: candidate.miss !== null };
  const isAble = survey.some(({ place, able }) => able.length > 0 && !isBarred(routing, place.kind));
  return { kind: isAble ? "wait" : "none", survey, routing };
}
