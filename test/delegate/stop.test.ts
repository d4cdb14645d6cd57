import { describe, expect, test } from "bun:test";
import { readRunEntry } from "../../src/core/delegation/run-entry.ts";
import { readSavedAnswers } from "../../src/core/delegation/saved-answer.ts";
import { parseJson } from "../../src/core/json/parse.ts";
import { manualClock } from "../support/manual-clock.ts";
import { seatRecord } from "../support/places.ts";
import { play, scriptedLocal, scriptedRemote } from "../support/scripted-place.ts";

const SCHEMA = { output_schema: { properties: { n: {} } } };
const ANSWER = { structured: '{"n":1}' };
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);
const seats = (...slots: number[]) => ({
  seats: slots.map((each, at) => seatRecord({ name: `seat-${at}`, slots: each })),
});

describe("a call that its caller stops", () => {
  test("publishes one leg that had finished, one that waited and one that ran, each as what it was", async () => {
    const { results, summary, document } = await play({
      contracts: times(4, SCHEMA),
      call: { width: 1 },
      stop_ms: 3000,
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 1000, result: ANSWER }, { takes_ms: 60_000 }], seats(1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [{ running: 2 }])],
    });
    expect(results.map(({ status, defer_class, reason }) => [status, defer_class, reason])).toEqual([
      ["succeeded", undefined, undefined],
      [
        "deferred",
        "canceled",
        "canceled by the caller; job wrt-000000000000000000000002 on local was stopped (step 1/12)",
      ],
      ["deferred", "canceled", "canceled by the caller; never placed; it waited for room"],
      ["deferred", "canceled", "canceled by the caller; never placed; it waited for room"],
    ]);
    expect(results[1]).toMatchObject({ node: "local", stop_reason: "canceled", attempts: [{ status: "deferred" }] });
    expect(results[2]).toMatchObject({ node: "", attempts: [] });
    expect(summary).toMatchObject({ succeeded: 1, deferred: 3, canceled: 3, infrastructure: 0 });
    expect(document.wall_ms).toBe(3000);
  });

  test("says of a leg that stood before the window that it was never placed", async () => {
    const { results } = await play({
      contracts: times(2, {}),
      call: { width: 1 },
      stop_ms: 500,
      local: (clock) => scriptedLocal(clock, [{}], seats(2)),
    });
    expect(results[1]?.reason).toBe("canceled by the caller; never placed");
  });

  test("says of a place that was still being asked that this was called off, and not that it is silent", async () => {
    const { results } = await play({
      contracts: [SCHEMA],
      stop_ms: 500,
      local: () => null,
      remotes: (clock) => [{ ...scriptedRemote(clock, "http://a:1", []), probe: () => new Promise(() => {}) }],
    });
    expect(results[0]).toMatchObject({ status: "deferred", placement: "http://a:1: probe (it was called off)" });
  });

  test.each([
    ["withdrawn", /^canceled by the caller; job wrt-0+1 on a was withdrawn before it started$/, "withdrawn"],
    ["running", /^canceled by the caller; job wrt-0+1 still running on a, not taken back$/, "abandoned"],
  ] as const)("tells of a remote job that was %s", async (stopped, reason, status) => {
    const { results } = await play({
      contracts: [SCHEMA],
      stop_ms: 500,
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{ takes_ms: 60_000, stopped }])],
    });
    expect(results[0]?.reason).toMatch(reason);
    expect(results[0]).toMatchObject({ defer_class: "canceled", node: "a", attempts: [{ status }] });
  });

  test("says why a job could not be taken back, and how what it brings is collected", async () => {
    const why = "it has not answered for 12s: connection refused";
    const { results, events } = await play({
      contracts: [SCHEMA, SCHEMA],
      stop_ms: 500,
      local: () => null,
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [{ takes_ms: 60_000, stopped: "running", why }, { takes_ms: 60_000 }]),
      ],
    });
    expect(results[0]?.reason).toBe(
      `canceled by the caller; job wrt-000000000000000000000001 still running on a, not taken back (${why})`,
    );
    expect(events.flatMap((event) => (event.kind === "notice" ? [event.text] : []))).toEqual([
      "1 job may still run at a: writ runs recover collects what they bring",
    ]);
  });

  test("gives up a place that does not stop, within the time of the unwind, and says so", async () => {
    const { results, document } = await play({
      contracts: [{}],
      stop_ms: 500,
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 600_000, is_deaf: true }]),
    });
    expect(results[0]?.reason).toBe(
      "canceled by the caller; job wrt-000000000000000000000001 on local did not stop within 6s and was abandoned (step 1/12)",
    );
    expect(document.wall_ms).toBe(6500);
  });

  test("keeps what a place had finished in that very moment", async () => {
    const { results } = await play({
      contracts: [{}],
      stop_ms: 500,
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 2000, is_deaf: true }]),
    });
    expect(results[0]?.status).toBe("succeeded");
  });

  test("keeps a first attempt whose second was stopped", async () => {
    const { results } = await play({
      contracts: [{ acceptance: ["contains:zebra"] }],
      stop_ms: 1500,
      local: (clock) => scriptedLocal(clock, [{}, { takes_ms: 60_000 }], seats(1, 1)),
    });
    expect(results[0]).toMatchObject({ status: "failed_verification", retried_on: "local" });
    expect(results[0]?.retry_note).toBe("second attempt on local/seat-1: deferred (canceled): canceled by the caller");
  });

  test("starts nothing when it was stopped before it began", async () => {
    const { results, local } = await play({ contracts: times(3, {}), stop_ms: "before" });
    expect(local?.stage.handed).toEqual([]);
    expect(results.map(({ reason }) => reason)).toEqual(Array(3).fill("canceled by the caller; never placed"));
  });
});

