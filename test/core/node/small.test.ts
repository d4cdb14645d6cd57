import { describe, expect, test } from "bun:test";
import type { Engine } from "../../../src/core/config/seat.ts";
import { cancelAnswer, errorAnswer, resultAnswer, submitAnswer } from "../../../src/core/node/answer.ts";
import { chooseSeat } from "../../../src/core/node/choose-seat.ts";
import { type JobView, NODE_ERRORS, renderView } from "../../../src/core/node/job.ts";
import { LeaseBook } from "../../../src/core/node/lease.ts";
import { readView } from "../../../src/core/node/read-view.ts";
import { roomOf } from "../../../src/core/node/room.ts";
import { type SeatSight, seatRecordOf, servedOf } from "../../../src/core/node/seat-record.ts";
import { submitMeaning } from "../../../src/core/placement/submit-answer.ts";
import { SEAT as RECORD } from "../../support/node-world.ts";
import { SEAT } from "../../support/seat-world.ts";

const VIEW: JobView = {
  job_id: `wrt-${"0".repeat(24)}`,
  state: "done",
  rev: 7,
  queue_position: 0,
  age_ms: 1,
  queued_ms: 1,
  running_ms: 1,
  wall_sec: 300,
  waits: { admission_sec: 0, contention_sec: 0 },
  restarts: 0,
};

describe("an answer", () => {
  test("of each code has its status, and means to a delegator what the table of both says", () => {
    for (const [code, status] of Object.entries(NODE_ERRORS)) {
      const answer = errorAnswer(code as keyof typeof NODE_ERRORS, "No");
      expect(answer).toEqual({ status, body: `{"error":{"code":"${code}","path":null,"message":"No","hint":null}}` });
    }
    const meaning = (code: keyof typeof NODE_ERRORS) => submitMeaning(NODE_ERRORS[code], code);
    expect(
      ["queue_full", "draining", "storage", "internal", "protocol", "timeout"].map((code) => meaning(code as never)),
    ).toEqual(Array(6).fill("refused"));
    expect(["write_door_closed", "seat_unfit", "previously_failed"].map((code) => meaning(code as never))).toEqual(
      Array(3).fill("refused"),
    );
    expect([meaning("unauthorized"), meaning("id_conflict"), meaning("bad_contract")]).toEqual([
      "auth",
      "fault",
      "wrong",
    ]);
  });

  test("carries results as they are, whatever stands in them", () => {
    const result = '{"output":"\\"result\\":{","big":9007199254740993}';
    const view = { ...VIEW, result };
    for (const { body } of [
      resultAnswer(view),
      submitAnswer({ kind: "accepted", view, new_job_wait_sec: null }),
      cancelAnswer({ kind: "terminal", view }),
    ]) {
      expect(body).toContain(result);
      expect(() => JSON.parse(body)).not.toThrow();
    }
    const read = readView(cancelAnswer({ kind: "terminal", view }).body);
    expect(read.ok && [read.view.state, read.view.result]).toEqual(["done", result]);
    expect(readView(renderView(view))).toMatchObject({ ok: true, view: { rev: 7, result } });
  });

  test("about a result is 409 wherever there is none", () => {
    for (const state of ["accepted", "running", "error", "canceled"] as const) {
      expect(resultAnswer({ ...VIEW, state, result: "{}" })).toMatchObject({ status: 409 });
    }
    expect(resultAnswer(null)).toMatchObject({ status: 404 });
  });
});

describe("roomOf()", () => {
  test.each([
    { settings: [0, 0], slots: [], room: [1, 8] },
    { settings: [0, 0], slots: [2, 4], room: [6, 12] },
    { settings: [0, 0], slots: [0], room: [1, 8] },
    { settings: [3, 0], slots: [8], room: [3, 8] },
    { settings: [20, 0], slots: [8], room: [20, 40] },
    { settings: [-1, 0], slots: [8], room: [-1, -1] },
    { settings: [-1, 5], slots: [8], room: [-1, 5] },
    { settings: [0, -1], slots: [8], room: [8, -1] },
  ])(
    "of $settings over seats with $slots slots is $room",
    ({ settings: [max_running = 0, max_queue = 0], slots, room }) => {
      const { max_running: running, max_queue: queue } = roomOf(
        { max_running, max_queue },
        slots.map((each) => ({ slots: each })),
      );
      expect([running, queue]).toEqual([...room]);
    },
  );
});

