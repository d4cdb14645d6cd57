import { describe, expect, test } from "bun:test";
import { hello, stage } from "./played.ts";

/** Whether a request meets a turn with these conditions. */
function holds(when: object, request: object, more: object = {}): boolean {
  return (
    stage({ enforce: [], turns: [{ id: "a", when, reply: { content: "met" }, ...more }] }).ask(request).entry.turn ===
    "a"
  );
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (...ids: string[]) => ({
  role: "assistant",
  content: "",
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: `tool_of_${id}`, arguments: "{}" } })),
});
const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });
const talk = (...messages: object[]) => ({ messages });
const tool = (name: string) => ({ type: "function", function: { name } });

describe("a condition on texts", () => {
  const messages = [
    { role: "system", content: "be terse" },
    user("fix clamp.ts"),
    assistant("c1"),
    result("c1", "the file says lo"),
  ];

  test.each([
    { when: { goal_contains: "clamp.ts" }, holds: true },
    { when: { goal_contains: ["fix", "clamp"] }, holds: true },
    { when: { goal_contains: ["fix", "port"] }, holds: false },
    { when: { goal_contains: "terse" }, holds: false },
    { when: { goal_contains: [] }, holds: true },
    { when: { system_contains: "terse" }, holds: true },
    { when: { system_contains: "clamp" }, holds: false },
    { when: { last_contains: "says lo" }, holds: true },
    { when: { last_contains: "clamp" }, holds: false },
    { when: { any_contains: ["terse", "clamp", "says"] }, holds: true },
    { when: { any_contains: ["terse clamp"] }, holds: false },
    { when: { matches: "terse\\nfix clamp\\.ts\\n\\nthe" }, holds: true },
    { when: { matches: "(?i)FIX.*LO" }, holds: false },
    { when: { matches: "(?is)FIX.*LO" }, holds: true },
    { when: { last_tool: "tool_of_c1" }, holds: true },
    { when: { last_tool: "tool_of_c2" }, holds: false },
    { when: { last_tool_contains: "file" }, holds: true },
    { when: { last_tool_contains: ["file", "clamp"] }, holds: false },
    { when: { last_tool: "tool_of_c1", last_tool_contains: "no such" }, holds: false },
  ])("$when holds: $holds", ({ when, holds: wanted }) => {
    expect(holds(when, { messages })).toBe(wanted);
  });

  test("reads the texts of a list of parts", () => {
    const parts = [
      { type: "text", text: "fix " },
      { type: "image_url", image_url: {} },
      { type: "text", text: "clamp" },
    ];
    expect(holds({ goal_contains: "fix clamp" }, talk(user(parts)))).toBe(true);
  });

  test("last_tool looks at the last message alone, and at a result alone", () => {
    expect(holds({ last_tool: "tool_of_c1" }, talk(user("a"), assistant("c1"), result("c1", "x"), user("b")))).toBe(
      false,
    );
    expect(holds({ last_tool_contains: "b" }, talk(user("a"), assistant("c1"), result("c1", "x"), user("b")))).toBe(
      false,
    );
    const two = talk(user("a"), assistant("c1", "c2"), result("c1", "x"), result("c2", "y"));
    expect([holds({ last_tool: "tool_of_c1" }, two), holds({ last_tool: "tool_of_c2" }, two)]).toEqual([false, true]);
  });

  test("last_tool goes by the name of the message where no call has its id", () => {
    const named = talk(user("a"), { role: "tool", name: "read_file", content: "x" });
    expect([holds({ last_tool: "read_file" }, named), holds({ last_tool: "edit_file" }, named)]).toEqual([true, false]);
  });
});

describe("step", () => {
  test.each([
    { messages: [user("a")], step: 1 },
    { messages: [user("a"), assistant("c1"), result("c1", "x")], step: 2 },
    { messages: [user("a"), { role: "assistant", content: "text" }, user("b")], step: 2 },
    { messages: [user("a"), assistant("seed_1", "seed_2"), result("seed_1", "x"), result("seed_2", "x")], step: 1 },
    { messages: [user("a"), assistant("seed_1"), result("seed_1", "x"), assistant("c1"), result("c1", "x")], step: 2 },
    { messages: [user("a"), assistant("seed_1", "c1")], step: 2 },
    {
      messages: [user("a"), { role: "assistant", tool_calls: [{ function: { name: "t", arguments: "{}" } }] }],
      step: 2,
    },
  ])("is $step, without what was put there before", ({ messages, step }) => {
    for (const each of [step - 1, step, step + 1]) expect(holds({ step: each }, { messages })).toBe(each === step);
    expect(holds({ step: { min: step, max: step } }, { messages })).toBe(true);
    expect(holds({ step: { min: step + 1 } }, { messages })).toBe(false);
    expect(holds({ step: { max: step - 1 } }, { messages })).toBe(false);
  });
});

