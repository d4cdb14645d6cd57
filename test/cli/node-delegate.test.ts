import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { configureNode, startNode } from "../support/node-command.ts";
import { type ScriptObject, startScriptedSeat } from "../support/scripted-seat.ts";
import { documentOf, type LivingWorld, livingWorld, type Ran, writCommand } from "../support/writ.ts";

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

test(
  "a delegation is seen while it goes on, says that its node is silent, and leaves word of what it left there",
  async () => {
    await using all = await lab({ turns: [STUCK, SAY] });
    await using node = await startNode(all.there, ENV);
    await node.says(/seat s is served/);
    const route = ["--route", "remote", "--pin-reason", "operator", "--remote", node.url];
    const child = Bun.spawn(
      [...writCommand(), "delegate", "--contract", "contract.json", "--read-root", ".", ...route],
      { cwd: all.here.folder, env: all.here.env(ENV), stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    );
    const listed = async () => {
      const { runs } = documentOf(await all.here.writ(["runs", "list", "--json"])) as unknown as {
        runs: readonly Leg[];
      };
      return runs[0];
    };
    await node.says(/starts on s/);
    let run: Leg | undefined;
    for (run = await listed(); run === undefined; run = await listed()) await Bun.sleep(20);
    expect(run).toMatchObject({ legs: 1, state: "running" });
    const id = String(run.run_id);
    const placed = async () => documentOf(await all.here.writ(["runs", "show", id, "--json"]));
    while (!JSON.stringify((await placed()).unfinished).includes('"n"')) await Bun.sleep(20);
    expect(await placed()).toMatchObject({
      ok: true,
      ended: false,
      state: "running",
      unfinished: [{ index: 0, node: "n", seat: "s" }],
    });
    const leg = await all.here.writ(["runs", "show", id, "--index", "0"]);
    expect([leg.exit, leg.stderr]).toEqual([
      3,
      `Error: ${id} has no result of leg 0: it still runs on n/s\nAsk again when it has ended: writ runs show ${id} --index 0\n`,
    ]);

    while ((await all.seat.log()).every(({ turn }) => turn !== "stuck")) await Bun.sleep(5);
    await node.stop("SIGKILL");
    const reader = child.stderr.getReader();
    const decoder = new TextDecoder();
    let talk = "";
    const readOn = async () => {
      const { done, value } = await reader.read();
      if (!done) talk += decoder.decode(value, { stream: true });
      return !done;
    };
    while (!/leg 1 no answer from n for \d+s \(.+\); another place is looked for at 60s/.test(talk)) {
      if (!(await readOn())) throw new Error(`it ended: ${talk}`);
    }
    child.kill("SIGINT");
    const document = JSON.parse(await new Response(child.stdout).text()) as { readonly results: readonly Leg[] };
    while (await readOn()) {}
    expect(await child.exited).toBe(130);
    expect(document.results[0]?.reason).toMatch(
      /; job wrt-\w+ still running on n, not taken back \(it has not answered for \d+s: .+\)$/,
    );
    expect(talk).toContain("writ: 1 job may still run at n: writ runs recover collects what they bring\n");
    const left = documentOf(await all.here.writ(["runs", "recover", "--remote", node.url, "--json"], { env: ENV }));
    expect(left.intents).toMatchObject([{ run_id: id, index: 0, state: "open" }]);
  },
  LONG_MS,
);
