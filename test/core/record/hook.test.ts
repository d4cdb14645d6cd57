import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { HARNESSES, type Harness, type HookCapture, readHook, toCapture } from "../../../src/core/record/hook.ts";

const bash: JsonObject = {
  hook_event_name: "PostToolUse",
  session_id: "s1",
  agent_id: "a1",
  cwd: "/w",
  tool_name: "Bash",
  tool_use_id: "t1",
  tool_input: { command: "npm test" },
  tool_response: { stdout: "ok", stderr: "" },
  duration_ms: 12,
};

const missing: HookCapture = {
  source: "hook",
  harness: "claude-code",
  tool: "bash",
  tool_use_id: null,
  command: null,
  argv: null,
  path: null,
  cwd: null,
  exit_code: null,
  signal: null,
  failed: false,
  exit_note: null,
  started_at: null,
  ended_at: null,
  truncated: false,
  ordered: true,
  outputText: null,
  persisted: null,
  durationMs: null,
};
const run: HookCapture = { ...missing, command: "npm test", cwd: "/w", tool_use_id: "t1", durationMs: 12 };

/** The one capture of a payload. */
function captureOf(payload: JsonValue, harness: Harness = "claude-code"): HookCapture | null {
  const event = readHook(payload, harness);
  if (event.kind !== "captures") return null;
  expect(event.captures).toHaveLength(1);
  return event.captures[0];
}

describe("readHook() of PostToolUse Bash", () => {
  test("is a run, with whose it was", () => {
    expect(readHook(bash, "claude-code")).toEqual({
      kind: "captures",
      session_id: "s1",
      agent_id: "a1",
      cwd: "/w",
      captures: [{ ...run, exit_code: 0, outputText: "ok" }],
    });
  });

  test.each<[string, JsonValue, Partial<HookCapture>]>([
    ["both streams", { stdout: "a", stderr: "b" }, { outputText: "a\nb", ordered: false }],
    ["a blank standard error", { stdout: "a\n", stderr: " \n" }, { outputText: "a\n" }],
    ["a blank standard output", { stdout: " ", stderr: "b" }, { outputText: "b" }],
    ["two blank streams", { stdout: "\n", stderr: " " }, { outputText: "\n" }],
    ["standard error alone", { stderr: "" }, { outputText: "" }],
    ["no stream", {}, { outputText: null }],
    ["streams of the wrong type", { stdout: 3, stderr: ["x"] }, { outputText: null }],
    ["a text", "ok", { outputText: "ok" }],
    ["null", null, { outputText: null }],
    ["a list", ["ok"], { outputText: null }],
    ["half a surrogate pair", "a\ud83d", { outputText: "a\ufffd" }],
    [
      "a file with the output",
      { stdout: "a", persistedOutputPath: "/tmp/o" },
      { outputText: "a", persisted: "/tmp/o" },
    ],
  ])("reads the output of a response that is %s", (_, tool_response, expected) => {
    expect(captureOf({ ...bash, tool_response })).toEqual({ ...run, exit_code: 0, ...expected });
  });

  test.each<[string, JsonObject, number | null]>([
    ["exit_code", { exit_code: 3, exitCode: 4, code: 5 }, 3],
    ["exitCode", { exit_code: "3", exitCode: 4, code: 5 }, 4],
    ["code", { code: 5 }, 5],
    ["nothing that is an integer", { exit_code: 1.5, code: true }, 0],
    ["an exit though it was interrupted", { exit_code: 130, interrupted: true }, 130],
    ["interrupted", { interrupted: true }, null],
    ["interrupted: false", { interrupted: false }, 0],
    ["backgroundTaskId", { backgroundTaskId: "b1" }, null],
    ["backgroundTaskId: null", { backgroundTaskId: null }, 0],
    ["timedOutAfterMs", { timedOutAfterMs: 1 }, null],
    ["returnCodeInterpretation", { returnCodeInterpretation: "No matches found" }, null],
  ])("reads the exit of a response with %s", (_, tool_response, exit) => {
    expect(captureOf({ ...bash, tool_response })?.exit_code).toBe(exit);
  });

  test("does not know the exit of what went to the background", () => {
    expect(captureOf({ ...bash, tool_input: { command: "npm test", run_in_background: true } })?.exit_code).toBeNull();
    expect(captureOf({ ...bash, tool_input: { command: "npm test", run_in_background: false } })?.exit_code).toBe(0);
  });

  test("reads half a surrogate pair as it will be stored", () => {
    expect(captureOf({ ...bash, tool_input: { command: "ls \ud83d" } })?.command).toBe("ls \ufffd");
  });

  test("keeps what the harness says of a status", () => {
    const capture = captureOf({
      ...bash,
      tool_response: { exit_code: 1, returnCodeInterpretation: "No matches found" },
    });
    expect(capture).toEqual({ ...run, exit_code: 1, exit_note: "No matches found" });
  });

  test.each(["codex", "generic"] as const)("of %s means no success by itself", (harness) => {
    expect(captureOf(bash, harness)).toEqual({ ...run, harness, outputText: "ok" });
    expect(captureOf({ ...bash, tool_response: { exit_code: 0 } }, harness)?.exit_code).toBe(0);
    expect(captureOf({ ...bash, tool_response: "ok" }, harness)?.exit_code).toBeNull();
  });

  test.each<[string, JsonValue]>([
    ["no command", {}],
    ["a blank command", { command: " \n" }],
    ["a command that is no text", { command: ["npm"] }],
    ["no input", null],
  ])("ignores one with %s", (_, tool_input) => {
    expect(readHook({ ...bash, tool_input }, "claude-code")).toEqual({
      kind: "ignored",
      session_id: "s1",
      agent_id: "a1",
      cwd: "/w",
      reason: "There is no command",
    });
  });

  test.each([
    ["writ contract view", false],
    ["  /opt/bin/writ run -- npm test", false],
    ["./dist/writ; ls", false],
    ["writ", false],
    ["writ|cat", false],
    ['"/opt/my tools/writ" view', false],
    ["'writ' view", false],
    ["writer x", true],
    ["writ-2 x", true],
    ["/opt/writ/bin/other", true],
    ["cd a && writ view", true],
    ["A=/opt/writ npm test", true],
    ["A=1 writ view", true],
    ["", false],
  ])("records %j: %p", (command, recorded) => {
    expect(captureOf({ ...bash, tool_input: { command } }) !== null).toBe(recorded);
  });
});

