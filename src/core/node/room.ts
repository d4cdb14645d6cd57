/** How many jobs a node runs and holds, where its config leaves that to its seats. */
import type { SeatRecord } from "../placement/place.ts";

export type Room = {
  /** Jobs at once, and accepted and running ones together; negative: no limit. Never 0. */
  readonly max_running: number;
  readonly max_queue: number;
};

const LEAST_QUEUE = 8;

/**
 * @param settings of the config: 0 is by the seats, negative is without limit
 * Source: delegation run, section 2.5
 */
export function roomOf(settings: Room, seats: readonly Pick<SeatRecord, "slots">[]): Room {
  const slots = seats.reduce((sum, seat) => sum + Math.max(1, seat.slots), 0);
  const max_running = settings.max_running === 0 ? Math.max(1, slots) : settings.max_running;
  if (settings.max_queue !== 0) return { max_running, max_queue: settings.max_queue };
  return { max_running, max_queue: max_running < 0 ? -1 : Math.max(LEAST_QUEUE, 2 * max_running) };
}
