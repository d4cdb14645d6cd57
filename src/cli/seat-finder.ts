/** Looking at what may be a model server. */
import type { FoundSeat } from "../core/config/seat.ts";

/** The real look; loaded only where a server is asked. */
export async function seatFinder(): Promise<(baseUrl: string) => Promise<FoundSeat | null>> {
  // TODO: ends when src/llm has its look at a base URL.
  return async () => null;
}
