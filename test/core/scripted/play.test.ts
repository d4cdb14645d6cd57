import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINES } from "../../../src/core/config/seat.ts";
import { type Meeting, Play } from "../../../src/core/scripted/play.ts";
import { type ScriptObject, scriptOf } from "../../support/scripted-seat.ts";
import { chatOf, heardOf, hello, playedOf, type Stage, stage, targetOf, WORLD } from "./played.ts";

const TURNS = [{ id: "a", reply: { content: "met" } }];
const user = (content: string) => ({ messages: [{ role: "user", content }] });
const tool = { type: "function", function: { name: "t" } };
const withArguments = (text: unknown) => ({
  messages: [
    { role: "user", content: "a" },
    { role: "assistant", tool_calls: [{ id: "c", function: { name: "edit_file", arguments: text } }] },
  ],
});

const outcome = (own: Stage, body: unknown) => {
  const { status, entry } = own.ask(body);
  return [status, entry.turn];
};

describe("a request that is none", () => {
  test.each([
    "",
    "{",
    "[]",
    "null",
    '{"messages":1}',
    '{"messages":[]}',
    '{"messages":[1]}',
    '{"messages":[],"messages":[{}]}',
    "{}",
  ])("%j is 400, and named", (body) => {
    const played = stage({ turns: TURNS }).ask(body);
    expect(played.status).toBe(400);
    expect(JSON.parse(played.body).error).toMatchObject({ code: 400, type: "invalid_request_error" });
    expect(played.entry.problem).not.toBeUndefined();
  });

  test.each([
    { messages: [{}] },
    { messages: [{ role: 1, content: 1, tool_calls: {}, tool_call_id: [] }] },
    { messages: [{ role: "assistant", tool_calls: [1, null, { function: 1 }, {}] }], tools: [1, null, {}] },
    { messages: [{ role: "tool", content: [1, {}, { text: 1 }] }], response_format: 1, chat_template_kwargs: [] },
  ])("%j is answered, however odd", (body) => {
    expect(outcome(stage({ turns: TURNS, enforce: [] }), body)).toEqual([200, "a"]);
  });

  test("may have numbers that nobody can hold", () => {
    const text =
      '{"messages":[{"role":"user","content":"a"}],"seed":123456789012345678901234567890,"temperature":1e400}';
    expect(outcome(stage({ turns: TURNS }), text)).toEqual([200, "a"]);
  });
});

