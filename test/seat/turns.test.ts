import { describe, expect, test } from "bun:test";
import type { ChatOutcome, ChatRequest } from "../../src/core/seat/endpoint.ts";
import { calling, play, type Reply, said, slowly } from "../support/seat-world.ts";

const list = (path = "."): Reply => calling(["list_dir", { path }]);
const note = (request: ChatRequest | undefined) => said(request).at(-1);

describe("calls", () => {
  test("of one turn are carried out in order, eight at most", async () => {
    const calls = Array.from({ length: 10 }, (_, index) => ["read_file", { path: "a.md", offset: index }] as const);
    const { result, requests } = await play({ replies: [calling(...calls), "done"] });
    const results = said(requests[1]).slice(3);
    expect(results).toHaveLength(10);
    expect(results.slice(8)).toEqual(Array(2).fill("tool: NOT performed: too many calls in one turn"));
    expect(result.trace.map(({ status }) => status)).toEqual([...Array(8).fill("ok"), "refused", "refused"]);
  });

  test("that do not fit their schema are answered, and stand in the history as they were", async () => {
    const { result, requests } = await play({
      replies: [calling(["read_file", { path: 3 }], ["read_file", "nonsense"]), "done"],
    });
    expect(said(requests[1]).slice(3)).toEqual([
      "tool: NOT performed: arguments of read_file do not match its schema (path: expected string); resend the call",
      'tool: NOT performed: arguments are not valid JSON (line 1, column 1: expected a value, found "nonsense")',
    ]);
    const [, , assistant] = requests[1]?.messages ?? [];
    expect(assistant).toMatchObject({
      tool_calls: [{ function: { arguments: '{"path":3}' } }, { function: { arguments: "{}" } }],
    });
    expect(result.trace.map(({ status }) => status)).toEqual(["refused", "refused"]);
  });

  test("that were repaired, or read from the text, are noted in the trace", async () => {
    const { result } = await play({
      replies: [
        calling(["list_dir", 'call: {"path":".","deep":true}']),
        '<tool_call>{"name":"read_file","arguments":{"path":"a.md"}}</tool_call>',
        "done",
      ],
    });
    expect(result.trace).toEqual([
      {
        step: 1,
        tool: "list_dir",
        status: "ok",
        obs_chars: 4,
        note: "arguments repaired; unknown arguments dropped: deep",
      },
      { step: 2, tool: "read_file", status: "ok", obs_chars: 17, note: "parsed from text" },
    ]);
  });

  test("of no tool are told which there are", async () => {
    const { result, requests } = await play({
      replies: [calling(["read file", {}], ["write_file", { path: "a", content: "" }]), "done"],
    });
    expect(said(requests[1]).slice(3)).toEqual([
      'tool: error: unknown tool "read file"; available: list_dir, read_file, search_files, finish',
      "tool: NOT performed: write_file is not available; available: list_dir, read_file, search_files, finish",
    ]);
    expect(result.trace.map(({ tool, status }) => [tool, status])).toEqual([
      ["read_file", "unknown"],
      ["write_file", "refused"],
    ]);
  });

  test("with a name that is cut inside of a pair leave no half of it", async () => {
    const { requests } = await play({ replies: [calling([`${"n".repeat(63)}😀`, {}]), "done"] });
    expect(said(requests[1])[3]).toStartWith(`tool: error: unknown tool "${"n".repeat(63)}\ufffd"; available: `);
  });

  test("keep the words beside them, without the reasoning", async () => {
    const { requests } = await play({
      replies: [{ ...calling(["list_dir", { path: "." }]), content: "<think>hm</think>Looking." }, "done"],
    });
    expect(said(requests[1])[2]).toBe("assistant: Looking.");
  });
});

