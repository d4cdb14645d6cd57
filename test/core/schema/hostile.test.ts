import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { closeSchema } from "../../../src/core/schema/close.ts";
import { coerceText } from "../../../src/core/schema/coerce.ts";
import { grammarOf } from "../../../src/core/schema/grammar.ts";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { responseSchemaOf } from "../../../src/core/schema/response.ts";
import { fieldOrder, shapeOf } from "../../../src/core/schema/shape.ts";
import { validateText } from "../../../src/core/schema/validate.ts";

const TOO_MUCH = "it would take too much work to hold the value against the schema";

function errorsOf(text: string, schema: unknown): readonly string[] {
  const found = validateText(text, schema as JsonObject);
  return found.ok ? [] : found.errors;
}

/** `$defs` of which each leads to the next one, in `ways` ways. */
function ladder(rungs: number, ways: number): JsonObject {
  const rung = (index: number): [string, JsonObject] => [
    `d${index}`,
    index === rungs - 1
      ? { type: "null" }
      : { anyOf: Array.from({ length: ways }, () => ({ $ref: `#/$defs/d${index + 1}` })) },
  ];
  return Object.fromEntries(Array.from({ length: rungs }, (_, index) => rung(index)));
}

function nestedText(levels: number, open: string, close: string, inside: string): string {
  return open.repeat(levels) + inside + close.repeat(levels);
}

describe("lintSchema() refuses", () => {
  test.each<[string, JsonObject, string]>([
    [
      "a ladder of two ways",
      { properties: { a: { $ref: "#/$defs/d0" } }, $defs: ladder(40, 2) },
      "more than 10000 schemas",
    ],
    ["a long chain", { properties: { a: { $ref: "#/$defs/d0" } }, $defs: ladder(1000, 1) }, "a chain of more than 100"],
  ])("%s, once", (_, schema, words) => {
    const found = lintSchema(schema);
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toContain(words);
  });

  test("a schema of thousands of levels", () => {
    let schema: JsonObject = {};
    for (let level = 0; level < 20_000; level += 1) schema = { not: schema };
    expect(lintSchema({ properties: { a: schema } })).toHaveLength(1);
  });
});

describe("an accepted schema never keeps the validator busy for ever", () => {
  const twice = { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] };

  test.each<[string, unknown, string]>([
    ["two ways at every level of the value", { $ref: "#/$defs/n" }, nestedText(60, '{"a":', "}", "1")],
    ["many unique items", { uniqueItems: true }, `[${Array.from({ length: 60_000 }, (_, index) => index).join(",")}]`],
    [
      "a long enum held against every item",
      { contains: { enum: Array.from({ length: 999 }, (_, index) => `${"x".repeat(50)}${index}`) } },
      `[${"1,".repeat(50_000)}1]`,
    ],
    [
      "many names against many patterns",
      { patternProperties: Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`^k${index}$`, {}])) },
      `{${Array.from({ length: 5000 }, (_, index) => `"n${index}":1`).join(",")}}`,
    ],
    ["a chain at every level of the value", { $ref: "#/$defs/c0" }, nestedText(60, "[", "]", "1")],
  ])("%s", (_, property, value) => {
    const chain = Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [
        `c${index}`,
        index === 89 ? { items: { $ref: "#/$defs/c0" } } : { $ref: `#/$defs/c${index + 1}` },
      ]),
    );
    const schema = {
      properties: { v: property },
      $defs: { n: { properties: { a: twice }, type: "object" }, ...chain },
    } as JsonObject;
    expect(lintSchema(schema)).toEqual([]);
    expect(errorsOf(`{"v":${value}}`, schema)).toEqual([TOO_MUCH]);
  });

  test("what a schema and a value of this size are ordinarily is no work at all", () => {
    const rows = Array.from({ length: 3000 }, (_, index) => ({ id: `r${index}`, n: index, tags: ["a", "b"] }));
    const item = {
      type: "object",
      properties: { id: { pattern: "^r[0-9]+$" }, n: { type: "integer" }, tags: { uniqueItems: true } },
      required: ["id"],
    };
    const schema = { properties: { rows: { type: "array", items: item } } };
    expect(errorsOf(JSON.stringify({ rows }), schema)).toEqual([]);
  });

  test("a tree of as many levels as an answer may have", () => {
    const schema = { properties: { a: { $ref: "#" }, b: {} }, additionalProperties: false };
    expect(errorsOf(nestedText(63, '{"a":', "}", '{"b":1}'), schema)).toEqual([]);
    expect(errorsOf(nestedText(63, '{"a":', "}", '{"c":1}'), schema)).toEqual([
      `…${"/a".repeat(38)}/c: nothing is allowed here`,
    ]);
  });

  test("every item wrong, in a list of many", () => {
    const schema = { properties: { v: { contains: { type: "string" } }, w: { items: { type: "string" } } } };
    const list = `[${"1,".repeat(100_000)}1]`;
    expect(errorsOf(`{"v":${list}}`, schema)).toEqual(["/v: Array does not contain item matching schema"]);
    expect(errorsOf(`{"w":${list}}`, schema)).toHaveLength(5);
  });

  test("a pattern that would take JavaScript's engine for ever", () => {
    const text = JSON.stringify({ v: `${"a".repeat(50_000)}!`, [`${"a".repeat(5000)}!`]: 1 });
    const schema = { properties: { v: { pattern: "^(a+)+$" } }, patternProperties: { "^(a|a)*$": false } };
    expect(lintSchema(schema as JsonObject)).toEqual([]);
    expect(errorsOf(text, schema)).toEqual(['/v: the text does not match the pattern "^(a+)+$"']);
  });
});

