import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  appendChild,
  type JsonContainer,
  mapJson,
  nodeOf,
  removeChild,
  replaceValue,
} from "../../../src/core/json/edit.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

function containerAt(text: string, path: readonly (string | number)[]): JsonContainer {
  const node = nodeOf(mapJson(text), path);
  if (node === null || node.kind === "scalar") throw new Error(`there is no container at ${path.join(".")}`);
  return node;
}

const append = (text: string, path: readonly (string | number)[], key: string | null, value: JsonValue) =>
  appendChild(text, containerAt(text, path), key, value);

describe("appendChild()", () => {
  test.each<[string, string, JsonValue, string]>([
    [
      "two blanks",
      '{\n  "a": 1\n}\n',
      { b: [1, { c: 2 }] },
      '{\n  "a": 1,\n  "k": {\n    "b": [\n      1,\n      {\n        "c": 2\n      }\n    ]\n  }\n}\n',
    ],
    ["tabs", '{\n\t"a": 1\n}', { b: 1 }, '{\n\t"a": 1,\n\t"k": {\n\t\t"b": 1\n\t}\n}'],
    ["CRLF", '{\r\n  "a": 1\r\n}\r\n', { b: 1 }, '{\r\n  "a": 1,\r\n  "k": {\r\n    "b": 1\r\n  }\r\n}\r\n'],
    ["one line", '{"a":1}', { b: [1, 2] }, '{"a":1,"k":{"b":[1,2]}}'],
    ["one line with blanks", '{"a": 1}', { b: [1, 2] }, '{"a": 1, "k": {"b": [1, 2]}}'],
    ["a blank line between members", '{\n  "a": 1,\n\n  "b": 2\n}', 3, '{\n  "a": 1,\n\n  "b": 2,\n\n  "k": 3\n}'],
    ["nothing in it", "{}\n", { b: 1 }, '{\n  "k": {\n    "b": 1\n  }\n}\n'],
    ["a short list of words", '{\n  "a": 1\n}', ["x", "y"], '{\n  "a": 1,\n  "k": ["x", "y"]\n}'],
    ["blanks around it", ' \n{\n    "a": 1\n}', { b: 1 }, ' \n{\n    "a": 1,\n    "k": {\n        "b": 1\n    }\n}'],
  ])("takes the form of %s", (_, text, value, expected) => {
    expect(append(text, [], "k", value)).toBe(expected);
  });

  test("fills an empty place inside", () => {
    expect(append('{\n  "a": [],\n  "b": 1\n}', ["a"], null, { c: 1 })).toBe(
      '{\n  "a": [\n    {\n      "c": 1\n    }\n  ],\n  "b": 1\n}',
    );
  });

  test("keeps to one line where the neighbours do", () => {
    expect(append('{\n  "a": [{ "b": 1 }]\n}', ["a"], null, { c: [1] })).toBe('{\n  "a": [{ "b": 1 }, {"c": [1]}]\n}');
  });
});

test("removeChild() takes the first, one between, the last, and the only one", () => {
  const text = "[1, 2,  3]";
  const without = (index: number) => removeChild(text, containerAt(text, []), index);
  expect([0, 1, 2, 3].map(without)).toEqual(["[2,  3]", "[1,  3]", "[1, 2]", text]);
  expect(removeChild('{ "a": 1 }', containerAt('{ "a": 1 }', []), 0)).toBe("{}");
});

test("replaceValue() changes one value and no other byte", () => {
  const text = '{ "a": "x\\"}",   "b": [1,2] }';
  const node = nodeOf(mapJson(text), ["a"]);
  if (node === null) throw new Error("there is no such place");
  expect(replaceValue(text, node, "y")).toBe('{ "a": "y",   "b": [1,2] }');
});

test.each<[(string | number)[], string | null]>([
  [["a", 1, "b"], "true"],
  [["a", 0], "1.5e3"],
  [["a", 7], null],
  [["a", "b"], null],
  [["a", 1, 0], null],
  [["a", 0, "b"], null],
  [["\u00e9"], '"\\""'],
  [["__proto__"], "null"],
])("nodeOf() at %p is %p", (path, expected) => {
  const text = '{"a":[1.5e3, {"b" : true}], "\\u00e9": "\\"", "__proto__":null}';
  const node = nodeOf(mapJson(text), path);
  expect(node === null ? null : text.slice(node.start, node.end)).toBe(expected);
});

/** The same value in the forms in which people keep it. */
export const written = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    fc.constantFrom(undefined, 1, 2, 4, "\t"),
    fc.boolean(),
  )
  .map(([value, indent, crlf]) => {
    const text = JSON.stringify(value, null, indent);
    return crlf ? text.replaceAll("\n", "\r\n") : text;
  })
  .filter((text) => parseJson(text).ok);

test("what is put in reads as it was given, everything else as before, and taking it out again leaves no trace", () => {
  fc.assert(
    fc.property(written, fc.jsonValue({ maxDepth: 3 }), (text, value) => {
      const key = "one that nobody else has";
      fc.pre(parseJson(JSON.stringify(value)).ok);
      const changed = append(text, [], key, value as JsonValue);
      const read = parseJson(changed);
      const before = JSON.parse(text) as Record<string, unknown>;
      expect(read).toMatchObject({ ok: true });
      expect(JSON.parse(changed)).toEqual({ ...before, [key]: JSON.parse(JSON.stringify(value)) });
      const { children } = containerAt(changed, []);
      expect(removeChild(changed, containerAt(changed, []), children.length - 1)).toBe(text);
    }),
  );
});

test("a large text is mapped in linear time", () => {
  const text = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n, s: '\\"'.repeat(3) })));
  expect(containerAt(text, []).children).toHaveLength(100_000);
});