describe("tools", () => {
  test.each([
    [["list_dir", { path: "." }], "a.md"],
    [["list_dir", { path: "" }], "a.md"],
    [["list_dir", { path: "../x" }], 'NOT performed: the path "../x" has a segment ".."'],
    [["read_file", { path: "./a.md" }], "1: the port is 80"],
    [["read_file", { path: "b.md" }], 'error: there is no "b.md"; did you mean a.md?'],
    [
      ["read_file", { path: "/etc/passwd" }],
      'NOT performed: the path "/etc/passwd" is absolute; paths are relative to the root, "."',
    ],
    [["list_dir", { path: "list_dir" }], 'error: there is no "list_dir"; the files are a.md'],
    [["search_files", { pattern: "port" }], "a.md:1: the port is 80"],
    [["search_files", { pattern: "port", mode: "files" }], "a.md"],
    [
      ["search_files", { pattern: "port", glob: "*.ts" }],
      "no match; the pattern is case-sensitive, to ignore case use (?i)port",
    ],
    [["search_files", { pattern: "(" }], "error: bad pattern: missing closing ): `(`"],
  ] as const)("%j answers %j", async (call, answer) => {
    const { requests } = await play({ replies: [calling(call), "done"] });
    expect(said(requests[1])[3]).toBe(`tool: ${answer}`);
  });

  test("that take too long are ended, and the run goes on", async () => {
    const { result, requests, clock } = await play({
      replies: [calling(["search_files", { pattern: "x" }]), "done"],
      world: {
        search: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve({ ok: false, message: "the search took too long" }));
          }),
      },
    });
    expect(said(requests[1])[3]).toBe("tool: error: the search took too long");
    expect(result).toMatchObject({ output: "done", timings: { tools_ms: 30_000 } });
    expect(clock.now).toBe(30_000);
  });

  test("results are cut in their middle to what the window holds", async () => {
    const context = Array.from({ length: 16 }, (_, index) => ({ name: `${"n".repeat(200)}${index}`, text: "x" }));
    const { requests } = await play({
      replies: [list(), "done"],
      contract: { context, goal: "g" },
      world: { env_rules: { deny_tools: [], max_calls_per_tool: {}, max_observation_tokens: 100 } },
    });
    const result = said(requests[1])[3] ?? "";
    expect(result).toContain("characters cut …]");
    expect(result.length).toBeLessThan(350);
  });
});

describe("breakers", () => {
  test("refuse the same call, and the third step without anything done brings the end", async () => {
    const { result, requests } = await play({ replies: [list(), list(), list(), list(), "done"] });
    expect(note(requests[2])).toBe(
      "tool: NOT performed: you made this very call before; use the result you have, or give the final answer",
    );
    expect(requests[4]).toMatchObject({ tools: [], max_tokens: 8192 });
    expect(note(requests[4])).toBe("user: no more tool calls; give the final answer now from what you have");
    expect(result).toMatchObject({ output: "done", steps: 5, stop_reason: "forced_final", forced_final: true });
  });

  test("take a tool away that is called too often", async () => {
    const limits = {
      contention_wait_sec: 90,
      admission_wait_sec: 300,
      slot_wait_sec: 1,
      same_tool: 2,
      same_write_tool: 2,
    };
    const { requests } = await play({ replies: [list("1"), list("2"), list("3"), "done"], world: { limits } });
    const names = requests.map(({ tools }) => tools.map(({ name }) => name).includes("list_dir"));
    expect(names).toEqual([true, true, true, false]);
    expect(note(requests[3])).toStartWith("tool: NOT performed: list_dir may be called 2 times");
  });

  test("narrow what a place's config narrows", async () => {
    const env_rules = { deny_tools: ["search_files"], max_calls_per_tool: { list_dir: 0 }, max_observation_tokens: 0 };
    const { requests } = await play({ replies: ["done"], world: { env_rules } });
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["read_file", "finish"]);
    expect(said(requests[0])[0]).not.toContain("list_dir");
  });
});

