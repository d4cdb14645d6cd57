import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryFolder } from "../support/memory-folder.ts";
import { configureNode, type NodeCommand, startNode } from "../support/node-command.ts";
import { submitOf } from "../support/node-world.ts";
import { type RunningSeat, type ScriptObject, startScriptedSeat } from "../support/scripted-seat.ts";
import { canMount, smallDisk } from "../support/small-disk.ts";
import { livingWorld } from "../support/writ.ts";

/** Answers everything; the first so many requests never. */
const script = (stuck = 0): ScriptObject => ({
  slots: 8,
  turns: [
    ...(stuck === 0
      ? []
      : [
          {
            id: "stuck",
            times: stuck,
            count: "server",
            reply: { content: "never", cut: { how: "hang", at: "tokens", n: 0 } },
          },
        ]),
    { id: "form", when: { constraint: "any" }, reply: { json: { a: "x" } } },
    { id: "say", reply: { content: "done" } },
  ],
});
const LONG_MS = 30_000;

/** What the seat was asked to work on, one entry for each chat request that tools came with, oldest first. */
async function worked(seat: RunningSeat) {
  const bodies = await seat.bodies();
  return (await seat.log()).flatMap((entry, at) => {
    const goal = /Do (\d+)/.exec(JSON.stringify(bodies[at] ?? ""))?.[1];
    return goal === undefined || entry.tools.length === 0 ? [] : [{ job: Number(goal), ended: entry.ended }];
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function submit(node: NodeCommand, ...jobs: number[]): Promise<void> {
  for (const n of jobs) expect((await node.ask("POST", "/jobs", submitOf(n).body)).status).toBe(202);
}

const id = (n: number) => submitOf(n).job_id;

/** Everything about a node whose process is killed, and started again on what it left. */
describe("a node that is killed", () => {
  test(
    "in the midst of many submits has every job that it acknowledged, once",
    async () => {
      using world = livingWorld();
      configureNode(world, { url: "http://127.0.0.1:9" }, { node: { max_queue: -1 } });
      await using first = await startNode(world);
      const acknowledged: string[] = [];
      const submits = Array.from({ length: 60 }, async (_, n) => {
        const { job_id, body } = submitOf(n);
        const answer = await first.ask("POST", "/jobs", body).catch(() => null);
        if (answer?.status !== 202) return;
        acknowledged.push(job_id);
        // In the midst: those behind it are on their way.
        if (acknowledged.length === 20) process.kill(first.pid, "SIGKILL");
      });
      await Promise.all(submits);
      await first.stop(null);
      await using second = await startNode(world);
      expect(acknowledged.length).toBeGreaterThanOrEqual(20);
      for (const job_id of acknowledged) expect(await second.view(job_id)).toMatchObject({ job_id, state: "accepted" });
      const { queued } = await second.health();
      expect(Number(queued)).toBeGreaterThanOrEqual(acknowledged.length);
    },
    LONG_MS,
  );

  test(
    "has lost nothing that it acknowledged a moment ago",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(script());
      configureNode(world, { url: seat.url, more: { slots: 8 } });
      await using first = await startNode(world);
      await submit(first, 1);
      expect(await first.stop("SIGKILL")).toBe(137);
      await using second = await startNode(world);
      expect(await second.reach(id(1), "done")).toMatchObject({ result: { output: "done", defer_class: "" } });
    },
    LONG_MS,
  );

  test(
    "runs again what ran, once and from the start, before what waited, in the order of before",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(script(1));
      configureNode(world, { url: seat.url });
      await using first = await startNode(world);
      await submit(first, 1, 2, 3);
      await until(async () => (await worked(seat)).length === 1);
      expect((await first.view(id(3))).queue_position).toBe(1);
      await first.stop("SIGKILL");
      // Nobody else works on it: the request of the process that is gone has ended.
      await until(async () => (await worked(seat))[0]?.ended === "client_gone");

      await using second = await startNode(world);
      await second.says(/interrupted jobs that run again from the start: 1/);
      for (const n of [1, 2, 3]) await second.reach(id(n), "done");
      expect(await second.view(id(1))).toMatchObject({ restarts: 1, result: { output: "done" } });
      expect((await second.view(id(2))).restarts).toBe(0);
      expect((await worked(seat)).map(({ job }) => job)).toEqual([1, 1, 2, 3]);
      expect(readdirSync(join(world.data, "run", "work"))).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "twice under one job ends that job with a defer, and goes on with the others",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(script(2));
      configureNode(world, { url: seat.url });
      for (const round of [1, 2]) {
        await using node = await startNode(world);
        if (round === 1) await submit(node, 1, 2);
        await until(async () => (await worked(seat)).length === round);
        await node.stop("SIGKILL");
      }
      await using third = await startNode(world);
      expect(await third.view(id(1))).toMatchObject({
        state: "done",
        restarts: 2,
        result: { defer_class: "infrastructure", reason: "interrupted: the node stopped 2 times while this job ran" },
      });
      expect(await third.reach(id(2), "done")).toMatchObject({ result: { output: "done" } });
    },
    LONG_MS,
  );

  test(
    "has every one of a thousand jobs in its order, and tells of what had ended",
    async () => {
      using world = livingWorld();
      using memory = folderInMemory();
      const env = { WRIT_DATA_DIR: memory.path };
      await using seat = await startScriptedSeat(script());
      configureNode(world, { url: seat.url });
      await using first = await startNode(world, env);
      await submit(first, 0);
      await first.reach(id(0), "done");
      await first.stop();
      // Its seat is away: all jobs wait.
      configureNode(world, { url: "http://127.0.0.1:9" }, { node: { max_queue: -1 } });
      await using second = await startNode(world, env);
      await second.says(/seat s is away/);
      const jobs = Array.from({ length: 1000 }, (_, n) => n + 1);
      for (let at = 0; at < jobs.length; at += 50) {
        await Promise.all(jobs.slice(at, at + 50).map((n) => submit(second, n)));
      }
      const order = ((await (await second.ask("GET", "/jobs?limit=200")).json()) as { jobs: { job_id: string }[] })
        .jobs;
      await second.stop("SIGKILL");

      await using third = await startNode(world, env);
      expect(await third.health()).toMatchObject({ queued: 1000, running: 0 });
      expect(await (await third.ask("GET", "/jobs?limit=200")).json()).toMatchObject({
        jobs: order.map(({ job_id }, at) => ({ job_id, state: "accepted", queue_position: 999 - at })),
      });
      expect(await third.view(id(0))).toMatchObject({ state: "done", result: { output: "done" } });
    },
    2 * LONG_MS,
  );
});

describe("a node that is stopped", () => {
  test(
    "gives what runs its time, puts it back into the line without counting it, and runs it after the next start",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(script(1));
      configureNode(world, { url: seat.url }, { node: { drain_sec: 1 } });
      await using first = await startNode(world);
      await submit(first, 1, 2);
      await until(async () => (await worked(seat)).length === 1);
      const poll = first.ask("GET", `/jobs/${id(2)}?wait=25`);
      const ended = first.stop("SIGTERM");
      await first.says(/stopping/);
      expect(await first.health()).toMatchObject({ draining: true, running: 1 });
      const refused = await first.ask("POST", "/jobs", submitOf(3).body);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
      expect((await first.ask("POST", "/jobs", submitOf(2).body)).status).toBe(202);
      expect(await (await poll).json()).toMatchObject({ job_id: id(2), state: "accepted" });
      expect(await ended).toBe(0);
      expect(first.talk).toMatch(/goes back into the line\n.* stopped\n$/);

      await using second = await startNode(world);
      for (const n of [1, 2]) expect(await second.reach(id(n), "done")).toMatchObject({ restarts: 0 });
    },
    LONG_MS,
  );

  test(
    "once more, ends at once, with the status of the signal",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(script(1));
      configureNode(world, { url: seat.url });
      await using first = await startNode(world);
      await submit(first, 1);
      await until(async () => (await worked(seat)).length === 1);
      process.kill(first.pid, "SIGTERM");
      await first.says(/stopping: 1 job may run for 30 s more/);
      expect(await first.stop("SIGINT")).toBe(130);
      await using second = await startNode(world);
      expect(await second.reach(id(1), "done")).toMatchObject({ restarts: 1 });
    },
    LONG_MS,
  );
});

