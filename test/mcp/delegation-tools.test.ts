/** The tools that delegate, over the protocol: the real server, the real client, a scripted seat behind it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { PAGE_BYTES } from "../../src/mcp/delegation-result.ts";
import { MOST_DOCUMENT_BYTES } from "../../src/mcp/run-answer.ts";
import { TOOLS } from "../../src/mcp/tools.ts";
import { hello, type McpClient, startMcp, startMcpLines } from "../support/mcp.ts";
import { type RunningSeat, startScriptedSeat } from "../support/scripted-seat.ts";
import { type LivingWorld, livingWorld, writCommand } from "../support/writ.ts";

const SCRIPT = {
  model: "m",
  slots: 8,
  turns: [
    {
      id: "hang",
      times: 99,
      when: { goal_contains: "hang", constraint: "none" },
      reply: { content: "there are many", cut: { how: "hang", at: "tokens", n: 1 } },
    },
    {
      id: "large",
      times: 99,
      when: { goal_contains: "large" },
      reply: { content: [{ repeat: "0123456789abcdé", count: 20_000 }], chunk: { by: "all" } },
    },
    { id: "plain", times: 999, reply: { content: "there are 412 pallets" } },
  ],
};
const PLAIN = { goal: "how many pallets?", acceptance: ["contains:412"] };
const HANG = { goal: "hang: how many?" };

let world: LivingWorld;
let seat: RunningSeat;
let mcp: McpClient;
beforeAll(async () => {
  world = livingWorld();
  seat = await startScriptedSeat(SCRIPT);
  mkdirSync(world.data, { recursive: true });
  const one = {
    name: "one",
    base_url: seat.url,
    model: "scripted/m",
    engine: "llama.cpp",
    ctx_tokens: 32_768,
    slots: 8,
  };
  writeFileSync(join(world.data, "config.json"), JSON.stringify({ seats: [one] }), { mode: 0o600 });
  writeFileSync(join(world.folder, "off.json"), JSON.stringify({ seats: [one], delegation_enabled: false }));
  mcp = await startMcp(world);
});
afterAll(async () => {
  await mcp.close();
  await seat.close();
  world[Symbol.dispose]();
});

const legsOf = (document: unknown) => (document as { results: readonly JsonObject[] }).results;
const runIdOf = (document: unknown) => (document as { run_id: string }).run_id;
const recordOf = (run_id: string) =>
  JSON.parse(readFileSync(join(world.data, "run", "runs", `${run_id}.json`), "utf8")) as JsonObject;

/** Waits for a call of a seat that was asked. */
async function asked(goal: string): Promise<void> {
  for (;;) {
    const bodies = JSON.stringify(await seat.bodies());
    if (bodies.includes(goal)) return;
    await Bun.sleep(20);
  }
}

