import type { Seat } from "../../src/core/config/seat.ts";
import { seatWith } from "../../src/core/config/seat-with.ts";

/** A seat with every key at its default but what is given. */
export function seatOf(more: Partial<Seat> = {}): Seat {
  return seatWith({ name: "seat", base_url: "http://127.0.0.1:1", model: "m", engine: "llama.cpp", ...more });
}
