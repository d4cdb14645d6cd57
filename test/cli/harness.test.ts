/** Whole turns under a harness: its hook calls, made as it makes them, against the installed settings. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture, ScriptedHarness, sentBack } from "../support/harness.ts";
import { type LivingWorld, livingWorld } from "../support/writ.ts";

type Stage = LivingWorld & {
  readonly harness: ScriptedHarness;
  json(...args: string[]): Promise<Record<string, unknown>>;
  record(contract: string): Promise<readonly Record<string, unknown>[]>;
  row(contract: string): Promise<Record<string, unknown>>;
};

async function stage(...install: string[]): Promise<Stage> {
  const world = livingWorld();
  const installed = await world.writ(["hooks", "install", "claude-code", ...install]);
  expect(installed.exit).toBe(0);
  const settings = join(world.folder, ".claude", "settings.json");
  const harness = new ScriptedHarness({ settings: [settings], cwd: world.folder, env: world.env() });
  const json = async (...args: string[]) => {
    const ran = await world.writ([...args, "--json"]);
    return JSON.parse(ran.stdout) as Record<string, unknown>;
  };
  const shown = (contract: string) => json("contract", "show", contract);
  return {
    ...world,
    harness,
    json,
    record: async (contract) => ((await shown(contract)).record as { runs: readonly Record<string, unknown>[] }).runs,
    row: async (contract) => (await shown(contract)).handoff as Record<string, unknown>,
  };
}

const CLOSING = {
  agent_status: { agent_state: "COMPLETE", next_action: "done" },
  conclusion: "The test passes.",
  evidence_report: { verification: { type: "test", command: "bun test cart", result: "pass" } },
};

function fill(world: Stage, contract: string, patch: unknown) {
  return world.writ(["contract", "fill", "--draft-id", contract, "--json", JSON.stringify(patch)]);
}

function outcomes(records: readonly Record<string, unknown>[]): unknown[] {
  return records.map(({ tool, command, path, exit_code, failed, exit_note }) => ({
    ...(tool === "bash" ? { command } : { [String(tool)]: path }),
    exit_code,
    ...(failed === true ? { failed } : {}),
    ...(exit_note === null ? {} : { exit_note }),
  }));
}

test("a whole turn: what happened is what the record says, and the close is held against it", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  const calls = [
    ...(await agent.start()),
    ...(await agent.read("/work/shop/src/cart.ts")),
    ...(await agent.bash("bun test cart", "failed")),
    ...(await agent.edit("/work/shop/src/cart.ts")),
    ...(await agent.bash("npm run dev", "background")),
    ...(await agent.bash("npm run build", "moved-to-background")),
    ...(await agent.bash("make all", "interrupted")),
    ...(await agent.bash("npm ci", "timed-out")),
    ...(await agent.bash("grep walrus", "interpreted")),
    ...(await agent.bash("sleep 500", "stopped")),
    ...(await agent.fire("post-tool-use-other")),
    ...(await agent.bash("bun test cart")),
  ];
  // A hook that prints, or does not end in 0, is seen in the harness.
  for (const called of calls) expect(called).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(calls).toHaveLength(12);
  expect(outcomes(await world.record(id))).toEqual([
    { read: "/work/shop/src/cart.ts", exit_code: null },
    { command: "bun test cart", exit_code: 1 },
    { edit: "/work/shop/src/cart.ts", exit_code: null },
    { command: "npm run dev", exit_code: null },
    { command: "npm run build", exit_code: null },
    { command: "make all", exit_code: null },
    { command: "npm ci", exit_code: null },
    { command: "grep walrus", exit_code: null, exit_note: "No matches found" },
    { command: "sleep 500", exit_code: null, failed: true },
    { command: "bun test cart", exit_code: 0 },
  ]);
  expect(await world.row(id)).toMatchObject({ harness_agent_id: "h1", agent_state: "DISPATCHED" });

  const never = { evidence_report: { verification: { type: "test", command: "bun test checkout", result: "pass" } } };
  await fill(world, id, { ...CLOSING, ...never });
  expect(await world.json("contract", "finalize", "--draft-id", id)).toMatchObject({
    ok: false,
    code: "content_unverified",
  });
  await fill(world, id, CLOSING);
  expect(await world.json("contract", "finalize", "--draft-id", id)).toMatchObject({ ok: true, status: "finalized" });
  expect(await agent.stop()).toBeNull();
  expect(await world.row(id)).toMatchObject({ agent_state: "COMPLETE", cut_reason: null, record_count: 10 });
  expect((await world.writ(["record", "verify", id])).exit).toBe(0);
});

test("the last run counts: a claim of a test that failed last is refused, and the gate says so", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  await agent.bash("bun test cart");
  await agent.bash("bun test cart", "failed");
  await fill(world, id, CLOSING);
  const reason = await agent.stop();
  expect(reason).toContain("exit_mismatch");
  expect(reason).toContain(`writ contract validate --close --draft-id ${id}`);
});

test.each([
  { what: "with the field that says so", again: { stop_hook_active: true } },
  { what: "without that field", again: { stop_hook_active: undefined } },
  { what: "with a field that lies", again: { stop_hook_active: false } },
])("a turn that stops unfinalized is sent back once, $what, and then recorded as cut", async ({ again }) => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const reason = await agent.stop();
  expect(reason).toStartWith(`The contract ${id} of this turn is not finalized (sent back 1 of 1).\n`);
  expect(await world.row(id)).toMatchObject({ agent_state: "DISPATCHED", cut_reason: "never_finalized" });
  for (let stop = 0; stop < 3; stop += 1) {
    expect(await agent.fire("subagent-stop", again)).toEqual([{ exit: 0, stdout: "", stderr: "" }]);
  }
  expect(await world.row(id)).toMatchObject({ agent_state: "IN_PROGRESS", cut_reason: "reaped" });
});

test("an agent that is sent back types what it is told, and its turn is clean", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  await agent.bash("bun test cart");
  const undeclared = await agent.stop();
  const example = /Type: (writ contract fill .*)\n/.exec(undeclared ?? "")?.[1] ?? "";
  const typed = await world.shell(
    `${example.replaceAll('"..."', '"It waits for a key."')} && writ contract finalize --draft-id ${id}`,
  );
  expect(typed).toMatchObject({ exit: 0, stderr: "" });
  expect(await agent.stop({ stop_hook_active: true })).toBeNull();
  expect(await world.row(id)).toMatchObject({ agent_state: "BLOCKED", cut_reason: null });
});

test("the gate is as high as it was installed", async () => {
  using world = await stage("--gate", "3");
  await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const stops: boolean[] = [];
  for (let stop = 0; stop < 5; stop += 1) stops.push((await agent.stop({ stop_hook_active: stop > 0 })) !== null);
  expect(stops).toEqual([true, true, true, false, false]);
});

test("--gate 0 never sends back", async () => {
  using world = await stage("--gate", "0");
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  expect(await agent.stop()).toBeNull();
  expect(await world.row(id)).toMatchObject({ cut_reason: "reaped" });
});

test("what the gate prints is one JSON object of two keys, in at most 2,000 characters of reason", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const long = "x".repeat(9_000);
  await fill(world, id, { evidence_report: { verification: { command: `${long} \u001b[2J pass`, result: "pass" } } });
  await fill(world, id, { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "It waits." });
  const [called] = await agent.fire("subagent-stop");
  const answer = JSON.parse(called?.stdout ?? "") as { decision: string; reason: string };
  expect(Object.keys(answer)).toEqual(["decision", "reason"]);
  expect(answer.reason.length).toBeLessThanOrEqual(2_000);
  expect(answer.reason).toContain("command_not_run");
  expect(called?.stderr).toBe("");
});

test("a start that went missing: the first tool event binds the turn", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.bash("bun test cart");
  expect(outcomes(await world.record(id))).toEqual([{ command: "bun test cart", exit_code: 0 }]);
  expect(await agent.stop()).not.toBeNull();
});

test("a stop that went missing leaves the row as it was born: cut, and open", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  await agent.bash("bun test cart");
  await world.harness.fire({ hook_event_name: "SessionEnd", session_id: "s1" });
  expect(await world.row(id)).toMatchObject({ agent_state: "DISPATCHED", cut_reason: "never_finalized" });
});

test("an event that comes twice is one record, also when both come at once", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  await agent.start();
  const same = { tool_use_id: "toolu_same" };
  await Promise.all([agent.bash("make", "ok", same), agent.bash("make", "ok", same), agent.bash("make", "ok", same)]);
  await agent.bash("make", "ok", same);
  expect(await world.record(id)).toHaveLength(1);
});

test("two subagents of one session at once: each has its own record", async () => {
  using world = await stage();
  const one = world.harness.agent("s1", "h1");
  const two = world.harness.agent("s1", "h2");
  const first = await world.born("--session-id", "s1");
  await one.start();
  const second = await world.born("--session-id", "s1");
  await two.start();
  await Promise.all([
    ...[1, 2, 3, 4].map((number) => one.bash(`one ${number}`)),
    ...[1, 2, 3, 4].map((number) => two.bash(`two ${number}`, "failed")),
  ]);
  const [ofFirst, ofSecond] = [await world.record(first), await world.record(second)];
  expect(ofFirst.map((run) => run.command).sort()).toEqual(["one 1", "one 2", "one 3", "one 4"]);
  expect(ofSecond.map((run) => [run.command, run.exit_code]).sort()).toEqual([1, 2, 3, 4].map((n) => [`two ${n}`, 1]));
  for (const id of [first, second]) expect((await world.writ(["record", "verify", id])).exit).toBe(0);
  expect([await one.stop(), await two.stop()].every((reason) => reason !== null)).toBe(true);
  expect(await two.stop()).toBeNull();
  expect(await world.row(first)).toMatchObject({ cut_reason: "never_finalized" });
  expect(await world.row(second)).toMatchObject({ cut_reason: "reaped" });
});

test("two turns of one session that wait at once: nothing is guessed", async () => {
  using world = await stage();
  const ids = [await world.born("--session-id", "s1"), await world.born("--session-id", "s1")];
  const agent = world.harness.agent("s1", "h1");
  const [called] = await agent.start();
  expect(called).toEqual({
    exit: 0,
    stdout: "",
    stderr: 'Nothing was recorded: session "s1" has several turns that wait for an agent\n',
  });
  for (const id of ids) expect(await world.record(id)).toEqual([]);
});

test("an orphan stop ends nothing and sends nothing back", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const calls = await agent.fire("subagent-stop-orphan", { agent_id: "nobody", session_id: "s1" });
  expect(sentBack(calls)).toBeNull();
  expect(calls[0]).toMatchObject({ exit: 0, stdout: "" });
  expect(await world.row(id)).toMatchObject({ agent_state: "DISPATCHED", cut_reason: "never_finalized" });
});

test("what the main conversation runs is no turn's", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  await world.harness.fire(fixture("post-tool-use-bash-main", { session_id: "s1" }));
  expect(await world.record(id)).toEqual([]);
});

test("an output that the harness put into a file is read from there", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  const file = join(world.folder, "big.txt");
  const whole = `begins\n${"line\n".repeat(1_000)}ends\n`;
  writeFileSync(file, whole);
  await agent.bash("cat big.log", "persisted", {
    tool_response: { stdout: "begins\n", stderr: "", interrupted: false, persistedOutputPath: file },
  });
  const [run] = await world.record(id);
  expect(run).toMatchObject({ output_bytes: whole.length, exit_code: 0 });
  expect(String(run?.tail)).toEndWith("ends\n");
});

test.each([
  {
    what: "a store that is no database",
    spoil: (data: string) => writeFileSync(join(data, "writ.db"), "no database".repeat(99)),
  },
  { what: "a store of a newer layout", spoil: (data: string) => writeNewer(join(data, "writ.db")) },
  {
    what: "a data folder that is a file",
    spoil: (data: string) => {
      rmSync(data, { recursive: true });
      writeFileSync(data, "");
    },
  },
])("$what: every hook ends in 0, prints nothing, and says one line", async ({ spoil }) => {
  using world = await stage();
  await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  for (const name of ["-wal", "-shm"]) rmSync(join(world.data, `writ.db${name}`), { force: true });
  spoil(world.data);
  const calls = [...(await agent.start()), ...(await agent.bash("make")), ...(await agent.fire("subagent-stop"))];
  expect(calls).toHaveLength(3);
  for (const called of calls) {
    expect(called).toMatchObject({ exit: 0, stdout: "" });
    expect(called.stderr).toMatch(/^Error: [^\n]+\n$/);
  }
});

function writeNewer(path: string): void {
  rmSync(path);
  const db = new Database(path, { create: true });
  db.run("PRAGMA user_version = 99");
  db.close();
}

test("a draft that cannot be read is a refusal of the close: the turn is sent back, and told", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const draft = join(world.data, "contract_drafts", `${id}.json`);
  writeFileSync(draft, "{ half");
  expect(await agent.stop()).toContain("draft_unreadable");
  expect(readFileSync(draft, "utf8")).toBe("{ half");
});

test("a defect of the gate is told in one line, and the turn is cut as without a gate", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const db = new Database(join(world.data, "writ.db"));
  db.run("CREATE TRIGGER fails BEFORE INSERT ON send_backs BEGIN SELECT RAISE(ABORT, 'no'); END");
  db.close();
  expect(await agent.fire("subagent-stop")).toEqual([{ exit: 0, stdout: "", stderr: "The turn was not gated: no\n" }]);
  expect(await world.row(id)).toMatchObject({ cut_reason: "reaped" });
});

test("a draft that is a folder cannot break the harness", async () => {
  using world = await stage();
  const id = await world.born("--session-id", "s1");
  const agent = world.harness.agent("s1", "h1");
  await agent.start();
  const draft = join(world.data, "contract_drafts", `${id}.json`);
  rmSync(draft);
  mkdirSync(draft);
  expect(await agent.stop()).toContain("draft_unreadable");
  expect(await agent.stop()).toBeNull();
});