describe("a condition on what is asked for", () => {
  test.each([
    { when: { tools: true }, request: { tools: [tool("a")] }, holds: true },
    { when: { tools: true }, request: { tools: [] }, holds: false },
    { when: { tools: true }, request: {}, holds: false },
    { when: { tools: false }, request: {}, holds: true },
    { when: { tools: false }, request: { tools: [tool("a")] }, holds: false },
    { when: { tools: "b" }, request: { tools: [tool("a"), tool("b")] }, holds: true },
    { when: { tools: "b" }, request: { tools: [tool("a")] }, holds: false },
    { when: { stream: true }, request: { stream: true }, holds: true },
    { when: { stream: true }, request: {}, holds: false },
    { when: { stream: false }, request: {}, holds: true },
    { when: { max_tokens: 16 }, request: { max_tokens: 16 }, holds: true },
    { when: { max_tokens: 16 }, request: { max_completion_tokens: 16 }, holds: true },
    { when: { max_tokens: { max: 16 } }, request: { max_tokens: 17 }, holds: false },
    { when: { max_tokens: { min: 0 } }, request: {}, holds: false },
    { when: { thinking: "on" }, request: {}, holds: true },
    { when: { thinking: "off" }, request: {}, holds: false },
    { when: { thinking: "off" }, request: { reasoning_effort: "none" }, holds: true },
    { when: { thinking: "off" }, request: { reasoning_effort: "low" }, holds: false },
    { when: { thinking: "off" }, request: { chat_template_kwargs: { enable_thinking: false } }, holds: true },
    { when: { thinking: "on" }, request: { chat_template_kwargs: { enable_thinking: true } }, holds: true },
  ])("$when on $request holds: $holds", ({ when, request, holds: wanted }) => {
    expect(holds(when, { ...talk(user("a")), ...request })).toBe(wanted);
  });

  const asks = [
    { request: {}, constraint: "none" },
    { request: { grammar: "" }, constraint: "none" },
    { request: { response_format: { type: "text" } }, constraint: "none" },
    { request: { grammar: "root ::= x" }, constraint: "grammar" },
    { request: { response_format: { type: "json_schema", json_schema: {} } }, constraint: "json_schema" },
    { request: { json_schema: { type: "object" } }, constraint: "json_schema" },
    { request: { response_format: { type: "json_object" } }, constraint: "json_object" },
    { request: { structured_outputs: { json: {} } }, constraint: "structured_outputs" },
  ];
  test.each(asks)("$request asks for $constraint", ({ request, constraint }) => {
    const body = { ...talk(user("a")), ...request };
    const words = ["none", "grammar", "json_schema", "json_object", "structured_outputs"];
    expect(words.filter((word) => holds({ constraint: word }, body))).toEqual([constraint]);
    expect(holds({ constraint: "any" }, body)).toBe(constraint !== "none");
  });
});

/** The ids that requests meet, one after the other. */
function met(script: object, ...goals: string[]): readonly (string | null)[] {
  const own = stage({ turns: [], ...script });
  return goals.map((goal) => own.ask(hello({ messages: [user(goal)] })).entry.turn);
}

const turn = (id: string, more: object = {}) => ({ id, reply: { content: id }, ...more });

describe("the turn that is played", () => {
  test("is the first in file order that fits", () => {
    expect(met({ turns: [turn("a", { when: { goal_contains: "x" } }), turn("b"), turn("c")] }, "x", "y", "x")).toEqual([
      "a",
      "b",
      "a",
    ]);
  });

  test("is none where none fits, and then the script's own answer for that is given", () => {
    const turns = [turn("a", { when: { goal_contains: "x" } })];
    const none = stage({ turns }).ask(hello());
    expect([none.entry.turn, none.status, none.body]).toEqual([
      null,
      400,
      '{"error":{"code":400,"type":"scripted_no_turn","message":"scripted seat: no turn fits this request"}}',
    ]);
    expect(stage({ turns, otherwise: { content: "else" } }).ask(hello({ stream: false })).body).toContain(
      '"content":"else"',
    );
  });

  test("is played as often as `times` says, in each conversation", () => {
    const turns = [turn("a", { times: 2 }), turn("b", { times: 1 })];
    expect(met({ turns }, "x", "x", "y", "x", "x", "y", "y", "y")).toEqual(["a", "a", "a", "b", null, "a", "b", null]);
  });

  test("is counted over the server where it says so", () => {
    const turns = [turn("a", { times: 2, count: "server" }), turn("b", { times: 1 })];
    expect(met({ turns }, "x", "y", "x", "y", "z", "z")).toEqual(["a", "a", "b", "b", "b", null]);
  });

  test("may ask for the number of the request, over the conversation or the server", () => {
    const own = [
      turn("second", { when: { request: 2 } }),
      turn("late", { when: { request: { min: 4 } } }),
      turn("other"),
    ];
    expect(met({ turns: own }, "x", "y", "x", "y", "x", "x")).toEqual([
      "other",
      "other",
      "second",
      "second",
      "other",
      "late",
    ]);
    const all = [turn("third", { when: { request: 3 }, count: "server" }), turn("other")];
    expect(met({ turns: all }, "x", "y", "z", "x")).toEqual(["other", "other", "third", "other"]);
  });
});

describe("strict order", () => {
  test("plays the turns one after the other, each once", () => {
    expect(met({ order: "strict", turns: [turn("a"), turn("b")] }, "x", "x", "x", "y", "y")).toEqual([
      "a",
      "b",
      null,
      "a",
      "b",
    ]);
  });

  test("meets nothing where the next one does not fit, and stays there", () => {
    const turns = [turn("a"), turn("b", { when: { goal_contains: "never" } }), turn("c")];
    expect(met({ order: "strict", turns }, "x", "x", "x")).toEqual(["a", null, null]);
    const later = [turn("a"), turn("b", { when: { request: 3 } }), turn("c")];
    expect(met({ order: "strict", turns: later }, "x", "x", "x", "x")).toEqual(["a", null, "b", "c"]);
  });

  test("plays a turn as often as it says before the next", () => {
    expect(met({ order: "strict", turns: [turn("a", { times: 2 }), turn("b")] }, "x", "x", "x", "x")).toEqual([
      "a",
      "a",
      "b",
      null,
    ]);
  });

  test("goes on over all conversations with what is counted over the server", () => {
    const turns = [turn("a", { count: "server" }), turn("b", { count: "server" }), turn("c")];
    expect(met({ order: "strict", turns }, "x", "y", "x", "y", "y")).toEqual(["a", "b", "c", "c", null]);
  });
});
