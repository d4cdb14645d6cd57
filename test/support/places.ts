/** Places as placement sees them, each a whole and willing one of which a test says only what it is about. */
import type { DelegationContract } from "../../src/core/delegation/contract.ts";
import { estimateTokens } from "../../src/core/placement/estimate.ts";
import type { PlaceRecord, PlaceView, SeatRecord } from "../../src/core/placement/place.ts";
import type { Leg, Situation } from "../../src/core/placement/survey.ts";
import { contractOf } from "./legs.ts";

export function seatRecord(fields: Partial<SeatRecord> = {}): SeatRecord {
  return {
    name: "pool",
    engine: "llama.cpp",
    model: "m",
    ctx_tokens: 32_768,
    slots: 2,
    busy: 0,
    served: true,
    loaded: true,
    tok_s: null,
    prefill_tok_s: null,
    cold_load_sec: null,
    samples: 0,
    ...fields,
  };
}

export function placeRecord(fields: Partial<PlaceRecord> = {}): PlaceRecord {
  return {
    node_id: "node",
    protocol: 1,
    schema_versions: [1],
    draining: false,
    accepts_write: true,
    max_running: 2,
    running: 0,
    queued: 0,
    max_queue: 8,
    new_job_wait_sec: null,
    recent_wall_sec: null,
    seats: [seatRecord()],
    ...fields,
  };
}

export function remoteView(name: string, fields: Partial<PlaceRecord> = {}, taken_ms = 0): PlaceView {
  return { name, kind: "remote", taken_ms, probe: { ok: true, record: placeRecord({ node_id: name, ...fields }) } };
}

/** The local place, with a seat of its own rate and slots. */
export function localView(seats: readonly Partial<SeatRecord>[] = [{}], fields: Partial<PlaceRecord> = {}): PlaceView {
  const records = seats.map((seat, at) => seatRecord({ name: `seat-${at}`, ...seat }));
  const slots = records.reduce((sum, { slots }) => sum + slots, 0);
  const record = placeRecord({ node_id: "local", seats: records, max_running: slots, max_queue: 0, ...fields });
  return { name: "local", kind: "local", taken_ms: 0, probe: { ok: true, record } };
}

export function deadView(name: string, why = "connection refused"): PlaceView {
  return { name, kind: "remote", taken_ms: 0, probe: { ok: false, why, blames: "infrastructure" } };
}

export function situationOf(snapshot: readonly PlaceView[], fields: Partial<Situation> = {}): Situation {
  return {
    run_id: "run-000000000000000000000001",
    snapshot,
    now_ms: 0,
    deadline_ms: null,
    quarantined: new Set(),
    cooldowns: new Map(),
    committed: [],
    default_seat: "",
    ...fields,
  };
}

/** A leg of a contract that any place takes, but for what is given. */
export function placedLeg(index = 0, fields: object = {}, seat = ""): Leg {
  const contract: DelegationContract = contractOf({ output_schema: { properties: { n: {} } }, ...fields });
  return { index, contract, estimate: estimateTokens(contract), seat };
}
