import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openScreen } from "../support/screen.ts";
import { documentOf, type LivingWorld, livingWorld, type Setting, shown, writCommand } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

/** A hook's call: whatever it is given, it ends in 0 and prints nothing. What it says is answered. */
async function hook(payload: unknown, args: readonly string[] = [], setting: Setting = {}): Promise<string> {
  const stdin = typeof payload === "string" || payload instanceof Uint8Array ? payload : JSON.stringify(payload);
  const ran = await world.writ(["record", ...args], { ...setting, stdin });
  expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 0, stdout: "" });
  expect(ran.stderr).toMatch(/^([^\n]+\n)?$/);
  return ran.stderr;
}

async function shownOf(
  id: string,
): Promise<{ handoff: JsonObject; envelope: JsonObject; runs: readonly JsonObject[] }> {
  const shown = documentOf(await world.writ(["contract", "show", id, "--json"]));
  return {
    handoff: shown.handoff as JsonObject,
    envelope: shown.envelope as JsonObject,
    runs: (shown.record as { runs: JsonObject[] }).runs,
  };
}

const BARE = { tool: "bash", command: "make", exit_code: 0, output: "made\n" };

describe("writ record, given what it cannot use,", () => {
  test.each([
    { what: "text", payload: "rubbish", says: "Error: The payload is no JSON: " },
    { what: "an object cut off", payload: '{"tool":"bash"', says: "Error: The payload is no JSON: " },
    { what: "bytes", payload: Uint8Array.of(0xff, 0xfe, 0), says: "Error: The payload is no JSON: " },
    { what: "nothing", payload: "", says: "Error: Nothing came on standard input; " },
    { what: "blanks", payload: " \n", says: "Error: Nothing came on standard input; " },
    { what: "control sequences", payload: "\x1b[31mred\x07", says: "Error: The payload is no JSON: " },
  ])("ends in 0, prints nothing, and says so in one line: $what", async ({ payload, says }) => {
    const said = await hook(payload);
    expect(said).toStartWith(says);
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test.each([
    { args: ["--bogus"], says: 'Error: Unknown option "--bogus"' },
    { args: ["--harness", "emacs"], says: 'Error: Option "--harness" takes ' },
    { args: ["--contract-id"], says: 'Error: Option "--contract-id" needs a value' },
    { args: ["surplus"], says: 'Error: Unexpected operand "surplus"' },
    { args: ["--contract-id", "../x"], says: 'Nothing was recorded: "../x" is no contract' },
  ])("the same for a wrong command line: $args", async ({ args, says }) => {
    expect(await hook(BARE, args)).toStartWith(says);
  });

  test.each([
    { what: "no database", env: { WRIT_DB: "no-database" } },
    { what: "a data folder below a file", env: { WRIT_DATA_DIR: "no-database/data" } },
  ])("the same for $what", async ({ env }) => {
    writeFileSync(join(world.folder, "no-database"), "text that is no database ".repeat(100));
    expect(await hook(BARE, ["--contract-id", await world.born()], { env })).toStartWith("Error: The store ");
  });

  test.each([
    { payload: null },
    { payload: [] },
    { payload: {} },
    { payload: 42 },
    { payload: "text" },
    { payload: { hook_event_name: "PreToolUse" } },
    { payload: { hook_event_name: "PostToolUse", tool_name: "Glob" } },
    { payload: { hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: {} } },
    { payload: { hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "writ contract view" } } },
    { payload: { tool: "bash" } },
    { payload: [null, 7, { tool: "cat" }] },
  ])("passes over what is not recorded (%#)", async ({ payload }) => {
    const turn = await world.turn();
    const said = await hook(JSON.stringify(payload), [], { env: turn.env });
    expect(said).toBe(
      payload === null ? "Error: Nothing came on standard input; Pipe one JSON object into writ record\n" : "",
    );
    expect((await shownOf(turn.id)).runs).toEqual([]);
  });

  test("drops a payload of more than 64 MiB", async () => {
    const ran = await world.shell("head -c 67108865 /dev/zero | writ record");
    expect(shown(ran)).toBe("--- stderr\nError: The payload has more than 64 MiB and was dropped\n--- exit 0\n");
  });

  test("does not wait for the pipe to close behind the object, and waits 2 seconds for one that does not", async () => {
    const open = (text: string) => {
      const child = Bun.spawn([...writCommand(), "record"], {
        env: world.env(),
        stdin: "pipe",
        stdout: "pipe",
        stderr: "pipe",
      });
      child.stdin.write(text);
      child.stdin.flush();
      return child;
    };
    const [closed, left] = [open('{"hook_event_name":"Stop"}'), open('{"hook_event_name":')];
    expect(await closed.exited).toBe(0);
    expect(left.exitCode).toBeNull();
    expect(await left.exited).toBe(0);
    expect(await new Response(left.stdout).text()).toBe("");
    expect(await new Response(left.stderr).text()).toBe(
      "Error: The payload did not end within 2 seconds and was dropped\n",
    );
  });

  test("ends in 2 with the usage for a person at a terminal", async () => {
    const screen = openScreen([...writCommand(), "record", "--bogus"], { env: world.env(), cwd: world.folder });
    expect(await screen.ended).toBe(2);
    expect(screen.text()).toContain('Unknown option "--bogus"\r\n');
    expect(screen.text()).toContain("Usage: writ record [options]\r\n");
  });
});

describe("writ record --json", () => {
  const record = async (payload: unknown, ...args: string[]) =>
    documentOf(await world.writ(["record", "--json", ...args], { stdin: JSON.stringify(payload) }));

  test("prints what it recorded", async () => {
    const id = await world.born();
    const answer = await record([BARE, { tool: "read", path: "/x" }], "--contract-id", id, "--harness", "generic");
    expect(answer).toMatchObject({
      ok: true,
      status: "recorded",
      contract_id: id,
      records: [
        { seq: 1, harness: "generic", tool: "bash", command: "make", exit_code: 0, output: "made\n" },
        { seq: 2, tool: "read", path: "/x", command: null },
      ],
    });
  });

  test("answers with one document whatever came", async () => {
    const ignored = await record({ hook_event_name: "Stop" });
    expect(ignored).toEqual({ ok: true, status: "ignored", reason: 'Event "Stop" is not recorded' });
    expect(await record(BARE)).toMatchObject({ ok: true, status: "unbound" });
    const wrong = await world.writ(["record", "--json"], { stdin: "rubbish" });
    expect({ exit: wrong.exit, ...documentOf(wrong) }).toMatchObject({ exit: 0, ok: false, code: "bad_json" });
    const usage = await world.writ(["record", "--json", "--bogus"], { stdin: "{}" });
    expect({ exit: usage.exit, ...documentOf(usage) }).toMatchObject({ exit: 0, ok: false, code: "usage" });
  });
});

describe("a turn under the hooks of Claude Code", () => {
  const SESSION = { session_id: "session-1", cwd: "/work/project", transcript_path: "/nowhere" };
  const AGENT = { ...SESSION, agent_id: "agent-7", agent_type: "backend-dev" };
  let uses = 0;
  const tool = (tool_name: string, tool_input: JsonObject, tool_response?: unknown, more: JsonObject = {}) => ({
    ...AGENT,
    hook_event_name: "PostToolUse",
    tool_name,
    tool_input,
    tool_use_id: `toolu_${++uses}`,
    ...(tool_response === undefined ? {} : { tool_response }),
    ...more,
  });
  const bash = (command: string, tool_response?: unknown, more: JsonObject = {}) =>
    tool("Bash", { command }, tool_response, more);
  const failure = (command: string, error: string) =>
    bash(command, undefined, { hook_event_name: "PostToolUseFailure", error });
  const ok = (stdout: string, stderr = "") => ({ stdout, stderr, interrupted: false, isImage: false });

  test("is bound at its start, recorded call by call, refused where it claims too much, and closed", async () => {
    const turn = await world.turn("--session-id", "session-1", "--goal", "mend it");
    expect(await hook({ ...AGENT, hook_event_name: "SubagentStart" })).toBe("");
    expect((await shownOf(turn.id)).handoff).toMatchObject({ harness_agent_id: "agent-7" });

    const kept = join(world.folder, "persisted-output");
    writeFileSync(kept, `${"x".repeat(5_000)}\nend of the file\n`);
    const twice = bash("npm test", ok("3 pass\n1 fail\n"), { duration_ms: 1500 });
    const events = [
      failure("npm test -- old", "Error: Exit code 2\n1 fail\n"),
      failure("npm run crash", "The tool crashed"),
      twice,
      twice, // the same use reported again
      bash("npm run both", ok("out", "err")),
      bash("npm run told", { ...ok("x"), exit_code: 7 }),
      bash("npm run grep", { ...ok(""), returnCodeInterpretation: "No matches found" }),
      bash("npm start", { ...ok(""), backgroundTaskId: "b1" }),
      tool("Bash", { command: "npm run watch", run_in_background: true }, ok("")),
      bash("npm run cut", { ...ok("half"), interrupted: true }),
      bash("npm run long", { ...ok("preview"), persistedOutputPath: kept }),
      bash("npm run lost", { ...ok("preview"), persistedOutputPath: join(world.folder, "gone") }),
      bash("npm run text", "a text alone"),
      bash("npm run bare"),
      bash("writ run -- npm test", ok("")),
      tool("Read", { file_path: "/work/project/src/total.ts" }, { type: "text" }),
      tool("Edit", { file_path: "/work/project/src/total.ts", old_string: "a", new_string: "b" }),
      tool("NotebookEdit", { notebook_path: "/work/project/n.ipynb" }),
      tool("Glob", { pattern: "*" }),
      { ...SESSION, hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "of the main talk" } },
      bash("npm test", ok("4 pass\n0 fail\n")),
    ];
    const said: string[] = [];
    for (const event of events) said.push(await hook(event));
    expect(said.filter((text) => text !== "")).toEqual([
      "Nothing was recorded: no contract was named, and the event is of no subagent\n",
    ]);

    const { runs } = await shownOf(turn.id);
    const brief = runs.map((run) => [run.command ?? run.path, run.exit_code, run.output, run.truncated, run.ordered]);
    expect(brief).toEqual([
      ["npm test -- old", 2, "1 fail\n", false, true],
      ["npm run crash", null, "The tool crashed", false, true],
      ["npm test", 0, "3 pass\n1 fail\n", false, true],
      ["npm run both", 0, "out\nerr", false, false],
      ["npm run told", 7, "x", false, true],
      ["npm run grep", null, "", false, true],
      ["npm start", null, "", false, true],
      ["npm run watch", null, "", false, true],
      ["npm run cut", null, "half", false, true],
      ["npm run long", 0, "x".repeat(500), true, true],
      ["npm run lost", 0, "preview", true, true],
      ["npm run text", 0, "a text alone", false, true],
      ["npm run bare", 0, null, false, true],
      ["/work/project/src/total.ts", null, null, false, true],
      ["/work/project/src/total.ts", null, null, false, true],
      ["/work/project/n.ipynb", null, null, false, true],
      ["npm test", 0, "4 pass\n0 fail\n", false, true],
    ]);
    expect(runs[1]).toMatchObject({ failed: true });
    expect(runs[2]).toMatchObject({ cwd: "/work/project", harness: "claude-code", source: "hook", argv: null });
    expect(runs[5]).toMatchObject({ exit_note: "No matches found" });
    expect(runs[9]).toMatchObject({ output_bytes: 5_017, tail: expect.stringContaining("end of the file") });
    expect(runs[10]).toMatchObject({ output_bytes: null, output_sha256: null });

    const claim = async (verification: JsonObject) => {
      const patch = {
        agent_status: { agent_state: "COMPLETE", next_action: "done" },
        conclusion: "It rounds now.",
        evidence_report: { verification: { type: "command", method: "ran it", result: "pass", ...verification } },
      };
      expect((await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)])).exit).toBe(0);
      return await turn.writ(["contract", "finalize", "--json"]);
    };
    const refused = async (command: string) => {
      const ran = await claim({ command });
      const document = documentOf(ran);
      expect({ exit: ran.exit, code: document.code ?? null }).toEqual({ exit: 1, code: "content_unverified" });
      return (document.errors as JsonObject[]).map(({ code }) => code ?? null);
    };
    expect(await refused("npm test -- old")).toEqual(["exit_mismatch"]);
    expect(await refused("npm run crash")).toEqual(["exit_mismatch"]); // it failed, whatever its number
    expect(await refused("npm run told")).toEqual(["exit_mismatch"]);
    expect(await refused("npm run never")).toEqual(["command_not_run"]);
    expect(await refused("of the main talk")).toEqual(["command_not_run"]);
    // What ran in the background, was interrupted or did not say cannot be compared: it is skipped, not refused.
    const skipping = await turn.writ(["contract", "validate", "--close", "--json"]);
    expect(skipping.exit).toBe(1);

    const closed = documentOf(await claim({ command: "npm test" }));
    expect(closed).toMatchObject({
      status: "finalized",
      agent_state: "COMPLETE",
      content_checks: { bound: true, runs: 17, skipped: [], advice: [] },
    });
    const { envelope } = await shownOf(turn.id);
    expect(envelope.evidence_report).toMatchObject({
      files_checked: ["/work/project/src/total.ts"],
      commands_run: expect.arrayContaining(["npm test", "npm start"]),
    });

    // The stop of a turn that closed itself changes nothing.
    expect(await hook({ ...AGENT, hook_event_name: "SubagentStop", stop_hook_active: false })).toBe("");
    expect((await shownOf(turn.id)).handoff).toMatchObject({ agent_state: "COMPLETE", cut_reason: null });
  });

  test("is not refused for a command whose exit nobody told", async () => {
    const turn = await world.turn("--session-id", "session-2");
    const own = { session_id: "session-2", agent_id: "agent-8" };
    await hook({ ...tool("Bash", { command: "npm start" }, { ...ok("up"), backgroundTaskId: "b" }), ...own });
    const patch = {
      agent_status: { agent_state: "COMPLETE", next_action: "done" },
      conclusion: "It starts.",
      evidence_report: { verification: { type: "command", command: "npm start", method: "ran it", result: "pass" } },
    };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    const { content_checks } = documentOf(await turn.writ(["contract", "finalize", "--json"]));
    expect(content_checks).toMatchObject({ skipped: [{ check: "exit", reason: "exit_not_kept" }] });
  });

  test("that stopped without closing is cut, and its lists are recovered from the transcript", async () => {
    const turn = await world.turn("--session-id", "session-3", "--harness-id", "agent-9");
    await turn.writ(["contract", "set", "conclusion", "half way"]);
    const transcript = join(world.folder, "transcript.jsonl");
    const entry = (content: JsonObject[], stop_reason: string) =>
      JSON.stringify({ type: "assistant", message: { role: "assistant", content, stop_reason } });
    writeFileSync(
      transcript,
      [
        entry([{ type: "tool_use", name: "Bash", input: { command: "ls -l" } }], "tool_use"),
        "{ half a line",
        entry([{ type: "tool_use", name: "Read", input: { file_path: "/a" } }], "max_tokens"),
      ].join("\n"),
    );
    const stop = { session_id: "session-3", agent_id: "agent-9", hook_event_name: "SubagentStop" };
    expect(await hook({ ...stop, agent_transcript_path: transcript })).toBe("");
    const { handoff, envelope } = await shownOf(turn.id);
    expect(handoff).toMatchObject({ agent_state: "IN_PROGRESS", cut_reason: "salvaged_truncation" });
    expect(envelope).toMatchObject({
      conclusion: "half way",
      salvaged: true,
      evidence_report: {
        commands_run: ["[recovered from transcript] ls -l"],
        files_checked: ["[recovered from transcript] /a"],
      },
    });

    // The agent may come back: its own close is clean.
    const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" } };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    expect((await turn.writ(["contract", "finalize"])).exit).toBe(0);
    expect((await shownOf(turn.id)).handoff).toMatchObject({ agent_state: "BLOCKED", cut_reason: null });
  });

  test("is not stopped by an orphan with an id that no turn has", async () => {
    const turn = await world.turn("--session-id", "session-4");
    const said = await hook({ session_id: "session-4", agent_id: "stray", hook_event_name: "SubagentStop" });
    expect(said).toBe('Nothing was recorded: no turn is of agent "stray"\n');
    expect((await shownOf(turn.id)).handoff).toMatchObject({ agent_state: "DISPATCHED", harness_agent_id: null });
  });

  test("is not guessed where two turns of a session wait", async () => {
    await world.turn("--session-id", "session-5");
    await world.turn("--session-id", "session-5");
    expect(await hook({ session_id: "session-5", agent_id: "x", hook_event_name: "SubagentStart" })).toBe(
      'Nothing was recorded: session "session-5" has several turns that wait for an agent\n',
    );
  });
});

