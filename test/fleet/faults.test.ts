/**
 * What becomes of a leg when a node, the network or the delegator fails under it: real processes, one fault each.
 *
 * Source: delegation run, section 12
 */
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Delegator, onlyLeg, STUCK, tagged, willing } from "../support/fleet.ts";
import { openStage, type StagedNode, until } from "../support/fleet-stage.ts";
import type { Passed } from "../support/network-front.ts";
import { startScriptedSeat } from "../support/scripted-seat.ts";
import { canMount } from "../support/small-disk.ts";
import { documentOf } from "../support/writ.ts";

const LONG_MS = 30_000;

describe("a node that is killed while it runs a leg", () => {
  test.concurrent(
    "and comes back goes on with it: run once more from the start, one attempt",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(0, [STUCK()]));
      const { call, open } = stage.delegator([node.url], { limits: { orphan_grace_sec: 20 } });
      const going = call([tagged("leg-1")]);
      await until(async () => (await node.worked()) === 1);
      await node.stop("SIGKILL");
      await node.start();
      const leg = await onlyLeg(going);
      expect(leg).toMatchObject({ status: "succeeded", node: "a", attempts: [{ kind: "first", status: "succeeded" }] });
      expect(leg.output).toContain("leg-1.");
      expect((await node.now.view(leg.job_id ?? "")).restarts).toBe(1);
      expect([await node.worked(), open()]).toEqual([2, []]);
    },
    LONG_MS,
  );

  test.concurrent(
    "and stays away loses it to another one; what it had is collected when it is back, and nothing is published twice",
    async () => {
      await using stage = openStage();
      const [a, b] = await Promise.all([stage.node(willing(0, [STUCK()])), stage.node(willing(), { id: "b" })]);
      const { call, open, recovered, recover } = stage.delegator([a.url, b.url], { limits: { orphan_grace_sec: 1 } });
      const going = call([tagged("leg-1")]);
      await until(async () => (await a.worked()) === 1);
      await a.stop("SIGKILL");
      const document = await going.document;
      expect(document.results).toMatchObject([
        {
          status: "succeeded",
          node: "b",
          attempts: [
            { kind: "first", node: "a", status: "abandoned" },
            { kind: "orphan", node: "b", status: "succeeded" },
          ],
        },
      ]);
      expect(document.summary).toMatchObject({ succeeded: 1, orphaned: 1 });
      const [lost] = open();
      expect([open().length, lost]).toEqual([1, document.results[0]?.attempts[0]?.job_id ?? ""]);

      await a.start();
      await a.now.reach(lost ?? "", "done");
      expect(documentOf(await recover())).toMatchObject({ intents: [{ job: lost, state: "recovered" }] });
      expect(recovered()[lost ?? ""]?.output).toContain("leg-1.");
      expect(open()).toEqual([]);
    },
    LONG_MS,
  );

  test.concurrent(
    "and stays away is waited for where it is the only one, to the deadline of the job",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(0, [STUCK()]));
      const { call } = stage.delegator([node.url], { limits: { orphan_grace_sec: 1 } });
      const going = call([tagged("leg-1")], "--route", "remote", "--pin-reason", "operator");
      await until(async () => (await node.worked()) === 1);
      await node.stop("SIGKILL");
      // Past its grace: nobody else takes the leg.
      await Bun.sleep(2500);
      await node.start();
      expect(await onlyLeg(going)).toMatchObject({ status: "succeeded", attempts: [{ kind: "first" }] });
    },
    LONG_MS,
  );

  test.concurrent(
    "and has lost its store is handed the job again, under its id",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(0, [STUCK()]));
      const { call, open } = stage.delegator([node.url], { limits: { orphan_grace_sec: 20 } });
      const going = call([tagged("leg-1")]);
      await until(async () => (await node.worked()) === 1);
      await node.stop("SIGKILL");
      for (const tail of ["", "-wal", "-shm"]) rmSync(join(node.world.data, "run", `node.db${tail}`), { force: true });
      await node.start();
      const leg = await onlyLeg(going);
      expect(leg).toMatchObject({ status: "succeeded", attempts: [{ kind: "first", job_id: leg.job_id }] });
      expect(await node.now.view(leg.job_id ?? "")).toMatchObject({ state: "done", restarts: 0 });
      expect(open()).toEqual([]);
    },
    LONG_MS,
  );

  test.concurrent(
    "and comes back with another token fails the leg; its result is collected with the right one",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(0, [STUCK()]));
      const { call, open, recover, recovered } = stage.delegator([node.url], { limits: { orphan_grace_sec: 20 } });
      const going = call([tagged("leg-1")]);
      await until(async () => (await node.worked()) === 1);
      await node.stop("SIGKILL");
      const token = "another-horse-battery-staple";
      await node.start(token);
      const leg = await onlyLeg(going);
      expect(leg).toMatchObject({ status: "failed", reason: expect.stringMatching(/^auth rejected: /) });
      expect((await going.ended).exit).toBe(1);
      const [job = ""] = open();
      expect(job).toBe(leg.job_id ?? "");
      await node.now.reach(job, "done");
      const shut = await recover();
      expect([shut.exit, open()]).toEqual([4, [job]]);
      const collected = await recover({ WRIT_NODE_TOKEN: token });
      expect([collected.exit, open(), Object.keys(recovered())]).toEqual([0, [], [job]]);
    },
    LONG_MS,
  );
});

