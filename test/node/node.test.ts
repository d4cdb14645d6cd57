import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { doneResult, nodeWorld, type Play, SEAT, submitOf } from "../support/node-world.ts";

/** Runs that end when they are told to, and those that the signal ends. */
function stage() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const play: Play = (job, _seat, { signal }) =>
    new Promise((resolve) => {
      begun.push(job.job_id);
      ends.set(job.job_id, () => resolve(doneResult(job)));
      signal.addEventListener("abort", () =>
        resolve(doneResult(job, { deferred: true, defer_class: "canceled", reason: "canceled by the caller" })),
      );
    });
  return { play, begun, end: (job_id: string) => ends.get(job_id)?.() };
}

const settle = async () => {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("a node", () => {
  test("answers a submit when the job is stored, runs jobs in order, one at a time, and keeps each result", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const jobs = [1, 2, 3].map((n) => submitOf(n));
    const answers = jobs.map(({ body }) => node.submit(body));
    expect(answers.map((answer) => answer.kind === "accepted" && answer.view.state)).toEqual([
      "accepted",
      "accepted",
      "accepted",
    ]);
    expect(answers[0]).toMatchObject({ view: { rev: 1, queue_position: 0 }, new_job_wait_sec: 0 });
    expect(answers[2]).toMatchObject({ view: { rev: 1, queue_position: 1 }, new_job_wait_sec: null });
    expect(node.view(jobs[2]?.job_id ?? "")?.queue_position).toBe(1);
    for (const { job_id } of jobs) {
      expect(begun.at(-1)).toBe(job_id);
      end(job_id);
      await settle();
      expect(node.view(job_id)).toMatchObject({ state: "done", result: expect.stringContaining('"output":"done"') });
    }
    expect(begun).toEqual(jobs.map(({ job_id }) => job_id));
    await node.drain(AbortSignal.abort());
  });

  test("a submit that is sent twice is one job", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const { job_id, body } = submitOf(1);
    expect([node.submit(body).kind, node.submit(body).kind]).toEqual(["accepted", "accepted"]);
    end(job_id);
    await settle();
    expect(node.submit(body)).toMatchObject({ kind: "accepted", view: { state: "done" } });
    expect(begun).toEqual([job_id]);
    await node.drain(AbortSignal.abort());
  });

  test("takes no more than its backlog, and says when to come back", async () => {
    const { play } = stage();
    using here = nodeWorld(play, { settings: { max_queue: 2 } });
    const { node } = here.make();
    node.start();
    expect([1, 2].map((n) => node.submit(submitOf(n).body).kind)).toEqual(["accepted", "accepted"]);
    expect(node.submit(submitOf(3).body)).toMatchObject({ kind: "refused", code: "queue_full", retryAfterSec: 10 });
    await node.drain(AbortSignal.abort());
  });

  test("a watcher is answered at the next change, or when its time is up", async () => {
    const { play, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const { job_id, body } = submitOf(1);
    node.submit(body);
    const { signal } = new AbortController();
    expect(await node.watch(job_id, 1, 12_000, signal)).toMatchObject({ state: "running" });
    const watching = node.watch(job_id, null, 12_000, signal);
    end(job_id);
    expect(await watching).toMatchObject({ state: "done" });
    expect(await node.watch(job_id, Number.MAX_SAFE_INTEGER, 12_000, signal)).toMatchObject({ state: "done" });
    const second = submitOf(2);
    node.submit(second.body);
    const rev = node.view(second.job_id)?.rev ?? -1;
    const same = await here.clock.drive(node.watch(second.job_id, rev, 12_000, signal));
    expect(same).toMatchObject({ state: "running", rev });
    expect(here.clock.ms()).toBe(12_000);
    expect(await node.watch(second.job_id, rev, 12_000, AbortSignal.abort())).toMatchObject({ state: "running" });
    expect(await node.watch("wrt-none", 0, 12_000, new AbortController().signal)).toBeNull();
    await node.drain(AbortSignal.abort());
  });

  test("takes back a job that waits, and one that runs only by force", async () => {
    const { play, begun } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const [one, two] = [submitOf(1), submitOf(2)];
    node.submit(one.body);
    node.submit(two.body);
    expect([node.cancel(two.job_id, false), node.cancel(two.job_id, false)]).toEqual([
      { kind: "canceled" },
      { kind: "canceled" },
    ]);
    expect(node.cancel(one.job_id, false)).toMatchObject({ kind: "running" });
    expect(node.cancel(one.job_id, true)).toMatchObject({ kind: "stopping" });
    await settle();
    expect(node.view(one.job_id)).toMatchObject({
      state: "done",
      result: expect.stringContaining('"defer_class":"canceled"'),
    });
    expect(node.cancel(one.job_id, true)).toMatchObject({ kind: "terminal" });
    expect(node.cancel("wrt-none", true)).toEqual({ kind: "unknown" });
    expect(begun).toEqual([one.job_id]);
    await node.drain(AbortSignal.abort());
  });

  test("does not start a job that nobody asks for, and gives it up; one that is asked for again in time runs", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play, { settings: { poll_lease_sec: 120 } });
    const { node } = here.make();
    node.start();
    const [one, two, three] = [submitOf(1), submitOf(2), submitOf(3)];
    for (const { body } of [one, two, three]) node.submit(body);
    const pass = (ms: number) => here.clock.drive(here.clock.sleep(ms, new AbortController().signal));
    await pass(150_000);
    node.view(three.job_id);
    end(one.job_id);
    await settle();
    expect(begun).toEqual([one.job_id, three.job_id]);
    await pass(100_000);
    expect(node.recent(9).find(({ job_id }) => job_id === two.job_id)).toMatchObject({
      state: "canceled",
      reaped: true,
    });
    await node.drain(AbortSignal.abort());
  });

  test("a start runs again what ran, first, and ends with a defer what was interrupted too often", async () => {
    const { play, begun } = stage();
    using here = nodeWorld(play);
    const [one, two] = [submitOf(1), submitOf(2)];
    const first = here.make();
    first.node.start();
    first.node.submit(one.body);
    first.node.submit(two.body);
    first.world.queue.close(); // as a kill does: nothing is told
    const second = here.make();
    second.node.start();
    expect(second.node.view(one.job_id)).toMatchObject({ state: "running", restarts: 1 });
    expect(begun).toEqual([one.job_id, one.job_id]);
    second.world.queue.close();
    const third = here.make();
    third.node.start();
    expect(third.node.view(one.job_id)?.result).toContain("interrupted: the node stopped 2 times while this job ran");
    expect(third.node.view(two.job_id)).toMatchObject({ state: "running", restarts: 0 });
    expect(here.logged.filter((line) => line.includes("interrupted"))).toEqual([
      "interrupted jobs that run again from the start: 1",
      "jobs that were interrupted too often and end with a defer: 1",
    ]);
    await third.node.drain(AbortSignal.abort());
  });

  test("a drain takes nothing new, waits its time for what runs, and puts it back into the line", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play, { settings: { max_running: 2 }, seats: [{ ...SEAT, slots: 2 }] });
    const { node, world } = here.make();
    node.start();
    const [one, two] = [submitOf(1), submitOf(2)];
    node.submit(one.body);
    node.submit(two.body);
    const drained = node.drain(new AbortController().signal);
    expect(node.submit(submitOf(3).body)).toMatchObject({ code: "draining", retryAfterSec: 10 });
    expect(node.submit(two.body)).toMatchObject({ kind: "accepted" });
    expect(node.health().draining).toBe(true);
    end(one.job_id);
    await here.clock.drive(drained);
    expect(world.queue.find(one.job_id)).toMatchObject({ state: "done" });
    expect(world.queue.find(two.job_id)).toMatchObject({ state: "accepted", restarts: 0 });
    expect(begun).toHaveLength(2);
  });

  test("a result that cannot be stored is kept, told, and stored later", async () => {
    const { play, end } = stage();
    using here = nodeWorld(play);
    const { node, world } = here.make();
    let isFull = true;
    const { finish } = world.queue;
    world.queue.finish = (...ended) => {
      if (isFull) throw new WritError("store_failed", "the disk is full");
      return finish(...ended);
    };
    node.start();
    const { job_id, body } = submitOf(1);
    node.submit(body);
    end(job_id);
    await settle();
    expect(node.view(job_id)).toMatchObject({ state: "running", result: expect.stringContaining('"output":"done"') });
    expect(node.view(job_id)?.state).toBe("running");
    isFull = false;
    await here.clock.drive(here.clock.sleep(6_000, new AbortController().signal));
    expect(node.view(job_id)).toMatchObject({ state: "done" });
    await node.drain(AbortSignal.abort());
  });

  test("a submit that cannot be stored is refused, and nothing runs", async () => {
    const { play, begun } = stage();
    using here = nodeWorld(play);
    const { node, world } = here.make();
    world.queue.submit = () => {
      throw new WritError("store_failed", "the disk is full");
    };
    node.start();
    expect(node.submit(submitOf(1).body)).toMatchObject({ kind: "refused", code: "storage" });
    expect(begun).toEqual([]);
    await node.drain(AbortSignal.abort());
  });

  test("a fault of the disk in between stops nothing: what could not start or end does so later", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play);
    const { node, world } = here.make();
    const { claim, fail } = world.queue;
    const refuse = () => {
      throw new WritError("store_failed", "the disk is full");
    };
    node.start();
    world.queue.claim = refuse;
    const { job_id, body } = submitOf(1);
    expect(node.submit(body)).toMatchObject({ kind: "accepted", view: { state: "accepted" } });
    expect(begun).toEqual([]);
    world.queue.claim = claim;
    await here.clock.drive(here.clock.sleep(6_000, new AbortController().signal));
    expect(begun).toEqual([job_id]);
    world.queue.fail = refuse;
    world.queue.finish = refuse;
    end(job_id);
    await settle();
    expect(world.queue.counts()).toEqual({ accepted: 0, running: 1 });
    world.queue.fail = fail;
    await node.drain(AbortSignal.abort());
    // Nothing of it is stored: the next start finds it running, and runs it again.
    expect(world.queue.find(job_id)).toMatchObject({ state: "running" });
  });

  test("what was taken back while the node stops ends for good; what ended by itself meanwhile is kept", async () => {
    const ends = new Map<string, (isCanceled: boolean) => void>();
    using here = nodeWorld(
      (job) =>
        new Promise((resolve) => {
          ends.set(job.job_id, (isCanceled) =>
            resolve(doneResult(job, isCanceled ? { deferred: true, defer_class: "canceled" } : {})),
          );
        }),
      { settings: { max_running: 3 }, seats: [{ ...SEAT, slots: 3 }] },
    );
    const { node, world } = here.make();
    node.start();
    const [one, two, three] = [submitOf(1), submitOf(2), submitOf(3)];
    for (const { body } of [one, two, three]) node.submit(body);
    const drained = node.drain(AbortSignal.abort());
    await settle();
    expect(node.cancel(one.job_id, true)).toMatchObject({ kind: "stopping" });
    ends.get(one.job_id)?.(true);
    ends.get(two.job_id)?.(false);
    ends.get(three.job_id)?.(true);
    await drained;
    expect([one, two, three].map(({ job_id }) => world.queue.find(job_id)?.state)).toEqual([
      "done",
      "done",
      "accepted",
    ]);
  });

  test("a run that does not stop does not hold up the end, and goes back into the line", async () => {
    using here = nodeWorld(() => new Promise(() => {}));
    const { node, world } = here.make();
    node.start();
    const { job_id, body } = submitOf(1);
    node.submit(body);
    await here.clock.drive(node.drain(new AbortController().signal));
    expect(here.clock.ms()).toBe(40_000);
    expect(world.queue.find(job_id)).toMatchObject({ state: "accepted", restarts: 0 });
  });

  test("a job that is followed is asked for all the time; one that was let go starts when it is asked for again", async () => {
    const { play, begun, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const [one, two] = [submitOf(1), submitOf(2)];
    node.submit(one.body);
    node.submit(two.body);
    const pass = (ms: number) => here.clock.drive(here.clock.sleep(ms, new AbortController().signal));
    const leave = node.onChange(two.job_id, () => {});
    await pass(500_000);
    expect(node.recent(9)[0]).toMatchObject({ job_id: two.job_id, state: "accepted" });
    leave();
    await pass(150_000);
    end(one.job_id);
    await pass(6_000);
    expect(begun).toEqual([one.job_id]);
    node.view(two.job_id);
    await settle();
    expect(begun).toEqual([one.job_id, two.job_id]);
    await node.drain(AbortSignal.abort());
  });

  test("runs as many jobs as its seats have slots where the config leaves it to them, also when they change", async () => {
    const { play, begun } = stage();
    const seats = [{ ...SEAT, slots: 1 }];
    using here = nodeWorld(play, { settings: { max_running: 0, max_queue: 0 }, seats });
    const { node } = here.make();
    node.start();
    for (const n of [1, 2, 3]) node.submit(submitOf(n).body);
    expect(begun).toHaveLength(1);
    expect(node.health()).toMatchObject({ max_running: 1, max_queue: 8, running: 1, queued: 2 });
    seats[0] = { ...SEAT, slots: 6 };
    node.wake();
    expect(begun).toHaveLength(3);
    expect(node.health()).toMatchObject({ max_running: 6, max_queue: 12, running: 3, queued: 0 });
    await node.drain(AbortSignal.abort());
  });

  test("tells of jobs without what they came to", async () => {
    const { play, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const { job_id, body } = submitOf(1);
    node.submit(body);
    end(job_id);
    await settle();
    const [told] = node.recent(5);
    expect(told).toMatchObject({ job_id, state: "done" });
    expect(told).not.toHaveProperty("result");
    await node.drain(AbortSignal.abort());
  });

  test("a fault of the program itself is an error of the job, and the node goes on", async () => {
    let count = 0;
    using here = nodeWorld(async (job) => {
      count += 1;
      if (count === 1) throw new Error("a defect");
      return doneResult(job);
    });
    const { node } = here.make();
    node.start();
    const [one, two] = [submitOf(1), submitOf(2)];
    node.submit(one.body);
    node.submit(two.body);
    await settle();
    expect(node.view(one.job_id)).toMatchObject({ state: "error", error: { code: "internal", message: "a defect" } });
    expect(node.view(two.job_id)).toMatchObject({ state: "done" });
    expect(node.submit(one.body)).toMatchObject({ kind: "refused", code: "previously_failed" });
    await node.drain(AbortSignal.abort());
  });

  test("starts a job on the smallest seat that holds it, and on the seat that it names", async () => {
    const seats: string[] = [];
    using here = nodeWorld(
      (job, seat) => {
        seats.push(seat);
        return new Promise(() => void job);
      },
      {
        settings: { max_running: 9, max_queue: -1 },
        seats: [
          { ...SEAT, name: "large", ctx_tokens: 65_536 },
          { ...SEAT, name: "small", ctx_tokens: 8192 },
          { ...SEAT, name: "gone", ctx_tokens: 4096, served: false },
        ],
      },
    );
    const { node } = here.make();
    node.start();
    node.submit(submitOf(1).body);
    node.submit(submitOf(2, { context: [{ name: "a.md", text: "x".repeat(60_000) }] }).body);
    node.submit(submitOf(3, {}, { seat: "small" }).body);
    expect(seats).toEqual(["small", "large"]);
    expect(node.health().seats.map(({ name, busy }) => [name, busy])).toEqual([
      ["large", 1],
      ["small", 1],
      ["gone", 0],
    ]);
  });

  test("tells how long a new job would wait, by the walls of the last ones", async () => {
    const { play, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const [one, two, three] = [submitOf(1), submitOf(2), submitOf(3)];
    node.submit(one.body);
    expect(node.health()).toMatchObject({ new_job_wait_sec: null, recent_wall_sec: null, running: 1, queued: 0 });
    await here.clock.drive(here.clock.sleep(20_000, new AbortController().signal));
    end(one.job_id);
    await settle();
    node.submit(two.body);
    node.submit(three.body);
    expect(node.health()).toMatchObject({ recent_wall_sec: 20, new_job_wait_sec: 40, running: 1, queued: 1 });
    await node.drain(AbortSignal.abort());
  });

  test("tells of walls and waits in whole milliseconds", async () => {
    const { play, end } = stage();
    using here = nodeWorld(play);
    const { node } = here.make();
    node.start();
    const [one, two, three] = [submitOf(1), submitOf(2), submitOf(3)];
    node.submit(one.body);
    await here.clock.drive(here.clock.sleep(20_000.123456789, new AbortController().signal));
    end(one.job_id);
    await settle();
    node.submit(two.body);
    expect(node.submit(three.body)).toMatchObject({ new_job_wait_sec: 20 });
    expect(node.health()).toMatchObject({ recent_wall_sec: 20, new_job_wait_sec: 40 });
    await node.drain(AbortSignal.abort());
  });

  test("progress is a change that watchers see, four times a second at most; waits are told apart from work", async () => {
    let tell: ((phase: "contention" | "decoding", step: number) => void) | undefined;
    using here = nodeWorld((_job, _seat, { onProgress }) => {
      tell = (phase, step) =>
        onProgress({ phase, step, max_steps: 12, tool: "", arg: "", tokens: 1, tok_s: 0, idle_ms: 0, allowance_ms: 0 });
      return new Promise(() => {});
    });
    const { node } = here.make();
    node.start();
    const { job_id, body } = submitOf(1);
    node.submit(body);
    let changes = 0;
    node.onChange(job_id, () => {
      changes += 1;
    });
    tell?.("contention", 0);
    tell?.("contention", 0);
    expect(changes).toBe(1);
    await here.clock.drive(here.clock.sleep(4_000, new AbortController().signal));
    tell?.("decoding", 1);
    expect(changes).toBe(2);
    expect(node.view(job_id)).toMatchObject({
      progress: { phase: "decoding", step: 1 },
      waits: { contention_sec: 4, admission_sec: 0 },
    });
  });
});