describe("the store of a node", () => {
  test(
    "that is damaged is moved aside, and that is said loudly, until the next start",
    async () => {
      using world = livingWorld();
      configureNode(world, null);
      mkdirSync(join(world.data, "run"), { recursive: true });
      writeFileSync(
        join(world.data, "run", "node.db"),
        "no database, and longer than a header of it would be. ".repeat(40),
      );
      await using first = await startNode(world);
      await first.says(/THE STORE WAS DAMAGED/);
      expect(readdirSync(join(world.data, "run"))).toContain("node.db.corrupt-1");
      expect(await first.health()).toMatchObject({ store_reset: true, queued: 0 });
      expect((await first.ask("GET", `/jobs/${id(1)}`)).status).toBe(404);
      expect(await first.stop("SIGINT")).toBe(0);
      await using second = await startNode(world);
      expect(await second.health()).not.toHaveProperty("store_reset");
      expect(second.talk).not.toContain("DAMAGED");
    },
    LONG_MS,
  );

  test.skipIf(!canMount())(
    "on a disk that is full (needs the right to mount): no job is acknowledged, and no result is lost",
    async () => {
      using world = livingWorld();
      // With a little more room than a node wants to see free.
      using disk = smallDisk(world.data, 72);
      await using seat = await startScriptedSeat({
        ...script(),
        turns: [
          { id: "form", when: { constraint: "any" }, reply: { json: { a: "x" } } },
          { id: "say", reply: { content: "done", delay_ms: 1500 } },
        ],
      });
      configureNode(world, { url: seat.url });
      await using node = await startNode(world);
      await submit(node, 1);
      await node.reach(id(1), "running");
      // Its folder is made by then.
      await until(async () => (await worked(seat)).length > 0);
      disk.fill();
      const refused = await node.ask("POST", "/jobs", submitOf(2).body);
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        507,
        "storage",
      ]);
      expect((await node.ask("GET", `/jobs/${id(2)}`)).status).toBe(404);
      await node.says(/cannot store how job .* ended/);
      // What nobody could store yet is told all the same, and is not called done.
      expect(await node.view(id(1))).toMatchObject({ state: "running", result: { output: "done" } });
      expect((await node.ask("GET", `/jobs/${id(1)}/result`)).status).toBe(409);
      disk.free();
      expect(await node.reach(id(1), "done")).toMatchObject({ result: { output: "done" } });
      await submit(node, 2);
    },
    LONG_MS,
  );
});

function folderInMemory() {
  const path = memoryFolder("writ-node-");
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
