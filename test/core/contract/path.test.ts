import { expect, test } from "bun:test";
import { readPath, splitPath } from "../../../src/core/contract/path.ts";

test.each([
  { field: "a.b", segments: ["a", "b"] },
  { field: "a..b", segments: ["a", "b"] },
  { field: ".a.b.", segments: ["a", "b"] },
  { field: "key_outputs.0", segments: ["key_outputs", "0"] },
  { field: ".", segments: [] },
  { field: "", segments: [] },
])("splitPath() of $field drops empty segments", ({ field, segments }) => {
  expect(splitPath(field)).toEqual(segments);
});

const ENVELOPE = { a: { list: [], nothing: null, b: { c: 1 } }, text: "x" };

test.each([
  { segments: [], value: ENVELOPE },
  { segments: ["a", "list"], value: [] },
  { segments: ["a", "nothing"], value: null },
  { segments: ["a", "b", "c"], value: 1 },
])("readPath() of $segments finds what is there, empty or not", ({ segments, value }) => {
  expect(readPath(ENVELOPE, segments)).toEqual({ found: true, value });
});

test.each([
  { segments: ["z"], under: "", message: "no such field 'z': no key 'z' under (root)" },
  { segments: ["a", "z", "y"], under: "a", message: "no such field 'a.z.y': no key 'z' under a" },
  { segments: ["a", "list", "0"], under: "a.list", message: "no such field 'a.list.0': no key '0' under a.list" },
  { segments: ["text", "length"], under: "text", message: "no such field 'text.length': no key 'length' under text" },
  { segments: ["toString"], under: "", message: "no such field 'toString': no key 'toString' under (root)" },
])("readPath() of $segments says which key is not there", ({ segments, under, message }) => {
  expect(readPath(ENVELOPE, segments)).toMatchObject({ found: false, under, message });
});