describe("readHook() of PostToolUseFailure Bash", () => {
  const failure: JsonObject = { ...bash, hook_event_name: "PostToolUseFailure", tool_response: null };

  test.each<[string, JsonObject, Partial<HookCapture>]>([
    ["a number and an output", { error: "Exit code 2\n1 failed\n" }, { exit_code: 2, outputText: "1 failed\n" }],
    ["a number behind Error:", { error: "Error: Exit code 137\nx" }, { exit_code: 137, outputText: "x" }],
    ["a number and a carriage return", { error: "Exit code 2\r\nx" }, { exit_code: 2, outputText: "x" }],
    ["a number alone", { error: "Exit code 2" }, { exit_code: 2, outputText: "" }],
    ["no number", { error: "timed out" }, { failed: true, outputText: "timed out" }],
    ["a number in a later line", { error: "x\nExit code 0" }, { failed: true, outputText: "x\nExit code 0" }],
    ["a number after other words", { error: " Exit code 2" }, { failed: true, outputText: " Exit code 2" }],
    [
      "a number beyond counting",
      { error: "Exit code 99999999999999999999" },
      { failed: true, outputText: "Exit code 99999999999999999999" },
    ],
    ["nothing", {}, { failed: true }],
    ["an error of the wrong type", { error: 3, tool_response: "Exit code 4\nx" }, { exit_code: 4, outputText: "x" }],
    [
      "streams",
      { tool_response: { stdout: "Exit code 4\na", stderr: "b" } },
      { exit_code: 4, outputText: "a\nb", ordered: false },
    ],
    ["an exit in the response", { error: "x", tool_response: { code: 7 } }, { exit_code: 7, outputText: "x" }],
    [
      "an error beside streams",
      { error: "Exit code 1\nx", tool_response: { stdout: "a", stderr: "b", persistedOutputPath: "/tmp/o" } },
      { exit_code: 1, outputText: "x", persisted: "/tmp/o" },
    ],
  ])("with %s", (_, more, expected) => {
    expect(captureOf({ ...failure, ...more })).toEqual({ ...run, ...expected });
  });

  test.each(["codex", "generic"] as const)("of %s reads the same", (harness) => {
    expect(captureOf({ ...failure, error: "Exit code 2\nx" }, harness)?.exit_code).toBe(2);
  });

  test("of another tool is ignored", () => {
    const event = { ...failure, tool_name: "Read", tool_input: { file_path: "/a" } };
    expect(readHook(event, "claude-code").kind).toBe("ignored");
  });
});