describe("enforce", () => {
  test.each([
    { model: "scripted/test", status: 200 },
    { model: "short", status: 200 },
    { model: undefined, status: 200 },
    { model: "test", status: 404 },
    { model: "gpt", status: 404 },
  ])("model: $model is $status", ({ model, status }) => {
    const script = { turns: TURNS, aliases: ["short"] };
    const body = { ...hello(), ...(model === undefined ? {} : { model }) };
    expect(stage(script).ask(body).status).toBe(status);
    expect(stage({ ...script, enforce: ["ctx"] }).ask(body).status).toBe(200);
    if (status === 404)
      expect(stage(script).ask(body).body).toBe('{"error":{"message":"model not found","type":"not_found_error"}}');
  });

  test.each([
    { text: '{"a":1}', status: 200 },
    { text: '{"a":1,"a":2}', status: 200 },
    { text: { a: 1 }, status: 200 },
    { text: '{"a": "x', status: 500, column: 7 },
    { text: "", status: 500, column: 1 },
    { text: "nonsense", status: 500, column: 1 },
  ])("history_arguments: $text is $status, every time", ({ text, status, column }) => {
    const own = stage({ turns: TURNS });
    for (let time = 0; time < 2; time++) {
      const played = own.ask(withArguments(text));
      expect(played.status).toBe(status);
      if (column !== undefined)
        expect(played.body).toContain(`column ${column}: invalid string: missing closing quote`);
    }
    for (const script of [
      { enforce: ["ctx", "model"] },
      { engine: "vllm" },
      { engine: "ollama" },
      { engine: "openai" },
    ]) {
      expect(stage({ turns: TURNS, ...script }).ask(withArguments(text)).status).toBe(200);
    }
  });

  test("grammar_with_tools: one without the other", () => {
    const own = stage({ turns: TURNS });
    const both = own.ask({ ...hello(), grammar: "root ::= x", tools: [tool] });
    expect([both.status, both.body]).toEqual([
      400,
      '{"error":{"code":400,"message":"Cannot use custom grammar constraints with tools.","type":"invalid_request_error"}}',
    ]);
    expect(own.ask({ ...hello(), grammar: "root ::= x" }).status).toBe(200);
    expect(own.ask({ ...hello(), tools: [tool] }).status).toBe(200);
    expect(own.ask({ ...hello(), response_format: { type: "json_schema" }, tools: [tool] }).status).toBe(200);
    for (const script of [{ enforce: [] }, { engine: "vllm" }]) {
      expect(stage({ turns: TURNS, ...script }).ask({ ...hello(), grammar: "x", tools: [tool] }).status).toBe(200);
    }
  });

  test.each(["llama.cpp", "vllm", "openai"])(
    "ctx: %s refuses what is above its window, and nothing at it",
    (engine) => {
      const own = stage({ turns: TURNS, engine, ctx_tokens: 10 });
      expect(own.ask(user("x".repeat(40))).status).toBe(200);
      const played = own.ask(user("x".repeat(41)));
      expect([played.status, played.entry.turn]).toEqual([400, null]);
      expect(played.body).toContain("11");
      expect(stage({ turns: TURNS, engine, ctx_tokens: 10, enforce: [] }).ask(user("x".repeat(41))).status).toBe(200);
    },
  );

  test("ctx: tools count as well", () => {
    const bytes = JSON.stringify(tool).length;
    const ask = (ctx_tokens: number) =>
      stage({ turns: TURNS, ctx_tokens, bytes_per_token: 1 }).ask({ ...user("abc"), tools: [tool] }).status;
    expect([ask(bytes + 3), ask(bytes + 2)]).toEqual([200, 400]);
  });

  test("ctx: ollama drops the front and says nothing", () => {
    const turns = [
      { id: "goal", when: { goal_contains: "the goal" }, reply: { content: [{ echo: "goal" }] } },
      { id: "tail", when: { any_contains: "tail" }, reply: { content: [{ echo: "goal" }, "|", { echo: "last" }] } },
    ];
    const own = stage({ turns, engine: "ollama", ctx_tokens: 10, bytes_per_token: 1 });
    const fits = own.ask({ messages: [{ role: "user", content: "the goal" }], stream: true });
    expect([fits.entry.turn, fits.chunks.at(-1)?.usage?.prompt_tokens as number]).toEqual(["goal", 8]);
    const long = own.ask({
      messages: [
        { role: "system", content: "system" },
        { role: "user", content: "the goal" },
        { role: "assistant", content: "tail" },
      ],
      stream: true,
    });
    expect([long.status, long.entry.turn, heardOf(long).content]).toEqual([200, "tail", "e goal|tail"]);
    expect(long.chunks.at(-1)?.usage?.prompt_tokens as number).toBe(10);
    // It is the same conversation all the same.
    expect(long.entry.conversation).toBe(fits.entry.conversation);
    expect(
      stage({ turns, engine: "ollama", ctx_tokens: 10, bytes_per_token: 1, enforce: [] }).ask(user("the goal is long"))
        .entry.turn,
    ).toBe("goal");
  });

  test("comes before any turn: nothing is played and nothing counted", () => {
    const own = stage({ turns: [{ id: "a", times: 1, reply: {} }] });
    expect(outcome(own, { ...hello(), model: "gpt" })).toEqual([404, null]);
    expect(outcome(own, hello())).toEqual([200, "a"]);
  });
});

