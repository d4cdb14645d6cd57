import { expect, test } from "bun:test";
import { parseValue } from "../../../src/core/contract/value.ts";

test.each([
  { text: "true", value: true },
  { text: "42", value: 42 },
  { text: "null", value: null },
  { text: '["a"]', value: ["a"] },
  { text: '  {"k":1}  ', value: { k: 1 } },
  { text: '"done"', value: "done" },
  { text: '"-"', value: "-" },
  { text: "done", value: "done" },
  { text: "007", value: "007" },
  { text: "NaN", value: "NaN" },
  { text: "", value: "" },
  { text: "line one\nline two", value: "line one\nline two" },
  { text: "{not json", value: "{not json" },
  { text: "12345678901234567890", value: "12345678901234567890" },
  { text: "-12345678901234567890", value: "-12345678901234567890" },
  { text: "1e400", value: "1e400" },
  { text: '{"a":1,"a":2} and more', value: '{"a":1,"a":2} and more' },
  { text: '"\\ud800" and more', value: '"\\ud800" and more' },
  { text: "[12345678901234567890] more", value: "[12345678901234567890] more" },
])("parseValue() reads $text", ({ text, value }) => {
  expect(parseValue(text)).toEqual({ ok: true, value });
});

test.each([
  { text: '{"a":1,"a":2}', code: "bad_json" },
  { text: '[{"a":{"b":1,"b":1}}]', code: "bad_json" },
  { text: '"\\ud800"', code: "bad_json" },
  { text: "loose \ud800 text", code: "bad_json" },
  { text: "[12345678901234567890]", code: "inexact_number" },
  { text: '{"id":9007199254740993}', code: "inexact_number" },
  { text: "[".repeat(300) + "]".repeat(300), code: "too_deep" },
])("parseValue() refuses what was meant as JSON: $text", ({ text, code }) => {
  expect(parseValue(text)).toMatchObject({ ok: false, fault: { code } });
});

test("parseValue() keeps brackets that never close as a text", () => {
  const text = "[".repeat(300);
  expect(parseValue(text)).toEqual({ ok: true, value: text });
});
