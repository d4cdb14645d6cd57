import { describe, expect, test } from "bun:test";
import type { ChatOutcome } from "../../src/core/seat/endpoint.ts";
import { play, type Reply, type Script, said, slowly } from "../support/seat-world.ts";

const output_schema = {
  type: "object",
  properties: {
    port: { type: "integer", description: "the port" },
    items: { type: "array", items: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  },
  required: ["port"],
};
const refused: ChatOutcome = { kind: "mode_refused", status: 400, message: "HTTP 400: no grammar" };
const died: ChatOutcome = { kind: "died", status: null, message: "connection reset" };

/** A run whose first turn is the answer. */
function playStep(replies: readonly Reply[], more: Partial<Script> = {}, answer: Reply = "The port is 80.") {
  return play({ ...more, replies: [answer, ...replies], contract: { output_schema, ...more.contract } });
}

test("an answer that is one already is taken as it is, without a request", async () => {
  const { result, requests } = await playStep([], {}, 'Here:\n```json\n{"port": "80"}\n```');
  expect(requests).toHaveLength(1);
  expect(result).toMatchObject({
    structured: '{"port": 80}',
    schema_miss: false,
    repack: { mode: "lossless", attempts: 0, ms: 0 },
  });
});

test("a contract without a schema has no structured form", async () => {
  const { result } = await play({ replies: ['{"port":80}'] });
  expect(result).toMatchObject({ structured: null, repack: { mode: "none" }, deferred: false });
});

describe("the seat is asked", () => {
  test("for the fields of its answer, without tools and thinking", async () => {
    const { result, requests, modes } = await playStep([slowly(700, '{"port":80,"items":[]}')], {
      contract: { output_schema, thinking: "on" },
    });
    const [, request] = requests;
    expect(request).toMatchObject({
      tools: [],
      max_tokens: 522,
      thinking: "off",
      constraint: {
        mode: "grammar",
        grammar: expect.stringContaining("root ::="),
        schema: { additionalProperties: false },
      },
    });
    expect(said(request)).toEqual([
      "system: extract exactly these fields from the text; use empty values for what the text does not give; invent nothing",
      "user: Fields:\n- port (integer): the port\n- items (array of object)\n\nText:\nThe port is 80.",
    ]);
    expect(result).toMatchObject({
      output: "The port is 80.",
      structured: '{"port":80,"items":[]}',
      deferred: false,
      stop_reason: "done",
      steps: 1,
      repack: { mode: "grammar", attempts: 1, ms: 700 },
      timings: { repack_ms: 700 },
    });
    expect(modes).toEqual(["grammar"]);
  });

  test("in the way that worked last", async () => {
    const { requests } = await playStep(['{"port":80}'], { mode: "json_object" });
    expect(requests[1]?.constraint?.mode).toBe("json_object");
    expect(said(requests[1])[1]).toContain("Answer with one JSON object by this JSON Schema, and nothing else:\n{");
  });

  test("in the next way where one is refused or not heeded", async () => {
    const { result, requests, modes } = await playStep([refused, "The port is 80.", '{"answer":1}', '{"port":80}']);
    expect(requests.slice(1).map(({ constraint }) => constraint?.mode)).toEqual([
      "grammar",
      "json_schema",
      "json_object",
      "prompt",
    ]);
    expect(result).toMatchObject({ structured: '{"port":80}', repack: { mode: "prompt", attempts: 3 } });
    expect(modes).toEqual(["prompt"]);
  });

  test("with every field that acceptance names", async () => {
    const { result, requests } = await playStep(['{"port":80}', '{"port":80,"items":[]}'], {
      contract: { output_schema, acceptance: ["min_items:items:1"] },
    });
    expect(requests).toHaveLength(3);
    expect(result.structured).toBe('{"port":80,"items":[]}');
    // The checks themselves are not shown to it.
    expect(JSON.stringify(requests)).not.toContain("min_items");
  });

  test("of what was left out of the schema that it was sent, the result tells", async () => {
    const { result } = await playStep(['{"port":80}'], {
      seat: { engine: "openai" },
      contract: { output_schema: { properties: { port: { type: "integer", minimum: 1 } } } },
    });
    expect(result.repack).toMatchObject({
      mode: "json_schema",
      note: "left out of the schema that was sent: /properties/port/minimum",
    });
  });
});

describe("an attempt that is not valid", () => {
  test("is repaired once, with what was wrong", async () => {
    const { result, requests } = await playStep(['{"port":"eighty"}', '{"port":80}']);
    expect(said(requests[2])[1]).toContain("The last attempt was not valid:\n- /port: ");
    expect(result).toMatchObject({ structured: '{"port":80}', repack: { mode: "grammar", attempts: 2 } });
  });

  test("twice is an abstention, with the answer in words kept", async () => {
    const { result, requests } = await playStep(['{"port":"eighty"}']);
    expect(requests).toHaveLength(3);
    expect(result).toMatchObject({
      deferred: true,
      defer_class: "abstention",
      output: "The port is 80.",
      structured: null,
      schema_miss: true,
      stop_reason: "done",
    });
    expect(result.reason).toStartWith("output failed schema: /port: ");
  });

  test("that was cut is asked for again with all tokens, and of a cut list whole items are kept", async () => {
    const cut = { content: '{"port":80,"items":[{"n":1},{"n":2},{"n":', is_cut: true };
    const { result, requests } = await playStep([cut]);
    expect(requests.slice(1).map(({ max_tokens }) => max_tokens)).toEqual([522, 8192]);
    // It is told what to do about it; where its JSON broke off would tell it nothing.
    expect(said(requests[2])[1]).toEndWith(
      "not valid:\n- it was too long and was cut off; write fewer and shorter entries, and fill every field",
    );
    expect(result).toMatchObject({
      structured: '{"port":80,"items":[{"n":1},{"n":2}]}',
      repack: { attempts: 2, note: "the list was cut; what is behind its last whole item is missing" },
    });
    const lost = await playStep([{ content: '{"port":8', is_cut: true }]);
    expect(lost.result).toMatchObject({ defer_class: "abstention", schema_miss: true });
    expect(lost.result.reason).toStartWith("output failed schema: it was cut at 8192 tokens: ");
  });

  test("in every way there is ends in an abstention as well", async () => {
    const { result, requests } = await playStep(["no JSON at all"]);
    expect(requests.slice(1).map(({ constraint }) => constraint?.mode)).toEqual([
      "grammar",
      "json_schema",
      "json_object",
      "prompt",
      "prompt",
    ]);
    expect(result.reason).toStartWith("output failed schema: ");
    const none = await playStep([refused]);
    expect(none.result).toMatchObject({
      defer_class: "abstention",
      reason: "output failed schema: HTTP 400: no grammar",
    });
  });
});

describe("a seat that is lost in this step", () => {
  test("is a fault of the place, with the answer in words kept", async () => {
    const { result } = await playStep([died]);
    expect(result).toMatchObject({
      deferred: true,
      defer_class: "infrastructure",
      reason: "structured step unreachable: agent loop: connection reset",
      output: "The port is 80.",
      schema_miss: true,
      stop_reason: "error",
    });
  });

  test("to others says so in the words of a busy seat", async () => {
    const { result } = await playStep([{ kind: "busy", status: 429, retry_after_sec: 99, message: "" }]);
    expect(result.reason).toBe("seat contended: 0s spent waiting on busy answers (last HTTP 429)");
    expect(result.schema_miss).toBe(true);
  });

  test("that is busy for a while is waited for", async () => {
    const { result } = await playStep([{ kind: "busy", status: 429, retry_after_sec: 9, message: "" }, '{"port":80}']);
    expect(result).toMatchObject({ structured: '{"port":80}', waits: { contention_sec: 9 }, repack: { ms: 0 } });
  });
});

test("the wall bounds this step too", async () => {
  const { result } = await playStep([slowly(200_000, '{"port":80}')], {}, slowly(150_000, "The port is 80."));
  expect(result).toMatchObject({
    defer_class: "budget",
    reason: "wall timeout after 300s",
    output: "The port is 80.",
    schema_miss: true,
    stop_reason: "wall",
    wall_ms: 300_000,
  });
});

describe("an answer that does not fit into the request", () => {
  const long = `start ${Array.from({ length: 3000 }, (_, index) => `word${index}`).join(" ")} end`;

  test("is cut in its middle, and the result tells", async () => {
    const { result, requests } = await playStep(['{"port":80}'], { seat: { ctx_tokens: 8192 } }, long);
    const text = said(requests[1])[1] ?? "";
    expect(text).toContain("characters cut …]");
    expect(text).toEndWith(" end");
    expect(result.repack.note).toMatch(/^the answer was cut to \d+ of \d+ characters$/);
    expect(requests[1]?.max_tokens).toBe(4096);
  });

  test("by the server's word is halved, once", async () => {
    const tooLong: ChatOutcome = { kind: "too_long", n_ctx: null, n_prompt: null, message: "too long" };
    const { result, requests } = await playStep([tooLong, '{"port":80}'], { seat: { ctx_tokens: 0 } }, long);
    expect(said(requests[1])[1]).not.toContain("cut …]");
    expect(said(requests[2])[1]).toContain("cut …]");
    expect(result.structured).toBe('{"port":80}');
    const never = await playStep([tooLong], { seat: { ctx_tokens: 0 } }, long);
    expect(never.requests).toHaveLength(3);
    expect(never.result).toMatchObject({
      defer_class: "budget",
      stop_reason: "context",
      schema_miss: true,
      output: long,
    });
  });
});

test("a run without an answer has no structured step", async () => {
  const { result, requests } = await playStep([], {}, { kind: "refused", status: 400, message: "no" });
  expect(requests).toHaveLength(1);
  expect(result).toMatchObject({ defer_class: "abstention", schema_miss: false, structured: null });
});
