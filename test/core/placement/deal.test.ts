import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ableSpots,
  type Decision,
  dealLegs,
  dealLine,
  dealReplacement,
  dealRetry,
  dealWaiting,
} from "../../../src/core/placement/deal.ts";
import { type Routing, readRouting } from "../../../src/core/placement/pin.ts";
import { LOCAL, type PlaceView, type SeatRecord } from "../../../src/core/placement/place.ts";
import { placementReason, placementSentence } from "../../../src/core/placement/sentence.ts";
import type { Situation } from "../../../src/core/placement/survey.ts";
import { deadView, localView, placedLeg, remoteView, seatRecord, situationOf } from "../../support/places.ts";

const AUTO: Routing = { kind: "auto", hint: null };
const SPREAD: Routing = { kind: "spread" };
const pinned = (to: "local" | "remote"): Routing => ({ kind: "pinned", to, reason: "measurement" });
const hinted = (hint: "local" | "remote"): Routing => ({ kind: "auto", hint });

const told = (decision: Decision | undefined) =>
  decision?.kind === "place"
    ? `${decision.candidate.spot.place}${decision.isLine ? " line" : ""}`
    : (decision?.kind ?? "");
const deal = (count: number, routing: Routing, snapshot: readonly PlaceView[], fields: Partial<Situation> = {}) =>
  dealLegs(
    Array.from({ length: count }, (_, index) => placedLeg(index)),
    routing,
    situationOf(snapshot, fields),
  ).map(told);

describe("a call on route auto", () => {
  test("takes free local slots first, then remotes with room, then waits", () => {
    expect(deal(6, AUTO, [localView(), remoteView("a", { max_running: 3 })])).toEqual([
      LOCAL,
      LOCAL,
      "a",
      "a",
      "a",
      "wait",
    ]);
  });

  test("stands in the local line where no remote could ever take it", () => {
    expect(deal(3, AUTO, [localView([{ slots: 1 }])])).toEqual([LOCAL, "local line", "local line"]);
    expect(deal(2, AUTO, [localView([{ slots: 1 }]), deadView("a")])).toEqual([LOCAL, "local line"]);
  });

  test("waits for a remote that is only busy", () => {
    expect(deal(2, AUTO, [localView([{ slots: 1 }]), remoteView("a", { draining: true })])).toEqual([LOCAL, "wait"]);
  });

  test("goes to no place where none can run it", () => {
    expect(deal(1, AUTO, [deadView("a")])).toEqual(["none"]);
    expect(deal(1, AUTO, [])).toEqual(["none"]);
  });

  test("takes the default seat first where it is free", () => {
    const seats = [
      { tok_s: 100, slots: 1 },
      { tok_s: 10, slots: 1 },
    ];
    const decisions = dealLegs(
      [placedLeg(0), placedLeg(1)],
      AUTO,
      situationOf([localView(seats)], { default_seat: "seat-1" }),
    );
    expect(decisions.map((each) => (each.kind === "place" ? each.candidate.spot.seat : ""))).toEqual([
      "seat-1",
      "seat-0",
    ]);
  });

  test("spreads a line over the seats by how long their lines are for their slots", () => {
    const seats = [{ slots: 1 }, { slots: 2 }];
    const decisions = dealLegs(
      Array.from({ length: 9 }, (_, at) => placedLeg(at)),
      AUTO,
      situationOf([localView(seats)]),
    );
    const on = (seat: string) => decisions.filter((each) => each.kind === "place" && each.candidate.spot.seat === seat);
    expect([on("seat-0").length, on("seat-1").length]).toEqual([3, 6]);
  });
});

describe("hints and pins", () => {
  test("a local hint is placed as auto", () => {
    expect(deal(3, hinted("local"), [localView([{ slots: 1 }]), remoteView("a", { max_running: 1 })])).toEqual([
      LOCAL,
      "a",
      "wait",
    ]);
  });

  test("a remote hint takes the local place last", () => {
    expect(deal(3, hinted("remote"), [localView([{ slots: 1 }]), remoteView("a", { max_running: 1 })])).toEqual([
      "a",
      LOCAL,
      "wait",
    ]);
    expect(deal(2, hinted("remote"), [localView([{ slots: 1 }]), deadView("a")])).toEqual([LOCAL, "local line"]);
  });

  test("a local pin stands in line and goes nowhere else", () => {
    expect(deal(2, pinned("local"), [localView([{ slots: 1 }]), remoteView("a")])).toEqual([LOCAL, "local line"]);
    expect(deal(1, pinned("local"), [remoteView("a")])).toEqual(["none"]);
  });

  test("a remote pin never comes here", () => {
    expect(deal(2, pinned("remote"), [localView(), remoteView("a", { max_running: 1 })])).toEqual(["a", "wait"]);
    expect(deal(1, pinned("remote"), [localView(), deadView("a")])).toEqual(["none"]);
  });
});

