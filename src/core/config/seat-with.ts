/** A seat of which only a part is said. */
import { presetOf } from "./decode.ts";
import { type Seat, SeatFields } from "./seat.ts";

/** The window that ollama loads a model with where nobody says otherwise, in tokens. */
export const OLLAMA_WINDOW = 4096;

/** A seat with the defaults of what is not said. */
export function seatWith(said: Pick<Seat, "name" | "base_url" | "model" | "engine"> & Partial<Seat>): Seat {
  const presets = Object.entries(SeatFields.entries).map(([key, entry]) => [key, presetOf(entry)]);
  return { ...(Object.fromEntries(presets) as Seat), ...said };
}
