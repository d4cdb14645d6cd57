import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { calling, play, said, slowly } from "../support/seat-world.ts";

describe("a job that goes well", () => {
  test("ends with the text of its last turn, and leaves nothing behind", async () => {
    const { result, requests, folders, slots, rates } = await play({
      replies: [calling(["read_file", { path: "a.md" }]), "The port is 80."],
    });
    expect(result).toEqual({
      schema_version: 1,
      job_id: "wrt-0123456789abcdef01234567",
      contract_sha256: "0".repeat(64),
      node_id: "local",
      seat: "small",
      output: "The port is 80.",
      structured: null,
      schema_miss: false,
      steps: 2,
      max_steps: 12,
      stop_reason: "done",
      stop_note: "",
      forced_final: false,
      output_truncated: false,
      deferred: false,
      reason: "",
      defer_class: "",
      diff: "",
      diff_files: [],
      write_note: "",
      repack: { mode: "none", attempts: 0, ms: 0 },
      tokens: { prompt: 200, completion: 40, reasoning: 0, cached: 0, estimated: false },
      timings: { first_byte_ms: 5, prefill_ms: 20, decode_ms: 200, tools_ms: 0, repack_ms: 0, tok_s: 200 },
      trace: [{ step: 1, tool: "read_file", status: "ok", obs_chars: 17 }],
      waits: { admission_sec: 0, contention_sec: 0, seat_down_sec: 0 },
      wall_ms: 0,
      seat_pin: { engine: "llama.cpp", model: "m", ctx_tokens: 32_768 },
      scripted: false,
      writ_version: "0.0.0",
    });
    expect(said(requests[1]).slice(2)).toEqual(["assistant: ", "tool: 1: the port is 80"]);
    expect([folders.open, slots.taken]).toEqual([0, 0]);
    expect(rates).toEqual([{ decode_tok_s: 200, prefill_tok_s: 10_000 }]);
  });

  test("asks what serves the seat once, while the form of its answer is made", async () => {
    const output_schema = { properties: { port: { type: "integer" } }, required: ["port"] };
    const replies = ["The port is 80.", '{"port": 80}'];
    const { result, pinned, requests } = await play({ replies, contract: { output_schema } });
    expect(result).toMatchObject({ structured: '{"port": 80}', seat_pin: { model: "m" } });
    expect([pinned, requests.length]).toEqual([[1], 2]);
    expect((await play({ replies })).pinned).toEqual([1]);
  });

  test.each([
    { name: "answers", script: { replies: ["The port is 80."] } },
    { name: "refuses", script: { replies: [{ kind: "refused", status: 400, message: "no turn" }] } },
    { name: "is canceled before it answers", script: { replies: [slowly(9000, "late")], cancel_at: 1000 } },
    { name: "does not answer in time", script: { replies: [slowly(9000, "late")], contract: { timeout_sec: 5 } } },
  ] as const)("of a scripted seat that $name is called scripted", async ({ script }) => {
    expect((await play({ ...script, isScripted: true })).result.scripted).toBe(true);
    expect((await play(script)).result.scripted).toBe(false);
  });

  test("ends with what finish says", async () => {
    const { result } = await play({ replies: [calling(["finish", { answer: "80" }])] });
    expect(result).toMatchObject({ output: "80", stop_reason: "finish", steps: 1, trace: [] });
  });

  test("is read for the seat where the documents are few", async () => {
    const context = [
      { name: "a.md", text: "one\n" },
      { name: "b.md", text: "two\n" },
    ];
    const { result, requests } = await play({ replies: ["done"], contract: { context }, seat: { seed_reads: true } });
    expect(requests[0]?.messages.slice(2)).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "seed_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.md"}' } },
          { id: "seed_2", type: "function", function: { name: "read_file", arguments: '{"path":"b.md"}' } },
        ],
      },
      { role: "tool", tool_call_id: "seed_1", content: "1: one" },
      { role: "tool", tool_call_id: "seed_2", content: "1: two" },
    ]);
    expect(result.steps).toBe(1);
    expect(result.trace).toEqual([
      { step: 0, tool: "read_file", status: "ok", obs_chars: 6, seeded: true },
      { step: 0, tool: "read_file", status: "ok", obs_chars: 6, seeded: true },
    ]);
  });

  test("is not read for the seat where the documents are more than half of its prompt", async () => {
    const context = [
      { name: "a.md", text: "one\n" },
      { name: "b.md", text: "x\n".repeat(3000) },
    ];
    const seat = { seed_reads: true, ctx_tokens: 8192 };
    const { result, requests } = await play({ replies: ["done"], contract: { context }, seat });
    expect(requests[0]?.messages).toHaveLength(2);
    expect(result.trace).toEqual([]);
  });

  test("lets the seat read again what was read for it, once", async () => {
    const read = calling(["read_file", { path: "a.md" }]);
    const { result } = await play({ replies: [read, read, "done"], seat: { seed_reads: true } });
    expect(result.trace.map(({ status }) => status)).toEqual(["ok", "ok", "refused"]);
  });

  test("says where it is", async () => {
    const { progress } = await play({ replies: [calling(["read_file", { path: "a.md" }]), "done"] });
    expect(progress).toContainEqual(
      expect.objectContaining({ phase: "tool", step: 1, max_steps: 12, tool: "read_file", arg: "a.md" }),
    );
  });
});

