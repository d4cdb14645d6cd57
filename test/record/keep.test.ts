import { expect, test } from "bun:test";
import type { JsonValue } from "../../src/core/json/value.ts";
import { GENESIS, verifyChain } from "../../src/core/record/digest.ts";
import { readHook } from "../../src/core/record/hook.ts";
import { type HookRequest, type Kept, keepHook, keepOutputOf, keepRun } from "../../src/record/keep.ts";
import { add, born, capture, closed, everything, ran, rowOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function hook(world: ScriptedWorld, payload: JsonValue, more: Partial<HookRequest> = {}): Kept {
  const event = readHook(payload, "claude-code");
  if (event.kind === "ignored" || event.kind === "stop") throw new Error(`it is ${event.kind}`);
  return keepHook(world, { contract_id: null, streamFile: () => false, ...more, event });
}

function bash(command: string, more: { readonly [key: string]: JsonValue } = {}): JsonValue {
  const tool_response = { stdout: "3 pass\n", stderr: "" };
  return { hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command }, tool_response, ...more };
}

function recordOf(world: ScriptedWorld, contractId: string) {
  return world.store.read((tables) => tables.records.list(contractId));
}

test("records count from 1 and chain each to the one before, in each contract", () => {
  using world = scriptedWorld();
  const [one, two] = [born(world), born(world)];
  for (const command of ["a", "b", "c"]) ran(world, one, command);
  ran(world, two, "d");
  const record = recordOf(world, one);
  expect(record.map(({ seq, command }) => [seq, command])).toEqual([
    [1, "a"],
    [2, "b"],
    [3, "c"],
  ]);
  expect(record.map((each) => each.prev_digest)).toEqual([GENESIS, ...record.slice(0, 2).map((each) => each.digest)]);
  expect(verifyChain(record, world.sha256)).toEqual({ ok: true, count: 3, head: record[2]?.digest ?? null });
  expect(recordOf(world, two).map(({ seq, prev_digest }) => [seq, prev_digest])).toEqual([[1, GENESIS]]);
});

test("two recorders on one contract neither collide nor fork the chain", () => {
  using one = scriptedWorld();
  const id = born(one);
  using two = scriptedWorld({ folder: one.folder });
  for (let round = 0; round < 5; round++) {
    ran(one, id, `one ${round}`);
    ran(two, id, `two ${round}`);
  }
  expect(verifyChain(recordOf(one, id), one.sha256)).toMatchObject({ ok: true, count: 10 });
});

test("what is kept comes back as it was captured", () => {
  using world = scriptedWorld();
  const id = born(world);
  const given = capture("bun test 'a b'", {
    argv: ["bun", "test", "a b"],
    exit_code: 130,
    signal: "SIGINT",
    tail: "é",
  });
  expect(keepRun(world, id, given)).toMatchObject({
    contract_id: id,
    records: [{ ...given, contract_id: id, seq: 1 }],
  });
  expect(recordOf(world, id)).toMatchObject([given]);
});

test("the first record binds its turn, and says from where", () => {
  using world = scriptedWorld();
  const id = born(world);
  ran(world, id, "a");
  world.advance(5);
  hook(world, bash("b"), { contract_id: id });
  expect(world.sql("SELECT * FROM tool_bindings")).toEqual([
    { contract_id: id, source: "run", bound_at: "2026-01-01T00:00:00Z" },
  ]);
});

test("a run without a contract is not recorded, and says why", () => {
  using world = scriptedWorld();
  expect(keepRun(world, null, capture("a"))).toEqual({ contract_id: null, why: "no contract was named" });
  expect(keepRun(world, "nothing", capture("a"))).toEqual({ contract_id: null, why: '"nothing" is no contract' });
  expect(world.sql("SELECT * FROM tool_records")).toEqual([]);
});

test("a run goes to WRIT_CONTRACT_ID, and to a named contract before that", () => {
  using first = scriptedWorld();
  const [one, two] = [born(first), born(first)];
  using world = scriptedWorld({ folder: first.folder, contractId: one });
  expect(keepRun(world, null, capture("a"))).toMatchObject({ contract_id: one });
  expect(keepRun(world, two, capture("a"))).toMatchObject({ contract_id: two });
});

test("a record may come before its row", () => {
  using world = scriptedWorld();
  const id = "a0123456789abcdef.0a1b2c3d4e5f";
  expect(keepRun(world, id, capture("a"))).toMatchObject({ contract_id: id });
  expect(recordOf(world, id)).toHaveLength(1);
});

test("the same tool use twice is one record, in one payload and in two; another contract has its own", () => {
  using world = scriptedWorld();
  const [one, two] = [born(world), born(world)];
  const event = bash("bun test", { tool_use_id: "t1" });
  expect(hook(world, event, { contract_id: one })).toMatchObject({ records: [{ seq: 1, tool_use_id: "t1" }] });
  const before = everything(world);
  expect(hook(world, event, { contract_id: one })).toMatchObject({ contract_id: one, records: [] });
  expect(everything(world)).toEqual(before);
  expect(hook(world, event, { contract_id: two })).toMatchObject({ records: [{ seq: 1 }] });
  const bare = { tool: "bash", command: "make", tool_use_id: "t2" };
  expect(hook(world, [bare, bare], { contract_id: one })).toMatchObject({ records: [{ seq: 2 }] });
});

test("records without a tool use are all kept", () => {
  using world = scriptedWorld();
  const id = born(world);
  for (let time = 0; time < 2; time++) hook(world, bash("bun test"), { contract_id: id });
  expect(recordOf(world, id)).toHaveLength(2);
});

