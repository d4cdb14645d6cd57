import { describe, expect, test } from "bun:test";
import type { ChatOutcome } from "../../src/core/seat/endpoint.ts";
import { calling, play, type Reply, slowly } from "../support/seat-world.ts";

const busy = (retry_after_sec: number | null = null, status = 429): ChatOutcome => ({
  kind: "busy",
  status,
  retry_after_sec,
  message: "HTTP 429: busy",
});
const died: ChatOutcome = { kind: "died", status: null, message: "connection reset" };
const loading: ChatOutcome = { kind: "loading", message: "Loading model" };
const times = (count: number, reply: Reply) => Array<Reply>(count).fill(reply);

describe("the line for a slot", () => {
  test("is waited in before the wall, and for so long", async () => {
    const { result, requests } = await play({ replies: ["done"], slot: null });
    expect(result).toMatchObject({
      defer_class: "capacity",
      reason: "seat busy: no slot after 1800s",
      waits: { contention_sec: 1800 },
      wall_ms: 0,
    });
    expect(requests).toEqual([]);
  });

  test("is told of when there is no slot", async () => {
    const waited = await play({ replies: ["done"], slot: null });
    expect(waited.progress.map(({ phase }) => phase)).toEqual(["contention"]);
    const { progress } = await play({ replies: ["done"] });
    expect(progress).toEqual([]);
  });
});

describe("a model that is not ready", () => {
  test("is waited for, outside of the wall, and then tried", async () => {
    const { result, requests, progress } = await play({
      replies: ["probed", "done"],
      looks: ["loading", "loading", "ready"],
    });
    expect(result).toMatchObject({ output: "done", waits: { admission_sec: 4 }, wall_ms: 0 });
    expect(requests[0]).toMatchObject({ max_tokens: 96, tools: [], thinking: "off" });
    expect(progress[0]).toMatchObject({ phase: "admission", step: 0, allowance_ms: 300_000 });
    // What the probe says counts nowhere.
    expect(result.tokens.completion).toBe(20);
  });

  test("is given up when the budget is over", async () => {
    for (const state of ["loading", "gone"] as const) {
      const { result, requests } = await play({ replies: ["done"], looks: [state] });
      expect(result).toMatchObject({
        defer_class: "infrastructure",
        reason: "seat loading: not ready after 300s (looked)",
        waits: { admission_sec: 300 },
      });
      expect(requests).toEqual([]);
    }
  });

  test("is not waited for where that is switched off", async () => {
    const limits = {
      contention_wait_sec: 90,
      admission_wait_sec: -1,
      slot_wait_sec: 1,
      same_tool: 8,
      same_write_tool: 8,
    };
    const { result } = await play({ replies: ["done"], looks: ["loading"], world: { limits } });
    expect(result).toMatchObject({ reason: "seat loading: not ready after 0s (looked)", waits: { admission_sec: 0 } });
  });

  test("that is not served here is a fault of the config at once", async () => {
    const { result } = await play({ replies: ["done"], looks: [{ state: "not_served", message: "served: a, b" }] });
    expect(result).toMatchObject({ defer_class: "config", reason: "model not served: served: a, b" });
  });

  test("that a proxy has stopped is asked for one token", async () => {
    const { result, warmed, rates } = await play({
      replies: ["done"],
      looks: ["stopped", "loading", "ready"],
      warmUp: () => loading,
    });
    expect([result.output, warmed.count]).toEqual(["done", 1]);
    const started = await play({
      replies: ["done"],
      looks: ["stopped"],
      warmUp: () => ({ kind: "answered", completion: {} }) as never,
    });
    expect([started.result.output, started.warmed.count, started.rates[0]]).toEqual(["done", 1, { cold_load_sec: 0 }]);
    expect(rates[0]).not.toHaveProperty("cold_load_sec");
  });

  test("that nobody can see is left to show in the run", async () => {
    const { result } = await play({ replies: ["done"], looks: [{ state: "unknown", message: "HTTP 404" }] });
    expect(result).toMatchObject({ output: "done", waits: { admission_sec: 0, admission_note: "HTTP 404" } });
  });

  test("that answers nonsense behind its load is not used", async () => {
    const { result, folders } = await play({ replies: ["!".repeat(96)], looks: ["loading", "ready"] });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "seat incoherent: one byte (0x21) stands 96 times in a row",
      steps: 0,
    });
    expect(folders.open).toBe(0);
    // A fault of another kind is left to the run.
    const other = await play({ replies: [died, "done"], looks: ["loading", "ready"] });
    expect(other.result.output).toBe("done");
  });

  test("in the middle of a run is waited for, and the same is sent again", async () => {
    const { result, requests, clock } = await play({
      replies: [loading, "done"],
      looks: ["ready", "loading", "ready"],
      contract: { timeout_sec: 3 },
    });
    expect(result).toMatchObject({ output: "done", steps: 1, waits: { admission_sec: 4 }, wall_ms: 0 });
    expect(requests[1]).toEqual(requests[0] as never);
    expect(clock.now).toBe(4_000);
  });

  test("has one budget for the whole job", async () => {
    const { result } = await play({ replies: [loading], looks: ["loading", "ready"] });
    expect(result).toMatchObject({ defer_class: "infrastructure", reason: "seat loading: not ready after 300s" });
    expect(result.waits.admission_sec).toBe(300);
  });
});