describe("steps", () => {
  test("are eleven with tools and a last one without", async () => {
    const { result, requests } = await play({
      replies: [(request) => (request.tools.length > 0 ? list(`${request.messages.length}`) : "at last")],
      world: {
        limits: {
          contention_wait_sec: 90,
          admission_wait_sec: 300,
          slot_wait_sec: 1,
          same_tool: 99,
          same_write_tool: 1,
        },
      },
    });
    expect(requests).toHaveLength(12);
    expect(requests.map(({ tools }) => tools.length > 0)).toEqual([...Array(11).fill(true), false]);
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([...Array(11).fill(4096), 8192]);
    expect(result).toMatchObject({ output: "at last", steps: 12, forced_final: true, stop_reason: "forced_final" });
  });

  test("that are over without an answer say so", async () => {
    const { result, requests } = await play({ replies: [list(), ""], contract: { max_steps: 2 } });
    expect(result).toMatchObject({
      defer_class: "budget",
      reason: "step budget exhausted (2 steps)",
      stop_reason: "budget",
      steps: 2,
      forced_final: false,
    });
    expect(note(requests[2])).toBe("user: your last answer was empty; give the final answer as plain text");
  });

  test("end early where the wall leaves just the time for the answer", async () => {
    // 20 tokens in two seconds: 512 of them take 51.2 s, and 1.3 times that with five seconds is 71.56 s.
    const after = (ms: number) =>
      play({
        replies: [slowly(ms, { ...(list() as object), decode_ms: 2000 }), "done"],
        contract: { timeout_sec: 100 },
      });
    const [early, late] = [await after(28_000), await after(29_000)];
    expect(early.requests[1]?.tools).not.toEqual([]);
    expect(early.result.stop_reason).toBe("done");
    expect(late.requests[1]?.tools).toEqual([]);
    expect(late.result).toMatchObject({ steps: 2, stop_reason: "forced_final" });
  });

  test("do not end before the seat has looked at anything", async () => {
    const { requests } = await play({
      replies: [{ ...(list() as object), decode_ms: 100_000 }, "done"],
      contract: { timeout_sec: 20 },
      seat: { seed_reads: true },
    });
    expect(requests.map(({ tools }) => tools.length > 0)).toEqual([true, false]);
  });
});

