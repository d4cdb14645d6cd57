import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type IntentRow, renderIntent } from "../../src/core/node/intents.ts";
import { ended, fault, json, type NodeScript, scriptedNode } from "../support/scripted-node.ts";
import { doneResult } from "../support/wire-result.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

const JOB = "wrt-000000000000000000000001";
const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const ANSWER = { output: "412 pallets", structured: '{"a":"412"}' };

let world: LivingWorld;
let state: string;
let nodes: { close(): void }[];
beforeEach(() => {
  world = livingWorld();
  state = join(world.data, "run");
  nodes = [];
  mkdirSync(state, { recursive: true, mode: 0o700 });
});
afterEach(() => {
  for (const node of nodes) node.close();
  world[Symbol.dispose]();
});

function node(script: NodeScript = {}) {
  const made = scriptedNode(script);
  nodes.push(made);
  return made;
}

function configure(...urls: string[]): void {
  const remotes = urls.map((url) => ({ url, token_env: "" }));
  writeFileSync(join(world.data, "config.json"), JSON.stringify({ remotes }));
}

/** A process that is no more. */
function deadPid(): number {
  return Bun.spawnSync(["true"]).pid;
}

function leave(url: string, more: Partial<Extract<IntentRow, { e: "try" }>> = {}): void {
  const row: IntentRow = {
    e: "try",
    job: JOB,
    url,
    node: "",
    sha: "s",
    goal120: "how many \u001b[31mpallets?",
    unix: Math.floor(Date.now() / 1000),
    pid: deadPid(),
    pid_start: "1",
    ...more,
  };
  writeFileSync(join(state, "intents.jsonl"), renderIntent(row), { flag: "a" });
}

const rows = () => readFileSync(join(state, "intents.jsonl"), "utf8").trim().split("\n");
const recovered = (job = JOB) => join(state, "recovered", `${job}.json`);

