import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { configureNode, startNode } from "../support/node-command.ts";
import { type ScriptObject, startScriptedSeat } from "../support/scripted-seat.ts";
import { documentOf, type LivingWorld, livingWorld, type Ran } from "../support/writ.ts";

const TOKEN = "correct-horse-battery-staple";
const ENV = { WRIT_NODE_TOKEN: TOKEN };
const LONG_MS = 40_000;

const FORM = { id: "form", when: { constraint: "any" }, reply: { json: { summary: "it says two" } } };
const EDIT = {
  id: "edit",
  when: { step: 1, tools: "edit_file" },
  reply: { tool_calls: [{ name: "edit_file", arguments: { path: "a.txt", old_string: "one", new_string: "two" } }] },
};
const SAY = { id: "say", reply: { content: "it says two" } };
const STUCK = {
  id: "stuck",
  times: 1,
  count: "server",
  reply: { content: "never", cut: { how: "hang", at: "tokens", n: 0 } },
};

/** A node with a seat, and a delegator with a contract in a world of its own. */
async function lab(script: ScriptObject, more: object = {}) {
  const [here, there] = [livingWorld(), livingWorld()];
  const seat = await startScriptedSeat(script);
  configureNode(there, { url: seat.url }, { agent_allow_write: true, ...more });
  writeFileSync(join(here.folder, "a.txt"), "one\n");
  writeFileSync(
    join(here.folder, "contract.json"),
    JSON.stringify({
      goal: "a.txt: make it say two.",
      context_paths: ["a.txt"],
      output_schema: { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] },
      acceptance: ["diff_touches:a.txt", "nonempty:summary"],
      write_root: ".",
    }),
  );
  return {
    here,
    there,
    seat,
    async [Symbol.asyncDispose]() {
      await seat.close();
      for (const world of [here, there]) world[Symbol.dispose]();
    },
  };
}

function delegateTo(world: LivingWorld, url: string, env: Readonly<Record<string, string>> = ENV): Promise<Ran> {
  const route = ["--route", "remote", "--pin-reason", "measurement", "--remote", url];
  return world.writ(["delegate", "--contract", "contract.json", "--read-root", ".", ...route, "--json"], { env });
}

type Leg = Record<string, unknown>;
const legsOf = (ran: Ran) => documentOf(ran).results as unknown as Leg[];

describe("a leg on a node", () => {
  test(
    "comes back with its diff, graded by who sent it",
    async () => {
      await using all = await lab({ turns: [FORM, EDIT, SAY] });
      await using node = await startNode(all.there, ENV);
      await node.says(/seat s is served/);
      const ran = await delegateTo(all.here, node.url);
      expect([ran.exit, legsOf(ran)[0]]).toMatchObject([
        0,
        {
          status: "succeeded",
          node: "n",
          seat: "s",
          scripted: true,
          structured: { summary: "it says two" },
          diff: expect.stringContaining("-one\n+two\n"),
          acceptance: [{ outcome: "pass" }, { outcome: "pass" }],
        },
      ]);
      // The node took no part in the grading.
      expect(await node.health()).toMatchObject({ running: 0, queued: 0 });
    },
    LONG_MS,
  );

  test(
    "survives that its node is killed while it runs, and started again",
    async () => {
      await using all = await lab({ turns: [STUCK, FORM, EDIT, SAY] });
      await using first = await startNode(all.there, ENV);
      await first.says(/seat s is served/);
      const delegating = delegateTo(all.here, first.url);
      await first.says(/starts on s/);
      while ((await all.seat.log()).every(({ turn }) => turn !== "stuck")) await Bun.sleep(5);
      await first.stop("SIGKILL");
      await using second = await startNode(all.there, ENV, "--listen", new URL(first.url).host);
      const ran = await delegating;
      expect([ran.exit, legsOf(ran)[0]]).toMatchObject([0, { status: "succeeded", node: "n", attempts: [{ n: 1 }] }]);
      await second.says(/interrupted jobs that run again from the start: 1/);
    },
    LONG_MS,
  );

  test(
    "waits for one of another call where the node has one slot",
    async () => {
      await using all = await lab({
        turns: [FORM, EDIT, { ...SAY, reply: { content: "it says two", delay_ms: 200 } }],
      });
      await using node = await startNode(all.there, ENV);
      await node.says(/seat s is served/);
      const ran = await Promise.all([1, 2].map(() => delegateTo(all.here, node.url)));
      expect(ran.map((each) => legsOf(each)[0]?.status)).toEqual(["succeeded", "succeeded"]);
      await node.says(/done[\s\S]*done/);
      const talk = node.talk.match(/(?:starts|done)/g);
      expect(talk).toEqual(["starts", "done", "starts", "done"]);
    },
    LONG_MS,
  );

  test(
    "is not sent where the token is not taken, and not taken where the write door is closed",
    async () => {
      await using all = await lab({ turns: [FORM, EDIT, SAY] }, { agent_allow_write: false });
      await using node = await startNode(all.there, ENV);
      await node.says(/seat s is served/);
      const stranger = legsOf(await delegateTo(all.here, node.url, { WRIT_NODE_TOKEN: `${TOKEN}x` }))[0];
      expect(stranger).toMatchObject({ status: "deferred", placement: expect.stringContaining("token not accepted") });
      const closed = legsOf(await delegateTo(all.here, node.url))[0];
      expect(closed).toMatchObject({ status: "deferred", defer_class: "write" });
      expect(node.talk).not.toContain("accepted");
    },
    LONG_MS,
  );
});