describe("writ record", () => {
  test("ends a turn under --stop, and says with --json how", async () => {
    const turn = await world.turn();
    const stop = () => turn.writ(["record", "--stop", "--json"], { stdin: "{}" });
    expect(documentOf(await stop())).toEqual({
      ok: true,
      status: "cut",
      contract_id: turn.id,
      cut_reason: "reaped",
    });
    expect((await shownOf(turn.id)).envelope).toMatchObject({ degraded: true, auto_captured: true, reaped: true });
    const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    await turn.writ(["contract", "finalize"]);
    expect(documentOf(await stop())).toMatchObject({ status: "closed", cut_reason: null });
  });

  test("binds a turn under --bind before anything ran: what it claims then has to have run", async () => {
    const turn = await world.turn();
    expect(shown(await turn.writ(["record", "--bind"]))).toBe("--- exit 0\n");
    const { record } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect(record).toEqual({ bound: true, runs: [] });
  });

  test("reads the status that a harness does not tell as unknown", async () => {
    const turn = await world.turn();
    const event = { hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "make" } };
    await hook({ ...event, tool_response: { stdout: "x" } }, ["--harness", "codex"], { env: turn.env });
    await hook({ ...event, tool_response: { stdout: "x" } }, [], { env: turn.env });
    expect((await shownOf(turn.id)).runs.map(({ harness, exit_code }) => [harness, exit_code])).toEqual([
      ["codex", null],
      ["claude-code", 0],
    ]);
  });

  test("redacts what a hook reports", async () => {
    const turn = await world.turn();
    const token = `ghp_${"b".repeat(36)}`;
    await hook({ ...BARE, command: `curl -H ${token}`, output: `token=${token} s3cret-of-mine` }, [], {
      env: { ...turn.env, MY_SECRET: "s3cret-of-mine" },
    });
    expect((await shownOf(turn.id)).runs).toMatchObject([
      { command: "curl -H [REDACTED]", output: "token=[REDACTED] [REDACTED]" },
    ]);
  });

  test("makes no store for what it passes over", async () => {
    const data = join(world.folder, "unmade");
    await hook({ hook_event_name: "PreToolUse" }, [], { env: { WRIT_DATA_DIR: data } });
    expect(existsSync(data)).toBe(false);
  });
});
