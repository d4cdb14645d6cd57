import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "../../../src/core/json/parse.ts";
import { isObject } from "../../../src/core/json/value.ts";
import type { Completion } from "../../../src/core/seat/endpoint.ts";
import { toolsOf } from "../../../src/core/seat/tool-specs.ts";
import { type Again, type Decision, judgeTurn, judgeUnreadable, type Standing } from "../../../src/core/seat/turn.ts";
import { completion, received } from "../../support/completion.ts";

const reading = toolsOf({ profile: "research", write_root: "", deny_tools: [] }) ?? [];
const writing = toolsOf({ profile: "research", write_root: ".", deny_tools: [] }) ?? [];

function standing(more: Partial<Standing> = {}): Standing {
  return {
    step: 3,
    isFinal: false,
    offered: reading,
    max_tokens: 1024,
    step_tokens: 1024,
    final_tokens: 2048,
    thinking: "auto",
    again: new Map(),
    corrections: 2,
    usedIds: new Set(),
    ...more,
  };
}

const after = (...why: Again[]) => new Map(why.map((each) => [each, 1]));

function judge(said: Partial<Completion>, more: Partial<Standing> = {}): Decision {
  return judgeTurn(completion(said), standing(more));
}

const again = (why: Again, note: string | null): Decision => ({ kind: "again", why, note });
const answer = (text: string, stop_reason = "done", isTruncated = false) => ({
  kind: "answer",
  answer: { text, stop_reason, isTruncated },
});

function stopOf(decision: Decision) {
  return decision.kind === "stop" ? decision.defer : decision;
}

describe("a text without calls", () => {
  test("is the answer", () => {
    expect(judge({ content: " It says 3.\n" })).toEqual(answer("It says 3.") as Decision);
    expect(judge({ content: "It says 3." }, { isFinal: true })).toEqual(
      answer("It says 3.", "forced_final") as Decision,
    );
  });

  test("is asked for with more tokens when it was cut, once, and then kept as it is", () => {
    const cut = { content: "It sa", is_cut: true };
    expect(judge(cut)).toEqual(again("answer_cut", null));
    expect(judge(cut, { again: after("answer_cut"), max_tokens: 2048 })).toEqual(
      answer("It sa", "done", true) as Decision,
    );
    // There is no larger budget to ask with.
    expect(judge(cut, { step_tokens: 2048, max_tokens: 2048 })).toEqual(answer("It sa", "done", true) as Decision);
  });

  test("that loops is asked for again, once, and then trimmed", () => {
    const looping = { content: "x\na\na\na\na" };
    expect(judge(looping)).toEqual(
      again("repetition", "your last answer repeated itself; give the answer again and write each item once"),
    );
    const trimmed = answer("x\na\n[repetition trimmed x3]", "repetition", true) as Decision;
    expect(judge(looping, { again: after("repetition"), corrections: 1 })).toEqual(trimmed);
    expect(judge(looping, { corrections: 0 })).toEqual(trimmed);
  });

  test("that is degenerate says that the seat is broken", () => {
    expect(stopOf(judge({ content: "!".repeat(300) }))).toEqual({
      defer_class: "infrastructure",
      reason: "seat incoherent: one byte (0x21) stands 300 times in a row",
      stop_reason: "error",
    });
    expect(judge({ content: "", reasoning: "!".repeat(300) }).kind).toBe("stop");
  });
});

