import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  bodyFaultMessage,
  type JsonFault,
  MAX_JSON_DEPTH,
  parseJson,
  surveyJson,
} from "../../../src/core/json/parse.ts";
import { compactJson, prettyJson } from "../../../src/core/json/value.ts";
import { anyJson } from "../contract/arbitrary.ts";

/** A row whose text can stand in the name of a test, on one line. */
function shown<T extends { readonly text: string }>(row: T): T & { readonly shown: string } {
  return { ...row, shown: JSON.stringify(row.text) };
}

function faultOf(text: string, maxDepth?: number): JsonFault {
  const parsed = parseJson(text, maxDepth === undefined ? {} : { maxDepth });
  if (parsed.ok) throw new Error(`"${text}" was read as ${compactJson(parsed.value)}`);
  return parsed.fault;
}

test.each(
  [
    { text: "null", value: null },
    { text: " true ", value: true },
    { text: "false\n", value: false },
    { text: "-0", value: 0 },
    { text: "-0.0e5", value: 0 },
    { text: "1.10", value: 1.1 },
    { text: "1e2", value: 100 },
    { text: "1E+2", value: 100 },
    { text: "12.50e-1", value: 1.25 },
    { text: "9007199254740991", value: 9007199254740991 },
    { text: "-9007199254740991", value: -9007199254740991 },
    { text: "1e21", value: 1e21 },
    { text: "1e15", value: 1e15 },
    { text: "1.7976931348623157e308", value: Number.MAX_VALUE },
    { text: "5e-324", value: 5e-324 },
    { text: "0.1000000000000000000000000", value: 0.1 },
    { text: "0.30000000000000004", value: 0.30000000000000004 },
    { text: "0e999999999999999999999", value: 0 },
    { text: `0.${"0".repeat(400)}1e401`, value: 1 },
    { text: '""', value: "" },
    { text: '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', value: '"\\/\b\f\n\r\té' },
    { text: '"\\ud83d\\ude00 😀"', value: "😀 😀" },
    { text: '"\u007f\u2028\ufeff"', value: "\u007f\u2028\ufeff" },
    { text: "[]", value: [] },
    { text: "{ }", value: {} },
    { text: ' [ 1 , "a" , [ ] , { "k" : [ null ] } ] ', value: [1, "a", [], { k: [null] }] },
  ].map(shown),
)("parseJson() reads $shown", ({ text, value }) => {
  expect(parseJson(text)).toEqual({ ok: true, value });
});

test("parseJson() keeps a key named like a prototype as plain data", () => {
  const parsed = parseJson('{"__proto__":{"x":1},"constructor":2,"toString":3}');
  if (!parsed.ok) throw new Error(parsed.fault.message);
  expect(compactJson(parsed.value)).toBe('{"__proto__":{"x":1},"constructor":2,"toString":3}');
  expect(Object.getPrototypeOf(parsed.value)).toBe(Object.prototype);
});

test.each(
  [
    { text: "", column: 1, says: "empty" },
    { text: "  \n ", line: 2, column: 2, says: "empty" },
    { text: '\ufeff{"a":1}', column: 1, says: "byte order mark" },
    { text: "{} {}", column: 4, says: "behind the JSON value" },
    { text: "1 x", column: 3, says: "behind the JSON value" },
    { text: '{"a":1,"a":2}', column: 8, says: 'key "a" is given twice' },
    { text: '{"a":{"b":1,\n "b":1}}', line: 2, column: 2, says: 'key "b" is given twice' },
    { text: '{"\\u0061":1,"a":2}', column: 13, says: 'key "a" is given twice' },
    { text: '{"__proto__":1,"__proto__":2}', column: 16, says: 'key "__proto__" is given twice' },
    { text: "[1,]", column: 3, says: "trailing comma" },
    { text: '{"a":1 , }', column: 8, says: "trailing comma" },
    { text: "[,1]", column: 2, says: "expected a value" },
    { text: "[1 2]", column: 4, says: 'expected "," or "]"' },
    { text: '{"a" 1}', column: 6, says: 'expected ":"' },
    { text: '{"a":1 "b":2}', column: 8, says: 'expected "," or "}"' },
    { text: "{a:1}", column: 2, says: "a key in double quotes" },
    { text: "{'a':1}", column: 2, says: "single quotes" },
    { text: "['a']", column: 2, says: "single quotes" },
    { text: "[1, // x\n2]", column: 5, says: "comments" },
    { text: "[1 /* x */]", column: 4, says: "comments" },
    { text: "# x\n1", column: 1, says: "comments" },
    { text: "[NaN]", column: 2, says: "NaN is not JSON" },
    { text: "Infinity", column: 1, says: "Infinity is not JSON" },
    { text: "-Infinity", column: 2, says: "Infinity is not JSON" },
    { text: "True", column: 1, says: 'found "True"' },
    { text: "nullx", column: 1, says: 'found "nullx"' },
    { text: "007", column: 1, says: "does not begin with 0" },
    { text: "-01", column: 2, says: "does not begin with 0" },
    { text: "0x1f", column: 2, says: "behind the JSON value" },
    { text: "+1", column: 1, says: "expected a value" },
    { text: ".5", column: 1, says: "expected a value" },
    { text: "1.", column: 3, says: "behind its point" },
    { text: "1.e5", column: 3, says: "behind its point" },
    { text: "1e", column: 3, says: "exponent" },
    { text: "1e+", column: 4, says: "exponent" },
    { text: "-", column: 2, says: "digit" },
    { text: '"a', column: 1, says: "not closed" },
    { text: '"a\\', column: 3, says: "escape" },
    { text: '"a\nb"', column: 3, says: "U+000A" },
    { text: '"\t"', column: 2, says: "U+0009" },
    { text: '"\\x41"', column: 2, says: "escape" },
    { text: '"\\u12g4"', column: 2, says: "four hexadecimal digits" },
    { text: '"\\ud83d"', column: 2, says: "lone surrogate" },
    { text: '"\\ude00\\ud83d"', column: 2, says: "lone surrogate" },
    { text: '"\\ud83d\\u0041"', column: 2, says: "lone surrogate" },
    { text: '"a\ud83d"', column: 3, says: "lone surrogate" },
    { text: '"\ude00"', column: 2, says: "lone surrogate" },
    { text: '"\ude00\ude00"', column: 2, says: "lone surrogate" },
    { text: '"\\ude00\\ude00"', column: 2, says: "lone surrogate" },
    { text: '"\\ud83d\ude00"', column: 2, says: "lone surrogate" },
    { text: "[1,\r\n  2,\r\n  x]", line: 3, column: 3, says: "expected a value" },
    { text: '["😀é", x]', column: 8, says: "expected a value" },
    { text: '{"a":[1', column: 8, says: 'the text ends where "," or "]" is due' },
    { text: "[", column: 2, says: "the text ends where a value is due" },
  ].map(shown),
)("parseJson() refuses $shown with the place", ({ text, line = 1, column, says }) => {
  const fault = faultOf(text);
  expect(fault).toMatchObject({ code: "bad_json", line, column });
  expect(fault.message).toContain(says);
});

