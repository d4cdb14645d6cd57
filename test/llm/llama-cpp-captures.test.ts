/** The endpoint held against what a real llama.cpp server answered. */
import { describe, expect, test } from "bun:test";
import type { ChatOutcome } from "../../src/core/seat/endpoint.ts";
import { findSeat } from "../../src/llm/find-seat.ts";
import { ASK, endpointOf, watching } from "../support/chat.ts";
import { captureNames, captureOf } from "../support/llama-capture.ts";
import { rawServer, respond } from "../support/raw-server.ts";

const CONSTRAINT = { mode: "json_schema", schema: {}, grammar: null } as const;
const SIGNAL = new AbortController().signal;

/** A server that answers these paths as the real one did. */
function captured(names: Readonly<Record<string, string>>) {
  return rawServer((asked) => {
    const name = names[asked.path];
    if (name === undefined) return respond(asked, 404, captureOf("unknown-path").response.text);
    const { status, headers, text } = captureOf(name).response;
    const { "transfer-encoding": _, ...rest } = headers;
    respond(asked, status, text, { ...rest, "Content-Type": headers["content-type"] ?? "application/json" });
  });
}

async function chatAs(name: string, isConstrained = false): Promise<ChatOutcome> {
  await using server = await captured({ "/v1/chat/completions": name });
  const body = captureOf(name).request.body;
  const max_tokens = typeof body === "object" && body !== null && "max_tokens" in body ? Number(body.max_tokens) : 100;
  const request = { ...ASK, max_tokens, constraint: isConstrained ? CONSTRAINT : null };
  return await endpointOf({ base_url: server.url }).chat(request, watching());
}