describe("an empty answer", () => {
  const empty = { content: "<think>hm</think>\n" };

  test("behind reasoning is asked for without thinking", () => {
    expect(judge(empty)).toEqual(again("thinking_off", null));
    expect(judge({ reasoning: "hm" })).toEqual(again("thinking_off", null));
    const still = judge({}, { thinking: "off", again: after("thinking_off") });
    expect(stopOf(still)).toEqual({ defer_class: "abstention", reason: "empty final answer", stop_reason: "empty" });
  });

  test("is asked for again where thinking is not to be switched, once", () => {
    const note = "your last answer was empty; give the final answer as plain text";
    for (const given of [{ thinking: "on" as const }, { thinking: "off" as const }]) {
      expect(judge(empty, given)).toEqual(again("empty", note));
    }
    expect(judge({})).toEqual(again("empty", note));
    expect(judge({}, { again: after("empty") }).kind).toBe("stop");
    expect(judge({}, { corrections: 0 }).kind).toBe("stop");
  });

  test("of a seat that spent all of its tokens on reasoning says so", () => {
    const starved = { reasoning: "hm", is_cut: true };
    expect(judge(starved, { thinking: "on" })).toEqual(again("answer_cut", null));
    const still = judge(starved, { thinking: "on", again: after("answer_cut", "empty"), max_tokens: 2048 });
    expect(stopOf(still)).toEqual({
      defer_class: "abstention",
      reason: "empty final answer: the seat spent its tokens on reasoning",
      stop_reason: "reasoning_starved",
    });
  });

  test("that was demanded ends the budget of steps", () => {
    const still = judge({}, { isFinal: true, step: 12, again: after("empty") });
    expect(stopOf(still)).toEqual({
      defer_class: "budget",
      reason: "step budget exhausted (12 steps)",
      stop_reason: "budget",
    });
  });
});

describe("calls", () => {
  test("are planned in their order, with ids where they have none or one twice", () => {
    const calls = [
      received("list_dir", { path: "." }, "x"),
      received("read_file", { path: "a" }, "x"),
      received("search_files", { pattern: "a" }, null),
      received("read_file", { path: "b" }, "old"),
      received("fly", { to: "moon" }, "y"),
    ];
    const decision = judge({ calls, content: "Looking." }, { usedIds: new Set(["old"]) });
    if (decision.kind !== "calls") throw new Error(decision.kind);
    expect(decision.content).toBe("Looking.");
    expect(decision.calls.map(({ sent }) => sent.id)).toEqual(["x", "call_3_2", "call_3_3", "call_3_4", "y"]);
    expect(decision.calls.map(({ plan }) => plan.kind)).toEqual(["run", "run", "run", "run", "unknown"]);
  });

  test("with arguments that do not fit are answered, not carried out", () => {
    const decision = judge({ calls: [received("read_file", "nonsense")] });
    if (decision.kind !== "calls") throw new Error(decision.kind);
    const [planned] = decision.calls;
    expect(planned?.sent.function.arguments).toBe("{}");
    expect(planned?.plan).toMatchObject({ kind: "refuse" });
  });

  test("that were cut are asked for again with all tokens, once", () => {
    const cut = { calls: [received("list_dir", { path: "." }), received("write_file", '{"path":"a","content":"é')] };
    expect(judge(cut)).toEqual(again("call_cut", "your last call was cut; send the whole call again"));
    expect(judge(cut, { offered: writing })).toEqual(
      again("call_cut", "your last call was cut; send the whole call again, or make a smaller change with edit_file"),
    );
    expect(stopOf(judge(cut, { again: after("call_cut"), max_tokens: 2048 }))).toEqual({
      defer_class: "budget",
      reason: "agent loop: a call of write_file was cut twice by the token budget",
      stop_reason: "tool_call_cut",
      stop_note: "step_tokens 1024, final_tokens 2048; write_file: 25 bytes of argument received",
    });
  });

  test("of finish end the run with its answer, and those before it are carried out", () => {
    const calls = [
      received("read_file", { path: "a" }),
      received("finish", { answer: "It says 3." }),
      received("read_file", { path: "b" }),
    ];
    const decision = judge({ calls });
    expect(decision).toMatchObject({ kind: "calls", answer: { text: "It says 3.", stop_reason: "finish" } });
    expect(decision.kind === "calls" && decision.calls.length).toBe(1);
  });

  test("of finish without an answer are an empty final, or the text beside them", () => {
    const calls = [received("finish", { answer: " " })];
    expect(judge({ calls })).toMatchObject({ kind: "again", why: "empty" });
    expect(judge({ calls, content: "It says 3." })).toMatchObject({ answer: { text: "It says 3." } });
  });

  test("are passed over where the answer was demanded, but for finish", () => {
    expect(judge({ calls: [received("read_file", { path: "a" })], content: "It says 3." }, { isFinal: true })).toEqual(
      answer("It says 3.", "forced_final") as Decision,
    );
    expect(judge({ calls: [received("read_file", { path: "a" })] }, { isFinal: true })).toEqual(
      again("empty", "tool calls are over; give the final answer as plain text without any tool call"),
    );
    expect(judge({ calls: [received("finish", { answer: "It says 3." })] }, { isFinal: true })).toMatchObject({
      kind: "calls",
      calls: [],
      answer: { text: "It says 3.", stop_reason: "forced_final" },
    });
  });
});