describe("a call on route spread", () => {
  test("gives each place one leg a round, the local one first", () => {
    const snapshot = [
      localView([{ slots: 2 }]),
      remoteView("a", { max_running: 3 }),
      remoteView("b", { max_running: 1 }),
    ];
    const dealt = deal(7, SPREAD, snapshot);
    expect(dealt[0]).toBe(LOCAL);
    expect(dealt.slice(0, 3).toSorted()).toEqual(["a", "b", LOCAL]);
    expect(dealt).toEqual([LOCAL, ...dealt.slice(1, 3), LOCAL, "a", "a", "wait"]);
  });

  test("runs every leg here where no remote is eligible", () => {
    expect(deal(3, SPREAD, [localView([{ slots: 1 }]), deadView("a")])).toEqual([LOCAL, "local line", "local line"]);
  });

  test("its first leg stays here also where the local slots are taken", () => {
    expect(deal(2, SPREAD, [localView([{ slots: 1, busy: 1 }]), remoteView("a")])).toEqual(["local line", "a"]);
  });
});

describe("later decisions", () => {
  const leg = placedLeg();
  const snapshot = [localView([{ slots: 1 }]), remoteView("a"), remoteView("b"), remoteView("c")];

  test("a leg that waits takes a free local slot, else a remote, and no line while a remote may take it", () => {
    expect(told(dealWaiting(leg, AUTO, situationOf(snapshot)))).toBe(LOCAL);
    const busy = [localView([{ slots: 1, busy: 1 }]), remoteView("a", { running: 2 })];
    expect(told(dealWaiting(leg, AUTO, situationOf(busy)))).toBe("wait");
    expect(told(dealWaiting(leg, AUTO, situationOf([...busy, remoteView("b")])))).toBe("b");
    expect(told(dealWaiting(leg, AUTO, situationOf([localView([{ slots: 1, busy: 1 }]), deadView("a")])))).toBe(
      "local line",
    );
    expect(told(dealWaiting(leg, pinned("remote"), situationOf(busy)))).toBe("wait");
  });

  test("a leg that was refused goes to two further remotes, then here, and never twice to a place", () => {
    const used = [{ place: "a", seat: "pool" }];
    const next = (places: readonly string[], remotes: number, routing: Routing = AUTO) =>
      told(
        dealReplacement(
          leg,
          routing,
          situationOf(snapshot),
          places.map((place) => ({ place, seat: "pool" })),
          remotes,
        ),
      );
    expect(told(dealReplacement(leg, AUTO, situationOf(snapshot), used, 0))).toMatch(/^[bc]$/);
    expect(next(["a", "b"], 1)).toBe("c");
    expect(next(["a", "b", "c"], 2)).toBe(LOCAL);
    expect(next(["a", "b"], 2)).toBe(LOCAL);
    expect(next(["a", "b", "c"], 2, pinned("remote"))).toBe("none");
    expect(next(["a", "b", "c", LOCAL], 2)).toBe("none");
  });

  test("a leg that is tried once more goes to another seat, or another place", () => {
    const seats = [localView([{}, {}])];
    const used = [{ place: LOCAL, seat: "seat-0" }];
    const seatOf = (decision: Decision) => (decision.kind === "place" ? decision.candidate.spot.seat : decision.kind);
    expect(seatOf(dealRetry(leg, AUTO, situationOf(seats), used, false))).toBe("seat-1");
    expect(seatOf(dealRetry(leg, AUTO, situationOf(seats), used, true))).toBe("none");
    expect(told(dealRetry(leg, AUTO, situationOf(snapshot), [{ place: LOCAL, seat: "seat-0" }], true))).toMatch(
      /^[abc]$/,
    );
    expect(
      told(dealRetry(leg, pinned("local"), situationOf(snapshot), [{ place: LOCAL, seat: "seat-0" }], false)),
    ).toBe("none");
    const line = [localView([{}, { slots: 1, busy: 1 }])];
    expect(told(dealRetry(leg, AUTO, situationOf(line), used, false))).toBe("local line");
    expect(seatOf(dealRetry({ ...leg, seat: "seat-0" }, AUTO, situationOf(seats), used, false))).toBe("none");
  });

  test("a leg whose turn in the line comes takes the slot that is free then", () => {
    const seats = [localView([{ slots: 1, busy: 1 }, { slots: 1 }])];
    const decision = dealLine(leg, AUTO, situationOf(seats));
    expect(decision.kind === "place" && decision.candidate.spot.seat).toBe("seat-1");
  });
});

