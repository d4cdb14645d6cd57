import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "../../src/core/json/parse.ts";
import { isObject } from "../../src/core/json/value.ts";
import type { ChatOutcome, ReceivedCall, SeatLook } from "../../src/core/seat/endpoint.ts";
import { completion } from "../support/completion.ts";
import { type Played, play, slowly } from "../support/seat-world.ts";

const given = fc.oneof(
  fc.constantFrom(
    '{"path":"a.md"}',
    '{"path":"."}',
    '{"pattern":"port"}',
    '{"answer":"80"}',
    '{"path":"a.md","content":"x"}',
  ),
  fc.constantFrom(
    '{"path":"a.md","old_string":"80","new_string":"81"}',
    "",
    "{",
    '{"path":"a',
    "nonsense",
    "[1]",
    "null",
  ),
  fc.string(),
  fc.json(),
);
const name = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("read_file", "list_dir", "search_files", "write_file", "edit_file", "finish"),
  },
  { weight: 1, arbitrary: fc.string() },
);
const call: fc.Arbitrary<ReceivedCall> = fc.record({
  id: fc.option(fc.constantFrom("", "a", "b", "call_1_1", "seed_1")),
  name,
  arguments: given,
});
const text = fc.oneof(
  fc.constantFrom(
    "",
    "done",
    "a\na\na\na\na",
    "<tool_call>{",
    '<tool_call>{"name":"list_dir","arguments":{"path":"."}}',
  ),
  fc.constantFrom("<think>hm", '{"port":80}', "!".repeat(300), `${"long ".repeat(3000)}`),
  fc.string(),
);
const answer: fc.Arbitrary<ChatOutcome> = fc
  .record({
    content: text,
    reasoning: fc.constantFrom("", "hm"),
    calls: fc.array(call, { maxLength: 10 }),
    is_cut: fc.boolean(),
    usage: fc.constantFrom(null, { prompt_tokens: 900, completion_tokens: 50, reasoning_tokens: 9, cached_tokens: 0 }),
  })
  .map((said) => ({ kind: "answered", completion: completion(said) }));
const trouble: fc.Arbitrary<ChatOutcome> = fc.constantFrom<ChatOutcome[]>(
  { kind: "busy", status: 429, retry_after_sec: null, message: "" },
  { kind: "busy", status: 503, retry_after_sec: 0.001, message: "" },
  { kind: "loading", message: "" },
  { kind: "too_long", n_ctx: 2048, n_prompt: null, message: "" },
  { kind: "too_long", n_ctx: null, n_prompt: 5000, message: "" },
  { kind: "bad_call", is_cut: true, message: "" },
  { kind: "bad_call", is_cut: false, message: "" },
  { kind: "mode_refused", status: 400, message: "" },
  { kind: "died", status: null, message: "" },
  { kind: "refused", status: 400, message: "" },
  { kind: "not_served", message: "" },
  { kind: "stalled", phase: "decoding", silent_ms: 60_000, allowed_ms: 60_000 },
  { kind: "too_large", bytes: 1 },
  { kind: "aborted" },
);
const outcome = fc.oneof({ weight: 4, arbitrary: answer }, { weight: 1, arbitrary: trouble });
const look = fc.constantFrom<SeatLook["state"][]>("ready", "ready", "loading", "stopped", "gone", "unknown");

const scripts = fc.record({
  outcomes: fc.array(fc.tuple(fc.constantFrom(0, 10, 5_000, 100_000), outcome), { minLength: 1, maxLength: 12 }),
  looks: fc.array(look, { minLength: 1, maxLength: 4 }),
  max_steps: fc.integer({ min: 1, max: 12 }),
  write_root: fc.constantFrom("", "."),
  ctx_tokens: fc.constantFrom(0, 2048, 8192),
  engine: fc.constantFrom("llama.cpp" as const, "ollama" as const),
  hasTools: fc.boolean(),
  hasSchema: fc.boolean(),
  seed_reads: fc.boolean(),
  cancel_at: fc.option(fc.constantFrom(1, 3_000, 90_000)),
});
type Drawn = typeof scripts extends fc.Arbitrary<infer T> ? T : never;

function playDrawn(drawn: Drawn): Promise<Played> {
  const { ctx_tokens, engine, hasTools, seed_reads, max_steps, write_root, hasSchema, cancel_at } = drawn;
  const output_schema = hasSchema ? { properties: { port: { type: "integer" } }, required: ["port"] } : null;
  return play({
    replies: drawn.outcomes.map(([ms, each]) => slowly(ms, each)),
    looks: drawn.looks,
    seat: { ctx_tokens, engine, tools: hasTools, seed_reads },
    contract: { max_steps, write_root, output_schema },
    ...(cancel_at === null ? {} : { cancel_at }),
  });
}

describe("whatever the seat answers, a job", () => {
  test("ends within its steps and its wall, throws nothing, and leaves no folder and no slot", async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (drawn) => {
        const { result, folders, slots, requests } = await playDrawn(drawn);
        expect(result.steps).toBeLessThanOrEqual(drawn.max_steps);
        expect(result.wall_ms).toBeLessThanOrEqual(300_000);
        expect([folders.open, slots.taken]).toEqual([0, 0]);
        expect(result.deferred).toBe(result.reason !== "");
        expect(result.deferred).toBe(result.defer_class !== "");
        if (!result.deferred) expect(result.output.trim()).not.toBe("");
        if (result.structured !== null) expect(result.deferred && result.defer_class !== "write").toBe(false);
        // Each step has few ways to be asked again, each wait few looks.
        expect(requests.length).toBeLessThan(400);
      }),
      { numRuns: 300 },
    );
  }, 30_000);

  test("sends no history that a server would refuse", async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (drawn) => {
        const { requests } = await playDrawn(drawn);
        for (const { messages, tools, constraint } of requests) {
          if (constraint !== null) expect(tools).toEqual([]);
          const ids = new Set<string>();
          let open: string[] = [];
          for (const message of messages) {
            if (message.role === "tool") {
              expect(message.tool_call_id).toBe(open.shift() as string);
              continue;
            }
            expect(open).toEqual([]);
            for (const { id, function: named } of message.role === "assistant" ? (message.tool_calls ?? []) : []) {
              const parsed = parseJson(named.arguments);
              expect(parsed.ok && isObject(parsed.value)).toBe(true);
              expect(named.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
              expect(ids.has(id)).toBe(false);
              ids.add(id);
              open = [...open, id];
            }
          }
          expect(open).toEqual([]);
        }
      }),
      { numRuns: 200 },
    );
  }, 30_000);
});
