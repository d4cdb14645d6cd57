import { describe, expect, test } from "bun:test";
import { clockText, cutColumns, phaseText } from "../../../src/cli/delegate/leg-board.ts";
import { openLiveDisplay } from "../../../src/cli/delegate/live.ts";
import { openPlainDisplay } from "../../../src/cli/delegate/plain.ts";
import type { LegResult } from "../../../src/core/delegation/result.ts";
import type { JobProgress } from "../../../src/core/delegation/wire-result.ts";
import type { DelegateEvent } from "../../../src/delegate/world.ts";
import { painted } from "../../support/painted.ts";

const PROGRESS: JobProgress = {
  phase: "decoding",
  step: 2,
  max_steps: 12,
  tool: "",
  arg: "",
  tokens: 812,
  tok_s: 24,
  idle_ms: 0,
  allowance_ms: 60_000,
};
const started = (legs: number): DelegateEvent => ({ kind: "started", run_id: "run-1", legs, route: "auto" });
const placed = (index: number, node = "node-b", seat = "pool-b"): DelegateEvent => {
  return { kind: "placed", index, attempt: "first", node, seat, reason: "local busy" };
};
const progress = (index: number, fields: Partial<JobProgress> = {}): DelegateEvent => {
  return { kind: "progress", index, progress: { ...PROGRESS, ...fields } };
};
const done = (index: number, fields: Partial<LegResult> = {}): DelegateEvent => {
  const leg = { index, status: "succeeded", node: "node-b", seat: "pool-b", steps: 4, wall_ms: 31_000, ...fields };
  return { kind: "done", index, result: leg as LegResult };
};

const silent = (index: number, silent_ms: number, elsewhere_ms: number | null = 60_000): DelegateEvent => {
  return {
    kind: "silent",
    index,
    node: "node-b",
    silent_ms,
    why: "connection refused",
    elsewhere_ms,
    given_up_ms: 361_000,
  };
};

/** Timers that stand still until they are told to go on. */
function handTimers() {
  let now = 0;
  let pending: { at: number; call: () => void }[] = [];
  const timers = {
    now: () => now,
    after(ms: number, call: () => void) {
      const timer = { at: now + ms, call };
      pending.push(timer);
      return () => {
        pending = pending.filter((each) => each !== timer);
      };
    },
    every(ms: number, call: () => void): () => void {
      let cancel = () => {};
      const again = () => {
        cancel = timers.after(ms, () => {
          again();
          call();
        });
      };
      again();
      return () => cancel();
    },
    pass(ms: number) {
      const end = now + ms;
      for (;;) {
        const [next] = pending.toSorted((left, right) => left.at - right.at);
        if (next === undefined || next.at > end) break;
        now = next.at;
        pending = pending.filter((each) => each !== next);
        next.call();
      }
      now = end;
    },
  };
  return timers;
}

function live(columns = 80, rows = 24) {
  const timers = handTimers();
  const written: string[] = [];
  const display = openLiveDisplay({ write: (text) => written.push(text), size: () => ({ columns, rows }) }, timers);
  return { timers, written, display, screen: () => painted(written.join("")) };
}