const anySeat: fc.Arbitrary<Partial<SeatRecord>> = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  busy: fc.nat(4),
  ctx_tokens: fc.constantFrom(0, 1024, 8192, 32_768),
  served: fc.constantFrom(true, false, null),
  tok_s: fc.constantFrom(null, 0.5, 20, 80),
});
const anyRemote = (name: string): fc.Arbitrary<PlaceView> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(deadView(name)) },
    {
      weight: 5,
      arbitrary: fc
        .record({
          max_running: fc.integer({ min: -1, max: 4 }),
          running: fc.nat(4),
          queued: fc.nat(2),
          draining: fc.boolean(),
          accepts_write: fc.boolean(),
          seat: anySeat,
        })
        .map(({ seat, ...place }) => remoteView(name, { ...place, seats: [seatRecord(seat)] })),
    },
  );
const anySnapshot = fc
  .tuple(fc.array(anySeat, { maxLength: 2 }), anyRemote("a"), anyRemote("b"), anyRemote("c"))
  .map(([seats, ...remotes]) => (seats.length === 0 ? remotes : [localView(seats), ...remotes]));
const anyRouting = fc.constantFrom<Routing>(
  AUTO,
  SPREAD,
  hinted("local"),
  hinted("remote"),
  pinned("local"),
  pinned("remote"),
);

describe("any deal", () => {
  test("gives no place more legs than it has room for, but for a local line", () => {
    fc.assert(
      fc.property(anySnapshot, anyRouting, fc.integer({ min: 1, max: 20 }), (snapshot, routing, count) => {
        const legs = Array.from({ length: count }, (_, index) => placedLeg(index));
        const decisions = dealLegs(legs, routing, situationOf(snapshot));
        expect(decisions).toHaveLength(count);
        const placed = decisions.flatMap((each) =>
          each.kind === "place" && !each.isLine ? [each.candidate.spot] : [],
        );
        for (const { name, kind, probe } of snapshot) {
          const here = placed.filter(({ place }) => place === name);
          if (!probe.ok) expect(here).toEqual([]);
          else if (kind === "remote") {
            const { max_running, running } = probe.record;
            if (max_running >= 0) expect(here.length).toBeLessThanOrEqual(Math.max(0, max_running - running));
          } else {
            for (const { name: seat, slots, busy } of probe.record.seats) {
              const onSeat = here.filter((spot) => spot.seat === seat).length;
              expect(onSeat).toBeLessThanOrEqual(Math.max(0, slots - busy));
            }
          }
        }
        for (const each of decisions) {
          if (each.kind === "place" && each.isLine) expect(each.candidate.spot.place).toBe(LOCAL);
          if (each.kind === "place" && routing.kind === "pinned") {
            expect(each.candidate.spot.place === LOCAL).toBe(routing.to === "local");
          }
        }
      }),
    );
  });

  test("names every configured place once, in roster order, and the chosen one as chosen", () => {
    fc.assert(
      fc.property(anySnapshot, anyRouting, (snapshot, routing) => {
        const [decision] = dealLegs([placedLeg()], routing, situationOf(snapshot));
        if (decision === undefined) throw new Error("no decision");
        const sentence = placementSentence(decision);
        const named = snapshot.map(({ name }) => [
          ...sentence.matchAll(new RegExp(`(?:^|; )${name}(?:: | busy)`, "g")),
        ]);
        for (const found of named) expect(found).toHaveLength(1);
        const places = named.map(([found]) => found?.index ?? -1);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
        const chosen = decision.kind === "place" ? [decision.candidate.spot.place] : [];
        expect([...sentence.matchAll(/(\S+): chosen/g)].map(([, name]) => name ?? "")).toEqual(chosen);
      }),
    );
  });

  test("says where a leg may go as long as it is no dead end", () => {
    fc.assert(
      fc.property(anySnapshot, anyRouting, (snapshot, routing) => {
        const [decision] = dealLegs([placedLeg()], routing, situationOf(snapshot));
        if (decision === undefined) throw new Error("no decision");
        expect(ableSpots(decision).length > 0).toBe(decision.kind !== "none");
      }),
    );
  });
});