describe("agent_delegate over the protocol", () => {
  test("answers with the document, as a text and as an object", async () => {
    const answer = await mcp.call("agent_delegate", {
      subtasks: [PLAIN, { ...PLAIN, acceptance: ["contains:zebra"] }],
    });
    expect(answer).toMatchObject({
      isError: false,
      talk: null,
      document: { ok: true, schema_version: 1, summary: { succeeded: 1, failed_verification: 1 } },
    });
    expect(answer.structured).toEqual(answer.document);
    expect(legsOf(answer.document)[0]).toMatchObject({
      output: "there are 412 pallets",
      node: "local",
      seat: "one",
      scripted: true,
    });
    expect(await mcp.call("delegation_result", { run_id: runIdOf(answer.document) })).toEqual(answer);
    expect(mcp.stderr()).toBe("");
  });

  test("tells of its progress, in messages that go on", async () => {
    const told: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    await mcp.call("agent_delegate", { subtasks: [PLAIN, PLAIN] }, { onprogress: (each) => void told.push(each) });
    expect(told[0]).toEqual({ progress: 0, total: 2, message: "0/2 done" });
    expect(told.at(-1)).toMatchObject({
      progress: 2,
      message: expect.stringMatching(/^2\/2 done; leg \d local\/one /),
    });
    expect(told.map(({ progress }) => progress)).toEqual(
      told.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
  });

  test("is cancelled by its client: no answer, and the record has what there was", async () => {
    await using lines = startMcpLines(world);
    lines.say(hello());
    await lines.next();
    const subtasks = [{ ...HANG, goal: "hang: cancelled by the client?" }];
    lines.say({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "agent_delegate", arguments: { subtasks } },
    });
    await asked("hang: cancelled by the client?");
    lines.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, reason: "enough" } });
    lines.say({ jsonrpc: "2.0", id: 8, method: "tools/call", params: { name: "fleet_status", arguments: {} } });
    expect(await lines.next()).toMatchObject({ id: 8 });
    lines.hangUp();
    expect(await lines.ended()).toMatchObject({ exit: 0, stdout: "" });
    const runs = readdirSync(join(world.data, "run", "runs")).map((name) => recordOf(name.replace(".json", "")));
    const run = runs.find((each) => JSON.stringify(each).includes("hang: cancelled by the client?"));
    expect(run).toMatchObject({
      summary: { deferred: 1, canceled: 1 },
      results: [{ defer_class: "canceled", reason: expect.stringContaining("canceled by the caller; ") }],
      record: { ended: true },
    });
  });

  test("is answered with a handle, seen in the fleet, and ended by delegation_cancel", async () => {
    const handle = await mcp.call("agent_delegate", { subtasks: [HANG, PLAIN], wait_sec: 0 });
    expect(handle).toMatchObject({ isError: false, document: { ok: true, status: "running", legs: 2 } });
    const run_id = runIdOf(handle.document);
    expect(recordOf(run_id)).toMatchObject({ run_id, record: { legs: 2, ended: false } });
    const fleet = await mcp.call("fleet_status");
    expect(fleet.document).toMatchObject({
      ok: true,
      places: [
        { name: "local", kind: "local", reachable: true, accepts_write: false, seats: [{ name: "one", slots: 8 }] },
      ],
      quarantine: [],
      running: [{ run_id, legs: 2 }],
    });
    expect(await mcp.call("delegation_result", { run_id, wait_sec: 0 })).toMatchObject({
      document: { status: "running" },
    });
    const canceled = await mcp.call("delegation_cancel", { run_id });
    expect(legsOf(canceled.document).map(({ defer_class = null }) => defer_class)).toContain("canceled");
    expect((await mcp.call("delegation_cancel", { run_id })).document).toEqual(canceled.document);
    expect((await mcp.call("delegation_result", { run_id })).document).toEqual(canceled.document);
    expect((await mcp.call("fleet_status")).document).toMatchObject({ running: [] });
  });

  test("ends with standard input, and leaves the record of what there was", async () => {
    const lines = startMcpLines(world);
    const subtasks = [{ ...HANG, goal: "hang: until the end of input?" }];
    const args = { subtasks, wait_sec: 0 };
    lines.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "agent_delegate", arguments: args } });
    const handle = (await lines.next()) as { result: { structuredContent: JsonObject } };
    lines.hangUp();
    expect(await lines.ended()).toEqual({ exit: 0, stdout: "", stderr: "" });
    expect(recordOf(runIdOf(handle.result.structuredContent))).toMatchObject({
      summary: { canceled: 1 },
      record: { ended: true },
    });
  });

  test("ends with SIGTERM, whoever waits for it", async () => {
    const lines = startMcpLines(world);
    const subtasks = [{ ...HANG, goal: "hang: until the signal?" }];
    lines.say({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "agent_delegate", arguments: { subtasks } },
    });
    await asked("hang: until the signal?");
    lines.kill("SIGTERM");
    expect((await lines.ended()).exit).toBe(143);
    const left = (await world.writ(["runs", "list", "--json", "--limit", "1"])).stdout;
    expect(JSON.parse(left)).toMatchObject({ runs: [{ state: "ended", summary: { canceled: 1 } }] });
  });
});

