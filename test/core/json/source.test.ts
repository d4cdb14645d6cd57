import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkJson, parseJson } from "../../../src/core/json/parse.ts";
import { compactSource, memberOf, readSource, roundedValue, type SourceNode } from "../../../src/core/json/source.ts";
import { assignKey, compactJson, type JsonValue, prettyJson } from "../../../src/core/json/value.ts";
import { anyJson } from "../contract/arbitrary.ts";

function nodeOf(text: string): SourceNode {
  const read = readSource(text);
  if (!read.ok) throw new Error(read.fault.message);
  return read.node;
}

function jsonOf(node: SourceNode): JsonValue {
  switch (node.kind) {
    case "null":
      return null;
    case "number":
      return Number(node.text);
    case "array":
      return node.items.map(jsonOf);
    case "object": {
      const object: Record<string, JsonValue> = {};
      for (const { key, value } of node.members) assignKey(object, key, jsonOf(value));
      return object;
    }
    default:
      return node.value;
  }
}

test.each(["0.50", "1e3", "-0", "1e400", "9007199254740993", "100000000000000000000000000000", "1.0"])(
  "readSource() keeps the number %s as spelled",
  (text) => {
    expect(nodeOf(` ${text} `)).toEqual({ kind: "number", start: 1, end: 1 + text.length, text });
  },
);

test("readSource() keeps the order of the text, also of keys like numbers, and where each stands", () => {
  const text = '{"b":1, "10":"\\u0041", "__proto__":[true,null]}';
  const node = nodeOf(text);
  if (node.kind !== "object") throw new Error("no object");
  expect(node.members.map(({ key, start, value }) => [key, start, text.slice(value.start, value.end)])).toEqual([
    ["b", 1, "1"],
    ["10", 8, '"\\u0041"'],
    ["__proto__", 23, "[true,null]"],
  ]);
  expect(memberOf(node, "10")).toMatchObject({ kind: "string", value: "A" });
  expect(memberOf(node, "toString")).toBeNull();
});

test.each([
  { text: '{"a":1,"a":2}', code: "bad_json" },
  { text: '["\\ud800"]', code: "bad_json" },
  { text: "[1,]", code: "bad_json" },
  { text: "\ufeff{}", code: "bad_json" },
  { text: "", code: "bad_json" },
])("readSource() refuses $text", ({ text, code }) => {
  expect(readSource(text)).toMatchObject({ ok: false, fault: { code } });
});

test("half a surrogate pair reads as U+FFFD where that is asked for, and its slice stays", () => {
  const text = '{"\\ud800":"a\\udfffb"}';
  const read = readSource(text, { surrogates: "keep" });
  if (!read.ok || read.node.kind !== "object") throw new Error("not read");
  const [member] = read.node.members;
  expect(member).toMatchObject({ key: "\ufffd", value: { value: "a\ufffdb" } });
  expect(text.slice(member?.value.start, member?.value.end)).toBe('"a\\udfffb"');
});

test.each([
  { text: '{"a":1,"b":{"c":1,"c":2}}', key: "c", first: { line: 1, column: 13 }, second: { line: 1, column: 19 } },
  {
    text: '{"é":1,\n "x":[{}],\n "\\u00e9":2}',
    key: "é",
    first: { line: 1, column: 2 },
    second: { line: 3, column: 2 },
  },
  { text: '[{"a":{"b":1},"a":', key: "a", first: { line: 1, column: 3 }, second: { line: 1, column: 15 } },
])("the fault of $text names both places of the key", ({ text, key, first, second }) => {
  const fault = checkJson(text);
  expect(fault).toMatchObject({ ...second, duplicate: { key, first } });
});

test("nesting is bounded as asked", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(readSource(nested(64), { maxDepth: 64 }).ok).toBe(true);
  expect(readSource(nested(65), { maxDepth: 64 })).toMatchObject({ fault: { code: "too_deep" } });
  expect(readSource(nested(100_000))).toMatchObject({ fault: { code: "too_deep" } });
});

test("readSource() and parseJson() read the same value, laid out in one line or in many", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      for (const text of [compactJson(value), prettyJson(value)]) {
        const parsed = parseJson(text);
        if (!parsed.ok) continue;
        expect(jsonOf(nodeOf(text))).toEqual(parsed.value);
      }
    }),
  );
});

test("readSource() returns on any text", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1e9",
    "-",
    "null",
    "tru",
    "\\u",
    " ",
    "\ud800",
    "//",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      const read = readSource(text);
      if (read.ok) expect(() => JSON.parse(text)).not.toThrow();
      else expect(read.fault.at).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("compactSource() leaves blanks out and numbers as they are spelled; roundedValue() rounds them", () => {
  const text = ' { "b" : [ 1.50 , 1e3, 9007199254740993 ] , "9" : {} , "a" : "\\u00e9\\n" , "n" : null, "t": true } ';
  const node = nodeOf(text);
  expect(compactSource(node)).toBe('{"b":[1.50,1e3,9007199254740993],"9":{},"a":"é\\n","n":null,"t":true}');
  expect(roundedValue(node)).toEqual({ b: [1.5, 1000, 9007199254740992], 9: {}, a: "é\n", n: null, t: true });
});
