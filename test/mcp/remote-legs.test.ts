/** Delegations of a server whose legs are worked on by a node, each a process of its own. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { startMcp, startMcpLines } from "../support/mcp.ts";
import { configureNode, type NodeCommand, startNode } from "../support/node-command.ts";
import { type RunningSeat, startScriptedSeat } from "../support/scripted-seat.ts";
import { type LivingWorld, livingWorld } from "../support/writ.ts";

const SCHEMA = { type: "object", properties: { n: { type: "string" } }, required: ["n"] };
const SUBTASK = { goal: "how many pallets?", output_schema: SCHEMA, acceptance: ["contains:412"] };
const PINNED = { route: "remote", pin_reason: "operator" };

/** The first turn takes as long as the seat is kept waiting. */
const script = (first: object) => ({
  slots: 4,
  turns: [
    { id: "first", times: 1, count: "server", reply: { content: "there are 412 pallets", ...first } },
    { id: "form", times: 9, when: { constraint: "any" }, reply: { json: { n: "412" } } },
    { id: "plain", times: 9, reply: { content: "there are 412 pallets" } },
  ],
});

type Scene = {
  readonly world: LivingWorld;
  readonly seat: RunningSeat;
  readonly node: NodeCommand;
  readonly config: string;
};

/** A node in one world, and in another the config of a delegator that knows it. */
async function withNode(first: object, act: (scene: Scene) => Promise<void>): Promise<void> {
  using there = livingWorld();
  using world = livingWorld();
  await using seat = await startScriptedSeat(script(first));
  configureNode(there, { url: seat.url });
  await using node = await startNode(there);
  const config = join(world.folder, "delegator.json");
  writeFileSync(config, JSON.stringify({ remotes: [node.url] }));
  await act({ world, seat, node, config });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(20);
}

const jobsOf = (document: unknown) =>
  (document as { results: readonly JsonObject[] }).results.map(({ job_id }) => String(job_id));

describe("agent_delegate to a node", () => {
  test("has the leg worked on there, and the node in its fleet", async () => {
    await withNode({}, async ({ world, node, config }) => {
      await using mcp = await startMcp(world, { args: ["--config", config] });
      const { document } = await mcp.call("agent_delegate", { subtasks: [SUBTASK], remotes: [node.url], ...PINNED });
      expect(document).toMatchObject({
        ok: true,
        summary: { succeeded: 1 },
        results: [{ node: "n", structured: { n: "412" } }],
      });
      expect((await mcp.call("fleet_status")).document).toMatchObject({
        places: [{ name: "n", kind: "remote", reachable: true, room: 1, quarantined: false, seats: [{ name: "s" }] }],
      });
      const elsewhere = await mcp.call("agent_delegate", { subtasks: [SUBTASK], remotes: ["http://127.0.0.1:1"] });
      expect(elsewhere).toMatchObject({ isError: true, document: { code: "bad_input" } });
    });
  });

  test("takes a leg back that runs there when the call is cancelled", async () => {
    await withNode({ cut: { how: "hang", at: "tokens", n: 1 } }, async ({ world, seat, node, config }) => {
      await using mcp = await startMcp(world, { args: ["--config", config] });
      const handle = await mcp.call("agent_delegate", { subtasks: [SUBTASK], wait_sec: 0, ...PINNED });
      await until(async () => JSON.stringify(await seat.bodies()).includes(SUBTASK.goal));
      const { run_id } = handle.document as { run_id: string };
      const { document } = await mcp.call("delegation_cancel", { run_id });
      expect(document).toMatchObject({ summary: { canceled: 1 } });
      const [job_id = ""] = jobsOf(document);
      expect(await node.reach(job_id, "done", "canceled")).toMatchObject({ result: { defer_class: "canceled" } });
    });
  });
});

test("fleet_status says of a call that goes on where each leg is, and for how long its node has not answered", async () => {
  await withNode({ cut: { how: "hang", at: "tokens", n: 1 } }, async ({ world, seat, node, config }) => {
    await using mcp = await startMcp(world, { args: ["--config", config] });
    await mcp.call("agent_delegate", { subtasks: [SUBTASK], wait_sec: 0, ...PINNED });
    await until(async () => JSON.stringify(await seat.bodies()).includes(SUBTASK.goal));
    const legsNow = async () => {
      const { document } = await mcp.call("fleet_status");
      return (document as { running: readonly { unfinished: readonly JsonObject[] }[] }).running[0]?.unfinished ?? [];
    };
    expect(await legsNow()).toMatchObject([{ index: 0, where: "n/s", silent_sec: 0 }]);
    await node.stop("SIGKILL");
    await until(async () => Number((await legsNow())[0]?.silent_sec) > 0);
    expect((await legsNow())[0]?.doing).toMatch(/^no answer for \d+s, another place at 60s \(/);
  });
});

test("what a server that was killed left at a node is collected by the next one", async () => {
  await withNode({ delay_ms: { first: 300 } }, async ({ world, seat, node, config }) => {
    const lines = startMcpLines(world, { args: ["--config", config] });
    const args = { subtasks: [SUBTASK], wait_sec: 0, ...PINNED };
    lines.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "agent_delegate", arguments: args } });
    await lines.next();
    await until(async () => JSON.stringify(await seat.bodies()).includes(SUBTASK.goal));
    lines.kill("SIGKILL");
    expect((await lines.ended()).exit).toBe(137);
    const rows = readFileSync(join(world.data, "run", "intents.jsonl"), "utf8")
      .trim()
      .split("\n");
    const { job } = JSON.parse(rows.at(-1) ?? "") as { job: string };
    await node.reach(job, "done");
    await using next = await startMcp(world, { args: ["--config", config] });
    expect(next.pid).toBeGreaterThan(0);
    const file = join(world.data, "run", "recovered", `${job}.json`);
    await until(() => existsSync(file));
    expect(readFileSync(file, "utf8")).toContain("there are 412 pallets");
  });
});