test("names of a prototype are names like others", () => {
  const schema = JSON.parse(
    '{"properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"},"toString":{"properties":{"__proto__":{}},"additionalProperties":false}},' +
      '"required":["__proto__"],"$defs":{"__proto__":{"type":"null"}},"__proto__":{"type":"strng"},"constructor":5}',
  ) as JsonObject;
  expect(lintSchema(schema)).toEqual([]);
  expect(fieldOrder(schema)).toEqual(["__proto__", "constructor", "toString"]);
  expect(errorsOf("{}", schema)).toEqual(['Instance does not have required property "__proto__"']);
  expect(errorsOf('{"__proto__":"x"}', schema)).toEqual([
    '/__proto__: Instance type "string" is invalid. Expected "integer"',
  ]);
  expect(errorsOf('{"__proto__":1,"toString":{"__proto__":1}}', schema)).toEqual([]);
  expect(errorsOf('{"__proto__":1,"toString":{"constructor":1}}', schema)).toEqual([
    "/toString/constructor: nothing is allowed here",
  ]);
  expect(grammarOf(schema)).toContain('"\\"__proto__\\"" ws ":" ws integer');
  expect(closeSchema(schema, ["constructor", "hasOwnProperty"]).required).toEqual(["__proto__", "constructor"]);
  expect(Object.hasOwn(responseSchemaOf(schema).schema.properties as object, "__proto__")).toBe(true);
  expect(Object.prototype).not.toHaveProperty("type");
});

test("a thousand properties", () => {
  const properties = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`n${index}`, { type: "integer" }]));
  const schema: JsonObject = { properties };
  expect(lintSchema(schema)).toEqual([]);
  expect(shapeOf(schema).fields).toHaveLength(1000);
  expect(grammarOf(schema).split("\n")).toHaveLength(4);
  expect(fieldOrder({ properties: responseSchemaOf(schema).schema.properties ?? null })).toEqual(fieldOrder(schema));
  expect(
    errorsOf(JSON.stringify(Object.fromEntries(Object.keys(properties).map((name) => [name, "1"]))), schema),
  ).toEqual([]);
});

test("whatever the schema and the text, everything returns", () => {
  const words =
    "type properties required enum items $ref $defs anyOf allOf not pattern patternProperties minLength string object array #/properties/a # a ( __proto__ $id const";
  const word = fc.constantFrom(...words.split(" "));
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "medium" },
      fc.oneof(word, fc.constantFrom<JsonValue>(null, true, 0, -1, 1.5, 1e308, "\ud800")),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(word, tie("value")), { maxLength: 5 }).map((pairs): JsonObject => Object.fromEntries(pairs)),
    ),
  }));
  fc.assert(
    fc.property(
      value,
      fc.oneof(
        fc.json(),
        fc.string(),
        value.map((each) => JSON.stringify({ a: each })),
      ),
      (properties, text) => {
        const schema: JsonObject = { properties, required: properties, additionalProperties: properties };
        const issues = lintSchema(schema);
        for (const { path, message } of issues) expect(typeof path + typeof message).toBe("stringstring");
        grammarOf(schema);
        coerceText(text, schema);
        closeSchema(schema, ["a"]);
        responseSchemaOf(schema);
        const valid: JsonObject = { properties: { a: properties } };
        if (lintSchema(valid).length === 0) errorsOf(text, valid);
      },
    ),
    { numRuns: 500 },
  );
});
