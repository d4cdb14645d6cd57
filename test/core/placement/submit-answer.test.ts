import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cooldownMs, isForRoom, submitMeaning } from "../../../src/core/placement/submit-answer.ts";

describe("submitMeaning()", () => {
  test.each<[number | null, string, ReturnType<typeof submitMeaning>]>([
    [202, "", "owned"],
    [null, "", "refused"],
    [404, "", "refused"],
    [408, "", "refused"],
    [429, "queue_full", "refused"],
    [500, "internal", "refused"],
    [503, "draining", "refused"],
    [507, "storage", "refused"],
    [409, "previously_failed", "refused"],
    [409, "id_conflict", "fault"],
    [409, "", "wrong"],
    [400, "write_door_closed", "refused"],
    [400, "seat_unfit", "refused"],
    [426, "protocol", "refused"],
    [401, "unauthorized", "auth"],
    [403, "", "auth"],
    [400, "bad_contract", "wrong"],
    [400, "hash_mismatch", "wrong"],
    [413, "", "wrong"],
    [415, "", "wrong"],
    [200, "", "wrong"],
  ])("%p %s is %s", (status, code, meaning) => {
    expect(submitMeaning(status, code)).toBe(meaning);
  });

  test("only 503 and 429 say that there is no room", () => {
    expect([429, 503, 507, 500, 400, null].filter(isForRoom)).toEqual([429, 503]);
  });
});

describe("cooldownMs()", () => {
  test("is 10 s where the place asks for nothing", () => {
    expect(cooldownMs(null, 0.9)).toBe(10_000);
    expect(cooldownMs(Number.NaN, 0.9)).toBe(10_000);
  });

  test("honours 300 s at most, jittered by a fifth", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (asked, draw) => {
          const base = Math.min(300, asked) * 1000;
          const cooldown = cooldownMs(asked, draw);
          expect(cooldown >= Math.floor(base * 0.8) && cooldown <= Math.ceil(base * 1.2)).toBe(true);
        },
      ),
    );
  });
});
