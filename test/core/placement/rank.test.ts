import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fnv1a, placementDraw } from "../../../src/core/placement/draw.ts";
import { medianRate, type PlaceView } from "../../../src/core/placement/place.ts";
import { compareRanks, type Rank } from "../../../src/core/placement/rank.ts";
import { candidatesOf, surveyPlaces } from "../../../src/core/placement/survey.ts";
import { localView, placedLeg, remoteView, seatRecord, situationOf } from "../../support/places.ts";

const ranked = (snapshot: readonly PlaceView[], kind: "local" | "remote" = "remote") =>
  candidatesOf(surveyPlaces(placedLeg(), situationOf(snapshot)), kind);
const order = (snapshot: readonly PlaceView[]) => ranked(snapshot).map(({ spot }) => spot.place);
const rated = (name: string, tok_s: number | null, more: object = {}, place: object = {}) =>
  remoteView(name, { seats: [seatRecord({ tok_s, ...more })], ...place });

describe("the order of candidates", () => {
  test("a slot that is free now comes before any speed", () => {
    expect(order([rated("fast", 100, {}, { queued: 1 }), rated("slow", 10)])).toEqual(["slow", "fast"]);
  });

  test("among free ones the sooner answer comes first", () => {
    expect(order([rated("slow", 10), rated("fast", 100)])).toEqual(["fast", "slow"]);
    const cold = rated("cold", 100, { loaded: false, cold_load_sec: 600 });
    expect(order([cold, rated("warm", 10)])).toEqual(["warm", "cold"]);
    expect(order([rated("held", 100, {}, { new_job_wait_sec: 300 }), rated("idle", 10)])).toEqual(["idle", "held"]);
  });

  test("a load that is not known to be needed costs nothing", () => {
    const [first] = ranked([rated("a", 100, { loaded: null, cold_load_sec: 600 })]);
    expect(first?.rank.parts.cold_sec).toBe(0);
  });

  test("the wait is told, else made from jobs and the median of walls", () => {
    const wait = (place: object) => ranked([rated("a", 100, {}, place)])[0]?.rank.parts.wait_sec;
    expect(wait({ new_job_wait_sec: 7, recent_wall_sec: 100 })).toBe(7);
    expect(wait({ running: 1, queued: 3, recent_wall_sec: 30 })).toBe((3 * 30) / 2);
    expect(wait({ running: 0, recent_wall_sec: 30 })).toBe(0);
    expect(wait({ running: 1, queued: 3 })).toBe(0);
    expect(wait({ running: 9, queued: 9, max_running: -1, recent_wall_sec: 30 })).toBe(0);
  });

  test("the answer takes four short steps and 800 tokens at most", () => {
    const gen = (fields: object) =>
      candidatesOf(surveyPlaces(placedLeg(0, fields), situationOf([rated("a", 10)])), "remote")[0]?.rank.parts.gen_sec;
    expect(gen({})).toBe(140);
    expect(gen({ max_steps: 2 })).toBe(110);
  });

  test("a seat without a rate has the median of the snapshot; without any rate only waits are compared", () => {
    const snapshot = [rated("a", 10), rated("b", null), rated("c", 30), rated("d", 20)];
    expect(medianRate(snapshot)).toBe(20);
    expect(medianRate(snapshot.slice(0, 3))).toBe(20);
    expect(ranked(snapshot).find(({ spot }) => spot.place === "b")?.rank.parts.gen_sec).toBe(70);
    const [only] = ranked([rated("b", null, { loaded: false, cold_load_sec: 60 })]);
    expect(only?.rank).toMatchObject({ eta_sec: 0, parts: { gen_sec: null } });
  });

  test("equal expectations go to the smaller window, an unknown one last, then by roster", () => {
    const sized = (name: string, ctx_tokens: number) => rated(name, null, { ctx_tokens });
    expect(order([sized("big", 65_536), sized("small", 8192), sized("same", 8192)])).toEqual(["small", "same", "big"]);
    const local = ranked([localView([{ ctx_tokens: 0 }, { ctx_tokens: 8192 }])], "local");
    expect(local.map(({ spot }) => spot.seat)).toEqual(["seat-1", "seat-0"]);
  });

  test("the draw never brings one before another that is a quarter sooner", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: 1, max: 200 }), (index, rate) => {
        const snapshot = [rated("slow", rate), rated("fast", rate * 1.25)];
        const leg = placedLeg(index);
        // Not the floor of speed is looked at here.
        const able = candidatesOf(
          surveyPlaces({ ...leg, contract: { ...leg.contract, timeout_sec: 900 } }, situationOf(snapshot)),
          "remote",
        );
        if (able.length === 2) expect(able[0]?.spot.place).toBe("fast");
      }),
    );
  });

  test("the draw brings equal ones into either order", () => {
    const snapshot = [rated("a", 50), rated("b", 50)];
    const firsts = Array.from({ length: 64 }, (_, index) => {
      const survey = surveyPlaces(placedLeg(index), situationOf(snapshot));
      return candidatesOf(survey, "remote")[0]?.spot.place;
    });
    expect(new Set(firsts)).toEqual(new Set(["a", "b"]));
  });
});

const anyRank: fc.Arbitrary<Rank> = fc.record({
  busy: fc.constantFrom<0 | 1>(0, 1),
  eta_sec: fc.oneof(fc.constantFrom(0, 1, Number.POSITIVE_INFINITY), fc.double({ min: 0, noNaN: true })),
  parts: fc.constant({ cold_sec: 0, wait_sec: 0, gen_sec: null }),
  ctx_tokens: fc.constantFrom(2048, 8192, Number.POSITIVE_INFINITY),
  roster: fc.nat(3),
  seat: fc.nat(3),
});

describe("compareRanks()", () => {
  test("is a total order: of two one comes first, and three agree", () => {
    fc.assert(
      fc.property(anyRank, anyRank, anyRank, (a, b, c) => {
        const [ab, bc, ac] = [compareRanks(a, b), compareRanks(b, c), compareRanks(a, c)];
        expect(Number.isNaN(ab)).toBe(false);
        expect(Math.sign(ab) + Math.sign(compareRanks(b, a))).toBe(0);
        if (ab < 0 && bc < 0) expect(ac).toBeLessThan(0);
        if (ab === 0) expect([a.roster, a.seat]).toEqual([b.roster, b.seat]);
      }),
    );
  });
});

describe("the draw", () => {
  test("fnv1a() agrees with the published vectors", () => {
    expect(["", "a", "foobar"].map(fnv1a)).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  });

  test("is in its range, the same again, and another for another seat", () => {
    const draws = Array.from({ length: 200 }, (_, at) => placementDraw("run-1", at, { place: "a", seat: "s" }));
    for (const draw of draws) expect(draw >= 0 && draw < 1).toBe(true);
    expect(placementDraw("run-1", 3, { place: "a", seat: "s" })).toBe(draws[3] ?? -1);
    expect(placementDraw("run-1", 3, { place: "a", seat: "t" })).not.toBe(draws[3] ?? -1);
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    expect(mean > 0.4 && mean < 0.6).toBe(true);
  });
});