describe("the deadline of a call", () => {
  test("ends legs as budget, counts those that were unfinished, and publishes those that were not", async () => {
    const { results, summary, document } = await play({
      contracts: times(3, {}),
      call: { timeout_sec: 10 },
      local: (clock) =>
        scriptedLocal(clock, [{ takes_ms: 2000 }, { takes_ms: 60_000 }, { takes_ms: 60_000 }], seats(2)),
    });
    expect(results.map(({ status, defer_class, reason }) => [status, defer_class ?? "", reason ?? ""])).toEqual([
      ["succeeded", "", ""],
      [
        "deferred",
        "budget",
        "call deadline reached; 2 unfinished; job wrt-000000000000000000000002 on local was stopped (step 1/12)",
      ],
      [
        "deferred",
        "budget",
        "call deadline reached; 2 unfinished; job wrt-000000000000000000000003 on local was stopped (step 1/12)",
      ],
    ]);
    expect(summary).not.toHaveProperty("canceled");
    expect(document.wall_ms).toBe(10_000);
  });

  test("leaves 20 s for work, and a leg that found no room before says so", async () => {
    const { results } = await play({
      contracts: [SCHEMA],
      call: { timeout_sec: 15 },
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [{ running: 2, max_running: 2 }])],
    });
    expect(results[0]).toMatchObject({
      defer_class: "capacity",
      reason:
        "no eligible place had room for 0s: a: cap (2/2 jobs); the last 20s before the call deadline are kept for work",
    });
  });

  test("gives up what ignores it within 8 s", async () => {
    const { results, document } = await play({
      contracts: [{}],
      call: { timeout_sec: 10 },
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 600_000, is_deaf: true }]),
    });
    expect(results[0]?.reason).toContain("did not stop within 8s and was abandoned");
    expect(document.wall_ms).toBe(18_000);
  });

  test("leaves no time for a second attempt that would not fit", async () => {
    const { results } = await play({
      contracts: [{ acceptance: ["contains:zebra"] }],
      call: { timeout_sec: 60 },
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 51_000 }], seats(1, 1)),
    });
    expect(results[0]?.retry_note).toBe("retry skipped: 9s of 300s left");
  });

  test("never raises the wall of a leg, and is told to the places", async () => {
    const { local } = await play({ contracts: [{ timeout_sec: 30 }], call: { timeout_sec: 900 } });
    expect(local?.stage.handed[0]?.job.contract.timeout_sec).toBe(30);
  });
});

