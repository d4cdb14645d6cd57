import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type IntentRow, renderIntent } from "../../src/core/node/intents.ts";
import { openScreen } from "../support/screen.ts";
import { ended, fault, json, type NodeScript, scriptedNode } from "../support/scripted-node.ts";
import { doneResult } from "../support/wire-result.ts";
import { documentOf, type LivingWorld, livingWorld, shown, writCommand } from "../support/writ.ts";

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

describe("writ runs show of a delegation that was left", () => {
  const RUN = `run-${"b".repeat(24)}`;
  /** A record of so many legs; the first ones were handed to a place. */
  function record(placed: readonly string[], legs = placed.length, pid = deadPid()): void {
    const events = placed.map((node, index) => ({ at_ms: 1, index, kind: "placed", node, seat: "s" }));
    const head = { schema_version: 1, run_id: RUN, summary: {}, results: [], started_at: "2026-01-01T00:00:00Z" };
    const facts = { legs, ended: false, pid, label: "", argv: [], placements: [], events };
    mkdirSync(join(state, "runs"), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, "runs", `${RUN}.json`), JSON.stringify({ ...head, wall_ms: 101, record: facts }));
  }
  const show = async (...more: readonly string[]) => {
    const ran = await world.writ(["runs", "show", RUN, "--json", ...more]);
    return { exit: ran.exit, ...documentOf(ran) } as Readonly<Record<string, unknown>>;
  };

  test("says what to type, and once its job was collected where that lies and how it is graded", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }, ANSWER) });
    configure(url);
    record(["gpu", "gpu"]);
    leave(url, { run: RUN, leg: 1 });
    expect(await show("--index", "1")).toMatchObject({
      exit: 3,
      code: "leg_open",
      path: "--index",
      message: `${RUN} has no result of leg 1: it was handed to gpu/s when its delegator was lost`,
      hint: "writ runs recover collects what that made of it",
    });
    expect((await show()).unfinished).toEqual([0, 1].map((index) => ({ index, node: "gpu", seat: "s" })));
    await world.writ(["runs", "recover"]);
    expect(await show("--index", "1")).toMatchObject({
      exit: 3,
      code: "leg_open",
      message: expect.stringContaining(`what that made of it is in ${recovered()}`),
      hint: `writ grade CONTRACT --result ${recovered()} grades it`,
    });
    expect((await show()).unfinished).toEqual([
      { index: 0, node: "gpu", seat: "s" },
      { index: 1, node: "gpu", seat: "s", recovered: recovered() },
    ]);
    rmSync(recovered());
    expect(await show("--index", "1")).toMatchObject({
      message: expect.stringContaining("nothing of it is there now"),
      hint: "Delegate it once more",
    });
  });

  test("says what became of a job of which nothing is left, and of a leg that no node had", async () => {
    const { url } = node({ view: () => fault(404, "not_found") });
    configure(url);
    record(["gpu", "local"], 3);
    leave(url, { run: RUN, leg: 0 });
    await world.writ(["runs", "recover"]);
    expect(await show("--index", "0")).toMatchObject({
      exit: 3,
      code: "leg_open",
      message: expect.stringContaining(
        "nothing of it is there now, and the ledger of jobs says: node no longer holds it",
      ),
      hint: "Delegate it once more",
    });
    for (const index of ["1", "2"]) {
      expect(await show("--index", index)).toMatchObject({
        exit: 3,
        code: "leg_open",
        message: expect.stringContaining("it ended with its delegator, without a result"),
      });
    }
    expect(await show("--index", "3")).toMatchObject({
      exit: 2,
      code: "no_leg",
      message: `${RUN} has no leg 3`,
      hint: "None of its legs has a result",
    });
  });

  test("says of a leg of one that goes on whether it runs or waits", async () => {
    record(["gpu"], 2, process.pid);
    const told = async (index: string) => (await show("--index", index)).message;
    expect(await told("0")).toBe(`${RUN} has no result of leg 0: it still runs on gpu/s`);
    expect(await told("1")).toBe(`${RUN} has no result of leg 1: it waits for room`);
  });

  test("has the time of a call as writ runs list has it: until now, or until the last note of one that was left", async () => {
    const listed = async () => {
      const { runs } = documentOf(await world.writ(["runs", "list", "--json"]));
      return Number((runs as readonly { readonly wall_ms: number }[])[0]?.wall_ms);
    };
    record(["gpu"], 1, process.pid);
    const before = await listed();
    const shownThen = Number((await show()).wall_ms);
    const after = await listed();
    expect(before).toBeGreaterThan(101);
    expect(shownThen).toBeGreaterThanOrEqual(before);
    expect(shownThen).toBeLessThanOrEqual(after);
    record(["gpu"]);
    expect([await listed(), (await show()).wall_ms]).toEqual([101, 101]);
  });

  test("cuts neither a path nor what to type on a terminal of 60 columns", async () => {
    const { url } = node({ view: (job_id) => ended({ job_id, contract_sha256: "s" }, ANSWER) });
    configure(url);
    record(["gpu"]);
    leave(url, { run: RUN, leg: 0 });
    const table = async () => {
      const argv = [...writCommand(), "runs", "show", RUN];
      const screen = openScreen(argv, { env: world.env(), cwd: world.folder, columns: 60 });
      expect(await screen.ended).toBe(0);
      return screen.text();
    };
    expect(await table()).toContain("  writ runs recover collects what that made of it\r\n");
    await world.writ(["runs", "recover"]);
    expect(await table()).toContain(`what that made of it is in ${recovered()}\r\n`);
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
