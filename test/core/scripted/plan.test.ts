import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINES } from "../../../src/core/config/seat.ts";
import { heardOf, hello, type Played, reply } from "./played.ts";

const CALL = { name: "edit_file", arguments: { path: "a.ts", new_string: "é" } };
const CALL_TEXT = '{"path":"a.ts","new_string":"é"}';
const ALL = { by: "all" };

/** The contents of the deltas that have any, in order. */
function pieces({ chunks }: Played): readonly string[] {
  return chunks.flatMap(({ choices }) =>
    choices.flatMap(({ delta }) => delta.content ?? []).filter((text) => text !== ""),
  );
}

describe("a stream", () => {
  test("to the letter, of llama.cpp", () => {
    const { body, status, headers, end } = reply({ reasoning: "so", content: "hi", tool_calls: [CALL], chunk: ALL });
    const chunk = (choice: string, more = "") =>
      `data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted/test","system_fingerprint":"writ-scripted","choices":[${choice}]${more}}\n\n`;
    const delta = (text: string) => chunk(`{"index":0,"delta":${text},"finish_reason":null}`);
    expect(body).toBe(
      [
        delta('{"role":"assistant","content":null}'),
        delta('{"reasoning_content":"so"}'),
        delta('{"content":"hi"}'),
        delta(
          `{"tool_calls":[{"index":0,"id":"call_scripted_1_0","type":"function","function":{"name":"edit_file","arguments":${JSON.stringify(CALL_TEXT)}}}]}`,
        ),
        chunk('{"index":0,"delta":{},"finish_reason":"tool_calls"}'),
        chunk(
          "",
          ',"usage":{"prompt_tokens":2,"completion_tokens":10,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":1}}',
        ),
        "data: [DONE]\n\n",
      ].join(""),
    );
    expect([status, headers, end]).toEqual([200, { "content-type": "text/event-stream" }, "end"]);
  });

  test.each([
    { engine: "llama.cpp", first: { role: "assistant", content: null }, reasoning: { reasoning_content: "so" } },
    { engine: "vllm", first: { role: "assistant", content: "" }, reasoning: { reasoning: "so" } },
    { engine: "openai", first: { role: "assistant", content: "" }, reasoning: { reasoning_content: "so" } },
    {
      engine: "ollama",
      first: { role: "assistant", content: "", reasoning: "so" },
      reasoning: { role: "assistant", content: "hi" },
    },
  ])("of $engine begins in its way, and has reasoning in its field", ({ engine, first, reasoning }) => {
    const { chunks } = reply({ reasoning: "so", content: "hi", chunk: ALL }, hello(), { engine });
    expect(chunks.slice(0, 2).map(({ choices }) => choices[0]?.delta as object)).toEqual([first, reasoning]);
  });

  test.each([...ENGINES])("of %s says the whole of each part, whatever the chunks", (engine) => {
    for (const chunk of [{ by: "chars", n: 1 }, { by: "tokens", n: 3 }, { by: "bytes", n: 7 }, ALL, undefined]) {
      const whole = { reasoning: "Überlegung 😀", content: 'Grüße, 世界! "x"\n', tool_calls: [CALL, CALL] };
      const played = reply({ ...whole, ...(chunk === undefined ? {} : { chunk }) }, hello(), { engine });
      expect(heardOf(played)).toEqual({
        content: whole.content,
        reasoning: whole.reasoning,
        arguments: [CALL_TEXT, CALL_TEXT],
        finish: "tool_calls",
      });
      expect(played.events.at(-1)).toBe("[DONE]");
    }
  });

  test.each([
    { chunk: undefined, told: ["abcd", "é12", "3", "😀", "x"] },
    { chunk: { by: "tokens", n: 2 }, told: ["abcdé12", "3😀x"] },
    { chunk: { by: "tokens", n: 1 }, script: { bytes_per_token: 1 }, told: [..."abcdé123😀x"] },
    { chunk: { by: "chars", n: 3 }, told: ["abc", "dé1", "23😀", "x"] },
    { chunk: { by: "all" }, told: ["abcdé123😀x"] },
  ])("puts $told into its deltas by $chunk", ({ chunk, told, script }) => {
    const value = { content: "abcdé123😀x", ...(chunk === undefined ? {} : { chunk }) };
    expect(pieces(reply(value, hello(), script))).toEqual([...told]);
  });

  test("by bytes goes out in writes of so many, and is the same stream", () => {
    const value = { content: "Grüße 世界" };
    const whole = reply(value);
    const cut = reply({ ...value, chunk: { by: "bytes", n: 7 } });
    expect(cut.body).toBe(whole.body);
    expect(cut.writes.slice(0, -1).every((size) => size === 7)).toBe(true);
    expect(cut.steps.every((step) => step.kind !== "bytes" || step.apart)).toBe(true);
    expect(whole.steps.some((step) => step.kind === "bytes" && step.apart)).toBe(false);
  });

  test.each([
    { value: { content: "a" }, finish: "stop" },
    { value: { tool_calls: [CALL] }, finish: "tool_calls" },
    { value: { content: "a", cut: { how: "length" } }, finish: "length" },
    { value: { tool_calls: [CALL], cut: { how: "length", n: 3 } }, finish: "length" },
    { value: { content: "a", finish_reason: "content_filter" }, finish: "content_filter" },
    { value: { content: "a", finish_reason: null }, finish: null },
    { value: {}, finish: "stop" },
  ])("of $value ends with $finish", ({ value, finish }) => {
    const streamed = reply(value);
    expect(heardOf(streamed).finish).toBe(finish);
    const whole = JSON.parse(reply(value, hello({ stream: false })).body);
    expect(whole.choices[0].finish_reason).toBe(finish);
  });

  test.each([
    {
      usage: { prompt_tokens: 900, completion_tokens: 61, reasoning_tokens: 5, cached_tokens: 800 },
      told: {
        prompt_tokens: 900,
        completion_tokens: 61,
        total_tokens: 961,
        prompt_tokens_details: { cached_tokens: 800 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    },
    { usage: undefined, told: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } },
    { usage: "none", told: undefined },
  ])("has the usage that $usage says", ({ usage, told }) => {
    const value = { content: "123456789", ...(usage === undefined ? {} : { usage }) };
    expect(reply(value).chunks.find((chunk) => chunk.usage !== undefined)?.usage as object).toEqual(told as object);
    expect(JSON.parse(reply(value, hello({ stream: false })).body).usage).toEqual(told);
  });

  test("counts all messages and tools by bytes_per_token", () => {
    const tools = [{ type: "function", function: { name: "read_file" } }];
    const messages = [
      { role: "system", content: "12345" },
      { role: "user", content: [{ type: "text", text: "ü" }] },
      { role: "assistant", content: null, tool_calls: [{ id: "a", function: { name: "rf", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "a", content: "0" },
    ];
    const bytes = 5 + 2 + 4 + 1 + JSON.stringify(tools[0]).length;
    for (const bytes_per_token of [1, 4, 10]) {
      const { chunks } = reply({}, { messages, tools, stream: true }, { bytes_per_token });
      expect(chunks.at(-1)?.usage?.prompt_tokens as number).toBe(Math.ceil(bytes / bytes_per_token));
    }
  });
});

describe("an answer as one object", () => {
  test("to the letter", () => {
    const value = { reasoning: "so", content: "hi", tool_calls: [CALL] };
    const { body, size_bytes, headers } = reply(value, hello({ stream: false }));
    expect(body).toBe(
      `{"id":"chatcmpl-scripted-1","object":"chat.completion","created":1767225600,"model":"scripted/test","system_fingerprint":"writ-scripted","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"so","content":"hi","tool_calls":[{"id":"call_scripted_1_0","type":"function","function":{"name":"edit_file","arguments":${JSON.stringify(CALL_TEXT)}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":2,"completion_tokens":10,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":1}}}`,
    );
    expect([size_bytes, headers]).toEqual([Buffer.byteLength(body), { "content-type": "application/json" }]);
  });

  test.each([
    { engine: "llama.cpp", content: null },
    { engine: "ollama", content: "" },
  ])("of $engine has $content for the content of calls alone", ({ engine, content }) => {
    const { body } = reply({ tool_calls: [CALL] }, hello({ stream: false }), { engine });
    expect(JSON.parse(body).choices[0].message.content).toBe(content);
  });

  test("comes after the time that the same stream takes", () => {
    const value = { content: "123456789", reasoning: "abc", delay_ms: { headers: 1, first: 20, each: 300, end: 4000 } };
    const waits = reply(value).waits;
    expect(waits).toEqual([1, 20, 300, 300, 300, 4000]);
    expect(reply(value, hello({ stream: false })).waits).toEqual([4921]);
  });
});

describe("content", () => {
  test.each([
    { content: ["a", { repeat: "bc", count: 3 }, "d"], text: "abcbcbcd" },
    { content: [{ echo: "goal" }, "|", { echo: "last" }], text: "the goal|the last" },
    { content: [], text: "" },
    { content: [{ repeat: "x", count: 0 }], text: "" },
  ])("$content is $text", ({ content, text }) => {
    const messages = [
      { role: "user", content: "the goal" },
      { role: "user", content: "the last" },
    ];
    expect(heardOf(reply({ content, chunk: ALL }, { messages, stream: true })).content).toBe(text);
  });

  test("is no longer than 16 MiB, whatever is echoed", () => {
    const content = [{ repeat: "x", count: 16 * 1024 * 1024 - 3 }, { echo: "goal" }, "y"];
    const { body } = reply({ content, chunk: ALL }, { messages: [{ role: "user", content: "ééé" }] });
    const text: string = JSON.parse(body).choices[0].message.content;
    expect([text.length, text.endsWith("xé")]).toEqual([16 * 1024 * 1024 - 2, true]);
  });

  test("of json is compact, with numbers as they are spelled", () => {
    expect(heardOf(reply({ json: { summary: "a", n: 1.5 } })).content).toBe('{"summary":"a","n":1.5}');
    expect(heardOf(reply({ json: null })).content).toBe("null");
  });
});

describe("a call", () => {
  const deltas = (call: object, chunk: object = ALL, engine = "llama.cpp") =>
    reply({ tool_calls: [call], chunk }, hello(), { engine }).chunks.flatMap(({ choices }) =>
      choices.flatMap(({ delta }) => delta.tool_calls ?? []),
    ) as readonly object[];

  test("sends a text as it is, valid or not", () => {
    expect(deltas({ name: "t", arguments: '{"a": tru' })).toMatchObject([
      { function: { name: "t", arguments: '{"a": tru' } },
    ]);
    expect(deltas({ name: "t", arguments: "" })).toMatchObject([{ function: { name: "t", arguments: "" } }]);
  });

  test("sends an object where it is asked to", () => {
    const call = { name: "t", arguments: { a: 1 }, as_object: true };
    expect(deltas(call, { by: "chars", n: 1 })).toMatchObject([{ function: { name: "t", arguments: { a: 1 } } }]);
    const whole = JSON.parse(reply({ tool_calls: [call] }, hello({ stream: false })).body);
    expect(whole.choices[0].message.tool_calls[0].function.arguments).toEqual({ a: 1 });
  });

  test("brings its name with the first fragment, and its index with all", () => {
    expect(deltas({ name: "t", arguments: "abcdef", id: "x" }, { by: "chars", n: 3 })).toEqual([
      { index: 0, id: "x", type: "function", function: { name: "t", arguments: "abc" } },
      { index: 0, function: { arguments: "def" } },
    ]);
    expect(deltas({ name: "t", arguments: "abcdef", index: 7 }, { by: "chars", n: 3 })).toMatchObject([
      { index: 7 },
      { index: 7 },
    ]);
  });

  test("leaves out what is null", () => {
    expect(deltas({ name: "t", arguments: "{}", id: null, index: null })).toEqual([
      { type: "function", function: { name: "t", arguments: "{}" } },
    ]);
    const whole = reply({ tool_calls: [{ name: "t", arguments: "{}", id: null }] }, hello({ stream: false }));
    expect(JSON.parse(whole.body).choices[0].message.tool_calls).toEqual([
      { type: "function", function: { name: "t", arguments: "{}" } },
    ]);
  });
});

describe("waits", () => {
  test.each([
    { delay_ms: 40, waits: [40] },
    { delay_ms: { headers: 40 }, waits: [40] },
    { delay_ms: { first: 5 }, waits: [5] },
    { delay_ms: { each: 5 }, waits: [5, 5] },
    { delay_ms: { end: 5 }, waits: [5] },
    { delay_ms: { headers: 1, first: 2, each: 3, end: 4 }, waits: [1, 2, 3, 3, 4] },
    { delay_ms: 0, waits: [] },
  ])("are those of $delay_ms", ({ delay_ms, waits }) => {
    expect(reply({ content: "123456789", delay_ms }).waits).toEqual([...waits]);
  });

  test("come where they belong", () => {
    const kinds = reply({
      content: "abcdefgh",
      chunk: { by: "chars", n: 4 },
      delay_ms: { headers: 1, first: 1, each: 1, end: 1 },
    })
      .steps.map(({ kind }) => kind)
      .join(" ");
    expect(kinds).toBe("wait head wait bytes bytes wait bytes wait bytes bytes bytes end");
  });

  test("follow the speed of the script, besides its delays", () => {
    const speed = { prefill_tok_s: 100, decode_tok_s: 50 };
    const value = { content: "12345678", delay_ms: { first: 3, each: 1 } };
    // Two tokens of prompt at 100 a second, and one a delta at 50.
    expect(reply(value, hello(), { speed }).waits).toEqual([23, 20, 21]);
    expect(reply({ ...value, usage: { prompt_tokens: 50, completion_tokens: 1 } }, hello(), { speed }).waits[0]).toBe(
      503,
    );
    expect(reply(value, hello(), { speed: { decode_tok_s: 50 } }).waits).toEqual([3, 20, 21]);
    expect(reply(value, hello({ stream: false }), { speed }).waits).toEqual([64]);
  });

  test("have comments meanwhile in a stream that is asked to, and in no object", () => {
    expect(reply({ ping_ms: 5 }).plan.ping_ms).toBe(5);
    expect(reply({ delay_ms: { first: 9, ping_ms: 5 } }).plan.ping_ms).toBe(5);
    expect(reply({ ping_ms: 5 }, hello({ stream: false })).plan.ping_ms).toBeNull();
    expect(reply({}).plan.ping_ms).toBeNull();
  });

  test("of the prompt are told as progress", () => {
    const played = reply({ content: "a", progress: 4, delay_ms: { first: 100 } }, hello(), { bytes_per_token: 1 });
    expect(played.waits).toEqual([25, 25, 25, 25]);
    const told = played.chunks.slice(0, 4);
    expect(told.map(({ prompt_progress }) => prompt_progress as object)).toEqual([
      { total: 5, cache: 0, processed: 1, time_ms: 25 },
      { total: 5, cache: 0, processed: 3, time_ms: 50 },
      { total: 5, cache: 0, processed: 4, time_ms: 75 },
      { total: 5, cache: 0, processed: 5, time_ms: 100 },
    ]);
    expect(told.every(({ choices }) => choices[0]?.delta.content === null)).toBe(true);
    expect(reply({ progress: true }).chunks.filter((chunk) => "prompt_progress" in chunk)).toHaveLength(1);
    expect(reply({ progress: false }).chunks.filter((chunk) => "prompt_progress" in chunk)).toHaveLength(0);
  });
});

describe("a cut stream", () => {
  const content = "clamp returned";

  test("of length ends in order, with usage of what was sent", () => {
    const played = reply({ content, cut: { how: "length", at: "bytes", n: 6 } });
    expect(heardOf(played)).toMatchObject({ content: "clamp ", finish: "length" });
    expect(played.chunks.at(-1)?.usage as object).toMatchObject({ completion_tokens: 2 });
    expect([played.events.at(-1), played.end, played.plan.is_cut]).toEqual(["[DONE]", "end", false]);
  });

  test.each([
    { how: "no_end", end: "end" },
    { how: "reset", end: "reset" },
    { how: "hang", end: "hang" },
    { how: "drop", end: "drop" },
  ])("of $how says so much, and nothing of an end", ({ how, end }) => {
    const played = reply({ content, reasoning: "why", cut: { how, at: "bytes", n: 6 }, delay_ms: { end: 50 } });
    expect(heardOf(played)).toEqual({ content: "clamp ", reasoning: "why", arguments: [], finish: null });
    expect([
      played.end as string,
      played.plan.is_cut,
      played.body.includes("[DONE]"),
      played.body.includes("usage"),
    ]).toEqual([end, true, false, false]);
    expect(played.waits).toEqual([]);
    // A dropped one is in the middle of the event that would have come, and says nothing more by it.
    expect(played.body.endsWith("\n\n")).toBe(how !== "drop");
    if (how === "drop") expect(played.body).toEndWith('"delta":{"content":"');
  });

  test.each([
    { at: "bytes", n: 5, text: "clamp" },
    { at: "bytes", n: 0, text: "" },
    { at: "tokens", n: 2, text: "clamp re" },
    { at: "events", n: 1, text: "clam" },
    { at: "events", n: 0, text: "" },
    { at: "events", n: 99, text: content },
    { at: "bytes", n: 99, text: content },
    { at: "bytes", n: undefined, text: content },
  ])("at $n $at has sent $text", ({ at, n, text }) => {
    const cut = { how: "no_end", at, ...(n === undefined ? {} : { n }) };
    expect(heardOf(reply({ content, cut })).content).toBe(text);
    expect(heardOf(reply({ content, cut: { ...cut, how: "length" } })).content).toBe(text);
  });

  test("falls between characters", () => {
    for (const [n, text] of [
      [0, ""],
      [1, ""],
      [2, "é"],
      [3, "é"],
      [4, "é"],
      [5, "é世"],
      [8, "é世"],
      [9, "é世😀"],
    ] as const) {
      expect(heardOf(reply({ content: "é世😀", cut: { how: "hang", at: "bytes", n } })).content).toBe(text);
    }
  });

  test("by bytes falls exactly there, also inside of a character", () => {
    const text = "é世😀x";
    const utf8 = Buffer.from(text);
    for (const how of ["drop", "reset", "hang", "no_end"]) {
      for (let n = 0; n <= utf8.length; n++) {
        const { bytes } = reply({ content: text, chunk: { by: "bytes", n: 5 }, cut: { how, at: "bytes", n } });
        const sent = Buffer.from(bytes).toString("latin1");
        const parts = sent
          .split('"content":"')
          .slice(1)
          .map((part) => part.split('"')[0]);
        expect(parts.join("")).toBe(utf8.subarray(0, n).toString("latin1"));
        // It ends there: nothing stands behind the last byte of the text.
        expect(sent).not.toEndWith("\n\n");
      }
    }
    const orderly = reply({ content: text, chunk: { by: "bytes", n: 5 }, cut: { how: "length", at: "bytes", n: 3 } });
    expect(heardOf(orderly)).toMatchObject({ content: "é", finish: "length" });
  });

  test.each([
    { in: "reasoning", told: { reasoning: "wh", content: "", arguments: [] } },
    { in: "content", told: { reasoning: "why", content: "cl", arguments: [] } },
    { in: "arguments", told: { reasoning: "why", content, arguments: [CALL_TEXT, '{"'] } },
    { in: undefined, told: { reasoning: "why", content, arguments: [CALL_TEXT, '{"'] } },
  ])("in $in sends what comes before, and nothing behind", ({ in: part, told }) => {
    const cut = { how: "no_end", at: "bytes", n: 2, ...(part === undefined ? {} : { in: part }) };
    const { finish, ...heard } = heardOf(reply({ reasoning: "why", content, tool_calls: [CALL, CALL], cut }));
    expect([heard as object, finish]).toEqual([told, null]);
  });

  test("of arguments sends the call's name, unless not one event is sent", () => {
    const call = { name: "t", arguments: "abc" };
    expect(heardOf(reply({ tool_calls: [call], cut: { how: "no_end", n: 0 } })).arguments).toEqual([""]);
    expect(heardOf(reply({ tool_calls: [call], cut: { how: "no_end", at: "events", n: 0 } })).arguments).toEqual([]);
  });

  test("of refuse is the server's error about the quote that is missing", () => {
    const value = { tool_calls: [CALL], cut: { how: "refuse", in: "arguments", at: "bytes", n: 9 } };
    for (const stream of [true, false]) {
      const played = reply(value, hello({ stream }));
      expect([played.status, played.end, played.plan.is_cut]).toEqual([500, "end", false]);
      expect(played.body).toBe(
        '{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: parse error at line 1, column 10: invalid string: missing closing quote","type":"server_error"}}',
      );
    }
  });

  test("may have no part at all", () => {
    const played = reply({ cut: { how: "hang" } });
    expect([played.status, played.end, played.chunks.length]).toEqual([200, "hang", 1]);
  });
});

describe("a cut object", () => {
  const value = { reasoning: "why", content: "clamp é", tool_calls: [CALL] };

  test.each([
    { how: "drop", end: "drop", isShort: true },
    { how: "reset", end: "reset", isShort: true },
    { how: "hang", end: "hang", isShort: true },
    { how: "no_end", end: "end", isShort: false },
  ])("of $how falls into its bytes", ({ how, end, isShort }) => {
    const whole = reply(value, hello({ stream: false }));
    for (const [part, text] of [
      ["reasoning", '"reasoning_content":"wh'],
      ["content", '"content":"cl'],
      ["arguments", '"arguments":"{\\"'],
    ] as const) {
      const played = reply({ ...value, cut: { how, at: "bytes", n: 2, in: part } }, hello({ stream: false }));
      expect([played.end as string, played.body.endsWith(text), whole.body.startsWith(played.body)]).toEqual([
        end,
        true,
        true,
      ]);
      expect(played.size_bytes).toBe(isShort ? Buffer.byteLength(whole.body) : played.bytes.length);
    }
  });

  test("of length is a whole one with what was sent", () => {
    const { body } = reply(
      { ...value, cut: { how: "length", at: "bytes", n: 2, in: "content" } },
      hello({ stream: false }),
    );
    expect(JSON.parse(body).choices[0]).toMatchObject({
      message: { reasoning_content: "why", content: "cl" },
      finish_reason: "length",
    });
  });

  test("by bytes may be cut inside of a character", () => {
    const cut = { how: "drop", at: "bytes", n: 7, in: "content" };
    const { bytes } = reply({ ...value, chunk: { by: "bytes", n: 3 }, cut }, hello({ stream: false }));
    expect(Buffer.from(bytes).toString("latin1")).toEndWith("clamp \xc3");
  });
});

describe("an answer of one's own", () => {
  test.each([
    { value: { status: 418, body: { a: [1.5] } }, status: 418, body: '{"a":[1.5]}', type: "application/json" },
    {
      value: { status: 200, body: "as it is \u0000" },
      status: 200,
      body: "as it is \u0000",
      type: "text/plain; charset=utf-8",
    },
    { value: { body: "" }, status: 200, body: "", type: "text/plain; charset=utf-8" },
  ])("$value is sent as it stands", ({ value, status, body, type }) => {
    const played = reply(value);
    expect([played.status, played.body, played.headers["content-type"]]).toEqual([status, body, type]);
  });

  test("has its headers and its delay", () => {
    const played = reply({ status: 302, headers: { Location: "/x" }, delay_ms: { headers: 5, first: 6, end: 7 } });
    expect([played.headers, played.waits]).toEqual([{ Location: "/x" }, [5, 6, 7]]);
  });
});

describe("raw", () => {
  test("is the bytes as they are, each a write of its own, behind the head of a stream", () => {
    const raw = [{ text: "data: {\n" }, { b64: "wyg=", after_ms: 9 }, { text: "" }, { text: "é" }];
    const played = reply({ raw });
    expect(Buffer.from(played.bytes)).toEqual(
      Buffer.concat([Buffer.from("data: {\n"), Buffer.from([0xc3, 0x28]), Buffer.from("é")]),
    );
    expect([played.status, played.headers, played.size_bytes]).toEqual([
      200,
      { "content-type": "text/event-stream" },
      null,
    ]);
    expect([played.waits, played.writes, played.end]).toEqual([[9], [8, 2, 0, 2], "end"]);
  });

  test("may have another head", () => {
    const played = reply({ raw: [{ text: "a" }], status: 500, headers: { "content-type": "text/html", x: "y" } });
    expect([played.status, played.headers]).toEqual([500, { "content-type": "text/html", x: "y" }]);
  });

  test.each([
    { forever: true, raw: [{ text: "a" }, { text: "bc" }] },
    { raw: [{ text: "a" }, { text: "bc", forever: true }] },
  ])("repeats the last piece without end: $raw", (value) => {
    const played = reply({ ...value, cut: { how: "reset", n: 12 } });
    expect([played.body, played.end]).toEqual(["abcbcbcbcbcb", "reset"]);
    expect(() => reply(value)).toThrow("the plan has no end");
  });

  test.each([
    { how: "drop", n: 3, body: "abc" },
    { how: "hang", n: undefined, body: "abcd" },
    { how: "reset", n: 0, body: "" },
  ])("may be cut: $how at $n", ({ how, n, body }) => {
    const cut = { how, ...(n === undefined ? {} : { n }) };
    const played = reply({ raw: [{ text: "ab" }, { text: "cd" }], cut });
    expect([played.body, played.end as string, played.plan.is_cut]).toEqual([body, how, true]);
  });

  test("property: comes out exactly, whatever the bytes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        (pieces, stream) => {
          const raw = pieces.map((piece) => ({ b64: Buffer.from(piece).toString("base64") }));
          const played = reply({ raw }, hello({ stream }));
          expect(Buffer.from(played.bytes)).toEqual(Buffer.concat(pieces));
        },
      ),
    );
  });
});