test("an output is redacted, cut to its two ends, and hashed whole", () => {
  using world = scriptedWorld({ values: (text) => text.replaceAll("hunter2hunter2", "[REDACTED]") });
  const id = born(world);
  const text = `hunter2hunter2${"x".repeat(2000)}end`;
  hook(world, bash("echo hunter2hunter2", { tool_response: { stdout: text } }), { contract_id: id });
  const whole = `[REDACTED]${"x".repeat(2000)}end`;
  expect(recordOf(world, id)).toMatchObject([
    {
      command: "echo [REDACTED]",
      output: whole.slice(0, 500),
      tail: whole.slice(-500),
      truncated: true,
      output_bytes: whole.length,
      output_sha256: world.sha256(whole),
    },
  ]);
});

test("an output that is kept in a file is read from there; where it cannot be, the text of the payload is not whole", () => {
  using world = scriptedWorld();
  const id = born(world);
  const event = bash("bun test", { tool_response: { stdout: "3 pa", persistedOutputPath: "/large" } });
  const streamFile: HookRequest["streamFile"] = (path, sink) => {
    expect(path).toBe("/large");
    sink("3 pass\n");
    sink("0 fail\n");
    return true;
  };
  hook(world, event, { contract_id: id, streamFile });
  hook(world, event, { contract_id: id });
  expect(recordOf(world, id)).toMatchObject([
    { output: "3 pass\n0 fail\n", truncated: false, output_bytes: 14, output_sha256: world.sha256("3 pass\n0 fail\n") },
    { output: "3 pa", truncated: true, output_bytes: null, output_sha256: null },
  ]);
});

test("a file that breaks off leaves nothing of itself in what the payload says", () => {
  using world = scriptedWorld();
  const id = born(world);
  const event = bash("bun test", { tool_response: { stdout: "3 pa", persistedOutputPath: "/large" } });
  const streamFile: HookRequest["streamFile"] = (_path, sink) => {
    sink("half of it");
    return false;
  };
  hook(world, event, { contract_id: id, streamFile });
  expect(recordOf(world, id)[0]).toMatchObject({ output: "3 pa", truncated: true });
});

test("no output kept is null, which is not an empty one", () => {
  using world = scriptedWorld();
  const id = born(world);
  hook(world, { ...(bash("a") as object), tool_response: null }, { contract_id: id });
  hook(world, bash("b", { tool_response: { stdout: "" } }), { contract_id: id });
  expect(recordOf(world, id).map(({ output, output_bytes }) => [output, output_bytes])).toEqual([
    [null, null],
    ["", 0],
  ]);
});

test("a hook's record ends now and began as long ago as it says", () => {
  using world = scriptedWorld({ now: "2026-01-01T00:01:00Z" });
  const id = born(world);
  hook(world, bash("a", { duration_ms: 30_000 }), { contract_id: id });
  hook(world, bash("b"), { contract_id: id });
  expect(recordOf(world, id).map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
    ["2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"],
    [null, "2026-01-01T00:01:00Z"],
  ]);
});

test("SubagentStart stamps the row and binds the turn, without a record", () => {
  using world = scriptedWorld();
  const id = born(world, { session_id: "s" });
  hook(world, { hook_event_name: "SubagentStart", session_id: "s", agent_id: "h1" });
  expect(rowOf(world, id).harness_agent_id).toBe("h1");
  expect(world.sql("SELECT contract_id, source FROM tool_bindings")).toEqual([{ contract_id: id, source: "hook" }]);
  expect(recordOf(world, id)).toEqual([]);
});

test("SubagentStart of a named contract stamps it, and never over another agent's id", () => {
  using world = scriptedWorld();
  const id = born(world);
  const start = (agent_id: string) => hook(world, { hook_event_name: "SubagentStart", agent_id }, { contract_id: id });
  start("h1");
  start("h2");
  expect(rowOf(world, id).harness_agent_id).toBe("h1");
});

test("what a closed contract's id names is recorded to the live link", () => {
  using world = scriptedWorld();
  const id = closed(world);
  const next = add(world, id, "evidence_report.key_outputs", "x").draft_id;
  expect(keepRun(world, id, capture("a"))).toMatchObject({ contract_id: next });
  expect(hook(world, bash("b"), { contract_id: id })).toMatchObject({ contract_id: next });
  expect(recordOf(world, next)).toHaveLength(2);
});

test("a hook that belongs nowhere leaves everything as it was", () => {
  using world = scriptedWorld();
  born(world, { session_id: "s" });
  born(world, { session_id: "s" });
  const before = everything(world);
  expect(hook(world, bash("a", { session_id: "s", agent_id: "h" }))).toMatchObject({ contract_id: null });
  expect(everything(world)).toEqual(before);
});

test("a record that cannot be stored leaves no part of its batch", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.sql("CREATE TRIGGER fails BEFORE INSERT ON tool_records WHEN NEW.seq = 2 BEGIN SELECT RAISE(ABORT, 'no'); END");
  const before = everything(world);
  const batch = ["a", "b"].map((command) => ({ tool: "bash", command }));
  expect(() => hook(world, batch, { contract_id: id })).toThrow("no");
  expect(everything(world)).toEqual(before);
});

test("an output that is kept as it comes is the same however it was cut into pieces", () => {
  using world = scriptedWorld();
  const text = `${"línea\n".repeat(300)}token=abcdefgh\n`;
  const kept = [1, 7, 5000].map((size) => {
    const keeping = keepOutputOf(world);
    for (let at = 0; at < text.length; at += size) keeping.push(text.slice(at, at + size));
    return keeping.finish();
  });
  expect(kept[1]).toEqual(kept[0] as never);
  expect(kept[2]).toEqual(kept[0] as never);
  expect(kept[0]?.tail).toEndWith("token=[REDACTED]\n");
});
