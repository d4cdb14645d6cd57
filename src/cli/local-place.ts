/** This machine as a place: its seats, what their slot files and rates say, and the agent loop behind them. */
import type { Config } from "../core/config/config.ts";
import type { Seat } from "../core/config/seat.ts";
import { LOCAL, type SeatRecord } from "../core/placement/place.ts";
import type { LocalPlace } from "../core/placement/port.ts";
import { seatKey } from "../core/seat/seat-key.ts";
import { PRESUMED_SLOTS } from "../core/seat/slots.ts";
import { openRates } from "../host/rates.ts";
import { countHeldSlots } from "../host/slot-line.ts";
import { openEndpoint } from "../llm/endpoint.ts";
import { runJob } from "../seat/run-job.ts";
import { structureHere } from "../seat/structure-here.ts";
import { monotonic } from "./clock.ts";
import { jobWorld } from "./job-world.ts";

/** Where several seats could be taken, one that nothing listens for is passed over. */
type Reached = { readonly at_ms: number; readonly isGone: Promise<boolean> };

/** What only the server knows where the config says 0; null: it does not tell. */
type Told = { readonly slots: number | null; readonly ctx_tokens: number | null };

/** A server that did not tell is asked again after so long. */
const ASK_AGAIN_MS = 15_000;

/**
 * @param config with one seat at least
 * @param state  `<data>/run`, from `openStateFolder`
 */
export function localPlace(config: Config, state: string, version: string): LocalPlace {
  const rates = openRates(state);
  const told = new Map<Seat, { readonly at_ms: number; readonly told: Promise<Told> }>();
  const ask = (seat: Seat): Promise<Told> => {
    const known = told.get(seat);
    if (known !== undefined && monotonic.ms() - known.at_ms < ASK_AGAIN_MS) return known.told;
    const asked = askServer(seat);
    told.set(seat, { at_ms: monotonic.ms(), told: asked });
    return asked;
  };
  const reached = new Map<Seat, Reached>();
  const isGone = (seat: Seat): Promise<boolean> => {
    const known = reached.get(seat);
    if (known !== undefined && monotonic.ms() - known.at_ms < ASK_AGAIN_MS) return known.isGone;
    const asked = { at_ms: monotonic.ms(), isGone: nothingListens(seat) };
    reached.set(seat, asked);
    return asked.isGone;
  };
  /** Whether each seat is gone; none is where all are: then the one that comes back first is waited for. */
  const gone = async (seats: readonly Seat[]): Promise<readonly boolean[]> => {
    const all = seats.length < 2 ? seats.map(() => false) : await Promise.all(seats.map(isGone));
    return all.every((each) => each) ? all.map(() => false) : all;
  };
  const recordOf = async (seat: Seat): Promise<SeatRecord> => {
    const key = seatKey(seat);
    const server = seat.slots > 0 && seat.ctx_tokens > 0 ? null : await ask(seat);
    const { decode_tok_s, prefill_tok_s, cold_load_sec } = rates.read(key);
    return {
      name: seat.name,
      engine: seat.engine,
      model: seat.model,
      ctx_tokens: seat.ctx_tokens > 0 ? seat.ctx_tokens : (server?.ctx_tokens ?? 0),
      slots: seat.slots > 0 ? seat.slots : (server?.slots ?? PRESUMED_SLOTS[seat.engine]),
      busy: countHeldSlots(state, key),
      served: null,
      loaded: null,
      tok_s: decode_tok_s,
      prefill_tok_s,
      cold_load_sec,
      samples: 0,
    };
  };
  const worldOf = async (name: string) => {
    const seat = config.seats.find((each) => each.name === name) ?? config.seats[0];
    if (seat === undefined) throw new Error(`there is no seat "${name}"`);
    // What the server has told, each job need not ask again.
    const server = seat.slots > 0 && seat.ctx_tokens > 0 ? null : await ask(seat);
    const known = {
      slots: seat.slots || (server?.slots ?? 0),
      ctx_tokens: seat.ctx_tokens || (server?.ctx_tokens ?? 0),
    };
    return jobWorld({ config, seat: { ...seat, ...known }, state, node_id: LOCAL, version });
  };
  return {
    async look() {
      const [records, isGoneEach] = await Promise.all([Promise.all(config.seats.map(recordOf)), gone(config.seats)]);
      const seats = records.map((record, at) => (isGoneEach[at] === true ? { ...record, served: false } : record));
      return {
        node_id: LOCAL,
        protocol: 1,
        schema_versions: [1],
        draining: false,
        accepts_write: config.agent_allow_write,
        max_running: seats.reduce((sum, { slots }) => sum + slots, 0),
        running: seats.reduce((sum, { busy }) => sum + busy, 0),
        queued: 0,
        max_queue: 0,
        new_job_wait_sec: null,
        recent_wall_sec: null,
        seats,
      };
    },
    async run(job, seat, { signal, onProgress }) {
      const result = await runJob(await worldOf(seat), job, {
        signal,
        onProgress: (progress) => onProgress({ kind: "running", progress }),
      });
      return { kind: "ran", result, queued_sec: 0 };
    },
    structure: async (job, seat, output, { signal, wall_ms }) =>
      structureHere(await worldOf(seat), job, output, { signal, wall_ms, onProgress: () => {} }),
  };
}

async function askServer(seat: Seat): Promise<Told> {
  const endpoint = openEndpoint(seat, { clock: monotonic, environment: (name) => process.env[name] });
  const { signal } = new AbortController();
  const [slots, ctx_tokens] = await Promise.all([
    seat.slots > 0 ? null : endpoint.totalSlots(signal),
    seat.ctx_tokens > 0 ? null : endpoint.windowTokens(signal),
  ]);
  return { slots, ctx_tokens };
}

/** A server of an engine that loads before it listens may be gone for a while: that is no seat to choose either. */
async function nothingListens(seat: Seat): Promise<boolean> {
  const endpoint = openEndpoint(seat, { clock: monotonic, environment: (name) => process.env[name] });
  const { state } = await endpoint.look(new AbortController().signal);
  return state === "gone";
}
