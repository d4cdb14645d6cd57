/** The real look at what may be a model server. */
import type { FoundSeat } from "../core/config/seat.ts";
import { findSeat } from "../llm/find-seat.ts";
import type { EndpointWorld } from "../llm/world.ts";

/** What talking to model servers needs of this process. */
export const ENDPOINT_WORLD: EndpointWorld = {
  environment: (name) => process.env[name],
  clock: { ms: () => performance.now() },
};

/** Errors: none; null where nothing answers as a model server */
export function findSeatHere(baseUrl: string): Promise<FoundSeat | null> {
  return findSeat(baseUrl, ENDPOINT_WORLD);
}