describe("asking again", () => {
  const cutCall = { ...calling(["read_file", '{"path":"a']), is_cut: true, finish_reason: "length" };

  test("for a cut call takes all tokens, says what was wrong, and costs no step", async () => {
    const { result, requests } = await play({ replies: [cutCall, calling(["read_file", { path: "a.md" }]), "done"] });
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([4096, 8192, 4096]);
    expect(note(requests[1])).toBe("user: your last call was cut; send the whole call again");
    // What was said this once stands in no later request.
    expect(said(requests[2]).filter((line) => line.startsWith("user:"))).toHaveLength(1);
    expect(result).toMatchObject({ output: "done", steps: 2 });
  });

  test("for a cut call happens once", async () => {
    const { result } = await play({ replies: [cutCall] });
    expect(result).toMatchObject({
      defer_class: "budget",
      stop_reason: "tool_call_cut",
      stop_note: "step_tokens 4096, final_tokens 8192; read_file: 10 bytes of argument received",
      steps: 1,
      trace: [],
    });
  });

  test("for a call that the server could not read changes the request, twice in a run", async () => {
    const bad: ChatOutcome = { kind: "bad_call", is_cut: false, message: "Failed to parse" };
    const { result, requests } = await play({ replies: [bad, bad, "done"] });
    expect(result).toMatchObject({ output: "done", steps: 1 });
    expect(new Set(requests.map((request) => JSON.stringify(request))).size).toBe(3);
    const over = await play({ replies: [bad, list(), bad, bad] });
    expect(over.result).toMatchObject({
      defer_class: "abstention",
      reason: "agent loop: the server could not read the calls of the seat: Failed to parse",
      steps: 2,
    });
  });

  test("for a cut call that the server could not read is the same as for one that it could", async () => {
    const bad: ChatOutcome = { kind: "bad_call", is_cut: true, message: "missing closing quote" };
    const { result, requests } = await play({ replies: [bad, "done"] });
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([4096, 8192]);
    expect(result.output).toBe("done");
  });

  test("for markup that nobody read happens once", async () => {
    const { result, requests } = await play({ replies: ["<tool_call>oh"] });
    expect(result).toMatchObject({ defer_class: "abstention", stop_reason: "unparsed_tool_call", steps: 1 });
    expect(result.reason).toContain("check the tool parser of the server");
    expect(requests).toHaveLength(2);
  });

  test("for a cut answer takes all tokens; what is still cut is kept", async () => {
    const cut = { content: "The port", is_cut: true };
    const { result, requests } = await play({ replies: [cut] });
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([4096, 8192]);
    expect(result).toMatchObject({ output: "The port", output_truncated: true, deferred: false, stop_reason: "done" });
    const once = await play({ replies: [cut], seat: { step_tokens: 4096, final_tokens: 4096 } });
    expect(once.requests).toHaveLength(1);
  });

  test("for an answer that loops says so; what still loops is trimmed", async () => {
    const { result, requests } = await play({ replies: ["x\na\na\na\na"] });
    expect(note(requests[1])).toBe(
      "user: your last answer repeated itself; give the answer again and write each item once",
    );
    expect(result).toMatchObject({
      output: "x\na\n[repetition trimmed x3]",
      stop_reason: "repetition",
      output_truncated: true,
      deferred: false,
      steps: 1,
    });
  });

  test("for an empty answer behind reasoning switches thinking off, for the rest of the run", async () => {
    const { result, requests } = await play({ replies: [{ reasoning: "hm" }, list(), "done"] });
    expect(requests.map(({ thinking }) => thinking)).toEqual(["auto", "off", "off"]);
    expect(said(requests[1])).toEqual([...said(requests[0])]);
    expect(result).toMatchObject({ output: "done", steps: 2 });
    const asked = await play({ replies: [{ reasoning: "hm" }, "done"], contract: { thinking: "on" } });
    expect(asked.requests.map(({ thinking }) => thinking)).toEqual(["on", "on"]);
    expect(note(asked.requests[1])).toBe("user: your last answer was empty; give the final answer as plain text");
  });

  test("for an empty answer happens once, and reasoning is never the answer", async () => {
    const { result } = await play({ replies: [{ reasoning: "The port is 80." }] });
    expect(result).toMatchObject({
      defer_class: "abstention",
      reason: "empty final answer",
      output: "",
      stop_reason: "empty",
    });
  });

  test("is a correction at most twice in a run", async () => {
    const { result, requests } = await play({
      replies: ["<tool_call>oh", list("1"), "<tool_call>oh", list("2"), ""],
    });
    expect(requests).toHaveLength(5);
    expect(result).toMatchObject({ reason: "empty final answer", steps: 3 });
  });
});

test("output of a broken seat is never an answer", async () => {
  const { result } = await play({ replies: ["!".repeat(500)] });
  expect(result).toMatchObject({
    defer_class: "infrastructure",
    reason: "seat incoherent: one byte (0x21) stands 500 times in a row",
    output: "",
  });
});

describe("a seat without tools", () => {
  test("gets one request with all documents in it", async () => {
    const { result, requests } = await play({ replies: ["80"], seat: { tools: false } });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ tools: [], max_tokens: 8192 });
    expect(said(requests[0])).toHaveLength(2);
    expect(said(requests[0])[1]).toContain("--- a.md ---\nthe port is 80\n");
    expect(result).toMatchObject({ output: "80", steps: 1, stop_reason: "forced_final", forced_final: true });
  });

  test("cannot take what does not fit its window", async () => {
    const context = [{ name: "a.md", text: "x".repeat(9_000) }];
    const { result, requests } = await play({
      replies: ["80"],
      seat: { tools: false, ctx_tokens: 4096 },
      contract: { context },
    });
    expect(result.defer_class).toBe("contract");
    expect(result.reason).toMatch(/^context window exhausted \(3\d\d\d of 1792 tokens\): the task alone does not fit$/);
    expect(requests).toEqual([]);
  });
});