describe("chooseSeat()", () => {
  const seats = [
    { ...RECORD, name: "roomy", ctx_tokens: 65_536 },
    { ...RECORD, name: "small", ctx_tokens: 8192 },
    { ...RECORD, name: "unknown", ctx_tokens: 0 },
  ];
  test.each([
    { why: "the smallest that holds it", seat: "", estimate: 100, taken: [], chosen: "small" },
    { why: "a larger one for more", seat: "", estimate: 8000, taken: [], chosen: "roomy" },
    {
      why: "one that does not tell for what no other holds",
      seat: "",
      estimate: 100_000,
      taken: [],
      chosen: "unknown",
    },
    { why: "the next one where the first is taken", seat: "", estimate: 100, taken: ["small"], chosen: "roomy" },
    { why: "the one that is asked for", seat: "roomy", estimate: 100, taken: [], chosen: "roomy" },
    {
      why: "none where the one that is asked for is taken",
      seat: "roomy",
      estimate: 100,
      taken: ["roomy"],
      chosen: null,
    },
  ])("takes $why", ({ seat, estimate, taken, chosen }) => {
    expect(chooseSeat({ seat, estimate_tokens: estimate }, seats, taken)).toBe(chosen);
  });

  test("takes none that is away, or that nobody has looked at", () => {
    for (const served of [false, null]) {
      expect(chooseSeat({ seat: "", estimate_tokens: 1 }, [{ ...RECORD, served }], [])).toBeNull();
    }
  });
});

describe("a seat's record", () => {
  const sight: SeatSight = {
    state: "ready",
    message: "",
    isAnswering: true,
    strangers: 0,
    slots: null,
    ctx_tokens: null,
  };
  test.each<[Engine, SeatSight["state"] | null, boolean, boolean | null, boolean | null]>([
    ["llama.cpp", null, false, null, null],
    ["llama.cpp", "ready", true, true, true],
    ["llama.cpp", "loading", true, true, false],
    ["llama.cpp", "stopped", true, true, false],
    ["llama.cpp", "gone", false, false, false],
    ["llama.cpp", "not_served", true, false, false],
    ["llama.cpp", "unknown", true, false, null],
    ["vllm", "unknown", false, false, null],
    ["openai", "unknown", true, true, null],
    ["openai", "unknown", false, false, null],
  ])("of %s that looks %s (answers: %p) is served %p, loaded %p", (engine, state, isAnswering, served, loaded) => {
    expect(servedOf({ engine }, state === null ? null : { ...sight, state, isAnswering })).toEqual({ served, loaded });
  });

  test("takes what the config says before what the server tells, and both before what is presumed", () => {
    const rates = { decode_tok_s: 24, prefill_tok_s: null, cold_load_sec: 3 };
    const told = { ...sight, slots: 4, ctx_tokens: 4096, strangers: 1 };
    const seat = { ...SEAT, slots: 0, ctx_tokens: 0 };
    expect(seatRecordOf(seat, told, { held: 2, rates })).toMatchObject({
      slots: 4,
      ctx_tokens: 4096,
      busy: 3,
      tok_s: 24,
      prefill_tok_s: null,
      cold_load_sec: 3,
    });
    expect(seatRecordOf({ ...seat, slots: 2, ctx_tokens: 512 }, told, { held: 9, rates })).toMatchObject({
      slots: 2,
      ctx_tokens: 512,
      busy: 2,
    });
    expect(seatRecordOf({ ...seat, engine: "vllm" }, null, { held: 0, rates })).toMatchObject({
      slots: 8,
      ctx_tokens: 0,
    });
  });
});

describe("a lease", () => {
  test("is held, lapsed and over in turn, and begins anew when somebody asks in time", () => {
    const book = new LeaseBook(100);
    book.enter("a", 0);
    expect([99, 100, 199, 200].map((at) => book.stateOf("a", at))).toEqual(["held", "lapsed", "lapsed", "over"]);
    book.renew("a", 150);
    expect(book.stateOf("a", 249)).toBe("held");
    book.forget("a");
    book.renew("a", 300);
    expect(book.stateOf("a", 300)).toBe("over");
  });

  test("that is switched off is held for ever", () => {
    expect(new LeaseBook(0).stateOf("a", 1e12)).toBe("held");
  });
});