describe("a token", () => {
  const play = () => new Play(scriptOf({ turns: TURNS }), { ...WORLD, token: "right" }, 0);
  test.each([
    { bearer: null, status: 401 },
    { bearer: "wrong", status: 401 },
    { bearer: "right", status: 200 },
  ])("$bearer is $status", ({ bearer, status }) => {
    for (const incoming of [chatOf(hello()), { target: targetOf("GET", "/health"), body: { text: "", bytes: 0 } }]) {
      const own = play();
      const meeting = own.meet({ ...incoming, bearer }, 0);
      if (meeting.kind === "line") own.admit(0);
      const plan = meeting.kind === "answer" ? meeting.plan : meeting.kind === "line" ? own.play(meeting.ticket) : null;
      if (plan === null) throw new Error("it is reset");
      expect(playedOf(plan, meeting.entry).status).toBe(status);
    }
  });
});

describe("all slots taken", () => {
  /** Requests that come at once; those that work do not end. */
  function crowd(
    script: object,
    count: number,
  ): { readonly play: Play; readonly meetings: readonly Meeting[]; readonly told: readonly unknown[] } {
    const play = new Play(scriptOf({ turns: TURNS, ...script } as ScriptObject), WORLD, 0);
    const meetings = Array.from({ length: count }, () => {
      const meeting = play.meet(chatOf(hello()), 0);
      play.admit(0);
      return meeting;
    });
    const told = meetings.map((meeting) =>
      meeting.kind === "answer" ? playedOf(meeting.plan, meeting.entry).body : meeting.kind,
    );
    return { play, meetings, told };
  }
  const LIMITED = '{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"}}';
  const SWAP = '{"error":{"message":"model concurrency limit reached","code":"concurrency_limit"},"src":"llama-swap"}';
  const FULL = '{"error":"server busy, please try again. maximum pending requests exceeded"}';

  test.each([
    { script: {}, told: ["line", "line", "line"] },
    { script: { engine: "vllm" }, told: ["line", "line", "line"] },
    { script: { engine: "openai" }, told: ["line", LIMITED, LIMITED] },
    { script: { engine: "openai", slots: 2 }, told: ["line", "line", LIMITED] },
    { script: { proxy: "llama-swap" }, told: ["line", SWAP, SWAP] },
    { script: { busy: "reject" }, told: ["line", LIMITED, LIMITED] },
    { script: { engine: "ollama" }, told: ["line", "line", "line"] },
    { script: { engine: "ollama", queue_max: 1 }, told: ["line", "line", FULL] },
    { script: { busy: "overload", queue_max: 0 }, told: ["line", FULL, FULL] },
    { script: { engine: "openai", busy: "queue" }, told: ["line", "line", "line"] },
  ])("$script tells $told", ({ script, told }) => {
    expect(crowd(script, 3).told).toEqual([...told]);
  });

  test("ollama has 512 of them wait by itself", () => {
    const { told } = crowd({ engine: "ollama" }, 514);
    expect([told[512], told[513]]).toEqual(["line", FULL]);
  });

  test("those in the line are admitted in order, and say how long they waited", () => {
    const { play, meetings } = crowd({ slots: 2 }, 4);
    const tickets = meetings.flatMap((meeting) => (meeting.kind === "line" ? [meeting.ticket] : []));
    play.release();
    expect(play.admit(40)).toEqual(tickets.slice(2, 3));
    play.release();
    expect(play.admit(70.4)).toEqual(tickets.slice(3));
    expect(play.log().map(({ slot_wait_ms }) => slot_wait_ms)).toEqual([0, 0, 40, 70]);
  });

  test("strangers take them from the first chat request on, and give them back", () => {
    const script = { occupied: [{ slots: 1, for_ms: 100 }] };
    const { play, meetings } = crowd(script, 1);
    expect(meetings.map(({ kind }) => kind)).toEqual(["line"]);
    expect([play.admit(99), play.nextChange(0)]).toEqual([[], 100]);
    expect(play.admit(100)).toHaveLength(1);
  });

  test("a busy state takes them all", () => {
    const rejecting = stage({
      turns: TURNS,
      engine: "openai",
      slots: 3,
      states: [{ at_ms: 0, state: "busy", for_ms: 50 }],
    });
    expect([rejecting.ask(hello(), 49).status, rejecting.ask(hello(), 50).status]).toEqual([429, 200]);
  });
});

