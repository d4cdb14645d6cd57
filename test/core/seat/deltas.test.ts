import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AnswerReader, MAX_ANSWER_BYTES, type Taken } from "../../../src/core/seat/deltas.ts";

/** What a stream of these chunks amounts to; texts are sent as they are. */
function readAll(...chunks: readonly unknown[]) {
  const reader = new AnswerReader();
  const taken = chunks.map((chunk) => reader.takeEvent(typeof chunk === "string" ? chunk : JSON.stringify(chunk)));
  return { taken, ...reader.received(), deltas: reader.deltas, bytes: reader.bytes };
}

const delta = (value: unknown, more: object = {}) => ({ choices: [{ index: 0, delta: value, ...more }] });
const call = (value: unknown) => delta({ tool_calls: [value] });
const NOTHING: Taken = { kind: "taken", deltas: 0, prefilled: null };

describe("texts", () => {
  test("content and reasoning are put together, under either name", () => {
    const found = readAll(
      delta({ role: "assistant", content: null }),
      delta({ reasoning_content: "hm" }),
      delta({ reasoning: "m" }),
      delta({ content: "a" }),
      delta({ content: "é" }, { finish_reason: "stop" }),
      "[DONE]",
    );
    expect(found).toMatchObject({ content: "aé", reasoning: "hmm", finish_reason: "stop", calls: [], deltas: 4 });
    expect(found.taken.at(-1)).toEqual({ kind: "done" });
  });

  test("reasoning that comes under both names counts once", () => {
    expect(readAll(delta({ reasoning_content: "x", reasoning: "x" })).reasoning).toBe("x");
  });

  test("a pair of surrogates that was split is one character, half a pair is none", () => {
    expect(readAll(delta({ content: "\ud83d" }), delta({ content: "\ude00" })).content).toBe("😀");
    expect(readAll(delta({ content: "\ud83d" })).content).toBe("\ufffd");
  });

  test("content as a list of parts gives its texts", () => {
    const parts = [{ type: "text", text: "a" }, { type: "image_url" }, { type: "text", text: 5 }, null, "x"];
    expect(readAll(delta({ content: parts })).content).toBe("a");
  });

  test("further choices are not read", () => {
    expect(readAll({ choices: [{ index: 1, delta: { content: "b" } }, { delta: { content: "a" } }] }).content).toBe(
      "a",
    );
  });

  test("a blank event is a ping", () => {
    expect(readAll("", "  ").taken).toEqual([NOTHING, NOTHING]);
  });
});