describe("placementSentence()", () => {
  const sentence = (routing: Routing, snapshot: readonly PlaceView[], count = 1) => {
    const legs = Array.from({ length: count }, (_, index) => placedLeg(index));
    return placementSentence(dealLegs(legs, routing, situationOf(snapshot)).at(-1) as Decision);
  };
  const rated = (name: string, more: object = {}) =>
    remoteView(name, { seats: [seatRecord({ tok_s: 54, loaded: false, cold_load_sec: 15 })], ...more });

  test("tells the overflow, every word and the arithmetic of the chosen one", () => {
    const snapshot = [
      localView([{ busy: 2 }]),
      remoteView("node-a", { new_job_wait_sec: 444 }),
      rated("node-b"),
      deadView("http://100.64.0.9:18811", "connection refused, cached 4 s ago"),
    ];
    expect(sentence(AUTO, snapshot)).toBe(
      "local busy (2/2 slots); node-a: backlog (a new job waits about 444 s, patience 360 s); " +
        "node-b: chosen (eta 41 s: cold 15 + wait 0 + gen 26); " +
        "http://100.64.0.9:18811: probe (connection refused, cached 4 s ago)",
    );
  });

  test("tells of a hint whether it was honoured", () => {
    expect(sentence(hinted("remote"), [localView(), rated("b")])).toStartWith(
      "route=remote was a hint (no pin_reason), honoured: placed on b; local: outranked; b: chosen",
    );
    expect(sentence(hinted("remote"), [localView(), deadView("b")])).toStartWith(
      "route=remote was a hint (no pin_reason), overridden: placed on local; local: chosen",
    );
    expect(sentence(hinted("local"), [localView(), rated("b")])).toStartWith(
      "route=local was a hint (no pin_reason), honoured",
    );
  });

  test("tells of a pin and of a line", () => {
    expect(sentence(pinned("local"), [localView([{ slots: 1 }]), rated("b")], 2)).toBe(
      "pinned local (measurement); local: chosen (in line, 1/1 slots; eta 26 s: cold 0 + wait 0 + gen 26); b: outranked (pinned local)",
    );
  });

  test("placementReason() says it in a few words", () => {
    const reason = (routing: Routing, snapshot: readonly PlaceView[]) =>
      placementReason(dealLegs([placedLeg()], routing, situationOf(snapshot))[0] as Decision);
    expect(reason(AUTO, [localView()])).toBe("local free");
    expect(reason(AUTO, [localView([{ busy: 2 }]), rated("b")])).toBe("local busy");
    expect(reason(AUTO, [rated("b")])).toBe("best remote");
    expect(reason(AUTO, [localView([{ busy: 2 }])])).toBe("in line");
    expect(reason(pinned("remote"), [rated("b")])).toBe("pinned remote");
    expect(reason(AUTO, [rated("b", { draining: true })])).toBe("no room");
  });
});

describe("readRouting()", () => {
  test.each<[string, Parameters<typeof readRouting>, Routing]>([
    ["auto", ["auto", null], AUTO],
    ["spread", ["spread", null], SPREAD],
    ["a hint", ["remote", null], hinted("remote")],
    ["a pin", ["remote", "measurement"], pinned("remote")],
    [
      "a pin with a text",
      ["local", "privacy: patient data"],
      { kind: "pinned", to: "local", reason: "privacy: patient data" },
    ],
  ])("takes %s", (_, [route, reason], routing) => {
    expect(readRouting(route, reason)).toEqual({ ok: true, routing });
  });

  test.each<[string, Parameters<typeof readRouting>]>([
    ["a word that is none", ["local", "because"]],
    ["no word", ["local", ""]],
    ["a word for the other route", ["remote", "privacy"]],
    ["a reason for auto", ["auto", "measurement"]],
    ["a reason for spread", ["spread", "operator"]],
    ["a text that is too long", ["local", `operator:${"é".repeat(101)}`]],
    ["the name of a property of every object", ["local", "constructor"]],
  ])("refuses %s and lists the words with their routes", (_, [route, reason]) => {
    const read = readRouting(route, reason);
    if (read.ok) throw new Error("it was taken");
    expect(read.hint).toContain(
      "privacy (local), locality (local), measurement (local or remote), operator (local or remote)",
    );
  });

  test("takes a text of exactly 200 bytes", () => {
    expect(readRouting("local", `operator:${"é".repeat(100)}`).ok).toBe(true);
  });
});
