/** What all places have to say to one leg: for each, the best seat that would take it, or why none does. */
import { type Asker, type Cooldown, isMoment, type Miss, missOf, orderOf, type Standing } from "./eligibility.ts";
import { LOCAL, medianRate, type PlaceView, type SeatRecord, type Snapshot, type Spot } from "./place.ts";
import { compareRanks, type Rank, rankOf } from "./rank.ts";

/** What the call knows while it places its legs. Instants are monotonic milliseconds. */
export type Situation = {
  readonly run_id: string;
  readonly snapshot: Snapshot;
  readonly now_ms: number;
  /** When the whole call ends; null: never by itself. */
  readonly deadline_ms: number | null;
  /** Names of the places that are passed over for wrong answers. */
  readonly quarantined: ReadonlySet<string>;
  /** By the place's name. */
  readonly cooldowns: ReadonlyMap<string, Cooldown>;
  /** Where legs of this call are bound for that the snapshot does not count yet; one entry a leg. */
  readonly committed: readonly Spot[];
  /** The local seat that is taken first where it has a free slot; "": by rank. */
  readonly default_seat: string;
};

export type Leg = Asker & { readonly index: number };

export type Candidate = {
  readonly spot: Spot;
  readonly seat: SeatRecord;
  readonly rank: Rank;
  /** null: the leg may go there now. */
  readonly miss: Miss | null;
};

export type PlaceSurvey = {
  readonly place: PlaceView;
  /** Best first; only seats that could run the leg at all. */
  readonly able: readonly Candidate[];
  /** Of the seat that came nearest to taking the leg; null where one takes it. */
  readonly miss: Miss | null;
};

/** In roster order, one for each configured place. */
export type Survey = readonly PlaceSurvey[];

/** Accepting a job and running it may take so much longer than its wall. */
const PATIENCE_GRACE_SEC = 60;

/**
 * Asks every place for one leg.
 *
 * @param without spots, or whole places (`seat` ""), that are out of the question: the leg has been there
 * Errors: none
 */
export function surveyPlaces(leg: Leg, situation: Situation, without: readonly Spot[] = []): Survey {
  const median = medianRate(situation.snapshot);
  return situation.snapshot.map((place, roster) => {
    const standing = standingOf(leg, place, situation);
    if (!place.probe.ok || place.probe.record.seats.length === 0) {
      return { place, able: [], miss: missOf(leg, place, null, standing) };
    }
    const { record } = place.probe;
    const able: Candidate[] = [];
    let nearest: Miss | null = null;
    for (const [seatIndex, seat] of record.seats.entries()) {
      const spot = { place: place.name, seat: seat.name };
      if (without.some((used) => used.place === spot.place && (used.seat === "" || used.seat === spot.seat))) continue;
      const miss = missOf(leg, place, seat, standing);
      if (miss !== null && (nearest === null || orderOf(miss) > orderOf(nearest))) nearest = miss;
      if (miss !== null && !isMoment(miss)) continue;
      const counts = { committed: standing.committed, committedToSeat: standing.committedTo(seat.name) };
      const ranked = { place, record, seat, roster, seatIndex, ...counts };
      able.push({ spot, seat, rank: rankOf(ranked, leg, { run_id: situation.run_id, median }), miss });
    }
    able.sort((left, right) => compareRanks(left.rank, right.rank));
    return { place, able, miss: able.some(({ miss }) => miss === null) ? null : nearest };
  });
}

/** The seats that would take the leg now, over all places of a kind, best first. */
export function takersOf(survey: Survey, kind: PlaceView["kind"]): readonly Candidate[] {
  return candidatesOf(survey, kind).filter(({ miss }) => miss === null);
}

/** The seats that could run the leg, now or later, over all places of a kind, best first. */
export function candidatesOf(survey: Survey, kind: PlaceView["kind"]): readonly Candidate[] {
  return survey
    .filter(({ place }) => place.kind === kind)
    .flatMap(({ able }) => able)
    .sort((left, right) => compareRanks(left.rank, right.rank));
}

function standingOf(leg: Leg, place: PlaceView, situation: Situation): Standing {
  const bound = situation.committed.filter((spot) => spot.place === place.name);
  const left_sec =
    situation.deadline_ms === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, situation.deadline_ms - situation.now_ms) / 1000;
  return {
    committed: bound.length,
    committedTo: (seat) => bound.filter((spot) => spot.seat === seat).length,
    quarantined: place.name !== LOCAL && situation.quarantined.has(place.name),
    cooldown: situation.cooldowns.get(place.name) ?? null,
    now_ms: situation.now_ms,
    patience_sec: Math.min(leg.contract.timeout_sec + PATIENCE_GRACE_SEC, left_sec),
  };
}
