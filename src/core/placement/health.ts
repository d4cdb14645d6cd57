/**
 * A node's health record, read as a stranger's words: types are checked, numbers are made finite and not negative, texts
 * are bounded. What is not known there is not known here.
 *
 * Source: delegation run, sections 4.3, 7.2, 7.3
 */
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { LOCAL, type PlaceRecord, type SeatRecord } from "./place.ts";

export type ReadHealth =
  | { readonly kind: "record"; readonly record: PlaceRecord }
  /** All that a node tells one whose token it does not take. */
  | { readonly kind: "reduced" }
  | { readonly kind: "unreadable"; readonly why: string };

/** The largest health record that is read, in bytes. */
export const MAX_HEALTH_BYTES = 1024 * 1024;

const DEPTH = 16;
const MOST_SEATS = 64;
const MOST_VERSIONS = 16;
const LONGEST_NAME = 512;
const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Leaves the reading; never seen outside of this file. */
class Wrong extends Error {}

/** Errors: none, whatever the text */
export function readHealth(text: string): ReadHealth {
  const parsed = parseJson(text, { maxDepth: DEPTH });
  if (!parsed.ok) return { kind: "unreadable", why: `no JSON: ${parsed.fault.message}` };
  if (!isObject(parsed.value)) return { kind: "unreadable", why: "no health record" };
  try {
    const id = valueAt(parsed.value, "node_id");
    if (id === undefined && valueAt(parsed.value, "protocol") !== undefined) return { kind: "reduced" };
    return { kind: "record", record: recordOf(parsed.value) };
  } catch (error) {
    if (error instanceof Wrong) return { kind: "unreadable", why: error.message };
    throw error;
  }
}

function recordOf(object: JsonObject): PlaceRecord {
  const node_id = textOf(object, "node_id");
  if (!NODE_ID.test(node_id) || node_id === LOCAL) throw new Wrong("it has no usable node_id");
  const seats = listOf(object, "seats").slice(0, MOST_SEATS);
  return {
    node_id,
    protocol: numberOf(object, "protocol") ?? 0,
    schema_versions: listOf(object, "schema_versions").slice(0, MOST_VERSIONS).flatMap(wholeNumbers),
    draining: flagOf(object, "draining") ?? false,
    accepts_write: flagOf(object, "accepts_write") ?? false,
    max_running: signedOf(object, "max_running"),
    running: numberOf(object, "running") ?? 0,
    queued: numberOf(object, "queued") ?? 0,
    max_queue: signedOf(object, "max_queue"),
    new_job_wait_sec: numberOf(object, "new_job_wait_sec"),
    recent_wall_sec: numberOf(object, "recent_wall_sec"),
    seats: seats.map((seat) => {
      if (!isObject(seat)) throw new Wrong("a seat is no object");
      return seatOf(seat);
    }),
  };
}

function seatOf(seat: JsonObject): SeatRecord {
  return {
    name: textOf(seat, "name"),
    engine: textOf(seat, "engine"),
    model: textOf(seat, "model"),
    ctx_tokens: numberOf(seat, "ctx_tokens") ?? 0,
    slots: numberOf(seat, "slots") ?? 0,
    busy: numberOf(seat, "busy") ?? 0,
    served: flagOf(seat, "served"),
    loaded: flagOf(seat, "loaded"),
    tok_s: numberOf(seat, "tok_s"),
    prefill_tok_s: numberOf(seat, "prefill_tok_s"),
    cold_load_sec: numberOf(seat, "cold_load_sec"),
    samples: numberOf(seat, "samples") ?? 0,
  };
}

/** `null` counts as absent. */
function present(object: JsonObject, key: string): JsonValue | undefined {
  return valueAt(object, key) ?? undefined;
}

function textOf(object: JsonObject, key: string): string {
  const value = present(object, key) ?? "";
  if (typeof value !== "string") throw new Wrong(`${key} is no text`);
  return value.slice(0, LONGEST_NAME).toWellFormed();
}

function flagOf(object: JsonObject, key: string): boolean | null {
  const value = present(object, key) ?? null;
  if (value !== null && typeof value !== "boolean") throw new Wrong(`${key} is neither true nor false`);
  return value;
}

function numberOf(object: JsonObject, key: string): number | null {
  const value = present(object, key) ?? null;
  if (value !== null && typeof value !== "number") throw new Wrong(`${key} is no number`);
  return value === null ? null : Math.max(0, value);
}

/** Negative: without limit. */
function signedOf(object: JsonObject, key: string): number {
  const value = present(object, key) ?? 0;
  if (typeof value !== "number") throw new Wrong(`${key} is no number`);
  return value < 0 ? -1 : value;
}

function listOf(object: JsonObject, key: string): readonly JsonValue[] {
  const value = present(object, key) ?? [];
  if (!isArray(value)) throw new Wrong(`${key} is no list`);
  return value;
}

function wholeNumbers(value: JsonValue): readonly number[] {
  return typeof value === "number" && Number.isInteger(value) ? [value] : [];
}