test.each([
  "9007199254740992",
  "-9007199254740992",
  "[12345678901234567890]",
  "1e400",
  "1e-400",
  "0.10000000000000001",
  "9007199254740993.0",
  "9007199254740992.0",
  "1e20",
  "-1e16",
  "1.0000000000000000000000000001",
  "9223372036854775807",
])("parseJson() refuses the number %s rather than round it", (text) => {
  expect(faultOf(text)).toMatchObject({ code: "inexact_number", looksLike: null });
});

test("parseJson() counts containers, and the cap is the caller's", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(parseJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
  expect(faultOf(nested(MAX_JSON_DEPTH + 1))).toMatchObject({ code: "too_deep", column: MAX_JSON_DEPTH + 1 });
  expect(parseJson('{"a":[1]}', { maxDepth: 2 }).ok).toBe(true);
  expect(faultOf('{"a":[{}]}', 2)).toMatchObject({ code: "too_deep", column: 7 });
  expect(faultOf("[".repeat(1_000_000))).toMatchObject({ code: "too_deep" });
});

test.each(
  [
    { text: "---\nconclusion: x\n", looksLike: "yaml" },
    { text: "\n\n  conclusion: it holds", looksLike: "yaml" },
    { text: "agent_status:\n  agent_state: X", looksLike: "yaml" },
    { text: "- item", looksLike: "yaml" },
    { text: "\ufeffkey: v", looksLike: "yaml" },
    { text: "--- x", looksLike: null },
    { text: "conclusion:x", looksLike: null },
    { text: "two words: x", looksLike: null },
    { text: "-5x", looksLike: null },
    { text: "-", looksLike: null },
    { text: '{"a": }', looksLike: null },
    { text: "   ", looksLike: null },
  ].map(shown),
)("the fault of $shown says whether it reads like YAML: $looksLike", ({ text, looksLike }) => {
  expect(faultOf(text).looksLike).toBe(looksLike as "yaml" | null);
});

test("bodyFaultMessage() names the place, and that a body is JSON where it is none", () => {
  expect(bodyFaultMessage(faultOf("{\n  a: 1}"), "the patch")).toBe(
    'Cannot read the patch: line 2, column 3: expected a key in double quotes, found "a". The envelope body is JSON, never YAML.',
  );
  expect(bodyFaultMessage(faultOf("[9007199254740993]"), 'file "x.json"')).toBe(
    'Cannot read file "x.json": line 1, column 2: the number 9007199254740993 cannot be held exactly',
  );
});

test("surveyJson() tells a text that is no JSON from JSON that is refused", () => {
  expect(surveyJson('{"a":1,"a":2}')).toMatchObject({ grammar: null, content: { code: "bad_json" } });
  expect(surveyJson('{"a":1,"a":2} x')).toMatchObject({ grammar: { code: "bad_json" }, content: { code: "bad_json" } });
  expect(surveyJson("[1e999,1e999]")).toMatchObject({ grammar: null, content: { code: "inexact_number", column: 2 } });
});

test("law: parseJson() reads back what is printed", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(parseJson(compactJson(value))).toEqual({ ok: true, value });
      expect(parseJson(prettyJson(value))).toEqual({ ok: true, value });
    }),
  );
});

test("law: parseJson() returns on any text, and never accepts what JSON.parse refuses", () => {
  const fragments = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\\u",
    "d83d",
    "1",
    "e",
    ".",
    "-",
    " ",
    "\n",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseJson(text);
      if (parsed.ok) expect(compactJson(parsed.value)).toBe(JSON.stringify(JSON.parse(text)));
      else expect(parsed.fault.line).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});
