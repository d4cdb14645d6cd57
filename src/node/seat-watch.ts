/**
 * Looks at the seats of a node in the background, so that its health record never waits for one: what is told is at most
 * 30 s old. A seat that was not seen for longer, or whose look failed, counts as not served.
 *
 * Source: delegation run, section 7.3
 */
import type { Seat } from "../core/config/seat.ts";
import { type SeatSight, seatRecordOf, servedOf } from "../core/node/seat-record.ts";
import type { SeatRecord } from "../core/placement/place.ts";
import type { SeatRates } from "../core/seat/rates.ts";

export type SeatWatchWorld = {
  readonly clock: { ms(): number };
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Looks at the server of a seat, loading nothing. Errors: none; it is bounded by 10 s and by the signal. */
  look(seat: Seat, signal: AbortSignal): Promise<SeatSight>;
  /** Slots of the seat that processes of writ hold. */
  heldSlots(seat: Seat): number;
  rates(seat: Seat): SeatRates;
  log(line: string): void;
};

/** Between the end of one look and the next. */
const PAUSE_MS = 15_000;
const OLDEST_MS = 30_000;

type Seen = { readonly sight: SeatSight; readonly at_ms: number };

export class SeatWatch {
  readonly #seen = new Map<Seat, Seen>();

  /** @param onChange told when what a seat can take has changed */
  constructor(
    private readonly world: SeatWatchWorld,
    private readonly seats: readonly Seat[],
    private readonly onChange: () => void,
  ) {}

  /** Looks until the signal comes. Errors: none */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.seats.map((seat) => this.#watch(seat, signal)));
  }

  /** Each seat as it was seen last, in the order of the config. */
  records(): readonly SeatRecord[] {
    return this.seats.map((seat) => {
      const { world } = this;
      return seatRecordOf(seat, this.#sightOf(seat), { held: world.heldSlots(seat), rates: world.rates(seat) });
    });
  }

  #sightOf(seat: Seat): SeatSight | null {
    const seen = this.#seen.get(seat);
    if (seen === undefined) return null;
    const isOld = this.world.clock.ms() - seen.at_ms > OLDEST_MS;
    return isOld ? { ...seen.sight, state: "gone", message: "it was not looked at for too long" } : seen.sight;
  }

  async #watch(seat: Seat, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const at_ms = this.world.clock.ms();
      const sight = await this.world.look(seat, signal);
      if (signal.aborted) return;
      this.#keep(seat, { sight, at_ms });
      await this.world.sleep(PAUSE_MS, signal);
    }
  }

  #keep(seat: Seat, { sight, at_ms }: Seen): void {
    const before = this.#seen.get(seat)?.sight ?? null;
    // What a server that is away does not tell now, it told before.
    const slots = sight.slots ?? before?.slots ?? null;
    const ctx_tokens = sight.ctx_tokens ?? before?.ctx_tokens ?? null;
    this.#seen.set(seat, { sight: { ...sight, slots, ctx_tokens }, at_ms });
    const { served, loaded } = servedOf(seat, sight);
    const was = servedOf(seat, before);
    if (served !== was.served)
      this.world.log(`seat ${seat.name} ${served ? "is served" : `is away: ${sight.message}`}`);
    const isSame = served === was.served && loaded === was.loaded;
    if (!isSame || slots !== before?.slots || ctx_tokens !== before.ctx_tokens) this.onChange();
  }
}