describe("busy answers", () => {
  test("are slept on by the ladder, outside of the wall, and the same is sent again", async () => {
    const { result, requests, clock, progress } = await play({
      replies: [...times(6, busy()), "done"],
      contract: { timeout_sec: 10 },
    });
    expect(result).toMatchObject({ output: "done", steps: 1, waits: { contention_sec: 45 }, wall_ms: 0 });
    expect(new Set(requests.map((request) => JSON.stringify(request))).size).toBe(1);
    expect(clock.now).toBe(45_000);
    expect(
      progress.filter(({ phase }) => phase === "contention").map(({ allowance_ms }) => allowance_ms / 1000),
    ).toEqual([1, 2, 4, 8, 15, 15]);
  });

  test("are slept on for as long as the server says", async () => {
    const { result } = await play({ replies: [busy(7), busy(3), "done"] });
    expect(result.waits.contention_sec).toBe(10);
  });

  test("have one budget of 90 seconds for all calls together, taken before each sleep", async () => {
    const look = calling(["list_dir", { path: "." }]);
    const { result, clock } = await play({ replies: [busy(60), look, busy(20), busy(11), "done"] });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "seat contended: 80s spent waiting on busy answers (last HTTP 429)",
      waits: { contention_sec: 80 },
      steps: 2,
      stop_reason: "error",
    });
    expect(clock.now).toBe(80_000);
  });

  test("use the budget up to its last second", async () => {
    const { result } = await play({ replies: [busy(null, 503)] });
    expect(result.reason).toBe("seat contended: 90s spent waiting on busy answers (last HTTP 503)");
  });

  test("are not waited on where that is switched off", async () => {
    const limits = {
      contention_wait_sec: -1,
      admission_wait_sec: 300,
      slot_wait_sec: 1,
      same_tool: 8,
      same_write_tool: 8,
    };
    const { result, requests } = await play({ replies: [busy()], world: { limits } });
    expect(result.reason).toBe("seat contended: 0s spent waiting on busy answers (last HTTP 429)");
    expect(requests).toHaveLength(1);
  });

  test("of a server that queues in silence are asked for before each request", async () => {
    let asked = 0;
    const { result, requests } = await play({
      replies: ["done"],
      hasFreeSlot: () => {
        asked += 1;
        return asked > 3;
      },
    });
    expect(result).toMatchObject({ output: "done", waits: { contention_sec: 7 } });
    expect(requests).toHaveLength(1);
    const never = await play({ replies: ["done"], hasFreeSlot: () => false });
    expect(never.result.reason).toBe("seat contended: 90s spent waiting on busy answers (last HTTP 503)");
    expect(never.requests).toEqual([]);
  });
});

describe("a request that dies", () => {
  test("is sent once more after two seconds where the seat is there", async () => {
    const { result, requests, clock } = await play({ replies: [died, "done"] });
    expect(result).toMatchObject({ output: "done", steps: 1, waits: { seat_down_sec: 0 } });
    expect(requests[1]).toEqual(requests[0] as never);
    expect(clock.now).toBe(2_000);
    const twice = await play({ replies: [died, died, "done"] });
    expect(twice.result).toMatchObject({
      defer_class: "infrastructure",
      reason: "agent loop: connection reset",
      stop_reason: "error",
    });
    expect(twice.requests).toHaveLength(2);
  });

  test("with its seat is sent again when the seat serves again, and that time is no work", async () => {
    const { result, requests, progress } = await play({
      replies: [died, "done"],
      looks: ["ready", "gone", "gone", "loading", "ready"],
      contract: { timeout_sec: 2 },
    });
    expect(result).toMatchObject({
      output: "done",
      steps: 1,
      waits: { seat_down_sec: 4, contention_sec: 0 },
      wall_ms: 0,
    });
    expect(requests[1]).toEqual(requests[0] as never);
    expect(progress.some(({ phase }) => phase === "seat_down")).toBe(true);
  });

  test("with its seat has two recoveries in a run", async () => {
    const { result, requests } = await play({
      replies: [died],
      looks: ["ready", "gone", "loading", "ready", "gone", "loading", "ready", "gone"],
    });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "seat down: it went down 3 times; connection reset",
      waits: { seat_down_sec: 4 },
    });
    expect(requests).toHaveLength(3);
  });

  test("with a seat that never comes back is over with the budget", async () => {
    const { result } = await play({ replies: [died], looks: ["ready", "gone"] });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "seat down: not serving again after 300s; connection reset",
      waits: { seat_down_sec: 300 },
    });
  });

  test("at a seat that serves other models by now is a fault of the config", async () => {
    const { result } = await play({ replies: [died], looks: ["ready", { state: "not_served", message: "served: b" }] });
    expect(result).toMatchObject({ defer_class: "config", reason: "model not served: served: b" });
  });
});

