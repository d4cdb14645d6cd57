/** Looking at what may be a model server. */
import type { FoundSeat } from "../core/config/seat.ts";

/** The real look; loaded only where a server is asked. */
export async function seatFinder(): Promise<(baseUrl: string) => Promise<FoundSeat | null>> {
  const { findSeat } = await import("../llm/find-seat.ts");
  const world = {
    environment: (name: string) => process.env[name],
    clock: { ms: () => performance.now() },
  };
  return (baseUrl) => findSeat(baseUrl, world);
}