describe("calls", () => {
  const argumentsOf = (...chunks: readonly unknown[]) =>
    readAll(...chunks).calls.map(({ id, name, arguments: text }) => [id, name, text]);

  test("fragments go by their index, in the order in which calls began", () => {
    const found = argumentsOf(
      call({ index: 1, id: "b", function: { name: "second", arguments: "" } }),
      call({ index: 0, id: "a", function: { name: "first", arguments: '{"x"' } }),
      call({ index: 1, function: { arguments: "{}" } }),
      call({ index: 0, function: { arguments: ":1}" } }),
    );
    expect(found).toEqual([
      ["b", "second", "{}"],
      ["a", "first", '{"x":1}'],
    ]);
  });

  test("half a pair in a name or an id is no text", () => {
    const half = { id: "a\ud83d", function: { name: "\ude00read_file", arguments: "{}" } };
    expect(argumentsOf(call(half))).toEqual([["a\ufffd", "\ufffdread_file", "{}"]]);
  });

  test("fragments without an index belong to the call that was open last", () => {
    const found = argumentsOf(
      call({ id: "a", function: { name: "first", arguments: "{" } }),
      call({ function: { arguments: "}" } }),
      call({ id: "b", function: { name: "first", arguments: "{" } }),
      call({ function: { arguments: "}" } }),
    );
    expect(found).toEqual([
      ["a", "first", "{}"],
      ["b", "first", "{}"],
    ]);
  });

  test.each([
    {
      name: "several calls under one index",
      calls: [
        { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
        { index: 0, id: "b", function: { name: "f", arguments: "{}" } },
      ],
      found: [
        ["a", "f", "{}"],
        ["b", "f", "{}"],
      ],
    },
    {
      name: "whole calls with neither index nor id",
      calls: [
        { function: { name: "f", arguments: '{"x":1}' } },
        { function: { name: "f", arguments: '{"x":2}' } },
        { function: { name: "g", arguments: {} } },
      ],
      found: [
        [null, "f", '{"x":1}'],
        [null, "f", '{"x":2}'],
        [null, "g", "{}"],
      ],
    },
    {
      name: "id and name in every piece",
      calls: [
        { index: 0, id: "a", function: { name: "f", arguments: "{" } },
        { index: 0, id: "a", function: { name: "f", arguments: "}" } },
      ],
      found: [["a", "f", "{}"]],
    },
    {
      name: "an id that comes late",
      calls: [
        { index: 0, function: { name: "f" } },
        { index: 0, id: "a", function: { arguments: "{}" } },
      ],
      found: [["a", "f", "{}"]],
    },
    {
      name: "no arguments",
      calls: [{ index: 0, id: null, function: { name: "f", arguments: null } }],
      found: [[null, "f", ""]],
    },
    {
      name: "arguments that are no JSON",
      calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{x" } }],
      found: [["a", "f", "{x"]],
    },
  ])("$name: the calls are told apart", ({ calls, found }) => {
    expect(argumentsOf(...calls.map(call))).toEqual(found as never);
    expect(argumentsOf(delta({ tool_calls: calls }))).toEqual(found as never);
  });

  test("arguments as an object are its compact text, with the numbers as they are spelled", () => {
    const text = '{ "n": 9007199254740993, "x": 1.50, "s": "a \\" b", "l": [ 1,\t{ } ], "9": 1, "1": 2 }';
    const chunk = `{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ${text}}}]}}]}`;
    expect(argumentsOf(chunk)).toEqual([
      [null, "f", '{"n":9007199254740993,"x":1.50,"s":"a \\" b","l":[1,{}],"9":1,"1":2}'],
    ] as never);
  });

  test("a key given twice, and numbers that no double holds, elsewhere in the chunk change nothing", () => {
    const chunk = `{"x":1,"x":1e999,"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]}}]}`;
    expect(argumentsOf(chunk)).toEqual([[null, "f", '{"a":1}']]);
  });

  test("arguments nested without end are no arguments, and end nothing", () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const [found] = argumentsOf(
      `{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":${deep}}}]}}]}`,
    );
    expect(found).toEqual([null, "f", ""]);
  });
});

describe("what stands beside", () => {
  test("usage is that of the last chunk that has one, with its details", () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      completion_tokens_details: { reasoning_tokens: 3 },
      prompt_tokens_details: { cached_tokens: 2 },
    };
    const found = readAll({ choices: [], usage: { prompt_tokens: 9 } }, { choices: [], usage }, { usage: null });
    expect(found.usage).toEqual({ prompt_tokens: 9, completion_tokens: 4, reasoning_tokens: 3, cached_tokens: 2 });
  });

  test.each([
    [undefined],
    [null],
    [5],
    [{}],
    [{ prompt_tokens: "9" }],
    [{ prompt_tokens: -1 }],
    [{ completion_tokens: 1.5 }],
    [{ prompt_tokens: Number.MAX_SAFE_INTEGER }],
    [{ completion_tokens: 1e300 }],
  ])("usage %j is none", (usage) => {
    expect(readAll({ choices: [], usage }).usage).toBeNull();
  });

  test("progress of the prefill is told, and is no delta", () => {
    const found = readAll({ choices: [{ delta: {} }], prompt_progress: { total: 100, cache: 0, processed: 60 } });
    expect(found.taken).toEqual([{ kind: "taken", deltas: 0, prefilled: 60 }]);
  });

  test("the model and what made the answer are told", () => {
    expect(readAll({ model: "m", system_fingerprint: "f", choices: [] }, { choices: [] })).toMatchObject({
      model: "m",
      system_fingerprint: "f",
    });
  });

  test.each([
    [{ error: { code: 500, message: "no" } }],
    [{ error: "no" }],
    [{ object: "error", message: "no", code: 400 }],
  ])("%j breaks the answer off", (chunk) => {
    expect(readAll(chunk).taken).toEqual([{ kind: "error", body: chunk, text: JSON.stringify(chunk) }] as never);
  });

  test("an error of null or nothing is none", () => {
    expect(readAll({ error: null, choices: [] }, { error: "", choices: [] }).taken).toEqual([NOTHING, NOTHING]);
  });

  test.each([["{"], ["null"], ["[]"], ['"x"'], ["5"], ["<html>"]])("%p cannot be read", (text) => {
    expect(readAll(text).taken[0]?.kind).toBe("unreadable");
  });
});