test("property: a cut object is a beginning of the whole one, and a cut stream says a beginning of its part", () => {
  const part = fc.constantFrom("reasoning", "content", "arguments");
  const text = fc.string({ unit: "binary", maxLength: 30 }).map((each) => each.toWellFormed());
  fc.assert(
    fc.property(
      fc.record({
        reasoning: text,
        content: text,
        args: text,
        part,
        how: fc.constantFrom("no_end", "drop", "reset", "hang"),
        at: fc.constantFrom("bytes", "tokens", "events"),
        n: fc.nat(40),
        chunk: fc.record({ by: fc.constantFrom("chars", "tokens", "bytes", "all"), n: fc.integer({ min: 1, max: 9 }) }),
        engine: fc.constantFrom(...ENGINES),
        bytes_per_token: fc.integer({ min: 1, max: 5 }),
      }),
      ({ reasoning, content, args, part, how, at, n, chunk, engine, bytes_per_token }) => {
        const value = { reasoning, content, tool_calls: [{ name: "t", arguments: args }], chunk };
        const script = { engine, bytes_per_token };
        const cut = { how, at, n, in: part };
        const whole = reply(value, hello({ stream: false }), script);
        const object = reply({ ...value, cut }, hello({ stream: false }), script);
        expect(Buffer.from(whole.bytes).subarray(0, object.bytes.length)).toEqual(Buffer.from(object.bytes));
        const heard = heardOf(reply({ ...value, cut }, hello(), script));
        expect(reasoning.startsWith(heard.reasoning) && content.startsWith(heard.content)).toBe(true);
        expect(args.startsWith(heard.arguments.join(""))).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});