describe("a place that never ends a job", () => {
  test("is given up when it takes longer than wall and waits together may", async () => {
    const { results } = await play({
      contracts: [{ timeout_sec: 10 }],
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 1e9, is_deaf: true }]),
    });
    expect(results[0]).toMatchObject({ status: "failed", attempts: [{ status: "abandoned" }] });
    expect(results[0]?.reason).toMatch(/^internal: job wrt-0+1 on local did not end within \d+s and was abandoned/);
  });
});

describe("what happens is told", () => {
  test("each change of state once, in its order, and how a step goes on", async () => {
    const { events } = await play({
      contracts: [{ acceptance: ["contains:zebra"] }],
      local: (clock) => scriptedLocal(clock, [{}], seats(1, 1)),
    });
    expect(events.map((event) => `${event.kind}${"attempt" in event ? ` ${event.attempt}` : ""}`)).toEqual([
      "started",
      "placed first",
      "progress",
      "placed retry",
      "progress",
      "done",
    ]);
    expect(events[0]).toEqual({ kind: "started", run_id: "run-000000000000000000000001", legs: 1, route: "auto" });
    expect(events[1]).toMatchObject({ node: "local", seat: "seat-0", reason: "local free" });
  });

  test("a display that throws takes nothing with it", async () => {
    const onEvent = () => {
      throw new Error("the terminal is gone");
    };
    const { summary, saved } = await play({ contracts: [{}], onEvent });
    expect(summary.succeeded).toBe(1);
    expect(saved.at(-1)).toContain('"kind":"placed"');
  });
});

test("a leg that waits for room says anew why, where that has changed, and not where a number has", async () => {
  const dead = { ok: false, why: "connection refused", blames: "infrastructure" } as const;
  const { events } = await play({
    contracts: [SCHEMA],
    limits: { capacity_wait_sec: 30 },
    local: () => null,
    remotes: (clock) => [
      scriptedRemote(
        clock,
        "http://a:1",
        [{}],
        [{ max_queue: 9, queued: 9 }, { max_queue: 9, queued: 10 }, { draining: true }, { draining: true }, dead],
      ),
    ],
  });
  expect(events.flatMap((event) => (event.kind === "waiting" ? [event.why] : []))).toEqual([
    "a: queue (9/9)",
    "a: queue (draining)",
    "a: probe (connection refused)",
  ]);
});

