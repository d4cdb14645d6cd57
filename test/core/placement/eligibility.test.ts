import { describe, expect, test } from "bun:test";
import { estimateTokens, reserveTokens } from "../../../src/core/placement/estimate.ts";
import type { PlaceRecord, PlaceView, SeatRecord } from "../../../src/core/placement/place.ts";
import { type Situation, surveyPlaces } from "../../../src/core/placement/survey.ts";
import { contractOf } from "../../support/legs.ts";
import { deadView, localView, placedLeg, remoteView, seatRecord, situationOf } from "../../support/places.ts";

const word = (view: PlaceView, leg = placedLeg(), situation: Partial<Situation> = {}) => {
  const miss = surveyPlaces(leg, situationOf([view], situation))[0]?.miss ?? null;
  return miss === null ? null : `${miss.word}${miss.detail === "" ? "" : `: ${miss.detail}`}`;
};
const remote = (fields: Partial<PlaceRecord> = {}, seat: Partial<SeatRecord> = {}) =>
  remoteView("a", { seats: [seatRecord(seat)], ...fields });

describe("the first word that keeps a leg away from a remote place", () => {
  const plain = placedLeg();
  test.each<[string | null, PlaceView, ReturnType<typeof placedLeg>, Partial<Situation>]>([
    [null, remote(), plain, {}],
    ["probe: connection refused", deadView("a"), plain, {}],
    ['probe: model "m" is not served', remote({}, { served: false }), plain, {}],
    ["skew: protocol 2, ours is 1", remote({ protocol: 2 }), plain, {}],
    ["skew: schema versions 2, 3, ours is 1", remote({ schema_versions: [2, 3] }), plain, {}],
    ["quarantine: answered about other documents", remote(), plain, { quarantined: new Set(["a"]) }],
    ["noschema: the contract has no output_schema", remote(), { ...plain, contract: contractOf() }, {}],
    ["hop: depth 1", remote(), { ...plain, contract: { ...plain.contract, depth: 1 as 0 } }, {}],
    [
      "write: agent_allow_write is false there",
      remote({ accepts_write: false }),
      placedLeg(0, { write_root: "." }),
      {},
    ],
    ["unfit(seat): it has no seat", remote({ seats: [] }), plain, {}],
    ['unfit(seat): no seat "big"', remote(), placedLeg(0, {}, "big"), {}],
    [
      "unfit(ctx): needs about 4097 of 4096 tokens",
      remote({}, { ctx_tokens: 4096 }),
      { ...plain, estimate: 4096 - reserveTokens(4096) + 1 },
      {},
    ],
    ["unfit(ctx): window not known", remote({}, { ctx_tokens: 0 }), plain, {}],
    ["slow: about 321 s at 1 tok/s, wall 300 s", remote({}, { tok_s: 1 }), { ...plain, estimate: 8 }, {}],
    ["probing: its first look at the seat has not ended", remote({}, { served: null }), plain, {}],
    ["queue: 8/8", remote({ queued: 6, running: 2 }), plain, {}],
    ["queue: draining", remote({ draining: true }), plain, {}],
    ["backlog: a new job waits about 444 s, patience 360 s", remote({ new_job_wait_sec: 444 }), plain, {}],
    [
      "cooldown: 7 s left",
      remote(),
      plain,
      { now_ms: 3000, cooldowns: new Map([["a", { since_ms: 0, until_ms: 10_000, isStubborn: false }]]) },
    ],
    ["cap: 2/2 jobs", remote({ running: 2 }), plain, {}],
    ["cap: 2/2 jobs", remote({ running: 1 }), plain, { committed: [{ place: "a", seat: "pool" }] }],
  ])("%s", (expected, view, leg, situation) => {
    expect(word(view, leg, situation)).toBe(expected);
  });

  test("each word gives way to the one before it", () => {
    const all = { protocol: 2, accepts_write: false, draining: true, running: 9, new_job_wait_sec: 9999 };
    const leg = { ...placedLeg(0, { write_root: "." }), seat: "big", estimate: 99_999 };
    const open = placedLeg(0, { write_root: "." });
    expect(word(remote(all, { served: false }), leg)).toStartWith("probe");
    expect(word(remote(all), leg, { quarantined: new Set(["a"]) })).toStartWith("skew");
    expect(word(remote({ ...all, protocol: 1 }), leg, { quarantined: new Set(["a"]) })).toStartWith("quarantine");
    expect(word(remote({ ...all, protocol: 1 }), leg)).toStartWith("write");
    expect(word(remote({ ...all, protocol: 1, accepts_write: true }), leg)).toStartWith("unfit(seat)");
    expect(word(remote({ ...all, protocol: 1, accepts_write: true }), { ...leg, seat: "" })).toStartWith("unfit(ctx)");
    expect(word(remote({ ...all, protocol: 1, accepts_write: true }, { served: null }), open)).toStartWith("probing");
    expect(word(remote({ ...all, protocol: 1, accepts_write: true }), open)).toStartWith("queue");
    expect(word(remote({ running: 2, new_job_wait_sec: 9999 }), open)).toStartWith("backlog");
  });

  test("a backlog is held against what is left of the call where that is less", () => {
    const view = remote({ new_job_wait_sec: 40 });
    expect(word(view)).toBeNull();
    expect(word(view, placedLeg(), { deadline_ms: 30_000 })).toBe("backlog: a new job waits about 40 s, patience 30 s");
  });

  test("a limit of the queue that is not published refuses nobody; neither does a place without a limit of jobs", () => {
    expect(word(remote({ max_queue: 0, queued: 99 }))).toBeNull();
    expect(word(remote({ max_running: -1, running: 99, max_queue: -1 }))).toBeNull();
  });

  test("a reading from after the refusal that shows a free worker ends the cooldown", () => {
    const cooldown = { since_ms: 100, until_ms: 10_000, isStubborn: false };
    const cooldowns = new Map([["a", cooldown]]);
    const after = (fields: Partial<PlaceRecord>) => remoteView("a", fields, 101);
    expect(word(after({}), placedLeg(), { now_ms: 200, cooldowns })).toBeNull();
    expect(word(after({ queued: 1 }), placedLeg(), { now_ms: 200, cooldowns })).toStartWith("cooldown");
    expect(word(remoteView("a", {}, 100), placedLeg(), { now_ms: 200, cooldowns })).toStartWith("cooldown");
    const stubborn = new Map([["a", { ...cooldown, isStubborn: true }]]);
    expect(word(after({}), placedLeg(), { now_ms: 200, cooldowns: stubborn })).toStartWith("cooldown");
  });

  test("the seat that comes nearest speaks for its place", () => {
    const seats = [seatRecord({ name: "small", ctx_tokens: 1024 }), seatRecord({ name: "big", served: null })];
    const leg = { ...placedLeg(), estimate: 5000 };
    expect(word(remoteView("a", { seats }), leg)).toStartWith("probing");
    expect(word(remoteView("a", { seats: seats.reverse() }), leg)).toStartWith("probing");
  });
});