test.concurrent(
  "a node that is stopped and started again in order has lost neither what ran nor what waited",
  async () => {
    await using stage = openStage();
    const node = await stage.node(willing(0, [STUCK()]), { node: { drain_sec: 0, max_running: 3 } });
    const { call } = stage.delegator([node.url], { limits: { orphan_grace_sec: 20 } });
    const going = call([1, 2, 3].map((leg) => tagged(`leg-${leg}`)));
    // It would run three, and its seat takes one.
    await until(async () => Number((await node.now.health()).queued) === 2);
    await until(async () => (await node.worked()) === 1);
    expect(await node.stop("SIGTERM")).toBe(0);
    await node.start();
    const { results } = await going.document;
    for (const [at, { status, attempts, output, job_id = "" }] of results.entries()) {
      expect([status, attempts.length, output?.includes(`leg-${at + 1}.`)]).toEqual(["succeeded", 1, true]);
      expect((await node.now.view(job_id)).restarts).toBe(0);
    }
  },
  LONG_MS,
);

describe("a delegator that is killed", () => {
  test.concurrent(
    "leaves a result that the next call collects while it works",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(1000), { slots: 2 });
      const { call, open, recovered } = stage.delegator([node.url]);
      const first = call([tagged("leg-1")]);
      await until(async () => (await node.worked()) === 1);
      first.kill("SIGKILL");
      expect((await first.ended).exit).toBe(137);
      const [job = ""] = open();
      await node.now.reach(job, "done");
      const second = call([tagged("leg-2")]);
      expect((await onlyLeg(second)).status).toBe("succeeded");
      expect(second.talk).toMatch(/: 1 result recovered into .*\/recovered \(wrt-[0-9a-f]{24}\)\n$/);
      expect(recovered()[job]?.output).toContain("leg-1.");
      expect([open(), await node.worked()]).toEqual([[], 2]);
    },
    LONG_MS,
  );

  test.concurrent(
    "leaves legs that had ended in its record, and the others to be collected",
    async () => {
      await using stage = openStage();
      const node = await stage.node(
        willing(0, [
          {
            id: "slow",
            when: { goal_contains: "leg-2", constraint: "none" },
            reply: { content: "leg-2.", delay_ms: 1000 },
          },
        ]),
        { slots: 2 },
      );
      const { world, call, open, recover, recovered } = stage.delegator([node.url]);
      const going = call([tagged("leg-1"), tagged("leg-2")]);
      await going.says(/leg 1 done/);
      await until(() => open().length === 1);
      going.kill("SIGKILL");
      await going.ended;
      const [job = ""] = open();
      await node.now.reach(job, "done");
      expect((await recover()).exit).toBe(0);
      expect(recovered()[job]?.output).toBe("leg-2.");
      const listed = documentOf(await world.writ(["runs", "list", "--json"]));
      expect(listed.runs).toMatchObject([{ legs: 2, state: "left", summary: { succeeded: 1 } }]);
    },
    LONG_MS,
  );
});