describe("markup of calls in the text", () => {
  const readable = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>';

  test("is read where it can be", () => {
    const decision = judge({ content: `I look.\n${readable}` });
    expect(decision).toMatchObject({ kind: "calls", content: "I look.", isFromText: true });
  });

  test("that does not read is asked for again, once; then the server's parser is to blame", () => {
    const content = "<tool_call><read_file>a</read_file></tool_call>";
    expect(judge({ content })).toEqual(
      again(
        "unparsed",
        "your last tool call could not be read; call the tool again in the usual form, or answer in plain text",
      ),
    );
    const defer = stopOf(judge({ content }, { again: after("unparsed") }));
    expect(defer).toMatchObject({ defer_class: "abstention", stop_reason: "unparsed_tool_call" });
    expect("reason" in defer && defer.reason).toContain("tool parser");
    expect(judge({ content }, { corrections: 0 }).kind).toBe("stop");
  });

  test("that was cut is a cut call", () => {
    expect(judge({ content: '<tool_call>{"name":"read', is_cut: true })).toMatchObject({
      kind: "again",
      why: "call_cut",
    });
  });
});

describe("a call that the server could not read", () => {
  test("is a cut call when its end is missing", () => {
    expect(judgeUnreadable(true, "missing closing quote", standing())).toMatchObject({
      kind: "again",
      why: "call_cut",
    });
    expect(judgeUnreadable(true, "x", standing({ again: after("call_cut") }))).toMatchObject({
      kind: "stop",
      defer: {
        defer_class: "budget",
        stop_reason: "tool_call_cut",
        stop_note: "step_tokens 1024, final_tokens 2048; unknown tool: no argument received",
      },
    });
  });

  test("is asked for again in other words, as long as the run has corrections", () => {
    const first = judgeUnreadable(false, "bad", standing());
    const second = judgeUnreadable(false, "bad", standing({ again: after("unreadable"), corrections: 1 }));
    expect([first.kind, second.kind]).toEqual(["again", "again"]);
    expect(first).not.toEqual(second);
    expect(stopOf(judgeUnreadable(false, "bad", standing({ corrections: 0 })))).toEqual({
      defer_class: "abstention",
      reason: "agent loop: the server could not read the calls of the seat: bad",
      stop_reason: "error",
    });
  });
});

test("judgeTurn() judges any answer, and what it plans for the history is sound", () => {
  const name = fc.oneof(fc.constantFrom("read_file", "finish", "edit_file"), fc.string());
  const given = fc.oneof(fc.json(), fc.string(), fc.constant('{"path":"a"}'), fc.constant('{"answer":"b"}'));
  const calls = fc.array(fc.record({ id: fc.option(fc.constantFrom("", "a", "call_3_1")), name, arguments: given }), {
    maxLength: 12,
  });
  const said = fc.record({
    content: fc.oneof(fc.string(), fc.constantFrom("<tool_call>", "a\n".repeat(9), "<think>x", "done")),
    reasoning: fc.constantFrom("", "hm"),
    calls,
    is_cut: fc.boolean(),
  });
  const where = fc.record({
    isFinal: fc.boolean(),
    thinking: fc.constantFrom("auto" as const, "on" as const, "off" as const),
    corrections: fc.nat(2),
    again: fc.subarray(["call_cut", "answer_cut", "thinking_off", "empty", "unparsed", "repetition"] as Again[]),
  });
  fc.assert(
    fc.property(said, where, (words, place) => {
      const asked = after(...place.again);
      const decision = judge(words, {
        ...place,
        again: asked,
        thinking: asked.has("thinking_off") ? "off" : place.thinking,
      });
      if (decision.kind === "again") expect(asked.has(decision.why)).toBe(false);
      if (decision.kind !== "calls") return;
      const ids = decision.calls.map(({ sent }) => sent.id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { sent } of decision.calls) {
        const parsed = parseJson(sent.function.arguments);
        expect(parsed.ok && isObject(parsed.value)).toBe(true);
        expect(sent.function.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }
    }),
  );
});
