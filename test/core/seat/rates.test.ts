import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addSample, parseRates, type RateFile, ratesOf, renderRates } from "../../../src/core/seat/rates.ts";

const NONE = { decode_tok_s: null, prefill_tok_s: null, cold_load_sec: null };
const EMPTY: RateFile = new Map();

/** A file of these decode rates, one after the other. */
const decoded = (...rates: readonly number[]) =>
  rates.reduce((file, decode_tok_s) => addSample(file, "a", { decode_tok_s }), EMPTY);

test.each<{ rates: number[]; median: number | null }>([
  { rates: [], median: null },
  { rates: [5], median: 5 },
  { rates: [9, 1], median: 5 },
  { rates: [9, 1, 3], median: 3 },
  { rates: [0.001, 0.002], median: 0.002 },
  { rates: [20.1, 20.201], median: 20.151 },
  { rates: [100, 1, 2, 3, 4, 5], median: 3 },
])("of the last five of $rates the median is $median", ({ rates, median }) => {
  expect(ratesOf(decoded(...rates), "a")).toEqual({ ...NONE, decode_tok_s: median });
});

test("each kind and each seat has samples of its own", () => {
  let file = addSample(EMPTY, "a", { decode_tok_s: 10, cold_load_sec: 4.56789 });
  file = addSample(file, "b", { prefill_tok_s: 100 });
  expect(ratesOf(file, "a")).toEqual({ decode_tok_s: 10, prefill_tok_s: null, cold_load_sec: 4.568 });
  expect(ratesOf(file, "b")).toEqual({ ...NONE, prefill_tok_s: 100 });
  expect(ratesOf(file, "c")).toEqual(NONE);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, undefined])("%p is no sample", (decode_tok_s) => {
  expect(addSample(EMPTY, "a", { decode_tok_s })).toBe(EMPTY);
});

test("five hundred seats are kept, the ones that were measured last", () => {
  let file = EMPTY;
  for (let index = 0; index < 501; index += 1) file = addSample(file, `seat ${index}`, { decode_tok_s: 1 });
  file = addSample(file, "seat 1", { decode_tok_s: 1 });
  file = addSample(file, "new", { decode_tok_s: 1 });
  expect([file.size, file.has("seat 0"), file.has("seat 1"), file.has("seat 2"), file.has("new")]).toEqual([
    500,
    false,
    true,
    false,
    true,
  ]);
});

describe("the file", () => {
  test("what is written is read back", () => {
    const sample = fc.record(
      { decode_tok_s: fc.double(), prefill_tok_s: fc.double(), cold_load_sec: fc.double() },
      { requiredKeys: [] },
    );
    const key = fc.oneof(
      fc.webUrl().map((url) => `${url}|m`),
      fc.constant("__proto__|x"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(key, sample), { maxLength: 12 }), (samples) => {
        const file = samples.reduce((all, [seat, each]) => addSample(all, seat, each), EMPTY);
        expect(parseRates(renderRates(file))).toEqual(file);
      }),
    );
  });

  test.each([
    ["no JSON", "{"],
    ["another version", '{"schema_version":2,"seats":{}}'],
    ["no seats", '{"schema_version":1}'],
    ["a seat that is none", '{"schema_version":1,"seats":{"a":5}}'],
    ["a list", "[]"],
  ])("%s is none", (_, text) => {
    expect(parseRates(text)).toBeNull();
  });

  test("samples that are none are left out, and too many are cut", () => {
    const text =
      '{"schema_version":1,"more":1,"seats":{"a":{"decode_tok_s":["x",-1,null,1,2,3,4,5,6],"prefill_tok_s":7}}}';
    expect(ratesOf(parseRates(text) ?? EMPTY, "a")).toEqual({ ...NONE, decode_tok_s: 4 });
  });
});