describe("one slot", () => {
  test.concurrent(
    "is enough for eight legs of one call",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(), { node: { max_queue: 3 } });
      const { call } = stage.delegator([node.url]);
      const going = call(Array.from({ length: 8 }, (_, at) => tagged(`leg-${at + 1}`)));
      const { results, summary } = await going.document;
      expect(summary).toMatchObject({ succeeded: 8, deferred: 0, failed: 0 });
      expect(results.map(({ output = "" }, at) => output.includes(`leg-${at + 1}.`))).toEqual(Array(8).fill(true));
      expect(await node.worked()).toBe(8);
    },
    LONG_MS,
  );

  test.concurrent(
    "is enough for two delegators that come at once, and never holds more than its backlog",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(100), { node: { max_queue: 2 } });
      const pair = [stage.delegator([node.url]), stage.delegator([node.url])];
      const calls = pair.map(({ call }, at) => call([1, 2, 3].map((leg) => tagged(`leg-${at}${leg}`))));
      let most = 0;
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          const { queued, running } = (await node.now.health()) as { queued: number; running: number };
          most = Math.max(most, queued + running);
          await Bun.sleep(10);
        }
      })();
      for (const call of calls) expect((await call.document).summary).toMatchObject({ succeeded: 3, failed: 0 });
      isOver = true;
      await watching;
      expect([most <= 2, await node.worked()]).toEqual([true, 6]);
    },
    LONG_MS,
  );
});

test.concurrent(
  "a call that is stopped with one leg finished, one that runs and one in the line tells each as it was",
  async () => {
    await using stage = openStage();
    const stuck = { id: "hang", when: { goal_contains: "leg-2" }, reply: STUCK().reply };
    const node = await stage.node(willing(0, [stuck]), { slots: 1 });
    const { call, open } = stage.delegator([node.url]);
    const going = call([tagged("leg-1"), tagged("leg-2"), tagged("leg-3")]);
    await until(async () => (await node.worked()) === 2);
    going.kill("SIGINT");
    const { results, summary } = await going.document;
    expect((await going.ended).exit).toBe(130);
    expect(summary).toMatchObject({ succeeded: 1, deferred: 2, canceled: 2, infrastructure: 0 });
    expect(results.map(({ status, defer_class, reason }) => [status, defer_class, reason])).toEqual([
      ["succeeded", undefined, undefined],
      ["deferred", "canceled", expect.stringMatching(/^canceled by the caller; job wrt-\S+ on a was stopped \(/)],
      ["deferred", "canceled", "canceled by the caller; never placed; it waited for room"],
    ]);
    expect(await node.now.health()).toMatchObject({ running: 0, queued: 0 });
    expect(open()).toEqual([]);
  },
  LONG_MS,
);

test.concurrent(
  "calls that are stopped while one leg runs at a node and one lies in its line take both back",
  async () => {
    await using stage = openStage();
    const node = await stage.node(willing(0, [STUCK()]), { node: { max_running: 2 } });
    const pair = [stage.delegator([node.url]), stage.delegator([node.url])];
    const calls = pair.map(({ call }, at) => call([tagged(`leg-${at}`)]));
    await until(async () => Number((await node.now.health()).queued) === 1 && (await node.worked()) === 1);
    // The one in the line first: when the other one is gone it would start.
    const lying = await placeInLine(node, pair);
    calls[lying]?.kill("SIGTERM");
    await calls[lying]?.ended;
    calls[1 - lying]?.kill("SIGTERM");
    const reasons = await Promise.all(calls.map(async (call) => (await onlyLeg(call)).reason ?? ""));
    expect(reasons.map((reason) => reason.replace(/wrt-\w+/, "J").replace(/ \(.*/, "")).sort()).toEqual([
      "canceled by the caller; job J on a was stopped",
      "canceled by the caller; job J on a was withdrawn before it started",
    ]);
    for (const call of calls) expect((await call.ended).exit).toBe(143);
    expect(await node.now.health()).toMatchObject({ running: 0, queued: 0 });
    expect([await node.worked(), ...pair.flatMap(({ open }) => open())]).toEqual([1]);
  },
  LONG_MS,
);

describe("a network that", () => {
  test.concurrent(
    "loses the acknowledgement of a job costs nothing: it is sent again under its id, and runs once",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing());
      const front = await stage.front(node.url, ({ method, before }) =>
        method === "POST" && before === 0 ? "deaf" : "pass",
      );
      const { call, open } = stage.delegator([front.url]);
      expect(await onlyLeg(call([tagged("leg-1")]))).toMatchObject({
        status: "succeeded",
        attempts: [{ kind: "first" }],
      });
      const { jobs } = (await (await node.now.ask("GET", "/jobs")).json()) as { jobs: unknown[] };
      expect([jobs.length, await node.worked(), front.sent.filter(({ method }) => method === "POST").length]).toEqual([
        1, 1, 2,
      ]);
      expect(open()).toEqual([]);
    },
    LONG_MS,
  );

  test.concurrent(
    "brings a job twice costs nothing",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing());
      const front = await stage.front(node.url, ({ method }) => (method === "POST" ? "twice" : "pass"));
      const { call } = stage.delegator([front.url]);
      expect((await onlyLeg(call([tagged("leg-1")]))).status).toBe("succeeded");
      expect([front.acknowledged.size, await node.worked()]).toEqual([1, 1]);
    },
    LONG_MS,
  );

  test.concurrent(
    "brings a job and never its acknowledgement leaves it to be found when the delegator is killed meanwhile",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing());
      const front = await stage.front(node.url, ({ method }) => (method === "POST" ? "hung" : "pass"));
      const { call, open, recover, recovered } = stage.delegator([front.url]);
      const going = call([tagged("leg-1")]);
      await until(() => front.acknowledged.size === 1);
      going.kill("SIGKILL");
      await going.ended;
      const [job = ""] = open();
      await node.now.reach(job, "done");
      expect((await recover()).exit).toBe(0);
      expect([recovered()[job]?.output.includes("leg-1."), await node.worked(), open()]).toEqual([true, 1, []]);
    },
    LONG_MS,
  );

  test.concurrent(
    "is away for a while in the middle of a leg costs time",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing(600));
      let away = 0;
      const front = await stage.front(node.url, ({ method, path }) => {
        if (method !== "GET" || !path.includes("/jobs/") || away >= 4) return "pass";
        away += 1;
        return away % 2 === 0 ? "cut" : "deaf";
      });
      const { call } = stage.delegator([front.url], { limits: { orphan_grace_sec: 20 } });
      expect(await onlyLeg(call([tagged("leg-1")]))).toMatchObject({
        status: "succeeded",
        attempts: [{ kind: "first" }],
      });
      expect([away, await node.worked()]).toEqual([4, 1]);
    },
    LONG_MS,
  );
});

