import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "../../../src/core/json/parse.ts";
import { isObject } from "../../../src/core/json/value.ts";
import { readArguments } from "../../../src/core/seat/arguments.ts";
import type { ToolSpec } from "../../../src/core/seat/endpoint.ts";
import { specOf, TOOL_SPECS } from "../../../src/core/seat/tool-specs.ts";

function spec(name: string): ToolSpec {
  const found = specOf(name);
  if (found === null) throw new Error(`no tool ${name}`);
  return found;
}

const read = spec("read_file");
const list = spec("list_dir");
const search = spec("search_files");

describe("readArguments() takes", () => {
  test.each([
    { text: '{"path":"a.md"}', values: { path: "a.md" }, sent: '{"path":"a.md"}', notes: [] },
    // As it was written: a server finds what it has read before.
    { text: '{ "path" : "a.md" }', values: { path: "a.md" }, sent: '{ "path" : "a.md" }', notes: [] },
    { text: '{"path":"a","offset":3}', values: { path: "a", offset: 3 }, sent: '{"path":"a","offset":3}', notes: [] },
    {
      text: '{"path":"a","encoding":"utf8"}',
      values: { path: "a" },
      sent: '{"path":"a","encoding":"utf8"}',
      notes: ["unknown arguments dropped: encoding"],
    },
    { text: '{"path":"a","limit":null}', values: { path: "a" }, sent: '{"path":"a","limit":null}', notes: [] },
    {
      text: 'Sure!\n```json\n{"path":"a}b"}\n```',
      values: { path: "a}b" },
      sent: '{"path":"a}b"}',
      notes: ["arguments repaired"],
    },
    { text: '{"path":"a"}}', values: { path: "a" }, sent: '{"path":"a"}', notes: ["arguments repaired"] },
  ])("$text", ({ text, values, sent, notes }) => {
    expect(readArguments(text, read, false)).toEqual({ kind: "ok", values, sent, notes });
  });
});

describe("readArguments() refuses", () => {
  const misfit = (tool: string, what: string) =>
    `NOT performed: arguments of ${tool} do not match its schema (${what}); resend the call`;

  test.each([
    { spec: read, text: '{"path":1}', message: misfit("read_file", "path: expected string"), sent: '{"path":1}' },
    { spec: read, text: "", message: misfit("read_file", "path: expected string"), sent: "{}" },
    {
      spec: read,
      text: '{"path":"a","offset":"3"}',
      message: misfit("read_file", "offset: expected integer"),
      sent: '{"path":"a","offset":"3"}',
    },
    {
      spec: read,
      text: '{"path":"a","offset":1.5}',
      message: misfit("read_file", "offset: expected integer"),
      sent: '{"path":"a","offset":1.5}',
    },
    {
      spec: search,
      text: '{"pattern":"a","mode":"all"}',
      message: misfit("search_files", "mode: expected one of content, files"),
      sent: '{"pattern":"a","mode":"all"}',
    },
    // Not what a history may hold: the arguments of a call are an object.
    { spec: list, text: '["."]', message: misfit("list_dir", "arguments: expected object"), sent: "{}" },
    { spec: list, text: '"."', message: misfit("list_dir", "arguments: expected object"), sent: "{}" },
    {
      spec: list,
      text: "path=.",
      message: "NOT performed: arguments are not valid JSON (line 1, column 1: ",
      sent: "{}",
    },
    {
      spec: list,
      text: '{"path":".",}',
      message: "NOT performed: arguments are not valid JSON (line 1, column 12: ",
      sent: "{}",
    },
    // The one object in it parses and does not fit.
    {
      spec: list,
      text: 'call: {"dir":"."}',
      message: "NOT performed: arguments are not valid JSON (line 1, column 1: ",
      sent: "{}",
    },
  ])("$text", ({ spec, text, message, sent }) => {
    const found = readArguments(text, spec, false);
    expect(found.kind).toBe("refused");
    if (found.kind !== "refused") return;
    expect(found.message).toStartWith(message);
    expect(found.sent).toBe(sent);
  });
});

describe("readArguments() knows a cut call by", () => {
  test.each([
    { why: "the end of the turn", text: "{path", is_cut: true },
    { why: "a text that breaks off in a string", text: '{"path":"a', is_cut: false },
    { why: "a text that breaks off between members", text: '{"path":"a",', is_cut: false },
  ])("$why", ({ text, is_cut }) => {
    expect(readArguments(text, read, is_cut)).toEqual({ kind: "cut" });
  });

  test("nothing, where the arguments are whole although the turn was cut", () => {
    expect(readArguments('{"path":"a"}', read, true).kind).toBe("ok");
  });
});

test("what readArguments() hands back for a history is always a JSON object", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ path: fc.anything(), offset: fc.anything() }).map((value) => JSON.stringify(value)),
    fc.json().map((text) => text.slice(0, -1)),
    fc.json().map((text) => `x ${text} y`),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(...TOOL_SPECS), fc.boolean(), (text, tool, is_cut) => {
      const found = readArguments(text, tool, is_cut);
      if (found.kind === "cut") return;
      const parsed = parseJson(found.sent);
      expect(parsed.ok && isObject(parsed.value)).toBe(true);
    }),
  );
});