describe("a state", () => {
  const loading = { states: [{ at_ms: 0, state: "loading", for_ms: 100 }] };
  test.each(["llama.cpp", "ollama", "openai"])("loading: %s says so with 503", (engine) => {
    const own = stage({ turns: TURNS, engine, ...loading });
    const played = own.ask(hello(), 99);
    expect([played.status, played.body, played.entry.turn]).toEqual([
      503,
      '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      null,
    ]);
    expect(own.ask(hello(), 100).status).toBe(200);
  });

  test("loading: vllm refuses connections, and so does any engine that is down", () => {
    const refusing = (script: object, at: number) =>
      new Play(scriptOf({ turns: TURNS, ...script } as ScriptObject), WORLD, 0).refusesAt(at);
    expect([refusing({ engine: "vllm", ...loading }, 99), refusing({ engine: "vllm", ...loading }, 100)]).toEqual([
      true,
      false,
    ]);
    expect([refusing(loading, 0), refusing({ engine: "vllm", proxy: "llama-swap", ...loading }, 0)]).toEqual([
      false,
      false,
    ]);
    expect(refusing({ states: [{ at_ms: 5, state: "down" }] }, 5)).toBe(true);
  });

  test("loading behind a proxy is a process that is not ready", () => {
    const own = stage({ turns: TURNS, proxy: "llama-swap", ...loading });
    expect(own.get("/running", 50).body).toBe('{"running":[{"model":"scripted/test","state":"starting"}]}');
    expect(own.ask(hello(), 50).body).toBe('{"error":"process is not ready","src":"llama-swap"}');
    expect(own.get("/running", 100).body).toBe('{"running":[{"model":"scripted/test","state":"ready"}]}');
  });

  test("down just before a request resets that request", () => {
    const play = new Play(scriptOf({ turns: TURNS, states: [{ at_request: 1, state: "down", for_ms: 10 }] }), WORLD, 0);
    expect([play.refusesAt(0), play.meet(chatOf(hello()), 0).kind, play.refusesAt(0), play.resetsAt(0)]).toEqual([
      false,
      "reset",
      true,
      true,
    ]);
    expect([play.refusesAt(10), play.meet(chatOf(hello()), 10).kind]).toEqual([false, "line"]);
  });

  test("stopped: the next chat starts the model", () => {
    const own = stage({ turns: TURNS, proxy: "llama-swap", states: [{ at_ms: 0, state: "stopped" }] });
    expect(own.get("/running").body).toBe('{"running":[{"model":"scripted/test","state":"stopped"}]}');
    expect(own.get("/v1/models").status).toBe(200);
    expect(own.get("/running").body).toContain("stopped");
    expect(own.ask(hello()).status).toBe(200);
    expect(own.get("/running").body).toContain("ready");
  });

  test("stopped: so does a look through the proxy, which is a problem", () => {
    const own = stage({ turns: TURNS, proxy: "llama-swap", states: [{ at_ms: 0, state: "stopped" }] });
    const looked = own.get("/upstream/scripted/test/props");
    expect([looked.status, looked.entry.problem]).toEqual([
      200,
      "/upstream/scripted/test/props: /running does not list this model as ready",
    ]);
    expect(own.get("/running").body).toContain("ready");
    expect(own.get("/upstream/scripted/test/props").entry.problem).toBeUndefined();
  });
});

