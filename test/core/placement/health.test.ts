import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readHealth } from "../../../src/core/placement/health.ts";
import { placeRecord } from "../../support/places.ts";

const read = (value: unknown) => readHealth(JSON.stringify(value));
const why = (value: unknown) => {
  const found = read(value);
  return found.kind === "unreadable" ? found.why : found.kind;
};

describe("readHealth()", () => {
  test("reads a whole record as it was written", () => {
    expect(read({ ok: true, ...placeRecord() })).toEqual({ kind: "record", record: placeRecord() });
  });

  test("takes what is not there as not known", () => {
    expect(read({ node_id: "n", protocol: 1, seats: [{ name: "s" }] })).toMatchObject({
      kind: "record",
      record: {
        schema_versions: [],
        accepts_write: false,
        max_running: 0,
        new_job_wait_sec: null,
        seats: [{ ctx_tokens: 0, served: null, loaded: null, tok_s: null }],
      },
    });
  });

  test("knows the reduced form", () => {
    expect(read({ ok: true, protocol: 1 })).toEqual({ kind: "reduced" });
  });

  test("makes numbers not negative, but for limits that mean none", () => {
    const found = read({ ...placeRecord(), running: -3, max_running: -7, max_queue: -1, new_job_wait_sec: -5 });
    expect(found).toMatchObject({ record: { running: 0, max_running: -1, max_queue: -1, new_job_wait_sec: 0 } });
  });

  test.each<[string, unknown, string]>([
    ["a list", [], "no health record"],
    ["nothing of ours", { status: "ok" }, "it has no usable node_id"],
    ["a node that calls itself local", { ...placeRecord(), node_id: "local" }, "it has no usable node_id"],
    ["a name with a line break", { ...placeRecord(), node_id: "a\nb" }, "it has no usable node_id"],
    ["a count that is a text", { ...placeRecord(), running: "2" }, "running is no number"],
    ["a flag that is a number", { ...placeRecord(), draining: 1 }, "draining is neither true nor false"],
    ["seats that are no list", { ...placeRecord(), seats: {} }, "seats is no list"],
    ["a seat that is a text", { ...placeRecord(), seats: ["s"] }, "a seat is no object"],
  ])("refuses %s", (_, value, expected) => {
    expect(why(value)).toBe(expected);
  });

  test("refuses what is no JSON and what no number holds", () => {
    expect(readHealth("<html>")).toMatchObject({ kind: "unreadable" });
    expect(readHealth('{"node_id":"n","running":1e999}')).toMatchObject({ kind: "unreadable" });
  });

  test("answers whatever it is given", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(["record", "reduced", "unreadable"]).toContain(readHealth(text).kind);
      }),
    );
  });
});