describe("what is too long for one answer", () => {
  test("is taken out whole, and fetched in pages", async () => {
    const subtasks = [{ goal: "large: how many?" }, PLAIN, { goal: "large: how many more?" }];
    const answer = await mcp.call("agent_delegate", { subtasks });
    expect(Buffer.byteLength(JSON.stringify(answer.document))).toBeLessThanOrEqual(MOST_DOCUMENT_BYTES);
    const [large, plain] = legsOf(answer.document);
    expect(plain).toMatchObject({ output: "there are 412 pallets" });
    const run_id = runIdOf(answer.document);
    expect(large).toMatchObject({ output_ref: { truncated: true, fetch: { run_id, index: 0, field: "output" } } });
    expect(large).not.toHaveProperty("output");
    const { bytes, fetch } = (large as JsonObject).output_ref as { bytes: number; fetch: JsonObject };
    let text = "";
    let offset: number | null = 0;
    while (offset !== null) {
      const page: JsonObject = (await mcp.call("delegation_result", { ...fetch, offset })).document as JsonObject;
      expect(page).toMatchObject({ ok: true, run_id, index: 0, field: "output", offset, bytes });
      expect(Buffer.byteLength(String(page.text))).toBeLessThanOrEqual(PAGE_BYTES);
      text += page.text;
      offset = page.next_offset as number | null;
    }
    expect(text).toBe("0123456789abcdé".repeat(20_000));
    const leg = await mcp.call("delegation_result", { run_id, index: 1 });
    expect(leg.document).toMatchObject({ ok: true, index: 1, output: "there are 412 pallets" });
  });

  test("a leg, a field or a run that is none is told with what there is", async () => {
    const { document } = await mcp.call("agent_delegate", { subtasks: [PLAIN] });
    const run_id = runIdOf(document);
    const ask = async (args: object) => (await mcp.call("delegation_result", { run_id, ...args })).document;
    expect(await ask({ index: 5 })).toMatchObject({
      ok: false,
      code: "no_leg",
      hint: "Its one result is that of leg 0",
    });
    expect(await ask({ field: "outptu" })).toMatchObject({ code: "bad_input", hint: 'Did you mean "output"?' });
    expect(await ask({ field: "output" })).toMatchObject({ text: "there are 412 pallets", next_offset: null });
    expect(await ask({ run_id: "run-ffffffffffffffffffffffff" })).toMatchObject({ code: "no_run" });
    expect(await ask({ wait_sec: 51 })).toMatchObject({ code: "bad_input", path: "/wait_sec" });
  });
});

describe("delegation_result of another process's delegation", () => {
  test("reads what ended, by the beginning of its id, and what was left behind", async () => {
    const file = join(world.folder, "c.json");
    writeFileSync(file, JSON.stringify(PLAIN));
    const ran = JSON.parse((await world.writ(["delegate", "--contract", file, "--json"])).stdout) as JsonObject;
    const { document } = await mcp.call("delegation_result", { run_id: String(ran.run_id).slice(4, 20) });
    // The record was written before its document was printed.
    expect(document).toEqual({ ...ran, wall_ms: expect.any(Number) });
    const left = { ...recordOf(String(ran.run_id)), run_id: "run-00000000000000000000dead" };
    const record = { ...(left as { record?: object }).record, legs: 2, ended: false, pid: 2 ** 22 + 1 };
    writeFileSync(
      join(world.data, "run", "runs", "run-00000000000000000000dead.json"),
      JSON.stringify({ ...left, record }),
    );
    const answer = await mcp.call("delegation_result", { run_id: "run-00000000000000000000dead" });
    expect(answer.document).toMatchObject({ ok: true, ended: false, summary: { succeeded: 1 } });
    const leg = async (index: number) =>
      (await mcp.call("delegation_result", { run_id: "run-00000000000000000000dead", index })).document;
    expect(await leg(0)).toMatchObject({ ok: true, index: 0 });
    expect(await leg(1)).toMatchObject({ ok: false, code: "leg_open", path: "/index", hint: "Delegate it once more" });
    expect(await leg(2)).toMatchObject({ ok: false, code: "no_leg", path: "/index" });
  });

  test("says that it runs, and where it can be ended", async () => {
    await using other = await startMcp(world);
    const handle = await other.call("agent_delegate", { subtasks: [HANG], wait_sec: 0 });
    const run_id = runIdOf(handle.document);
    expect((await mcp.call("delegation_result", { run_id, wait_sec: 1 })).document).toMatchObject({
      ok: true,
      status: "running",
      run_id,
      legs: 1,
      done: 0,
    });
    expect((await mcp.call("delegation_cancel", { run_id })).document).toMatchObject({
      ok: false,
      code: "run_elsewhere",
      message: expect.stringContaining(String(other.pid)),
    });
    await other.call("delegation_cancel", { run_id });
    expect((await mcp.call("delegation_result", { run_id })).document).toMatchObject({ summary: { canceled: 1 } });
  });
});

