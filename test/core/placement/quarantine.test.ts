import { describe, expect, test } from "bun:test";
import {
  clearStrikes,
  type Marks,
  pruneMarks,
  quarantinedPlaces,
  strikePlace,
} from "../../../src/core/placement/quarantine.ts";

const RULES = { strikes: 2, window_sec: 1800, duration_sec: 1800 };
const MINUTE = 60_000;
const strikes = (...at: readonly number[]) =>
  at.reduce<Marks>((marks, minute) => strikePlace(marks, "b", minute * MINUTE, RULES), {});
const held = (marks: Marks, minute: number) => [...quarantinedPlaces(marks, minute * MINUTE)];

describe("strikes", () => {
  test("one of them holds nobody", () => {
    expect(held(strikes(0), 0)).toEqual([]);
  });

  test("two within half an hour hold a place for half an hour", () => {
    const marks = strikes(0, 29);
    expect(held(marks, 29)).toEqual(["b"]);
    expect(held(marks, 58)).toEqual(["b"]);
    expect(held(marks, 59)).toEqual([]);
  });

  test("two further apart hold nobody", () => {
    expect(held(strikes(0, 31), 31)).toEqual([]);
  });

  test("a right answer clears them", () => {
    const cleared = clearStrikes(strikes(0), "b", MINUTE, RULES);
    expect(cleared).toEqual({});
    expect(held(strikePlace(cleared, "b", 2 * MINUTE, RULES), 2)).toEqual([]);
  });

  test("a right answer from before the quarantine does not end it", () => {
    expect(held(clearStrikes(strikes(0, 1), "b", 2 * MINUTE, RULES), 2)).toEqual(["b"]);
  });

  test("places do not share them, and what has run out is dropped", () => {
    const marks = strikePlace(strikes(0), "c", MINUTE, RULES);
    expect(held(marks, 1)).toEqual([]);
    expect(Object.keys(marks)).toEqual(["b", "c"]);
    expect(Object.keys(pruneMarks(marks, 30.5 * MINUTE, RULES))).toEqual(["c"]);
  });

  test("a strike from the future, after the clock was set back, does not count", () => {
    const marks = strikePlace({ b: { strikes: [100 * MINUTE], until: null } }, "b", MINUTE, RULES);
    expect(held(marks, 1)).toEqual([]);
  });
});