describe("the log", () => {
  test("has an entry for each request, in order", () => {
    const own = stage({ turns: [{ id: "a", when: { tools: true }, reply: {} }] });
    own.get("/health", 3.4);
    own.ask({ ...hello(), tools: [tool], max_tokens: 9, response_format: { type: "json_object" } }, 20);
    own.ask(user("else"), 30);
    expect(own.play.log()).toMatchObject([
      {
        n: 1,
        at_ms: 3,
        path: "/health",
        conversation: null,
        turn: null,
        slot_wait_ms: 0,
        tools: [],
        constraint: null,
        max_tokens: null,
        stream: null,
        messages: 0,
      },
      {
        n: 2,
        at_ms: 20,
        path: "/v1/chat/completions",
        conversation: "digest of hello",
        turn: "a",
        tools: ["t"],
        constraint: "json_object",
        max_tokens: 9,
        stream: true,
        messages: 1,
      },
      { n: 3, at_ms: 30, conversation: "digest of else", turn: null, tools: [], constraint: "none", stream: false },
    ]);
    expect(Object.keys(own.play.log()[0] ?? {})).toEqual([
      "n",
      "at_ms",
      "path",
      "conversation",
      "turn",
      "slot_wait_ms",
      "status",
      "sent_bytes",
      "ended",
      "tools",
      "constraint",
      "max_tokens",
      "stream",
      "messages",
    ]);
  });

  test.each([
    { body: { ...hello(), grammar: "x", tools: [tool] }, problem: "a grammar beside tools" },
    { body: withArguments('{"a": tru'), problem: "message 1: the arguments of edit_file are no JSON" },
    {
      body: { ...withArguments("{"), grammar: "x", tools: [tool] },
      problem: "a grammar beside tools; message 1: the arguments of edit_file are no JSON",
    },
    { body: hello(), problem: undefined },
  ])("names a problem: $problem", ({ body, problem }) => {
    for (const engine of ["llama.cpp", "vllm"]) {
      const own = stage({ turns: TURNS, engine });
      own.ask(body);
      expect(own.play.log()[0]?.problem).toBe(problem as never);
    }
  });

  test("names a path of the engine that a proxy has elsewhere", () => {
    const own = stage({ turns: TURNS, proxy: "llama-swap" });
    expect(own.get("/props").entry.problem).toBe("/props of a model behind a proxy is below /upstream/scripted/test");
    expect(own.get("/health").entry.problem).toBeUndefined();
    expect(stage({ turns: TURNS }).get("/props").entry.problem).toBeUndefined();
  });

  test("keeps the bodies of requests", () => {
    const own = stage({ turns: TURNS });
    const { entry } = own.ask('{ "messages": [ {"role":"user","content":"a"} ], "seed": 1.0 }');
    expect(own.play.bodyOf(entry)).toBe('{ "messages": [ {"role":"user","content":"a"} ], "seed": 1.0 }');
    expect(own.play.bodyOf(own.get("/health").entry)).toBeNull();
  });

  test("is forgotten at a reset, with counts and times", () => {
    const own = stage({
      turns: [{ id: "a", times: 1, reply: {} }],
      states: [{ at_ms: 0, state: "loading", for_ms: 100 }],
    });
    own.ask(hello(), 100);
    expect(own.ask(hello(), 100).status).toBe(400);
    own.play.reset(1000);
    expect(own.play.log()).toEqual([]);
    expect(own.play.report()).toEqual({ unused_turns: ["a"], unmet: [], unmet_count: 0 });
    expect([own.ask(hello(), 1099).status, own.ask(hello(), 1100).status]).toEqual([503, 200]);
    expect(own.play.log()).toMatchObject([
      { n: 1, at_ms: 99 },
      { n: 2, at_ms: 100, turn: "a" },
    ]);
  });
});

