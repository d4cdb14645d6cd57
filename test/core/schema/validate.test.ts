import { describe, expect, test } from "bun:test";
import { format } from "@cfworker/json-schema";
import Ajv2020 from "ajv/dist/2020";
import fc from "fast-check";
import { acceptsText, parseGrammar } from "../../../scripts/vectors/gbnf.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { coerceText } from "../../../src/core/schema/coerce.ts";
import { grammarOf } from "../../../src/core/schema/grammar.ts";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { judgeText, validateText } from "../../../src/core/schema/validate.ts";
import { anyJudgedSchema, smallObject } from "../../support/schemas.ts";

function schemaOf(properties: unknown, more: object = {}): JsonObject {
  return { type: "object", properties, ...more } as JsonObject;
}

const A = schemaOf({ a: { type: "string" } });
const N = schemaOf({ n: { type: "integer" } });
const NUMBERS = schemaOf({ l: { type: "array", items: { type: "number" } } });
const ROW = { type: "object", properties: { id: { type: "string" }, n: { type: "integer" } }, required: ["id", "n"] };

test.each<[string, JsonObject, string, "accept" | "reject", string | null]>([
  ["a: string", A, '{"a":"x"}', "accept", '{"a":"x"}'],
  ["a: string", A, '{"a":3}', "reject", null],
  ["a: string, not required", A, "{}", "reject", "{}"],
  ["n: integer", N, '{"n":1.0}', "reject", '{"n":1.0}'],
  ["n: integer", N, '{"n":"3"}', "reject", '{"n":3}'],
  ["l: list of numbers", NUMBERS, '{"l":["1","2.5"]}', "accept", '{"l":[1,2.5]}'],
  ["l: list of numbers", NUMBERS, '{"l":[1,2.5]}', "reject", '{"l":[1,2.5]}'],
  ["l: list of numbers", NUMBERS, '{"l":["1","x"]}', "accept", null],
  ["a: anyOf", schemaOf({ a: { anyOf: [{ type: "string" }, { type: "number" }] } }), '{"a":1}', "reject", '{"a":1}'],
  ["a: two types", schemaOf({ a: { type: ["string", "null"] } }), '{"a":null}', "reject", '{"a":null}'],
  [
    "rows out of order",
    schemaOf({ rows: { type: "array", items: ROW } }),
    '{"rows":[{"n":1,"id":"a"}]}',
    "reject",
    '{"rows":[{"n":1,"id":"a"}]}',
  ],
  ["C < a < b", schemaOf({ b: {}, a: {}, C: {} }), '{"C":"1","a":"2","b":"3"}', "accept", '{"C":"1","a":"2","b":"3"}'],
])("%s: %j is what the table says of %s", (_, schema, text, grammar, valid) => {
  expect(lintSchema(schema)).toEqual([]);
  expect(acceptsText(parseGrammar(grammarOf(schema)), text)).toBe(grammar === "accept");
  const found = validateText(text, schema);
  expect(found.ok ? found.text : null).toBe(valid);
});