describe("the local place", () => {
  test.each<[string | null, PlaceView, ReturnType<typeof placedLeg>]>([
    [null, localView(), placedLeg()],
    [null, localView([{ ctx_tokens: 0 }]), placedLeg()],
    [null, localView([{ served: null }]), placedLeg()],
    [null, localView(), { ...placedLeg(), contract: contractOf() }],
    ["cap: 2/2 slots", localView([{ busy: 2 }]), placedLeg()],
    [
      "write: agent_allow_write is false here",
      localView([{}], { accepts_write: false }),
      placedLeg(0, { write_root: "." }),
    ],
  ])("%s", (expected, view, leg) => {
    expect(word(view, leg)).toBe(expected);
  });

  test("counts the legs that are bound for a seat, not those of its neighbour", () => {
    const view = localView([{ slots: 1 }, { slots: 1 }]);
    const bound = (...seats: string[]) => ({ committed: seats.map((seat) => ({ place: "local", seat })) });
    expect(word(view, placedLeg(), bound("seat-0"))).toBeNull();
    expect(word(view, placedLeg(), bound("seat-0", "seat-1"))).toBe("cap: 1/1 slots");
  });
});

describe("the sizes", () => {
  test("reserveTokens() is 3072 from a window of 5120 up, and less below", () => {
    expect([32_768, 5120, 4096, 2048].map(reserveTokens)).toEqual([3072, 3072, 2560, 1536]);
  });

  test("estimateTokens() counts every byte that is sent, a third of a token each", () => {
    const contract = contractOf({
      goal: "zähle",
      context: [{ name: "a.md", text: "12345" }],
      output_schema: { properties: { n: {} } },
      acceptance: ["contains:1"],
    });
    const bytes = 6 + 4 + 5 + '{"properties":{"n":{}}}'.length + "contains:1".length;
    expect(estimateTokens(contract)).toBe(Math.ceil(bytes / 3));
  });

  test("a contract that fits exactly is taken, one token more is not", () => {
    const view = remoteView("a", { seats: [seatRecord({ ctx_tokens: 2048 })] });
    expect(word(view, { ...placedLeg(), estimate: 512 })).toBeNull();
    expect(word(view, { ...placedLeg(), estimate: 513 })).toStartWith("unfit(ctx)");
  });
});