describe("the live display", () => {
  test("has a line for the call and one for each leg, repainted in place", () => {
    const { display, timers, screen } = live();
    display.take(started(4));
    for (const event of [placed(0), progress(0, { phase: "tool", step: 3, tool: "read_file", arg: "release-a.md" })])
      display.take(event);
    for (const event of [placed(1, "local", "qwen-9b"), progress(1)]) display.take(event);
    display.take({ kind: "waiting", index: 2, why: "node-a: queue (8/8)" });
    display.take({ kind: "queued", index: 0, position: 2, about_sec: 40 });
    display.take(done(3, { node: "local", seat: "qwen-9b" }));
    timers.pass(41_200);
    expect(screen().lines).toEqual([
      "writ  route auto  4 legs  1 done  1 waiting  00:41",
      "[1] node-b/pool-b  queued 2nd (about 40s)                                00:41",
      "[2] local/qwen-9b  step 2/12  thinking  812 tok                          00:41",
      "[3] —              waiting for room: node-a: queue (8/8)                 00:41",
      "[4] local/qwen-9b  done  succeeded                                       00:00",
    ]);
  });

  test("counts for how long a place has not answered, and says what comes next, until it answers again", () => {
    const { display, timers, screen } = live(100);
    display.take(started(1));
    for (const event of [placed(0), progress(0), silent(0, 2000)]) display.take(event);
    timers.pass(10_200);
    const line = () => screen().lines[1];
    expect(line()).toStartWith("[1] node-b/pool-b  no answer for 12s, another place at 60s (connection refused) ");
    display.take(silent(0, 61_000, null));
    timers.pass(1200);
    expect(line()).toStartWith("[1] node-b/pool-b  no answer for 62s, waited for until 361s (connection refused) ");
    display.take(progress(0));
    timers.pass(1000);
    expect(line()).toStartWith("[1] node-b/pool-b  step 2/12  thinking  812 tok ");
  });

  test("counts a wait from its beginning, also where it is told again why", () => {
    const { display, timers, screen } = live();
    display.take(started(1));
    display.take({ kind: "waiting", index: 0, why: "node-a: queue (draining)" });
    timers.pass(9000);
    display.take({ kind: "waiting", index: 0, why: "node-a: probe (connection refused)" });
    timers.pass(1200);
    expect(screen().lines[1]).toMatch(/^\[1\] — {2}waiting for room: node-a: probe \(connection refused\) +00:10$/);
  });

  test("paints at most ten times a second", () => {
    const { display, timers, written } = live();
    display.take(started(1));
    display.take(placed(0));
    for (let at = 0; at < 1000; at += 1) {
      display.take(progress(0, { tokens: at }));
      timers.pass(1);
    }
    const frames = written.filter((text) => text.includes("route auto")).length;
    expect(frames).toBeGreaterThan(5);
    expect(frames).toBeLessThanOrEqual(11);
  });

  test.each([40, 20, 200])("keeps within %p columns", (columns) => {
    const { display, timers, screen } = live(columns);
    display.take(started(2));
    display.take(placed(0, "a-node-with-a-very-long-name", "a-seat-with-a-long-name"));
    display.take(progress(0, { phase: "tool", tool: "search_files", arg: "x".repeat(500) }));
    display.take({ kind: "waiting", index: 1, why: "node-a: backlog (a new job waits about 444 s, patience 360 s)" });
    timers.pass(5000);
    for (const line of screen().lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  test("shows those that go on where there is no room for all", () => {
    const { display, timers, screen } = live(80, 8);
    display.take(started(20));
    for (let index = 0; index < 3; index += 1) display.take(done(index));
    display.take(placed(18));
    timers.pass(1000);
    const { lines } = screen();
    expect(lines.length).toBeLessThanOrEqual(7);
    expect(lines.some((line) => line.startsWith("[19] node-b/pool-b"))).toBe(true);
    expect(lines.at(-1)).toBe("… 15 more");
  });

  test("a line that stays goes above it", () => {
    const { display, timers, screen } = live();
    display.take(started(1));
    display.take({ kind: "notice", text: "no remote answered; 1 leg ran here" });
    display.say("writ: stopping");
    timers.pass(1000);
    expect(screen().lines.slice(0, 3)).toEqual([
      "writ: no remote answered; 1 leg ran here",
      "writ: stopping",
      "writ  route auto  1 leg  0 done  00:01",
    ]);
  });

  test("hides the cursor, and leaves it and a clean screen behind, once", () => {
    const { display, timers, screen, written } = live();
    display.take(started(1));
    display.take(placed(0));
    expect(screen().hasCursor).toBe(false);
    display.close();
    display.close();
    display.take(progress(0));
    timers.pass(60_000);
    expect(screen()).toEqual({ lines: [], hasCursor: true });
    expect(written.filter((text) => text.includes("\x1b[?25h"))).toHaveLength(1);
  });

  test("obeys no sequence that stands in what a node or a model says", () => {
    const { display, timers, written } = live();
    display.take(started(1));
    display.take(placed(0, "node\x1b[2J", "pool\n\u202e"));
    display.take(progress(0, { phase: "tool", tool: "read\x1b]0;x\x07", arg: "a\r\nb" }));
    timers.pass(1000);
    const own = /\x1b\[(\?25[lh]|\d+A|J)/g;
    expect(written.join("").replaceAll(own, "")).not.toMatch(/[\x1b\x07\u202e]/);
  });
});

function plain() {
  const timers = handTimers();
  const lines: string[] = [];
  const display = openPlainDisplay((line) => lines.push(line), timers);
  return { timers, lines, display };
}

describe("plain lines", () => {
  test("one for each change of state", () => {
    const { display, lines } = plain();
    display.take(started(1));
    display.take({ kind: "waiting", index: 0, why: "node-b: cap (1/1 jobs)" });
    display.take(placed(0));
    display.take({ kind: "queued", index: 0, position: 2, about_sec: 40 });
    display.take({ kind: "queued", index: 0, position: 2, about_sec: 30 });
    display.take(progress(0, { phase: "admission" }));
    display.take(progress(0, { phase: "admission" }));
    display.take(progress(0));
    display.take(done(0));
    expect(lines).toEqual([
      "writ: leg 1 waiting for room: node-b: cap (1/1 jobs)",
      'writ: leg 1 placed node=node-b seat=pool-b reason="local busy"',
      "writ: leg 1 queued position=2 about=40s",
      "writ: leg 1 loading model",
      "writ: leg 1 done status=succeeded steps=4 wall=31s",
    ]);
  });

  test("a leg that goes on says so every 15 s, and no more when it has ended", () => {
    const { display, lines, timers } = plain();
    display.take(started(1));
    display.take(placed(0));
    display.take(progress(0, { phase: "tool", step: 3, tool: "read_file" }));
    timers.pass(31_000);
    display.take(done(0, { status: "deferred", defer_class: "budget", reason: "wall timeout\nafter 31s" }));
    timers.pass(60_000);
    expect(lines.slice(1)).toEqual([
      "writ: leg 1 step 3/12 tool=read_file elapsed=15s",
      "writ: leg 1 step 3/12 tool=read_file elapsed=30s",
      'writ: leg 1 done status=deferred class=budget steps=4 wall=31s reason="wall timeout after 31s"',
    ]);
  });

  test.each<[string, DelegateEvent]>([
    ["progress", progress(0)],
    ["a position", { kind: "queued", index: 0, position: 1, about_sec: null }],
  ])("a place that does not answer is told of at once, every 15 s, and when it answers again with %s", (_, again) => {
    const { display, lines, timers } = plain();
    display.take(started(1));
    for (const event of [placed(0), progress(0)]) display.take(event);
    timers.pass(5000);
    display.take(silent(0, 2000));
    timers.pass(15_000);
    display.take(silent(0, 60_400, null));
    timers.pass(1000);
    display.take(again);
    const next = "another place is looked for at 60s";
    expect(lines.slice(1, 5)).toEqual([
      `writ: leg 1 no answer from node-b for 2s (connection refused); ${next}`,
      `writ: leg 1 no answer from node-b for 17s (connection refused); ${next} elapsed=20s`,
      "writ: leg 1 no answer from node-b for 60s (connection refused); no other place takes the leg, and it is waited for until 361s",
      "writ: leg 1 node-b answers again, after 61s",
    ]);
  });

  test("a leg that found no room says for how long it waited", () => {
    const { display, lines } = plain();
    display.take(started(1));
    display.take(done(0, { status: "deferred", defer_class: "capacity", wall_ms: 0, capacity_wait_sec: 25.2 }));
    expect(lines).toEqual(["writ: leg 1 done status=deferred class=capacity steps=4 wall=0s waited=25s"]);
  });

  test("a second attempt and a refusal are told", () => {
    const { display, lines } = plain();
    display.take(started(1));
    display.take({ kind: "refused", index: 0, node: "node-a", said: "503 queue_full" });
    display.take({ ...placed(0), attempt: "retry" } as DelegateEvent);
    expect(lines).toEqual([
      'writ: leg 1 refused node=node-a said="503 queue_full"',
      'writ: leg 1 placed node=node-b seat=pool-b attempt=retry reason="local busy"',
    ]);
  });
});

describe("the parts of a line", () => {
  test.each<[Partial<JobProgress>, string]>([
    [{ phase: "admission" }, "loading model"],
    [{ phase: "contention" }, "seat busy"],
    [{ phase: "seat_down" }, "seat down, waiting"],
    [{ phase: "repack" }, "structuring"],
    [{ phase: "prefill", step: 1 }, "step 1/12  reading"],
    [{ phase: "decoding" }, "step 2/12  thinking  812 tok"],
    [{ phase: "tool", tool: "list_dir" }, "step 2/12  list_dir"],
    [{ phase: "tool", tool: "read_file", arg: "x".repeat(50) }, `step 2/12  read_file ${"x".repeat(31)}…`],
  ])("%p", (fields, text) => {
    expect(phaseText({ ...PROGRESS, ...fields })).toBe(text);
  });

  test("clockText() is minutes and seconds, and hours from one on", () => {
    expect([0, 41_000, 3_599_000, 3_723_000].map(clockText)).toEqual(["00:00", "00:41", "59:59", "1:02:03"]);
  });

  test("cutColumns() counts columns, not characters", () => {
    expect(cutColumns("字字字", 5)).toBe("字字…");
    expect(cutColumns("字字字", 6)).toBe("字字字");
  });
});
