/** Jobs on the real machine: a server over HTTP that plays a script, folders on disk, slots between two jobs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobWorld } from "../../src/cli/job-world.ts";
import type { Config } from "../../src/core/config/config.ts";
import { seatWith } from "../../src/core/config/seat-with.ts";
import type { WireResult } from "../../src/core/delegation/wire-result.ts";
import { runJob } from "../../src/seat/run-job.ts";
import { type ScriptObject, startScriptedSeat } from "../support/scripted-seat.ts";
import { jobOf } from "../support/seat-world.ts";

let state = "";
beforeAll(() => {
  state = mkdtempSync(join(tmpdir(), "writ-jobs-"));
});
afterAll(() => rmSync(state, { recursive: true, force: true }));

const config: Pick<Config, "agent_allow_write" | "limits" | "env_rules"> = {
  agent_allow_write: true,
  limits: {
    width: 8,
    contention_wait_sec: 90,
    admission_wait_sec: 300,
    slot_wait_sec: 1800,
    capacity_wait_sec: 120,
    orphan_grace_sec: 60,
    orphan_policy: "replace",
    call_deadline_sec: 1500,
    mcp_wait_sec: 50,
    same_tool: 8,
    same_write_tool: 16,
  },
  env_rules: { deny_tools: [], max_calls_per_tool: {}, max_observation_tokens: 0 },
};

type Asked = Parameters<typeof jobOf>[0] & { readonly job_id?: string };

async function work(
  base_url: string,
  { job_id = "wrt-0123456789abcdef01234567", ...contract }: Asked,
): Promise<WireResult> {
  const seat = seatWith({ name: "scripted", base_url, model: "scripted/test", engine: "llama.cpp" });
  const world = jobWorld({ config, seat, state, node_id: "local", version: "0.0.0" });
  const job = { ...jobOf(contract), job_id };
  return runJob(world, job, { signal: new AbortController().signal, onProgress: () => {} });
}

const clampContext = [
  { name: "src/clamp.ts", text: "export function clamp(v, lo, hi) {\n  if (v > hi) return lo;\n  return v;\n}\n" },
];

const clamp: ScriptObject = {
  ctx_tokens: 8192,
  turns: [
    {
      id: "edit",
      when: { step: 1, constraint: "none" },
      reply: {
        tool_calls: [
          { name: "search_files", arguments: { pattern: "return (lo|hi)" } },
          {
            name: "edit_file",
            arguments: {
              path: "src/clamp.ts",
              old_string: "if (v > hi) return lo;",
              new_string: "if (v > hi) return hi;",
            },
          },
        ],
      },
    },
    { id: "say", when: { last_tool: "edit_file" }, reply: { content: "clamp now returns hi above hi." } },
    { id: "fields", when: { constraint: "grammar" }, reply: { json: { summary: "clamp returns hi" } } },
  ],
};

describe("a job on this machine", () => {
  test("edits its own copy, and leaves nothing in its folder", async () => {
    await using seat = await startScriptedSeat(clamp);
    const result = await work(seat.url, {
      goal: "Fix clamp.",
      context: clampContext,
      write_root: "src",
      output_schema: { properties: { summary: { type: "string" } }, required: ["summary"] },
    });
    expect(result).toMatchObject({
      deferred: false,
      output: "clamp now returns hi above hi.",
      structured: '{"summary":"clamp returns hi"}',
      diff_files: ["src/clamp.ts"],
      steps: 2,
      stop_reason: "done",
      scripted: true,
      repack: { mode: "grammar", attempts: 1 },
      seat_pin: { engine: "llama.cpp", ctx_tokens: 8192 },
    });
    expect(result.diff).toContain("-  if (v > hi) return lo;\n+  if (v > hi) return hi;\n");
    expect(result.trace.map(({ step, tool, status }) => [step, tool, status])).toEqual([
      [0, "read_file", "ok"],
      [1, "search_files", "ok"],
      [1, "edit_file", "ok"],
    ]);
    expect(readdirSync(join(state, "work"))).toEqual([]);
    expect(existsSync(join(state, "rates.json"))).toBe(true);
    // No request that no engine should ever be sent.
    for (const entry of await seat.log()) expect(entry.problem).toBeUndefined();
  });

  test("gets over a busy answer, a stream that breaks off, and a cut call", async () => {
    await using seat = await startScriptedSeat({
      ctx_tokens: 8192,
      turns: [
        { id: "busy", times: 1, reply: { error: "rate_limited", retry_after: 1 } },
        { id: "broken", times: 1, reply: { content: "The port is", cut: { how: "drop", at: "bytes", n: 5 } } },
        {
          id: "cut",
          times: 1,
          reply: {
            tool_calls: [{ name: "read_file", arguments: { path: "a.md" } }],
            cut: { how: "length", in: "arguments", at: "bytes", n: 6 },
          },
        },
        { id: "say", reply: { content: "The port is 80." } },
      ],
    });
    const result = await work(seat.url, {});
    expect(result).toMatchObject({ deferred: false, output: "The port is 80.", steps: 1 });
    expect(result.waits.contention_sec).toBe(1);
    expect((await seat.log()).filter(({ path }) => path === "/v1/chat/completions").map(({ turn }) => turn)).toEqual([
      "busy",
      "broken",
      "cut",
      "say",
    ]);
  });

  test("stands in line behind another one for the one slot of the seat", async () => {
    await using seat = await startScriptedSeat({
      slots: 1,
      turns: [{ id: "say", reply: { content: "The port is 80.", delay_ms: 300 } }],
    });
    const results = await Promise.all([
      work(seat.url, { job_id: "wrt-000000000000000000000001" }),
      work(seat.url, { job_id: "wrt-000000000000000000000002" }),
    ]);
    expect(results.map(({ output }) => output)).toEqual(["The port is 80.", "The port is 80."]);
    expect(results.filter(({ waits }) => waits.contention_sec > 0)).toHaveLength(1);
    for (const { slot_wait_ms } of await seat.log()) expect(slot_wait_ms ?? 0).toBe(0);
  });
});