describe("a silence", () => {
  /** Asks to be looked at after each so many milliseconds of silence, and ends stalled when the look says so. */
  const silent =
    (looks: number, each_ms: number, phase: "prefill" | "decoding", reply: Reply): Reply =>
    async (_, { watch, clock }) => {
      for (let look = 0; look < looks; look += 1) {
        await clock.sleep(each_ms, watch.signal);
        if (watch.signal.aborted) return { kind: "aborted" };
        if ((await watch.look(each_ms, phase)) === "abort") {
          return { kind: "stalled", phase, silent_ms: each_ms, allowed_ms: watch.allowance_ms(phase) };
        }
      }
      return reply;
    };

  test("that nothing explains ends the request", async () => {
    const { result } = await play({ replies: [silent(1, 61_000, "decoding", "done")] });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "stalled: no progress for 61s in decoding (allowed 60s)",
    });
  });

  test("while the model loads is a wait for it", async () => {
    const { result } = await play({
      replies: [silent(2, 70_000, "prefill", "done")],
      looks: ["ready", "loading"],
      contract: { timeout_sec: 100 },
    });
    expect(result).toMatchObject({ output: "done", waits: { admission_sec: 140 }, wall_ms: 0 });
    const over = await play({ replies: [silent(9, 70_000, "prefill", "done")], looks: ["ready", "loading"] });
    expect(over.result.reason).toBe("seat loading: not ready after 280s");
  });

  test("while others have every slot is a wait for them, inside of its budget", async () => {
    const full = { state: "ready", busy_slots: 2, total_slots: 2 } as const;
    const { result } = await play({ replies: [silent(1, 70_000, "prefill", "done")], looks: ["ready", full] });
    expect(result).toMatchObject({ output: "done", waits: { contention_sec: 70 }, wall_ms: 0 });
    const over = await play({ replies: [silent(2, 70_000, "prefill", "done")], looks: ["ready", full] });
    expect(over.result).toMatchObject({
      defer_class: "infrastructure",
      reason: "seat contended: 70s spent waiting on busy answers (last silence with every slot taken)",
    });
    // A slot that decodes for this request is its own.
    const own = await play({ replies: [silent(1, 70_000, "decoding", "done")], looks: ["ready", full] });
    expect(own.result.reason).toStartWith("stalled: ");
  });

  test("is allowed by the size of the prompt and the speed of the seat", async () => {
    const allowed: number[] = [];
    const note: Reply = (_, { watch }) => {
      allowed.push(watch.allowance_ms("prefill"), watch.allowance_ms("decoding"));
      return "done";
    };
    const context = [{ name: "a.md", text: "x".repeat(9000) }];
    const rates = (prefill_tok_s: number | null) => ({
      rates: { read: () => ({ decode_tok_s: null, prefill_tok_s, cold_load_sec: null }), add: () => {} },
    });
    const big = { contract: { goal: "x".repeat(9000), context }, replies: [note] };
    await play({ ...big, world: rates(null) });
    await play({ ...big, world: rates(1000) });
    expect(allowed[0]).toBeGreaterThan(1000 * ((3000 / 20) * 1.5 + 30));
    expect(allowed.slice(1)).toEqual([60_000, 60_000, 60_000]);
  });
});

describe("the wall", () => {
  test("ends a long answer", async () => {
    const { result, clock } = await play({ replies: [slowly(400_000, "done")] });
    expect(result).toMatchObject({
      defer_class: "budget",
      reason: "wall timeout after 300s",
      stop_reason: "wall",
      output: "",
      wall_ms: 300_000,
    });
    expect(clock.now).toBe(300_000);
  });

  test("bounds all turns together, and no wait", async () => {
    const look = calling(["list_dir", { path: "." }]);
    const other = calling(["list_dir", { path: "x" }]);
    const { result, clock } = await play({
      replies: [slowly(200_000, look), busy(60), slowly(90_000, other), slowly(20_000, "done")],
    });
    expect(result).toMatchObject({
      reason: "wall timeout after 300s",
      waits: { contention_sec: 60 },
      wall_ms: 300_000,
    });
    expect(clock.now).toBe(360_000);
  });
});

test.each([
  [
    { kind: "refused", status: 400, message: "HTTP 400: bad" },
    "abstention",
    "agent loop: the server refused the request: HTTP 400: bad",
  ],
  [
    { kind: "refused", status: 401, message: "HTTP 401: key" },
    "config",
    "agent loop: the server refused the key: HTTP 401: key",
  ],
  [
    { kind: "not_served", message: "HTTP 404: model not found" },
    "config",
    "model not served: HTTP 404: model not found",
  ],
  [{ kind: "too_large", bytes: 8_388_608 }, "abstention", "answer too large: more than 8388608 bytes"],
  [
    { kind: "mode_refused", status: 400, message: "HTTP 400: no" },
    "abstention",
    "agent loop: the server refused the request: HTTP 400: no",
  ],
] as const)("an outcome of %j is deferred as %s", async (outcome, defer_class, reason) => {
  const { result, folders } = await play({ replies: [outcome] });
  expect(result).toMatchObject({ deferred: true, defer_class, reason, output: "" });
  expect(folders.open).toBe(0);
});
