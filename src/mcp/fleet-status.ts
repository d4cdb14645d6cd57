/** `fleet_status`: the places that legs can go to now, and the delegations of this server. Source: delegation run, section 9 */
import type { JsonObject } from "../core/json/value.ts";
import type { PlaceRecord, PlaceView, SeatRecord } from "../core/placement/place.ts";
import { Fleet } from "../delegate/fleet.ts";
import { readArguments, schemaOf } from "./arguments.ts";
import { delegationOf } from "./delegation.ts";
import { answered, type Tool } from "./tool.ts";

const PARAMETERS = {};

export const tool: Tool = {
  name: "fleet_status",
  description:
    "See where subtasks can go now: this machine and each node, whether they answer, their seats with window, speed and room, whether they take writes, and which are in quarantine for answers about other documents. Also the delegations of this server that go on: of each leg where it is, what it does, and for how long its place has not answered.",
  inputSchema: schemaOf(PARAMETERS),
  reads: true,
  reachesOut: true,
  async run(call) {
    readArguments(PARAMETERS, call.arguments);
    const { config, calls, world } = delegationOf(call);
    const here = await world();
    const fleet = new Fleet(here, { kind: "auto", hint: null }, call.signal);
    const [snapshot, quarantined] = await Promise.all([fleet.read(), here.marks.quarantined()]);
    const running = calls.list();
    return answered(
      {
        ok: true,
        status: "ok",
        places: snapshot.map((place) => placeDocument(place, quarantined)),
        quarantine: [...quarantined],
        default_seat: config.default_seat,
        running: running.map(({ run_id, legs, done, summary, unfinished }) => ({
          run_id,
          legs,
          done,
          summary: { ...summary },
          unfinished: unfinished.map((leg) => ({ ...leg })),
        })),
      },
      false,
    );
  },
};

function placeDocument({ name, kind, probe }: PlaceView, quarantined: ReadonlySet<string>): JsonObject {
  if (!probe.ok) return { name, kind, reachable: false, why: probe.why, blames: probe.blames, room: 0 };
  const { accepts_write, draining, running, max_running, queued, max_queue, new_job_wait_sec, seats } = probe.record;
  return {
    name,
    kind,
    reachable: true,
    room: roomOf(kind, probe.record),
    accepts_write,
    draining,
    quarantined: kind === "remote" && quarantined.has(name),
    running,
    max_running,
    queued,
    max_queue,
    new_job_wait_sec,
    seats: seats.map(seatDocument),
  };
}

/** Jobs that would begin at once; null: without limit. */
function roomOf(kind: PlaceView["kind"], { seats, running, max_running }: PlaceRecord): number | null {
  if (kind === "local") return seats.reduce((sum, { slots, busy }) => sum + Math.max(0, slots - busy), 0);
  return max_running < 0 ? null : Math.max(0, max_running - running);
}

function seatDocument(seat: SeatRecord): JsonObject {
  const { name, engine, model, ctx_tokens, slots, busy, served, loaded, tok_s, prefill_tok_s, cold_load_sec } = seat;
  return { name, engine, model, ctx_tokens, slots, busy, served, loaded, tok_s, prefill_tok_s, cold_load_sec };
}
