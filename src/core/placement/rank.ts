/**
 * Which of the eligible seats comes first: one key for each, made without a look at any other, so that sorting by it is
 * an order.
 *
 * Source: delegation run, section 4.5
 */
import type { DelegationContract } from "../delegation/contract.ts";
import { placementDraw } from "./draw.ts";
import { hasRoom } from "./eligibility.ts";
import type { PlaceRecord, PlaceView, SeatRecord } from "./place.ts";

export type Rank = {
  /** 0: a slot is free now, provably. */
  readonly busy: 0 | 1;
  /** When an answer is expected, in seconds, with the draw in it. */
  readonly eta_sec: number;
  readonly parts: Eta;
  /** The window; endless where it is not known, so that it comes last. */
  readonly ctx_tokens: number;
  /** Where the place stands in the roster, and the seat at the place. */
  readonly roster: number;
  readonly seat: number;
};

/** Seconds. `gen_sec` null: no rate is known anywhere, and all are compared by their wait alone. */
export type Eta = { readonly cold_sec: number; readonly wait_sec: number; readonly gen_sec: number | null };

export type Ranked = {
  readonly place: PlaceView;
  readonly record: PlaceRecord;
  readonly seat: SeatRecord;
  readonly roster: number;
  readonly seatIndex: number;
  /** Legs of this call that are bound for the place, and for the seat, and not in the record yet. */
  readonly committed: number;
  readonly committedToSeat: number;
};

/** What the draw may move an expectation by, up and down together. */
const JITTER = 0.2;
/** Tokens of a tool step, of an answer, and how many steps are expected at most. */
const STEP_TOKENS = 150;
const ANSWER_TOKENS = 800;
const EXPECTED_STEPS = 4;

/**
 * The key of one candidate.
 *
 * @param median the median rate of the snapshot, for a seat without one
 */
export function rankOf(
  candidate: Ranked,
  leg: { readonly contract: DelegationContract; readonly index: number },
  call: { readonly run_id: string; readonly median: number | null },
): Rank {
  const { place, seat, roster, seatIndex } = candidate;
  const parts = etaOf(candidate, leg.contract, call.median);
  const draw = placementDraw(call.run_id, leg.index, { place: place.name, seat: seat.name });
  const jitter = 1 + JITTER * (draw - 0.5);
  return {
    busy: isFree(candidate) ? 0 : 1,
    eta_sec: parts.gen_sec === null ? parts.wait_sec : (parts.cold_sec + parts.wait_sec + parts.gen_sec) * jitter,
    parts,
    ctx_tokens: seat.ctx_tokens === 0 ? Number.POSITIVE_INFINITY : seat.ctx_tokens,
    roster,
    seat: seatIndex,
  };
}

/** Negative: `left` comes first. 0 only for a candidate and itself. */
export function compareRanks(left: Rank, right: Rank): number {
  return (
    left.busy - right.busy ||
    left.eta_sec - right.eta_sec ||
    // Two endless windows would give no number.
    (left.ctx_tokens === right.ctx_tokens ? 0 : left.ctx_tokens - right.ctx_tokens) ||
    left.roster - right.roster ||
    left.seat - right.seat
  );
}

function isFree({ place, record, seat, committed, committedToSeat }: Ranked): boolean {
  return place.kind === "local"
    ? seat.busy + committedToSeat < seat.slots
    : hasRoom(record, committed) && record.queued === 0;
}

function etaOf(candidate: Ranked, contract: DelegationContract, median: number | null): Eta {
  const { seat } = candidate;
  const cold_sec = seat.loaded === false ? (seat.cold_load_sec ?? 0) : 0;
  const rate = seat.tok_s !== null && seat.tok_s > 0 ? seat.tok_s : median;
  const tokens = STEP_TOKENS * Math.min(contract.max_steps, EXPECTED_STEPS) + ANSWER_TOKENS;
  return { cold_sec, wait_sec: waitOf(candidate), gen_sec: rate === null ? null : tokens / rate };
}

function waitOf({ place, record, seat, committed, committedToSeat }: Ranked): number {
  if (record.new_job_wait_sec !== null) return record.new_job_wait_sec;
  if (record.recent_wall_sec === null) return 0;
  // Here a seat has its own line; a node has one for all its seats.
  const [room, taken] =
    place.kind === "local"
      ? [seat.slots, seat.busy + committedToSeat]
      : [record.max_running, record.running + record.queued + committed];
  if (room < 0) return 0;
  return (Math.max(0, taken - room + 1) * record.recent_wall_sec) / Math.max(1, room);
}
