/** What a node says of one of its seats, from what was seen of it last. */
import type { Seat } from "../config/seat.ts";
import type { SeatRecord } from "../placement/place.ts";
import type { SeatLook } from "../seat/endpoint.ts";
import type { SeatRates } from "../seat/rates.ts";
import { PRESUMED_SLOTS } from "../seat/slots.ts";

/** A look at the server of a seat. */
export type SeatSight = {
  readonly state: SeatLook["state"];
  /** One line for whoever operates the node. */
  readonly message: string;
  /** Its server answers, whatever it says of the model. */
  readonly isAnswering: boolean;
  /** Slots that were at work for others than writ. */
  readonly strangers: number;
  /** What only the server knows; null where it does not tell. */
  readonly slots: number | null;
  readonly ctx_tokens: number | null;
};

/** Whether the model is there, and whether it can answer without being loaded. Null: nobody has looked yet. */
export function servedOf(seat: Pick<Seat, "engine">, sight: SeatSight | null): Pick<SeatRecord, "served" | "loaded"> {
  if (sight === null) return { served: null, loaded: null };
  switch (sight.state) {
    case "ready":
      return { served: true, loaded: true };
    case "loading":
    case "stopped":
      return { served: true, loaded: false };
    case "gone":
    case "not_served":
      return { served: false, loaded: false };
    case "unknown":
      // The list of a hosted engine need not be whole: a request says for certain. Of the others no word is no.
      return seat.engine === "openai" && sight.isAnswering
        ? { served: true, loaded: null }
        : { served: false, loaded: null };
    default:
      return sight.state satisfies never;
  }
}

/**
 * @param sight what was seen last; null: nothing yet
 * @param held  slots that processes of writ hold now
 */
export function seatRecordOf(
  seat: Seat,
  sight: SeatSight | null,
  { held, rates }: { readonly held: number; readonly rates: SeatRates },
): SeatRecord {
  const slots = seat.slots > 0 ? seat.slots : (sight?.slots ?? PRESUMED_SLOTS[seat.engine]);
  return {
    name: seat.name,
    engine: seat.engine,
    model: seat.model,
    ctx_tokens: seat.ctx_tokens > 0 ? seat.ctx_tokens : (sight?.ctx_tokens ?? 0),
    slots,
    busy: Math.min(slots, held + (sight?.strangers ?? 0)),
    ...servedOf(seat, sight),
    tok_s: rates.decode_tok_s,
    prefill_tok_s: rates.prefill_tok_s,
    cold_load_sec: rates.cold_load_sec,
    samples: 0,
  };
}