test.concurrent(
  "a node that comes back from silence with a result before the other one has any is published, and the other is stopped",
  async () => {
    await using stage = openStage();
    const [a, b] = await Promise.all([stage.node(willing()), stage.node(willing(0, [STUCK(9)]), { id: "b" })]);
    // Cut from the start: once a stream of its events is open, its result may come before there is any silence.
    let isBack = false;
    const isHeard = ({ method, path }: Passed) => isBack || method === "POST" || !path.includes("/jobs/");
    const front = await stage.front(a.url, (request) => (isHeard(request) ? "pass" : "cut"));
    const { call, open } = stage.delegator([front.url, b.url], { limits: { orphan_grace_sec: 1 } });
    const going = call([tagged("leg-1")]);
    // The leg is at the other one, which never answers.
    await until(async () => (await b.worked()) === 1);
    isBack = true;
    const document = await going.document;
    expect(document.results).toMatchObject([
      {
        status: "succeeded",
        node: "a",
        output: expect.stringContaining("leg-1."),
        attempts: [
          { kind: "first", node: "a" },
          { kind: "orphan", node: "b" },
        ],
      },
    ]);
    expect(document.summary).toMatchObject({ succeeded: 1, orphaned: 1 });
    expect([await a.worked(), await b.now.health(), open()]).toMatchObject([1, { running: 0, queued: 0 }, []]);
  },
  LONG_MS,
);