describe("a whole answer", () => {
  const whole = (value: unknown, before = "") => {
    const reader = new AnswerReader();
    return { taken: reader.takeWhole(before + JSON.stringify(value)), ...reader.received() };
  };

  test("is read like a stream", () => {
    const message = {
      content: "a",
      reasoning_content: "r",
      tool_calls: [{ id: "1", function: { name: "f", arguments: { x: 1 } } }],
    };
    expect(whole({ choices: [{ message, finish_reason: "tool_calls" }] }, "\ufeff")).toMatchObject({
      content: "a",
      reasoning: "r",
      calls: [{ id: "1", name: "f", arguments: '{"x":1}' }],
      finish_reason: "tool_calls",
    });
  });

  test("without choices is none", () => {
    expect(whole({ models: [] }).taken.kind).toBe("unreadable");
    expect(whole({ choices: {} }).taken.kind).toBe("unreadable");
  });
});

describe("the size of an answer", () => {
  const text = "é".repeat(MAX_ANSWER_BYTES / 8);

  test.each([
    { name: "content", chunk: delta({ content: text }) },
    { name: "reasoning", chunk: delta({ reasoning: text }) },
    { name: "arguments", chunk: call({ index: 0, function: { arguments: text } }) },
    { name: "arguments as objects", chunk: call({ index: 0, function: { arguments: { x: text } } }) },
    { name: "ids", chunk: call({ index: 0, id: text, function: { name: "f" } }) },
    { name: "names", chunk: call({ id: "1", function: { name: text } }) },
  ])("$name count, in bytes, over all deltas", ({ name, chunk }) => {
    const reader = new AnswerReader();
    const kinds = Array.from({ length: 5 }, (_, index) => {
      // Ids and names are kept once a call: each piece is another one.
      const own = JSON.stringify(chunk).replace('"id":"', `"id":"${name === "ids" ? index : ""}`);
      const text = name === "names" ? own.replace('"id":"1"', `"id":"${index}"`) : own;
      return reader.takeEvent(text).kind;
    });
    expect(kinds.slice(0, 3)).toEqual(["taken", "taken", "taken"]);
    expect(kinds.at(-1)).toBe("too_large");
  });

  test("calls with nothing in them are not free", () => {
    const reader = new AnswerReader();
    const many = { choices: [{ delta: { tool_calls: Array.from({ length: 10_000 }, (_, index) => ({ index })) } }] };
    reader.takeEvent(JSON.stringify(many));
    expect(reader.bytes).toBeGreaterThan(10_000 * 32);
  });
});

test("a chunk with any value in any place is taken or told, and never thrown", () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, "", "x", "[DONE]", [], {}, [[]], [null], { a: 1 }),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const maybe = (inner: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: inner }, value);
  const record = (shape: Record<string, fc.Arbitrary<unknown>>) => maybe(fc.record(shape, { requiredKeys: [] }));
  const spec = record({ name: value, arguments: value });
  const calls = maybe(fc.array(record({ index: value, id: value, type: value, function: spec }), { maxLength: 3 }));
  const piece = record({ content: value, reasoning: value, reasoning_content: value, tool_calls: calls });
  const choices = maybe(
    fc.array(record({ index: value, delta: piece, message: piece, finish_reason: value }), { maxLength: 2 }),
  );
  const details = record({ reasoning_tokens: value, cached_tokens: value });
  const usage = record({
    prompt_tokens: value,
    completion_tokens: value,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  });
  const chunk = record({
    choices,
    usage,
    error: value,
    model: value,
    object: value,
    system_fingerprint: value,
    prompt_progress: record({ processed: value }),
  });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 4 }), fc.boolean(), (chunks, isWhole) => {
      const reader = new AnswerReader();
      for (const each of chunks) {
        const text = JSON.stringify(each) ?? "null";
        expect(["taken", "done", "error", "unreadable"]).toContain(
          (isWhole ? reader.takeWhole(text) : reader.takeEvent(text)).kind,
        );
      }
      const { content, reasoning, calls: found, usage: counted } = reader.received();
      expect([typeof content, typeof reasoning]).toEqual(["string", "string"]);
      for (const { id, name, arguments: text } of found) {
        expect([id === null || typeof id === "string", typeof name, typeof text]).toEqual([true, "string", "string"]);
      }
      for (const count of Object.values(counted ?? {})) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
    }),
    { numRuns: 500 },
  );
});
