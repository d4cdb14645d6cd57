import { describe, expect, test } from "bun:test";
import { judgeParallel, ownWaitSec, peerTokens, type RunOutput } from "../../src/core/gate/parallel.ts";
import { type ParallelWorld, runParallel } from "../../src/gate/parallel.ts";

const GOOD = { status: "succeeded" };
const WAITED = { status: "succeeded", contention_wait_sec: 3.5 };
const deferred = (reason: string, defer_class = "abstention") => ({ status: "deferred", reason, defer_class });

function output(first: object = WAITED, count = 8): RunOutput {
  const results = [first, ...Array.from({ length: count - 1 }, () => GOOD)];
  return { exit: 0, stdout: JSON.stringify({ ok: true, results }), wall_ms: 1000 * count };
}

test("judgeParallel() tells of walls in whole milliseconds", () => {
  const runs = [471.25366099999997, 480.75].map((wall_ms) => ({ ...output(), wall_ms }));
  const report = judgeParallel(runs, { isRemote: true });
  expect([report.median_wall_ms, ...report.runs.map(({ wall_ms }) => wall_ms)]).toEqual([476, 471, 481]);
});

test("judgeParallel() of a node on whose seat nobody waited says where the gate can show it", () => {
  const { verdict, cause } = judgeParallel([output(GOOD)], { isRemote: true });
  expect([verdict, cause]).toEqual([
    "INCONCLUSIVE",
    expect.stringContaining("Run the gate on the node, without --remote"),
  ]);
  expect(judgeParallel([output()], { isRemote: true }).verdict).toBe("PASS");
});

describe("judgeParallel()", () => {
  test.each<[string, readonly RunOutput[], string, string]>([
    ["all succeeded and somebody waited", [output(), output()], "PASS", ""],
    ["nobody waited", [output(GOOD)], "INCONCLUSIVE", "no contention was observed: raise -k"],
    [
      "nobody waited, and a node queued",
      [output({ ...GOOD, queue_wait_sec: 2 })],
      "INCONCLUSIVE",
      "the node queues its own jobs",
    ],
    [
      "a seat was contended",
      [output(deferred("seat contended: 90s spent", "infrastructure")), output()],
      "FAIL",
      "contended 1",
    ],
    [
      "a seat was busy",
      [output(deferred("seat busy: no slot after 1800s", "capacity")), output()],
      "FAIL",
      "busy_defers 1",
    ],
    ["a check failed", [output({ status: "failed_verification" }), output()], "FAIL", "failed_verification 1"],
    ["a leg failed", [output({ status: "failed" }), output()], "FAIL", "failed 1"],
    ["the stack failed", [output(deferred("seat down", "infrastructure")), output()], "FAIL", "infrastructure 1"],
    [
      "a place was misconfigured",
      [output(deferred("model not served", "config")), output()],
      "FAIL",
      "infrastructure 1",
    ],
    [
      "a leg was given up for another reason",
      [output(deferred("empty final answer")), output()],
      "INCONCLUSIVE",
      "1 leg was deferred",
    ],
    [
      "a run printed nothing",
      [output(), { exit: 137, stdout: "", wall_ms: 1 }],
      "FAIL",
      "run 2: its standard output is no document",
    ],
    ["a run has seven results", [output(WAITED, 7)], "FAIL", "run 1: it has 7 results"],
    ["there was no run", [], "INCONCLUSIVE", "nothing was run"],
  ])("where %s", (_, outputs, verdict, cause) => {
    expect(judgeParallel(outputs)).toMatchObject({
      verdict: verdict as "PASS",
      cause: cause === "" ? "" : expect.stringContaining(cause),
    });
  });

  test("counts over all results", () => {
    const report = judgeParallel([
      output(),
      output({ ...GOOD, admission_wait_sec: 2, scripted: true }),
      output(WAITED, 8),
    ]);
    expect(report).toMatchObject({
      k: 3,
      results_total: 24,
      succeeded: 24,
      waited: 2,
      waited_admission: 1,
      scripted: true,
      max_contention_wait_sec: 3.5,
      median_wall_ms: 8000,
    });
  });
});

test.each([
  [0.1, 16],
  [10, 300],
  [1000, 700],
])("peerTokens(%p) is %p", (rate, tokens) => {
  expect(peerTokens(rate)).toBe(tokens);
});

test("ownWaitSec() grows with the calls and shrinks with the slots", () => {
  expect([ownWaitSec(3, 1), ownWaitSec(3, 2), ownWaitSec(2, 0)]).toEqual([8640, 4320, 5760]);
});

describe("runParallel()", () => {
  function scripted(more: Partial<ParallelWorld> = {}) {
    const log: string[] = [];
    let started = 0;
    const world: ParallelWorld = {
      firstRate: async () => 20,
      peerChat: async (tokens) => void log.push(`peer ${tokens}`),
      startRun() {
        started += 1;
        log.push(`start ${started}`);
        return {
          async go() {
            log.push("go");
            return output();
          },
        };
      },
      sleep: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
      say: (line) => void log.push(line),
      ...more,
    };
    return { world, log };
  }

  test("lets none go before all are at the barrier, with a peer on the seat until they have ended", async () => {
    const { world, log } = scripted();
    expect(await runParallel(world, { k: 3, peer: true })).toMatchObject({ verdict: "PASS", k: 3 });
    expect(log).toEqual(["peer 600", "start 1", "start 2", "start 3", "go", "go", "go"]);
  });

  test("has no peer where none is wanted", async () => {
    const { world, log } = scripted();
    await runParallel(world, { k: 2, peer: false });
    expect(log.some((line) => line.startsWith("peer"))).toBe(false);
  });

  test("starts nothing where the seat does not answer", async () => {
    const { world, log } = scripted({ firstRate: async () => null });
    expect(await runParallel(world, { k: 3, peer: true })).toMatchObject({
      verdict: "INCONCLUSIVE",
      cause: "seat not answering",
      k: 3,
    });
    expect(log).toEqual([]);
  });
});