describe("an answer that its node could not bring into form", () => {
  const formless = willing(0, [{ id: "formless", when: { constraint: "any" }, reply: { content: "no json" } }]);
  const seatOf = (base_url: string) => ({
    name: "here",
    base_url,
    model: "scripted/test",
    engine: "llama.cpp",
    ctx_tokens: 16_384,
    slots: 1,
  });

  test.concurrent.each([
    { what: "gets it here", pin: [], leg: { status: "succeeded", repack: { note: "structured by the delegator" } } },
    {
      what: "does not get it here under a remote pin",
      pin: ["--pin-reason", "operator"],
      leg: { status: "deferred", defer_class: "abstention", reason: expect.stringMatching(/^output failed schema/) },
    },
  ])(
    "$what",
    async ({ pin, leg }) => {
      await using stage = openStage();
      const [node, here] = await Promise.all([stage.node(formless), startScriptedSeat(willing())]);
      stage.atEnd(() => here.close());
      const { call } = stage.delegator([node.url], { seats: [seatOf(here.url)] });
      const going = call([tagged("leg-1")], "--route", "remote", ...pin);
      expect(await onlyLeg(going)).toMatchObject({ node: "a", attempts: [{ kind: "first", node: "a" }], ...leg });
      const asked = (await here.log()).filter(({ path }) => path.endsWith("/completions"));
      expect(asked.map(({ constraint }) => constraint !== null)).toEqual(pin.length === 0 ? [true] : []);
    },
    LONG_MS,
  );
});

describe.skipIf(!canMount())("a full disk (needs the right to mount)", () => {
  test.concurrent(
    "of a node sends the job to another one",
    async () => {
      await using stage = openStage();
      const disks: ReturnType<typeof stage.disk>[] = [];
      const [a, b] = await Promise.all([
        stage.node(willing(), { prepare: (world) => void disks.push(stage.disk(world.data, 72)) }),
        stage.node(willing(), { id: "b" }),
      ]);
      disks[0]?.fill();
      const { call, open } = stage.delegator([a.url, b.url]);
      expect(await onlyLeg(call([tagged("leg-1")]))).toMatchObject({
        status: "succeeded",
        node: "b",
        attempts: [
          { node: "a", status: "refused", http: 507, code: "storage" },
          { node: "b", status: "succeeded" },
        ],
      });
      expect([await a.worked(), open()]).toEqual([0, []]);
    },
    LONG_MS,
  );

  test.concurrent(
    "of a node that cannot store a result does not keep the result from the delegator",
    async () => {
      await using stage = openStage();
      const disks: ReturnType<typeof stage.disk>[] = [];
      const node = await stage.node(willing(1000), {
        prepare: (world) => void disks.push(stage.disk(world.data, 72)),
      });
      const { call, open } = stage.delegator([node.url]);
      const going = call([tagged("leg-1")]);
      await until(async () => (await node.worked()) === 1);
      disks[0]?.fill();
      const leg = await onlyLeg(going);
      expect(leg).toMatchObject({ status: "succeeded", attempts: [{ kind: "first" }] });
      expect((await node.now.view(leg.job_id ?? "")).state).toBe("running");
      disks[0]?.free();
      await node.now.reach(leg.job_id ?? "", "done");
      expect(open()).toEqual([]);
    },
    LONG_MS,
  );

  test.concurrent(
    "of the delegator is told, and loses no result",
    async () => {
      await using stage = openStage();
      const node = await stage.node(willing());
      const { world, call } = stage.delegator([node.url]);
      const disk = stage.disk(world.data, 1);
      disk.fill();
      const going = call([tagged("leg-1")]);
      const { results, summary } = await going.document;
      expect(results).toMatchObject([{ status: "succeeded", output: expect.stringContaining("leg-1.") }]);
      // Two rows of the ledger, the end of the leg and the end of the call.
      expect(summary).toMatchObject({ succeeded: 1, telemetry_lost: 4, telemetry_attempted: 4 });
      expect([(await going.ended).exit, going.talk]).toEqual([
        0,
        expect.stringMatching(
          /^writ: what is handed to nodes cannot be written down[\s\S]* done [\s\S]*4 of 4 run records/m,
        ),
      ]);
    },
    LONG_MS,
  );
});

/** Which of the delegators has its job in the node's line. */
async function placeInLine(node: StagedNode, pair: readonly Delegator[]): Promise<number> {
  const states = pair.map(async ({ open }) => (await node.now.view(open()[0] ?? "")).state);
  return (await Promise.all(states)).indexOf("accepted");
}