describe("an answer", () => {
  test.each([
    { name: "chat", content: /^Hello! I'm here to help/, is_cut: false },
    { name: "stream", content: /^Hello! I'm here to help/, is_cut: false },
    { name: "chat-length", content: /^Hello! I$/, is_cut: true },
    { name: "stream-length", content: /^Hello! I$/, is_cut: true },
    { name: "stream-no-usage", content: /^Hello! I$/, is_cut: true, usage: false },
    // What is read of the prompt is no content, and this model had nothing to say.
    { name: "stream-progress", content: /^$/, is_cut: false },
    // The window is full: fewer tokens than were allowed, and cut all the same.
    { name: "window-full", content: /^Hello!/, is_cut: true },
    { name: "json-schema", content: /^\{\s*"ok"\s*:\s*"yes"\s*\}$/, is_cut: false },
    { name: "reasoning", content: /^Hello there\.$/, reasoning: /^They want a greeting\.\n$/, is_cut: false },
    { name: "stream-reasoning", content: /^Hello there\.$/, reasoning: /^They want a greeting\.\n$/, is_cut: false },
    { name: "stream-reasoning-only", content: /^$/, reasoning: /creative writing/, is_cut: false },
  ])("of $name is put together", async ({ name, content, reasoning = /^$/, is_cut, usage = true }) => {
    const outcome = await chatAs(name);
    expect(outcome.kind).toBe("answered");
    if (outcome.kind !== "answered") return;
    expect(outcome.completion.content).toMatch(content);
    expect(outcome.completion.reasoning).toMatch(reasoning);
    expect(outcome.completion.is_cut).toBe(is_cut);
    expect(outcome.completion.usage !== null).toBe(usage);
    expect(outcome.completion.calls).toEqual([]);
  });

  test.each([
    { name: "tool-call", is_cut: false },
    { name: "stream-tool-call", is_cut: false },
    { name: "tool-call-cut", is_cut: true },
    { name: "stream-tool-call-cut", is_cut: true },
  ])("of $name holds its call", async ({ name, is_cut }) => {
    const outcome = await chatAs(name);
    expect(outcome.kind).toBe("answered");
    if (outcome.kind !== "answered") return;
    const [call] = outcome.completion.calls;
    expect([outcome.completion.calls.length, call?.name, outcome.completion.is_cut]).toEqual([1, "read_file", is_cut]);
    expect(call?.id).toMatch(/^\w{32}$/);
    // As the model wrote it, and as far as its tokens went.
    expect(call?.arguments).toMatch(is_cut ? /^\{"path": "\w+\.md"?$/ : /^\{"path": "\w+\.md"\}$/);
  });

  test("that was cut before the tool's name was whole: a stream is empty, and a whole answer holds the markup", async () => {
    const streamed = await chatAs("stream-tool-call-cut-early");
    expect(streamed).toMatchObject({ kind: "answered", completion: { content: "", calls: [], is_cut: true } });
    const whole = await chatAs("history-content-null");
    expect(whole).toMatchObject({ kind: "answered", completion: { calls: [], is_cut: true } });
    expect(whole.kind === "answered" ? whole.completion.content : "").toStartWith("<tool_call>");
  });
});

describe("what is no answer", () => {
  test.each([
    { name: "chat-loading", outcome: { kind: "loading" } },
    { name: "too-long", outcome: { kind: "too_long", n_ctx: 512, n_prompt: 1231 } },
    { name: "too-long-stream", outcome: { kind: "too_long", n_ctx: 512, n_prompt: 1231 } },
    { name: "history-arguments", outcome: { kind: "bad_call" } },
    { name: "grammar-with-tools", outcome: { kind: "refused", status: 400 } },
    { name: "unauthorized", outcome: { kind: "refused", status: 401 } },
    { name: "unauthorized-wrong", outcome: { kind: "refused", status: 401 } },
    { name: "bad-json", outcome: { kind: "refused", status: 400 } },
    { name: "no-messages", outcome: { kind: "refused", status: 400 } },
    { name: "chat-by-get", outcome: { kind: "refused", status: 404 } },
  ])("as $name is $outcome.kind", async ({ name, outcome }) => {
    expect(await chatAs(name)).toMatchObject(outcome);
  });

  test.each(["bad-grammar", "bad-grammar-stream", "bad-schema", "bad-schema-type", "unknown-format"])(
    "as %s refuses the mode that was asked for",
    async (name) => {
      expect(await chatAs(name, true)).toMatchObject({ kind: "mode_refused", status: 400 });
    },
  );
});

describe("a look", () => {
  const alias = "smollm2-135m-instruct";
  const look = async (names: Readonly<Record<string, string>>, model = alias) => {
    await using server = await captured(names);
    return await endpointOf({ base_url: server.url, model }).look(SIGNAL);
  };

  test("sees a server that is ready, its slots, and those at work", async () => {
    const ready = { "/health": "health", "/v1/models": "models" };
    expect(await look({ ...ready, "/slots": "slots" })).toMatchObject({
      state: "ready",
      busy_slots: 0,
      total_slots: 1,
    });
    expect(await look({ ...ready, "/slots": "slots-busy" })).toMatchObject({
      state: "ready",
      busy_slots: 1,
      total_slots: 1,
    });
    expect(await look({ ...ready, "/slots": "slots" }, "another")).toMatchObject({ state: "not_served" });
  });

  test("sees that the model is still loading", async () => {
    const names = { "/health": "health-loading", "/v1/models": "models-loading", "/slots": "health-loading" };
    expect(await look(names)).toMatchObject({ state: "loading" });
  });

  test("finds a free slot, or that there is none", async () => {
    const path = "/slots?fail_on_no_slot=1";
    const free = async (name: string) => {
      await using server = await captured({ [path]: name });
      return await endpointOf({ base_url: server.url }).hasFreeSlot(SIGNAL);
    };
    expect([await free("slots-one-free"), await free("slots-no-slot")]).toEqual([true, false]);
  });

  test("reads the window of one slot, the number of slots, and counts tokens", async () => {
    await using server = await captured({ "/props": "props", "/tokenize": "tokenize" });
    const endpoint = endpointOf({ base_url: server.url });
    expect(await endpoint.windowTokens(SIGNAL)).toBe(2048);
    expect(await endpoint.totalSlots(SIGNAL)).toBe(2);
    expect(await endpoint.countTokens("Hello world, ä", SIGNAL)).toBe(5);
  });

  test("learns whether the chat template takes tools", async () => {
    const takes = async (props: string) => {
      await using server = await captured({ "/props": props, "/v1/models": "models" });
      const found = await findSeat(server.url, { environment: () => undefined, clock: { ms: () => 0 } });
      return [await endpointOf({ base_url: server.url }).takesTools(SIGNAL), found?.engine, found?.takes_tools];
    };
    expect(await takes("props")).toEqual([true, "llama.cpp", undefined]);
    expect(await takes("props-without-tools")).toEqual([false, "llama.cpp", false]);
    // A server that is loading tells nothing, and neither does one that is older than the question.
    expect(await takes("props-loading")).toEqual([null, "openai", undefined]);
  });

  test("learns nothing from a server that is loading, or that has switched a thing off", async () => {
    await using server = await captured({ "/props": "props-loading", "/tokenize": "metrics-off" });
    const endpoint = endpointOf({ base_url: server.url });
    expect(await endpoint.windowTokens(SIGNAL)).toBeNull();
    expect(await endpoint.countTokens("x", SIGNAL)).toBeNull();
  });
});

test("every capture names the server that gave it, and is of a request", () => {
  const names = captureNames();
  expect(names.length).toBeGreaterThan(50);
  for (const name of names) {
    const capture = captureOf(name);
    expect([capture.case, capture.server]).toEqual([name, captureOf("health").server]);
    expect(capture.request.path).toStartWith("/");
    expect(capture.response.status).toBeGreaterThanOrEqual(200);
  }
});
