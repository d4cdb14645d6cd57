/**
 * How fast a seat was: the last few samples of each kind, by its key, and their medians.
 *
 * Here is the port and what the file means; reading and writing it is the host's.
 *
 * Source: delegation run, section 5.10
 */

import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, prettyJson, valueAt } from "../json/value.ts";
import { medianOf } from "../median.ts";
import { toThousandths } from "../rounded.ts";

/** Medians; null where there is no sample. */
export type SeatRates = {
  readonly decode_tok_s: number | null;
  /** Only from runs that had the seat alone. */
  readonly prefill_tok_s: number | null;
  readonly cold_load_sec: number | null;
};

/** What one run measured. A number that is none, or not above 0, is no sample. */
export type RateSample = { readonly [Kind in keyof SeatRates]?: number | undefined };

export type Rates = {
  /** Errors: none; what cannot be read is not known */
  read(seat_key: string): SeatRates;
  /** Errors: none; what cannot be kept is lost, since nothing rests on it */
  add(seat_key: string, sample: RateSample): void;
};

export const RATE_KINDS = ["decode_tok_s", "prefill_tok_s", "cold_load_sec"] as const;
type Kind = (typeof RATE_KINDS)[number];

/** Samples by seat and kind, oldest first; the seat that was measured last is the last one. */
export type RateFile = ReadonlyMap<string, Readonly<Record<Kind, readonly number[]>>>;

const KEPT = 5;
const MOST_SEATS = 500;

/** Reads the file's text; null where it is none of ours. */
export function parseRates(text: string): RateFile | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value) || valueAt(parsed.value, "schema_version") !== 1) return null;
  const seats = valueAt(parsed.value, "seats");
  if (!isObject(seats)) return null;
  const file = new Map<string, Readonly<Record<Kind, readonly number[]>>>();
  for (const [key, samples] of Object.entries(seats)) {
    if (!isObject(samples)) return null;
    file.set(
      key,
      eachKind((kind) => samplesIn(valueAt(samples, kind))),
    );
  }
  return file;
}

export function renderRates(file: RateFile): string {
  const seats = Object.fromEntries([...file].map(([key, samples]) => [key, samples as unknown as JsonObject]));
  return `${prettyJson({ schema_version: 1, seats })}\n`;
}

/** The file with one run's samples; the same file where it brought none. */
export function addSample(file: RateFile, seat_key: string, sample: RateSample): RateFile {
  if (!RATE_KINDS.some((kind) => isSample(sample[kind]))) return file;
  const before = file.get(seat_key);
  const after = eachKind((kind) => {
    const value = sample[kind];
    const samples = before?.[kind] ?? [];
    return isSample(value) ? [...samples, toThousandths(value)].slice(-KEPT) : samples;
  });
  const others = [...file].filter(([key]) => key !== seat_key);
  return new Map([...others.slice(Math.max(0, others.length - MOST_SEATS + 1)), [seat_key, after]]);
}

export function ratesOf(file: RateFile, seat_key: string): SeatRates {
  const samples = file.get(seat_key);
  return eachKind((kind) => {
    const median = medianOf(samples?.[kind] ?? []);
    return median === null ? null : toThousandths(median);
  });
}

function samplesIn(value: JsonValue | undefined): readonly number[] {
  return isArray(value) ? value.filter(isSample).slice(-KEPT) : [];
}

function isSample(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0.001 && value <= 1e9;
}

function eachKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return {
    decode_tok_s: make("decode_tok_s"),
    prefill_tok_s: make("prefill_tok_s"),
    cold_load_sec: make("cold_load_sec"),
  };
}