describe("validateText()", () => {
  test("what is valid stays byte for byte", () => {
    const text = ' {\n\t"n" : 1e0, "m":9007199254740993,"10":0.50,"b":"\\u0041\\/" } ';
    expect(validateText(text, N)).toEqual({ ok: true, text });
  });

  test("what is coerced keeps its spelling, and the rest stays", () => {
    const text = '{ "l":[ "1.50", 2.0,"\\u0031e3" ] , "x":"1" }';
    expect(validateText(text, NUMBERS)).toEqual({ ok: true, text: '{ "l":[ 1.50, 2.0,1e3 ] , "x":"1" }' });
  });

  test("nothing is coerced in an answer that is valid without it", () => {
    const schema = schemaOf({ a: { anyOf: [{ type: "string" }] }, n: { enum: ["1", 1] } });
    expect(validateText('{"a":"1","n":"1"}', schema)).toEqual({ ok: true, text: '{"a":"1","n":"1"}' });
  });

  test("the first errors are told when coercing does not help", () => {
    expect(validateText('{"n":"3","a":1}', schemaOf({ n: { type: "integer" }, a: { type: "string" } }))).toEqual({
      ok: false,
      errors: [
        '/n: Instance type "string" is invalid. Expected "integer"',
        '/a: Instance type "number" is invalid. Expected "string"',
      ],
    });
  });

  test.each<[string, string]>([
    ["", "line 1, column 1: the text is empty"],
    ["{'a':1}", "line 1, column 2: single quotes are not JSON; texts stand in double quotes"],
    ['{"a":"x","a":"x"}', 'line 1, column 10: key "a" is given twice in one object'],
    ['{"a":"x"} {}', "line 1, column 11: there is text behind the JSON value"],
    ["[]", "an object is wanted, found an array"],
    ['"x"', "an object is wanted, found a string"],
    ["null", "an object is wanted, found null"],
    [`{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "line 1, column 69: nested deeper than 64 levels"],
  ])("%j is no answer", (text, error) => {
    expect(validateText(text, A)).toEqual({ ok: false, errors: [error] });
  });

  test("half a surrogate pair is read as U+FFFD and published as it came", () => {
    const text = '{"a":"\\ud800"}';
    expect(validateText(text, schemaOf({ a: { const: "\ufffd" } }))).toEqual({ ok: true, text });
  });

  test.each<[string, unknown, string, boolean]>([
    ["RE2 flags", { type: "string", pattern: "(?i)^ab+c$" }, '"ABBC"', true],
    ["RE2 flags, no match", { type: "string", pattern: "(?i)^ab+c$" }, '"ac"', false],
    ["a pattern beside a format", { pattern: "^x", format: "date" }, '"x"', true],
    ["a pattern on a number", { pattern: "^x" }, "5", true],
    ["a format alone", { format: "date" }, '"x"', true],
    ["a name that the validator has a format for", { format: "writ-pattern-0" }, '"x"', true],
    [
      "a keyword of another draft",
      { id: "#x", additionalItems: false, dependencies: { a: ["b"] }, $recursiveRef: 5 },
      "[1]",
      true,
    ],
    ["a keyword nobody knows", { nullable: true, "x-y": 5 }, "1", true],
    ["a reference with a word beside it", { $ref: "#/$defs/t", maximum: 3 }, "4", false],
    ["a reference through a percent sign", { $ref: "#/%24defs/t" }, '"x"', false],
    ["a reference through an escape", { $ref: "#/$defs/a~1b" }, '"x"', false],
    ["a reference to a place that is no keyword", { $ref: "#/definitions/t" }, '"x"', false],
    ["a reference to a list's place", { $ref: "#/$defs/list/anyOf/1" }, '"x"', false],
    ["a reference to true", { $ref: "#/$defs/true" }, '"x"', true],
    ["an integer that no double holds", { type: "integer" }, "9007199254740993", true],
    ["1.0 as an integer", { type: "integer" }, "1.0", true],
    ["lengths in code points", { maxLength: 1 }, '"😀"', true],
  ])("%s", (_, property, value, isValid) => {
    const $defs = {
      t: { type: "number" },
      "a/b": { type: "number" },
      list: { anyOf: [{}, { type: "number" }] },
      true: true,
    };
    const schema = schemaOf({ v: property }, { $defs, definitions: { t: { type: "number" } } });
    expect(judgeText(`{"v":${value}}`, schema).length === 0).toBe(isValid);
  });

  test.each<[string, string, boolean]>([
    ["a name that matches, in any case", '{"o":{"N_x":"q"}}', false],
    ["a name that matches no pattern", '{"o":{"x":"q"}}', true],
    ["a name that is declared and matches", '{"o":{"n_z":"q"}}', false],
    ["a name that is declared and matches, right for the one only", '{"o":{"n_z":5}}', false],
    ["a name that two patterns match", '{"o":{"n_k":7}}', false],
    ["a name that two patterns match, right for both", '{"o":{"n_k":4}}', true],
    ["a name of another object", '{"o":{},"n_x":"q"}', true],
    ["a name called __proto__", '{"o":{"__proto__":1}}', false],
    ["a name that is left to additionalProperties", '{"p":{"n":1}}', false],
    ["a name that is not left to additionalProperties", '{"p":{"a1":1}}', true],
  ])("patternProperties: %s", (_, text, isValid) => {
    const schema = schemaOf({
      o: {
        properties: { n_z: { type: "string" } },
        patternProperties: { "(?i)^n_": { type: "integer" }, k$: { maximum: 5 }, "^__proto__$": { type: "string" } },
      },
      p: { patternProperties: { "^a": { type: "integer" } }, additionalProperties: false },
    });
    expect(lintSchema(schema)).toEqual([]);
    expect(judgeText(text, schema).length === 0).toBe(isValid);
  });

  test("properties whose value is no object are not seen", () => {
    const schema = schemaOf({ a: true, b: null, c: "string", d: { type: "string" } });
    expect(judgeText('{"a":1,"b":1,"c":1}', schema)).toEqual([]);
    expect(judgeText('{"d":1}', schema)).toHaveLength(1);
  });

  test("a repeated name in required is asked for once, and one that is not declared is asked for", () => {
    expect(judgeText("{}", schemaOf({ a: {} }, { required: ["a", "a", "ghost"] }))).toEqual([
      'Instance does not have required property "a"',
      'Instance does not have required property "ghost"',
    ]);
  });

  test("a place is written as a JSON pointer", () => {
    const schema = schemaOf({ "a/b~%#é": { type: "array", items: { type: "string" } } });
    expect(judgeText('{"a/b~%#é":["x",1]}', schema)).toEqual([
      '/a~1b~0%#é/1: Instance type "number" is invalid. Expected "string"',
    ]);
  });

  test.each<[string, unknown, string, readonly string[]]>([
    ["a pattern is told", { pattern: '^"' }, '"x"', ['/v: the text does not match the pattern "^\\""']],
    [
      "a closed object",
      { properties: { a: {} }, additionalProperties: false },
      '{"b":1}',
      ["/v/b: nothing is allowed here"],
    ],
    [
      "one summary for a list",
      { contains: { type: "string" } },
      "[1,2,3]",
      ["/v: Array does not contain item matching schema"],
    ],
    [
      "a choice, and why each failed",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      "1",
      [
        "/v: Instance does not match any subschemas",
        '/v: Instance type "number" is invalid. Expected "string"',
        '/v: Instance type "number" is invalid. Expected "null"',
      ],
    ],
  ])("%s", (_, property, value, errors) => {
    expect(judgeText(`{"v":${value}}`, schemaOf({ v: property }))).toEqual([...errors]);
  });

  test("at most five errors, of at most 160 bytes, cut between characters", () => {
    const name = "é".repeat(200);
    const names = Array.from({ length: 9 }, (_, index) => `${index}${name}`);
    const found = judgeText("{}", schemaOf({ a: {} }, { required: names }));
    expect(found).toHaveLength(5);
    for (const error of found) {
      expect(Buffer.byteLength(error)).toBeLessThanOrEqual(160);
      expect(Buffer.byteLength(error)).toBeGreaterThan(155);
      expect(error).toMatch(/^Instance does not have required property "[0-9]é+…$/);
    }
  });

  test("no format is left in the validator's table", () => {
    judgeText('{"v":"x"}', schemaOf({ v: { pattern: "x" } }));
    expect(Object.keys(format).filter((name) => name.startsWith("writ-"))).toEqual([]);
  });
});

/** Where Ajv 8 departs from the draft: marks of "contains" and of "oneOf", and "contains" over nothing behind a prefix. */
function isReadDifferently(schema: string): boolean {
  const isAsked = (name: string) => schema.includes(`"${name}"`);
  return (
    (isAsked("contains") && (isAsked("prefixItems") || isAsked("unevaluatedItems"))) ||
    (isAsked("oneOf") && (isAsked("unevaluatedItems") || isAsked("unevaluatedProperties")))
  );
}

test.each<[string, unknown, string, boolean]>([
  ["an item that contains matches is looked at", { contains: true, unevaluatedItems: false }, "[false]", true],
  ["nothing contains anything, also behind a prefix", { prefixItems: [false], contains: {} }, "[]", false],
  [
    "a branch that fails looked at nothing",
    { oneOf: [{ items: true, not: {} }, {}], unevaluatedItems: false },
    "[1]",
    false,
  ],
])("where Ajv and the draft part, the draft holds: %s", (_, property, value, isValid) => {
  expect(judgeText(`{"v":${value}}`, schemaOf({ v: property })).length === 0).toBe(isValid);
});

test("the validator thinks as Ajv does", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  let valid = 0;
  let invalid = 0;
  fc.assert(
    fc.property(anyJudgedSchema(), smallObject(), (judged, value) => {
      const schema = { properties: { a: judged, b: {}, c: {} }, $defs: judged.$defs } as JsonObject;
      fc.pre(lintSchema(schema).length === 0 && !isReadDifferently(JSON.stringify(schema)));
      const isValid = ajv.compile(schema)(value) === true;
      ajv.removeSchema();
      if (isValid) valid += 1;
      else invalid += 1;
      expect(judgeText(JSON.stringify(value), schema).length === 0).toBe(isValid);
    }),
    { numRuns: 1500 },
  );
  expect(valid).toBeGreaterThan(100);
  expect(invalid).toBeGreaterThan(100);
});

test("what is valid, coerced or not, is published valid and does not change when it is held again", () => {
  fc.assert(
    fc.property(anyJudgedSchema(), smallObject(), (judged, value) => {
      const schema = { properties: { a: judged, b: { type: "integer" } }, $defs: judged.$defs } as JsonObject;
      fc.pre(lintSchema(schema).length === 0);
      const text = JSON.stringify(value);
      const found = validateText(text, schema);
      if (!found.ok) return expect(found.errors.length).toBeGreaterThan(0);
      expect(judgeText(found.text, schema)).toEqual([]);
      expect([text, coerceText(text, schema)]).toContain(found.text);
    }),
  );
});
