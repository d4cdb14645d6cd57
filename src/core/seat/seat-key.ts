/** What is known of a model server is kept by its address and model: two seats of one server are one. */
import type { Seat } from "../config/seat.ts";

/** `<base_url>|<model>`. */
export function seatKey(seat: Pick<Seat, "base_url" | "model">): string {
  return `${seat.base_url}|${seat.model}`;
}