describe("readHook() of other tools and events", () => {
  test.each<[string, JsonObject, Partial<HookCapture>]>([
    ["Read", { file_path: "/a" }, { tool: "read", path: "/a" }],
    ["Edit", { file_path: "/a" }, { tool: "edit", path: "/a" }],
    ["MultiEdit", { file_path: "/a" }, { tool: "edit", path: "/a" }],
    ["Write", { file_path: "/a", content: "x" }, { tool: "edit", path: "/a" }],
    ["NotebookEdit", { notebook_path: "/n" }, { tool: "edit", path: "/n" }],
    ["NotebookEdit", { file_path: "/a", notebook_path: "/n" }, { tool: "edit", path: "/a" }],
  ])("%s is recorded by its path", (tool_name, tool_input, expected) => {
    expect(captureOf({ ...bash, tool_name, tool_input })).toEqual({ ...run, command: null, ...expected });
  });

  test.each<[string, JsonValue]>([
    ["a read of nothing", { ...bash, tool_name: "Read", tool_input: { file_path: " " } }],
    ["a read of a notebook path", { ...bash, tool_name: "Read", tool_input: { notebook_path: "/n" } }],
    ["an edit of nothing", { ...bash, tool_name: "Write", tool_input: {} }],
    ["another tool", { ...bash, tool_name: "Glob" }],
    ["no tool", { ...bash, tool_name: null }],
    ["a name of a prototype's", { ...bash, tool_name: "constructor" }],
    ["another event", { ...bash, hook_event_name: "PreToolUse" }],
    ["Stop", { hook_event_name: "Stop" }],
    ["an empty object", {}],
    ["an empty list", []],
    ["a text", "x"],
    ["null", null],
  ])("%s is ignored with a reason", (_, payload) => {
    const event = readHook(payload, "claude-code");
    expect(event.kind).toBe("ignored");
    expect(event.kind === "ignored" && event.reason).not.toBe("");
  });

  test("SubagentStart starts", () => {
    expect(
      readHook({ hook_event_name: "SubagentStart", session_id: "s", agent_id: "a", cwd: "/w" }, "generic"),
    ).toEqual({
      kind: "start",
      session_id: "s",
      agent_id: "a",
      cwd: "/w",
    });
  });

  test("SubagentStop stops, with the subagent's own transcript", () => {
    const payload = {
      hook_event_name: "SubagentStop",
      agent_id: "a",
      transcript_path: "/parent",
      agent_transcript_path: "/own",
      stop_reason: "max_tokens",
    };
    expect(readHook(payload, "claude-code")).toEqual({
      kind: "stop",
      session_id: null,
      agent_id: "a",
      cwd: null,
      agent_transcript_path: "/own",
      stop_reason: "max_tokens",
      stop_hook_active: false,
    });
  });

  test.each<[JsonValue, boolean]>([
    [true, true],
    [false, false],
    ["true", false],
    [1, false],
    [null, false],
  ])("stop_hook_active %p is %p", (stop_hook_active, expected) => {
    const payload = { hook_event_name: "SubagentStop", stop_hook_active };
    expect(readHook(payload, "claude-code")).toMatchObject({ stop_hook_active: expected });
  });

  test.each<[string, JsonValue]>([
    ["a tool event", bash],
    ["an empty object", {}],
    ["no object", [1]],
  ])("--stop takes %s for a stop", (_, payload) => {
    expect(readHook(payload, "claude-code", true)).toMatchObject({ kind: "stop", agent_transcript_path: null });
  });

  test("values of the wrong type, and blank ones, count as missing", () => {
    const event = readHook(
      { ...bash, session_id: 3, agent_id: " ", cwd: {}, tool_use_id: 7, duration_ms: "1" },
      "claude-code",
    );
    expect(event).toMatchObject({ session_id: null, agent_id: null, cwd: null });
    expect(event.kind === "captures" && event.captures[0]).toMatchObject({
      tool_use_id: null,
      cwd: null,
      durationMs: null,
    });
  });
});

