import { describe, expect, test } from "bun:test";
import {
  judgeStructured,
  losslessText,
  STRUCTURED_SYSTEM,
  structuredMessages,
  structuredTokens,
  wholeElements,
} from "../../../src/core/seat/structured.ts";

const schema = {
  type: "object",
  properties: {
    port: { type: "integer" },
    items: { type: "array", items: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  },
  required: ["port"],
};

describe("losslessText() takes the answer as it is", () => {
  test.each([
    ["an object", '{"port":80}', '{"port":80}'],
    ["in its own spelling", ' { "port" : 80 } ', '{ "port" : 80 }'],
    ["in a fence", '```json\n{"port":80}\n```', '{"port":80}'],
    ["within words", 'Here: {"port":80}. Done.', '{"port":80}'],
    ["with texts that spell what the schema wants", '{"port":"80"}', '{"port":80}'],
  ])("%s", (_, answer, text) => {
    expect(losslessText(answer, schema)).toBe(text);
  });

  test.each([
    ["words", "The port is 80."],
    ["an object without what is required", '{"host":"a"}'],
    ["two objects", '{"port":80} or {"port":81}'],
    ["a list", "[80]"],
    ["half an object", '{"port":80'],
  ])("but not %s", (_, answer) => {
    expect(losslessText(answer, schema)).toBeNull();
  });
});

test("the tokens of the step grow with the answer, between 512 and those of the end", () => {
  expect([
    structuredTokens("", 8192),
    structuredTokens("a".repeat(3000), 8192),
    structuredTokens("a".repeat(90_000), 8192),
  ]).toEqual([512, 2512, 8192]);
  expect(structuredTokens("", 256)).toBe(256);
});

describe("structuredMessages()", () => {
  const ask = { schema, schemaText: "{S}", answer: "It is 80.", room: 1000, errors: [] };

  test("asks for the fields and nothing else", () => {
    expect(structuredMessages({ ...ask, mode: "grammar" })).toEqual([
      {
        role: "system",
        content:
          "extract exactly these fields from the text; use empty values for what the text does not give; invent nothing",
      },
      { role: "user", content: "Fields:\n- port (integer)\n- items (array of object)\n\nText:\nIt is 80." },
    ]);
    expect(STRUCTURED_SYSTEM).not.toContain("\n");
  });

  test("writes the schema out where nothing holds the answer to it, and says what was wrong", () => {
    const [, user] = structuredMessages({ ...ask, mode: "prompt", errors: ["/port: no number"] });
    expect(user?.content).toBe(
      "Fields:\n- port (integer)\n- items (array of object)\n\nAnswer with one JSON object by this JSON Schema, and nothing else:\n{S}\n\nText:\nIt is 80.\n\nThe last attempt was not valid:\n- /port: no number",
    );
  });

  test("cuts an answer that does not fit in its middle", () => {
    const [, user] = structuredMessages({ ...ask, mode: "grammar", answer: "abcdefgh", room: 4 });
    expect(user?.content).toEndWith("Text:\nab\n[… 4 characters cut …]\ngh");
  });
});

describe("judgeStructured()", () => {
  test("takes what validates, by the original schema", () => {
    expect(judgeStructured('{"port":80,"items":[]}', schema, schema)).toEqual({
      kind: "valid",
      text: '{"port":80,"items":[]}',
    });
    expect(judgeStructured('```\n{"port":"80"}\n```', schema, schema)).toEqual({ kind: "valid", text: '{"port":80}' });
  });

  test.each([
    ["words", "The port is 80."],
    ["an object of other names", '{"answer":80}'],
    ["an empty object", "{}"],
  ])("says of %s that the mode was not heeded", (_, text) => {
    expect(judgeStructured(text, schema, schema).kind).toBe("ignored");
    expect(judgeStructured(text, schema, { ...schema, required: [] }).kind).toBe("ignored");
  });

  test("says what is wrong", () => {
    const attempt = judgeStructured('{"port":"eighty"}', schema, schema);
    expect(attempt).toMatchObject({ kind: "invalid" });
    expect(attempt.kind === "invalid" && attempt.errors[0]).toStartWith("/port: ");
    expect(judgeStructured('{"port":80,"items":[{"n":1},{"n"', schema, schema).kind).toBe("invalid");
  });
});

describe("wholeElements()", () => {
  test.each([
    ['{"port":80,"items":[{"n":1},{"n":2},{"n":', '{"port":80,"items":[{"n":1},{"n":2}]}'],
    ['{"port":80,"items":[{"n":1},{"n":2}', '{"port":80,"items":[{"n":1},{"n":2}]}'],
    // The field that was not reached is required.
    ['{"items":[{"n":1},{"n":2', null],
    ['{"port":80,"items":[{"n', null],
    ['{"port":80}', null],
    ["nothing", null],
  ])("of %s keeps %p", (text, kept) => {
    expect(wholeElements(text, schema)).toBe(kept);
  });
});