describe("the record of a call", () => {
  const recordOf = (text: string | undefined) => {
    const parsed = parseJson(text ?? "");
    if (!parsed.ok) throw new Error(parsed.fault.message);
    return parsed.value as { readonly [key: string]: unknown } & {
      readonly record: { readonly [key: string]: unknown };
      readonly results: readonly unknown[];
    };
  };

  test("is written when it begins and when a leg is placed, so that what is killed then still says where its legs were", async () => {
    const { saved } = await play({
      contracts: times(2, SCHEMA),
      call: { width: 1 },
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 5000, result: ANSWER }], seats(1)),
    });
    const open = saved.map((text) => readRunEntry(text)?.unfinished);
    const [begun, second] = saved.map((text) => readRunEntry(text));
    expect(begun).toMatchObject({ ended: false, legs: 2, results: [] });
    expect(open[0]).toEqual([
      { index: 0, node: "local", seat: "seat-0", at_ms: 0 },
      { index: 1, node: "", seat: "", at_ms: 0 },
    ]);
    expect(second).toMatchObject({ ended: false, results: [{ index: 0 }] });
    expect(second?.unfinished).toEqual([{ index: 1, node: "local", seat: "seat-0", at_ms: 5000 }]);
    expect(open.at(-1)).toEqual([]);
  });

  test("of a call that is over at once is written once for each leg and at the end", async () => {
    const { saved } = await play({
      contracts: [SCHEMA],
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 10, result: ANSWER }]),
    });
    expect(saved.map((text) => readRunEntry(text)?.results.length)).toEqual([1, 1]);
  });

  test("is written at each leg's end and at the end, and is a result document that can be graded", async () => {
    const { saved, document } = await play({
      contracts: times(2, SCHEMA),
      local: (clock) =>
        scriptedLocal(clock, [{ result: { structured: '{"n": 0.50}' } }, { takes_ms: 5000, result: ANSWER }], seats(2)),
    });
    expect(saved).toHaveLength(4);
    const [, first, , last] = saved.map(recordOf);
    expect(first).toMatchObject({
      results: [{ index: 0 }],
      summary: { succeeded: 1 },
      record: { legs: 2, ended: false, pid: 4121 },
    });
    expect(last).toMatchObject({
      run_id: document.run_id,
      summary: document.summary,
      record: { legs: 2, ended: true },
    });
    expect(Object.keys(last ?? {})).toEqual([...Object.keys(document), "record"]);
    expect(saved.at(-1)).toContain('"structured":{"n": 0.50}');
    const answers = readSavedAnswers(saved.at(-1) ?? "");
    expect(answers.ok && answers.answers.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  });

  test("holds what was typed, the contracts, the places and what happened", async () => {
    const { saved } = await play({ contracts: [{ goal: "count" }] });
    const { record } = recordOf(saved.at(-1));
    expect(record).toMatchObject({
      argv: ["writ", "delegate"],
      contracts: [{ goal: "count", schema_version: 1 }],
      placements: [{ at_ms: 0, places: [{ name: "local" }] }],
      events: [{ kind: "started" }, { kind: "placed" }, { kind: "done", status: "succeeded" }],
    });
  });

  test("masks secrets in every text of it, and leaves the document alone", async () => {
    const { saved, document } = await play({
      contracts: [{ ...SCHEMA, goal: "use hunter22" }],
      call: { argv: ["writ", "delegate", "--pin-reason", "hunter22"] },
      local: (clock) =>
        scriptedLocal(clock, [{ result: { output: "hunter22", structured: '{"n": "hunter22", "m": 1.0}' } }]),
    });
    for (const text of saved) expect(text).not.toContain("hunter22");
    expect(saved.at(-1)).toContain('"structured":{"n": "[REDACTED]", "m": 1.0}');
    expect(document.results[0]).toMatchObject({ output: "hunter22", structured: '{"n": "hunter22", "m": 1.0}' });
  });

  test("leaves contracts out where they are not kept", async () => {
    const records = {
      save: async (_: string, pieces: Iterable<string>) => void texts.push([...pieces].join("")),
      scrub: (text: string) => text,
      keep_contracts: false,
    };
    const texts: string[] = [];
    await play({ contracts: [{}], world: { records } });
    expect(recordOf(texts.at(-1)).record).not.toHaveProperty("contracts");
  });

  test("that cannot be written is counted, and stops no leg", async () => {
    const save = () => Promise.reject(new Error("disk full"));
    const { summary } = await play({
      contracts: times(2, {}),
      local: (clock) => scriptedLocal(clock, [{}, { takes_ms: 3000 }], seats(2)),
      world: { records: { save, scrub: (text) => text, keep_contracts: true } },
    });
    expect(summary).toMatchObject({ succeeded: 2, telemetry_lost: 3, telemetry_attempted: 3 });
  });

  test("that could be written in the end has lost nothing", async () => {
    let writes = 0;
    const save = () => {
      writes += 1;
      return writes === 1 ? Promise.reject(new Error("disk full")) : Promise.resolve();
    };
    const { summary } = await play({
      contracts: times(2, {}),
      local: (clock) => scriptedLocal(clock, [{}, { takes_ms: 3000 }], seats(2)),
      world: { records: { save, scrub: (text) => text, keep_contracts: true } },
    });
    expect(writes).toBeGreaterThan(1);
    expect(summary).not.toHaveProperty("telemetry_lost");
  });

  test("counts the rows of the ledger that were lost as well, those of this call alone", async () => {
    const intents = { attempted: 7, lost: 2 };
    const { summary } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => {
        const remote = scriptedRemote(clock, "http://a:1", [{ result: ANSWER }]);
        const run: typeof remote.run = (...given) => {
          intents.attempted += 2;
          intents.lost += 1;
          return remote.run(...given);
        };
        return [{ ...remote, run }];
      },
      world: { intents },
    });
    expect(summary).toMatchObject({ telemetry_lost: 1, telemetry_attempted: 4 });
  });

  test("merges what ends while it is being written", async () => {
    const clock = manualClock();
    let written = 0;
    const save = async () => {
      written += 1;
      await clock.sleep(500, new AbortController().signal);
    };
    await play({
      clock,
      contracts: times(8, {}),
      local: (ticking) => scriptedLocal(ticking, [{}], seats(8)),
      world: { records: { save, scrub: (text) => text, keep_contracts: true } },
    });
    // The first leg's, and the last one, in which all others are.
    expect(written).toBe(2);
  });

  test("is written with pauses where a write takes long, and then with all that has ended", async () => {
    const clock = manualClock();
    const written: [at: number, legs: number][] = [];
    const save = async (_: string, pieces: Iterable<string>) => {
      written.push([clock.ms(), recordOf([...pieces].join("")).results.length]);
      await clock.sleep(1000, new AbortController().signal);
    };
    await play({
      clock,
      contracts: times(8, {}),
      local: (ticking) =>
        scriptedLocal(
          ticking,
          Array.from({ length: 8 }, (_, leg) => ({ takes_ms: 1000 * (leg + 1) })),
          seats(8),
        ),
      world: { records: { save, scrub: (text) => text, keep_contracts: true } },
    });
    // A pause of four seconds behind the first, of the beginning; the end of the call ends the second pause.
    expect(written).toEqual([
      [100, 0],
      [5100, 5],
      [8000, 8],
    ]);
  });

  describe("is there before a node may forget what it handed back", () => {
    /** What happened, in order, where records come to be as `save` says. */
    async function order(save: (written: number) => boolean) {
      const happened: string[] = [];
      let written = 0;
      const { results } = await play({
        contracts: times(2, SCHEMA),
        call: { width: 1 },
        local: () => null,
        remotes: (clock) => {
          const remote = scriptedRemote(clock, "http://a:1", [{ result: { output: "" } }, { result: ANSWER }]);
          return [{ ...remote, forget: (job_id) => happened.push(`forget ${job_id.at(-1)}`) > 0 }];
        },
        world: {
          records: {
            save: async (_, pieces) => {
              written += 1;
              if (!save(written)) throw new Error("disk full");
              happened.push(`saved ${recordOf([...pieces].join("")).results.length}`);
            },
            scrub: (text) => text,
            keep_contracts: true,
          },
        },
      });
      expect(results.map(({ status }) => status)).toEqual(["deferred", "succeeded"]);
      return happened;
    }

    test("leg by leg", async () => {
      expect(await order(() => true)).toEqual(["saved 0", "saved 1", "forget 1", "saved 2", "forget 2", "saved 2"]);
    });

    test("with the next one, where one could not be written", async () => {
      expect(await order((written) => written > 2)).toEqual(["saved 2", "forget 1", "forget 2", "saved 2"]);
    });

    test("and is not asked to where none was", async () => {
      expect(await order(() => false)).toEqual([]);
    });
  });
});

describe("what is asked of a place", () => {
  test("the seat that was named, and no other", async () => {
    const { results } = await play({
      contracts: [SCHEMA],
      call: { seat: "seat-1" },
      local: (clock) => scriptedLocal(clock, [{ result: ANSWER }], seats(2, 1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}])],
    });
    expect(results[0]).toMatchObject({ seat: "seat-1" });
    expect(results[0]?.placement).toContain('a: unfit(seat) (no seat "seat-1")');
  });
});