describe("writ runs recover", () => {
  test("keeps the result of a job whose delegator is gone, once", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }, ANSWER) });
    configure(url);
    leave(url);
    const ran = await world.writ(["runs", "recover"]);
    expect(shown(ran).replaceAll(world.folder, "/w").replaceAll(url, "http://127.0.0.1:18811")).toBe(
      [
        "job                           node                    state      goal",
        "wrt-000000000000000000000001  http://127.0.0.1:18811  recovered  how many pallets?",
        `  its result is in /w/data/run/recovered/${JOB}.json`,
        "--- exit 0",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(readFileSync(recovered(), "utf8"))).toEqual(
      doneResult({ job_id: JOB, contract_sha256: "s" }, ANSWER),
    );
    expect(statSync(recovered()).mode & 0o777).toBe(0o600);
    const again = await world.writ(["runs", "recover"]);
    expect(shown(again)).toBe("Nothing was left at a node\n--- exit 0\n");
  });

  test("says which leg of which delegation a result is of", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }, ANSWER) });
    configure(url);
    const run = `run-${"a".repeat(24)}`;
    leave(url, { run, leg: 2 });
    const ran = await world.writ(["runs", "recover"]);
    expect(ran.stdout).toContain(`\n  index 2 of ${run}: writ runs show ${run}\n  its result is in `);
    leave(url, { run, leg: 2 });
    expect(documentOf(await world.writ(["runs", "recover", "--json"])).intents).toMatchObject([
      { run_id: run, index: 2 },
    ]);
  });

  test("leaves a result that can be graded", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }, ANSWER) });
    configure(url);
    leave(url);
    await world.writ(["runs", "recover"]);
    const contract = { goal: "how many pallets?", output_schema: SCHEMA, acceptance: ["contains:@field=a:412"] };
    writeFileSync(join(world.folder, "c.json"), JSON.stringify(contract));
    const graded = await world.writ(["grade", "c.json", "--result", recovered(), "--json"]);
    expect([graded.exit, documentOf(graded).ok]).toEqual([0, true]);
  });

  test("ends in 4 where a node does not answer or does not take the token, and in 0 where a job is not done", async () => {
    const [dead, shut, busy] = [
      node(),
      node({ view: () => fault(401, "unauthorized") }),
      node({ view: (job_id) => json(200, { job_id, state: "running", rev: 2 }) }),
    ];
    dead.close();
    configure(dead.url, shut.url, busy.url);
    for (const [at, { url }] of [dead, shut, busy].entries()) leave(url, { job: `wrt-${String(at).repeat(24)}` });
    const ran = await world.writ(["runs", "recover", "--json"]);
    expect(ran.exit).toBe(4);
    expect(documentOf(ran)).toMatchObject({
      ok: false,
      status: "open",
      intents: [
        { url: dead.url, state: "open", told: expect.stringContaining("the node does not answer: ") },
        { url: shut.url, state: "open", told: "the node does not take the token (HTTP 401)" },
        { url: busy.url, state: "waiting", told: "the node says that it is running" },
      ],
    });
    writeFileSync(join(state, "intents.jsonl"), "");
    leave(busy.url);
    const waiting = await world.writ(["runs", "recover", "--json"]);
    expect([waiting.exit, documentOf(waiting).status]).toEqual([0, "ok"]);
  });

  test("asks a node that was only ever named on a command line when it is named again", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }) });
    configure();
    leave(url);
    const unknown = await world.writ(["runs", "recover", "--json"]);
    expect(unknown.exit).toBe(4);
    expect(documentOf(unknown).intents).toMatchObject([{ state: "open", told: "no such remote is configured" }]);
    expect((await world.writ(["runs", "recover", "--remote", url])).exit).toBe(0);
    expect(existsSync(recovered())).toBe(true);
  });

  test("leaves alone what a living process follows", async () => {
    const { url, asked } = node();
    configure(url);
    leave(url, { pid: process.pid, pid_start: "" });
    expect((await world.writ(["runs", "recover"])).stdout).toBe("Nothing was left at a node\n");
    expect(asked).toEqual([]);
  });

  test("writes nothing outside of its folder, whatever the ledger says", async () => {
    const job = "../../../evil";
    const { url } = node({ view: () => ended({ job_id: job, contract_sha256: "s" }) });
    configure(url);
    leave(url, { job });
    const ran = await world.writ(["runs", "recover", "--json"]);
    expect(ran.exit).toBe(4);
    expect(existsSync(join(world.folder, "evil.json"))).toBe(false);
  });

  test("removes files of the ledger that are old and closed, and results that are older than runs are kept", async () => {
    const old = (Date.now() - 40 * 86_400_000) / 1000;
    configure();
    writeFileSync(join(state, "intents.jsonl"), renderIntent({ e: "close", job: JOB, note: "kept" }));
    writeFileSync(join(state, "intents-1.jsonl"), "");
    mkdirSync(join(state, "recovered"));
    writeFileSync(recovered(), "{}");
    for (const path of [join(state, "intents.jsonl"), recovered()]) utimesSync(path, old, old);
    await world.writ(["runs", "recover"]);
    expect([existsSync(join(state, "intents.jsonl")), existsSync(recovered())]).toEqual([false, false]);
  });
});

describe("writ delegate", () => {
  const contract = () => {
    writeFileSync(join(world.folder, "c.json"), JSON.stringify({ goal: "how many?", output_schema: SCHEMA }));
    return ["delegate", "--contract", "c.json", "--route", "remote", "--pin-reason", "operator", "--no-progress"];
  };

  test("collects what an earlier call left while its own legs run, and says so at the end in one line", async () => {
    const { url } = node({
      async view(job_id, job) {
        if (job === null) return ended({ job_id, contract_sha256: "s" }, ANSWER);
        // The leg of this call is done when the pass is.
        while (!rows().some((row) => row.startsWith(`{"e":"close","job":"${JOB}"`))) await Bun.sleep(5);
        return ended(job, ANSWER);
      },
    });
    configure(url);
    leave(url);
    const ran = await world.writ(contract());
    expect(ran.exit).toBe(0);
    expect(ran.stderr.trim().split("\n").at(-1)).toBe(
      `writ: jobs that earlier calls left at nodes: 1 result recovered into ${join(state, "recovered")} (${JOB})`,
    );
    expect(JSON.parse(readFileSync(recovered(), "utf8"))).toMatchObject(ANSWER);
  });

  test("is neither delayed nor failed by a node that never answers, and leaves its intent open", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = node({
      view: () => {
        asked.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const { url } = node({
      async view(_, job) {
        if (job === null) return fault(404, "not_found");
        await asked.promise;
        return ended(job, ANSWER);
      },
    });
    configure(silent.url, url);
    leave(silent.url);
    const ran = await world.writ([...contract(), "--remote", url, "--remote", silent.url]);
    expect([ran.exit, rows().filter((row) => row.includes(JOB)).length]).toEqual([0, 1]);
    expect(ran.stderr).not.toContain("earlier calls");
  });
});