describe("where delegation is switched off", () => {
  test("the tools that delegate are not there, and the list says nothing else", async () => {
    const bytesOf = async (...args: string[]) => {
      await using lines = startMcpLines(world, { args });
      lines.say({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      return ((await lines.next()) as { result: { tools: readonly { name: string }[] } }).result.tools;
    };
    const all = await bytesOf();
    const without = await bytesOf("--config", "off.json");
    const delegates = Object.entries(TOOLS).flatMap(([name, each]) => (each.delegates ? [name] : []));
    expect(delegates).toEqual(["agent_delegate", "delegation_result", "delegation_cancel", "fleet_status"]);
    expect(JSON.stringify(without)).toBe(JSON.stringify(all.filter(({ name }) => !delegates.includes(name))));
    await using off = await startMcp(world, { args: ["--config", "off.json"] });
    await expect(off.call("agent_delegate", { subtasks: [PLAIN] })).rejects.toThrow("There is no tool");
  });
});

describe("a seat of the environment", () => {
  test("is found when the first call needs it, and looked for again after it was away", async () => {
    await using lone = await startMcp(world, { env: { WRIT_SEAT_URL: "http://127.0.0.1:9" } });
    expect(await lone.call("agent_delegate", { subtasks: [PLAIN] })).toMatchObject({
      isError: true,
      document: { code: "seat_unavailable" },
    });
    await using found = await startMcp(world, { env: { WRIT_SEAT_URL: seat.url } });
    const { document } = await found.call("agent_delegate", { subtasks: [PLAIN] });
    expect(legsOf(document)[0]).toMatchObject({ seat: "env", status: "succeeded" });
  });
});

test.skipIf(process.platform === "win32")("a client that does not read holds up no leg", async () => {
  const pipe = join(world.folder, "slow");
  execFileSync("mkfifo", [pipe]);
  // Open for reading too, so that it takes what fits and no more, and nobody reads it yet.
  const file = openSync(pipe, "r+");
  const child = Bun.spawn([...writCommand(), "mcp"], {
    cwd: world.folder,
    env: world.env(),
    stdin: "pipe",
    stdout: file,
    stderr: "pipe",
  });
  const say = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  for (let id = 1; id <= 20; id++) say({ id, method: "tools/list" });
  const args = { subtasks: [{ ...PLAIN, goal: "a slow client: how many pallets?" }] };
  say({
    id: 21,
    method: "tools/call",
    params: { name: "agent_delegate", arguments: args, _meta: { progressToken: "p" } },
  });
  const folder = join(world.data, "run", "runs");
  const ended = () =>
    readdirSync(folder).some((name) => {
      const text = name.startsWith("run-") ? readFileSync(join(folder, name), "utf8") : "";
      return text.includes("a slow client") && (JSON.parse(text) as { record: JsonObject }).record.ended === true;
    });
  while (!ended()) await Bun.sleep(20);
  let text = "";
  const piece = Buffer.alloc(64 * 1024);
  while (!text.includes('"id":21}\n')) {
    try {
      text += piece.toString("utf8", 0, readSync(file, piece));
    } catch (error) {
      // The server does not wait for its reader, and through their common pipe neither does this one for the server.
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
      await Bun.sleep(5);
    }
  }
  const ids = text
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id?: number }).id ?? "p"]));
  expect(ids.filter((id) => id !== "p")).toEqual(Array.from({ length: 21 }, (_, at) => at + 1));
  expect(ids.filter((id) => id === "p").length).toBeGreaterThan(0);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  closeSync(file);
});