describe("a job that this place does not take", () => {
  test.each([
    {
      why: "an unknown profile",
      script: { contract: { profile: "reserch" } },
      defer_class: "config",
      reason: 'unknown profile: "reserch"; valid are research, general, edit',
    },
    {
      why: "an unknown profile of the seat",
      script: { seat: { profile: "x" } },
      defer_class: "config",
      reason: 'unknown profile: "x"; valid are research, general, edit',
    },
    {
      why: "a door that is shut",
      script: { contract: { write_root: "." }, world: { agent_allow_write: false } },
      defer_class: "write",
      reason: "write door closed: agent_allow_write is false here",
    },
    {
      why: "a write root that is a file",
      script: { contract: { write_root: "a.md" } },
      defer_class: "write",
      reason: 'write door closed: "a.md" is a file',
    },
    {
      why: "writing without tools",
      script: { contract: { write_root: "." }, seat: { tools: false } },
      defer_class: "config",
      reason: "tools not supported: this seat cannot call tools, and a contract with write_root needs them",
    },
  ])("because of $why is deferred before the seat is asked", async ({ script, defer_class, reason }) => {
    const { result, requests, folders, slots } = await play({ replies: ["done"], ...script });
    expect(result).toMatchObject({ deferred: true, defer_class, reason, steps: 0, output: "" });
    expect(requests).toEqual([]);
    expect([folders.open, slots.taken]).toEqual([0, 0]);
  });
});

describe("a job in trouble", () => {
  test("whose folder cannot be made is deferred as a fault of the place", async () => {
    const { result, folders, slots } = await play({
      replies: ["done"],
      workspace: (inner) => ({
        ...inner,
        fill: () => {
          throw new WritError("job_folder_failed", "Cannot use the folder: no space");
        },
      }),
    });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "agent loop: Cannot use the folder: no space",
      stop_reason: "error",
    });
    expect([folders.open, slots.taken]).toEqual([0, 0]);
  });

  test("whose write root cannot be made is a fault of the place too", async () => {
    const { result } = await play({
      replies: ["done"],
      contract: { write_root: "src" },
      workspace: (inner) => ({ ...inner, makeRoot: () => ({ ok: false, kind: "failed", message: "no space" }) }),
    });
    expect(result).toMatchObject({ defer_class: "infrastructure", reason: "agent loop: no space" });
  });

  test("that hits a defect says so, with its folder removed and its slot free", async () => {
    const counts = { folder: 0 };
    const defect = play({
      replies: ["done"],
      workspace: (inner) => ({
        ...inner,
        remove: () => {
          counts.folder += 1;
          inner.remove();
        },
      }),
      hasFreeSlot: () => {
        throw new TypeError("a defect");
      },
    });
    expect(defect).rejects.toThrow("a defect");
    await defect.catch(() => {});
    expect(counts.folder).toBe(1);
  });

  test.each([
    { at: 0, where: "before it begins" },
    { at: 500, where: "while the model loads" },
    { at: 2_500, where: "while the seat answers" },
    { at: 3_500, where: "while others hold the seat" },
    { at: 6_000, where: "while the seat is down" },
    { at: 100_000, where: "in a long answer" },
  ])("that is canceled $where ends so, with its folder removed and its slot free", async ({ at }) => {
    const { result, folders, slots } = await play({
      replies: [
        "probed",
        slowly(1_000, { kind: "busy", status: 429, retry_after_sec: null, message: "busy" }),
        slowly(1_000, { kind: "died", status: null, message: "reset" }),
        slowly(200_000, "done"),
      ],
      looks: ["loading", "ready", "gone", "ready"],
      cancel_at: at,
    });
    expect(result).toMatchObject({
      deferred: true,
      defer_class: "canceled",
      reason: "canceled by the caller",
      stop_reason: "canceled",
      schema_miss: false,
      seat_pin: null,
    });
    expect([folders.open, slots.taken]).toEqual([0, 0]);
  });
});