test("the report names turns that were never used, and requests that met none", () => {
  const own = stage({
    turns: [...TURNS, { id: "b", reply: {} }, { id: "c", reply: {} }].map((turn) => ({
      ...turn,
      when: { goal_contains: turn.id },
    })),
  });
  own.ask(user("a"));
  own.ask({
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", tool_calls: [{ id: "1", function: { name: "read_file", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "1", content: "y" },
    ],
    response_format: { type: "json_schema" },
  });
  expect(own.play.report()).toEqual({
    unused_turns: ["b", "c"],
    unmet: ["request 2 of conversation digest of x (step 2, last tool read_file, constraint json_schema)"],
    unmet_count: 1,
  });
});

test("property: whatever the conditions and the request, something is answered and one entry is logged", () => {
  const word = fc.constantFrom("a", "tool", "seed_1", "", "é😀");
  const range = fc.oneof(fc.nat(4), fc.record({ min: fc.nat(2), max: fc.integer({ min: 2, max: 4 }) }));
  const when = fc.record(
    {
      goal_contains: fc.oneof(word, fc.array(word, { maxLength: 2 })),
      system_contains: word,
      last_contains: word,
      any_contains: fc.array(word, { maxLength: 2 }),
      matches: fc.constantFrom("a", "^$", "(?s).*", "[é😀]+"),
      step: range,
      last_tool: word,
      last_tool_contains: word,
      tools: fc.oneof(fc.boolean(), word),
      constraint: fc.constantFrom("none", "any", "grammar", "json_schema", "json_object", "structured_outputs"),
      thinking: fc.constantFrom("on", "off"),
      stream: fc.boolean(),
      max_tokens: range,
      request: range,
    },
    { requiredKeys: [] },
  );
  const turn = fc.record({
    when,
    times: fc.integer({ min: 1, max: 2 }),
    count: fc.constantFrom("conversation", "server"),
  });
  const call = fc.record({ id: word, function: fc.record({ name: word, arguments: fc.oneof(word, fc.jsonValue()) }) });
  const message = fc.record(
    {
      role: fc.constantFrom("system", "user", "assistant", "tool", "developer"),
      content: fc.oneof(word, fc.constant(null), fc.array(fc.record({ text: word }))),
      tool_calls: fc.array(call, { maxLength: 2 }),
      tool_call_id: word,
      name: word,
    },
    { requiredKeys: ["role"] },
  );
  const request = fc.record(
    {
      messages: fc.array(message, { minLength: 1, maxLength: 5 }),
      model: fc.constantFrom("scripted/test", "other"),
      stream: fc.boolean(),
      tools: fc.array(fc.oneof(fc.constant(tool), fc.jsonValue()), { maxLength: 2 }),
      max_tokens: fc.nat(4),
      grammar: word,
      response_format: fc.jsonValue(),
      structured_outputs: fc.jsonValue(),
      reasoning_effort: fc.constantFrom("none", "low"),
    },
    { requiredKeys: ["messages"] },
  );
  const script = fc.record({
    turns: fc
      .array(turn, { minLength: 1, maxLength: 4 })
      .map((turns) =>
        turns.map((each, index) => ({ ...each, id: `t${index}`, reply: { content: [{ echo: "last" }] } })),
      ),
    engine: fc.constantFrom(...ENGINES),
    order: fc.constantFrom("any", "strict"),
    ctx_tokens: fc.constantFrom(1, 10, 32_768),
    busy: fc.constant("queue"),
  });
  fc.assert(
    fc.property(script, fc.array(fc.oneof(request, fc.jsonValue()), { maxLength: 4 }), (given, bodies) => {
      const own = stage(given);
      for (const body of bodies) {
        const { status, end } = own.ask(body);
        expect([200, 400, 404, 500].includes(status ?? 0) && end === "end").toBe(true);
      }
      expect(own.play.log().map(({ n }) => n)).toEqual(bodies.map((_, index) => index + 1));
    }),
  );
});
