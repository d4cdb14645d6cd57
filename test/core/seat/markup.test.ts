import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { callsInText } from "../../../src/core/seat/markup.ts";

const OFFERED = ["read_file", "finish"];
const call = { id: null, name: "read_file", arguments: '{"path":"a.md"}' };

describe("callsInText() reads", () => {
  test.each([
    [
      "the tags of Hermes and Qwen",
      '<tool_call>\n{"name": "read_file", "arguments": {"path":"a.md"}}\n</tool_call>',
      [call],
      "",
    ],
    [
      "words in front of them",
      'Let me look.\n<tool_call>{"name":"read_file","arguments":{"path":"a.md"}}</tool_call>',
      [call],
      "Let me look.",
    ],
    ["a tag that is not closed", '<tool_call>{"name":"read_file","arguments":{"path":"a.md"}}', [call], ""],
    [
      "several calls",
      '<tool_call>{"name":"read_file","arguments":{"path":"a.md"}}</tool_call>\n<tool_call>{"name":"x","arguments":{}}</tool_call>',
      [call, { id: null, name: "x", arguments: "{}" }],
      "",
    ],
    ["Llama's function tag", '<function=read_file>{"path":"a.md"}</function>', [call], ""],
    ["Mistral's list", '[TOOL_CALLS][{"name":"read_file","arguments":{"path":"a.md"}}]', [call], ""],
    ["Granite's list", '<|tool_call|>[{"name":"read_file","arguments":{"path":"a.md"}}]', [call], ""],
    [
      "parameters for arguments",
      '<tool_call>{"name":"read_file","parameters":{"path":"a.md"}}</tool_call>',
      [call],
      "",
    ],
    [
      "arguments in a string",
      '<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"a.md\\"}"}</tool_call>',
      [call],
      "",
    ],
    ["a bare call of an offered tool", '```json\n{"name":"read_file","arguments":{"path":"a.md"}}\n```', [call], ""],
  ])("%s", (_, text, calls, rest) => {
    expect(callsInText(text, OFFERED)).toEqual({ kind: "calls", calls, rest });
  });
});

describe("callsInText() does not read", () => {
  test.each([
    ["half a call", '<tool_call>{"name":"read_file","arguments":{"pa'],
    ["the form of parameters in tags", "<function=read_file>\n<parameter=path>a.md</parameter>\n</function>"],
    [
      "one bad call among good ones",
      '<tool_call>{"name":"read_file","arguments":{}}</tool_call><tool_call>nonsense</tool_call>',
    ],
    ["a call without a name", '<tool_call>{"arguments":{}}</tool_call>'],
  ])("%s", (_, text) => {
    expect(callsInText(text, OFFERED)).toEqual({ kind: "unreadable" });
  });
});

describe("callsInText() finds no call in", () => {
  test.each([
    ["plain words", "The file says 3."],
    ["an object that is an answer", '{"name":"Ada","arguments":{"x":1}}'],
    ["a bare call within words", 'I would call {"name":"read_file","arguments":{"path":"a.md"}} now.'],
  ])("%s", (_, text) => {
    expect(callsInText(text, OFFERED)).toEqual({ kind: "none" });
  });
});

test("callsInText() answers on any text, in time that grows with it", () => {
  const pieces = fc.constantFrom(
    "<tool_call>",
    "<function=a>",
    "[TOOL_CALLS]",
    "<|tool_call",
    "{",
    "}",
    "[",
    '"',
    " ",
    "x",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      expect(["none", "calls", "unreadable"]).toContain(callsInText(parts.join(""), OFFERED).kind);
    }),
  );
  expect(callsInText('<tool_call>{"name":"x","arguments":{}}'.repeat(50_000), OFFERED).kind).toBe("calls");
  expect(callsInText("<tool_call>".repeat(200_000), OFFERED).kind).toBe("unreadable");
  expect(callsInText(`<tool_call>${"{".repeat(1_000_000)}`, OFFERED).kind).toBe("unreadable");
});
