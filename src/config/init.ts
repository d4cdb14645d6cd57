/** A first config: what answers on this machine becomes a seat. */
import type { FoundSeat, Seat } from "../core/config/seat.ts";
import { starterSeat, starterText } from "../core/config/starter.ts";

export type InitWorld = {
  /**
   * Looks at what may be a model server; null where nothing answers as one. Bounded by 2 s.
   *
   * @param baseUrl without a trailing `/`
   */
  readonly find: (baseUrl: string) => Promise<FoundSeat | null>;
};

/** Where model servers listen unless they are told otherwise, in the order of the seats. */
export const PORTS = [8080, 9931, 8000, 11434, 11436] as const;

export type StarterConfig = {
  readonly text: string;
  readonly seats: readonly Seat[];
  /** Servers that answer and list no model. */
  readonly without_model: readonly string[];
};

/**
 * Looks at every port at once and drafts a config. Writes nothing.
 *
 * Source: delegation run, section 1.7 (config init)
 */
export async function draftConfig(world: InitWorld): Promise<StarterConfig> {
  const looked = await Promise.all(
    PORTS.map(async (port) => {
      const baseUrl = `http://127.0.0.1:${port}`;
      return { baseUrl, found: await world.find(baseUrl) };
    }),
  );
  const seats: Seat[] = [];
  const without: string[] = [];
  for (const { baseUrl, found } of looked) {
    if (found === null) continue;
    const seat = starterSeat(baseUrl, found, new Set(seats.map(({ name }) => name)));
    if (seat === null) without.push(baseUrl);
    else seats.push(seat);
  }
  return { text: starterText(seats), seats, without_model: without };
}