describe("readHook() of bare records", () => {
  test("reads the columns by name", () => {
    const record = {
      tool: "bash",
      command: "npm test",
      argv: ["npm", "test"],
      tool_use_id: "t1",
      cwd: "/w",
      exit_code: 1,
      signal: "SIGTERM",
      failed: true,
      exit_note: "note",
      started_at: "2026-01-01T02:00:00.5+02:00",
      ended_at: "2026-01-01t00:00:01z",
      output: "head",
      tail: "tail",
      truncated: true,
      ordered: false,
      source: "run",
      harness: "other",
      output_bytes: 1,
      digest: "x",
    };
    expect(captureOf(record, "generic")).toEqual({
      ...missing,
      harness: "generic",
      command: "npm test",
      argv: ["npm", "test"],
      tool_use_id: "t1",
      cwd: "/w",
      exit_code: 1,
      signal: "SIGTERM",
      failed: true,
      exit_note: "note",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      outputText: "headtail",
      truncated: true,
      ordered: false,
    });
  });

  test.each(HARNESSES)("of %s without an exit has none", (harness) => {
    expect(captureOf({ tool: "bash", command: "ls" }, harness)).toEqual({ ...missing, harness, command: "ls" });
  });

  test("takes wrong values for missing ones", () => {
    const record = {
      tool: "bash",
      command: "ls",
      argv: ["a", 1],
      exit_code: "0",
      failed: 1,
      started_at: "today",
      ended_at: "2026-99-01T00:00:00Z",
      output: 3,
      tail: "x",
    };
    expect(captureOf(record)).toEqual({ ...missing, command: "ls" });
  });

  test("reads several, skips what is none, and takes an owner that all agree on", () => {
    const records = [
      { tool: "read", path: "/a", agent_id: "a1", session_id: "s1" },
      { tool: "edit", path: "/b", session_id: "s2" },
      { tool: "bash", command: "writ view" },
      { tool: "bash" },
      { tool: "glob", path: "/c" },
      3,
    ];
    expect(readHook(records, "generic")).toEqual({
      kind: "captures",
      session_id: null,
      agent_id: "a1",
      cwd: null,
      captures: [
        { ...missing, harness: "generic", tool: "read", path: "/a" },
        { ...missing, harness: "generic", tool: "edit", path: "/b" },
      ],
    });
  });
});

describe("toCapture()", () => {
  const seen = { output: "o", tail: "t", truncated: false, output_bytes: 2, output_sha256: "ab" };
  const complete = (hook: HookCapture, readFrom: "payload" | "file", output: typeof seen | null = seen) =>
    toCapture(hook, { redactCommand: (text) => `<${text}>`, output, readFrom, started_at: "S", ended_at: "E" });

  test("redacts the command and its words, and takes the output as kept", () => {
    const { outputText: _, persisted: __, durationMs: ___, ...raw } = run;
    expect(complete({ ...run, argv: ["npm", "test"] }, "payload")).toEqual({
      ...raw,
      ...seen,
      command: "<npm test>",
      argv: ["<npm>", "<test>"],
      started_at: "S",
      ended_at: "E",
    });
  });

  test("leaves the payload's own times", () => {
    expect(complete({ ...run, started_at: "s", ended_at: "e" }, "payload")).toMatchObject({
      started_at: "s",
      ended_at: "e",
    });
  });

  test("without an output knows none", () => {
    expect(complete(run, "payload", null)).toMatchObject({
      output: null,
      tail: null,
      output_bytes: null,
      output_sha256: null,
      truncated: false,
    });
  });

  test("of a text that stands for an unreadable file is truncated, and the whole was not seen", () => {
    expect(complete({ ...run, persisted: "/tmp/o", ordered: false }, "payload")).toMatchObject({
      output: "o",
      output_bytes: null,
      output_sha256: null,
      truncated: true,
      ordered: false,
    });
  });

  test("of the file itself is whole and in order", () => {
    expect(complete({ ...run, persisted: "/tmp/o", ordered: false }, "file")).toMatchObject({ ...seen, ordered: true });
  });

  test("of a record that was cut before it came stays truncated", () => {
    expect(complete({ ...run, truncated: true }, "payload")).toMatchObject({ truncated: true, output_bytes: null });
  });
});

test("readHook() reads any JSON", () => {
  const keys = [
    ...[
      "hook_event_name",
      "tool_name",
      "tool_input",
      "tool_response",
      "error",
      "tool",
      "command",
      "path",
      "output",
      "argv",
    ],
    ...[
      "stdout",
      "stderr",
      "exit_code",
      "file_path",
      "session_id",
      "agent_id",
      "started_at",
      "__proto__",
      "constructor",
    ],
  ];
  const texts = [
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "Bash",
    "Read",
    "Edit",
    "bash",
    "Exit code 1\n",
    "writ",
  ];
  const value = fc.letrec<{ any: JsonValue; object: JsonObject }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...texts, null, true, 0, -1, 1.5),
      fc.string(),
      fc.array(tie("any"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc.dictionary(fc.constantFrom(...keys), tie("any"), { noNullPrototype: false }),
  }));
  fc.assert(
    fc.property(value.any, fc.constantFrom(...HARNESSES), fc.boolean(), (payload, harness, stop) => {
      const event = readHook(payload, harness, stop);
      if (event.kind !== "captures") return;
      for (const capture of event.captures)
        expect((capture.tool === "bash" ? capture.command : capture.path) ?? "").not.toBe("");
    }),
    { numRuns: 3000 },
  );
});
