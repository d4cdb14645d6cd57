import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { responseSchemaOf } from "../../../src/core/schema/response.ts";
import { fieldOrder } from "../../../src/core/schema/shape.ts";
import { anyJudgedSchema, anyShapedSchema } from "../../support/schemas.ts";

function propertyIn(property: unknown): unknown {
  const { schema } = responseSchemaOf({ properties: { p: property } } as JsonObject);
  return (schema.properties as JsonObject).p;
}

describe("responseSchemaOf()", () => {
  test("closes every object, with its fields in order", () => {
    const schema: JsonObject = {
      title: "T",
      properties: { b: { type: "integer" }, "10": { type: "string" }, a: { properties: { x: { type: "null" } } } },
      required: ["b"],
      additionalProperties: { type: "string" },
    };
    const found = responseSchemaOf(schema);
    expect(found.text).toBe(
      '{"title":"T","properties":{"b":{"type":"integer"},"10":{"type":"string"},' +
        '"a":{"properties":{"x":{"type":"null"}},"type":"object","required":["x"],"additionalProperties":false}},' +
        '"required":["b","10","a"],"type":"object","additionalProperties":false}',
    );
    expect(found.schema).toEqual(JSON.parse(found.text));
    expect(found.removed).toEqual(["/additionalProperties"]);
  });

  test("names what was left out, by its place", () => {
    const schema: JsonObject = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        a: { type: "string", pattern: "x", minLength: 1, format: "date", description: "d" },
        b: { type: "array", items: { type: "number", maximum: 5 }, uniqueItems: true },
        c: true,
        "d/e": { type: "object", additionalProperties: false, properties: {} },
      },
      additionalProperties: false,
    };
    const { removed } = responseSchemaOf(schema);
    expect(removed).toEqual([
      "/$schema",
      "/properties/a/pattern",
      "/properties/a/minLength",
      "/properties/a/format",
      "/properties/b/items/maximum",
      "/properties/b/uniqueItems",
      "/properties/d~1e/additionalProperties",
      "/properties/c",
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ["an empty schema", {}, { type: "string" }],
    ["a schema of removed keywords alone", { pattern: "x", allOf: [{}] }, { type: "string" }],
    ["a schema with a description", { description: "d" }, { description: "d" }],
    ["an empty item", { type: "array", items: {} }, { type: "array", items: { type: "string" } }],
    ["an item that may be anything", { type: "array", items: true }, { type: "array", items: { type: "string" } }],
    ["an item that may be nothing", { type: "array", items: false }, { type: "array", items: false }],
    [
      "items keep their types",
      { type: "array", items: { type: "integer" } },
      { type: "array", items: { type: "integer" } },
    ],
    ["an empty choice among others", { anyOf: [{}, { type: "null" }] }, { anyOf: [{}, { type: "null" }] }],
    [
      "an object in a choice stays open",
      { anyOf: [{ properties: { x: {} }, pattern: "x" }] },
      { anyOf: [{ properties: { x: { type: "string" } } }] },
    ],
    [
      "values are copied",
      { enum: [1, { pattern: "x" }], const: { pattern: "x" } },
      { enum: [1, { pattern: "x" }], const: { pattern: "x" } },
    ],
    [
      "an object in a list is closed",
      { type: "array", items: { properties: { x: {} } } },
      {
        type: "array",
        items: { properties: { x: { type: "string" } }, type: "object", required: ["x"], additionalProperties: false },
      },
    ],
    [
      "a type that is there stays",
      { type: ["object", "null"], properties: { x: {} } },
      {
        type: ["object", "null"],
        properties: { x: { type: "string" } },
        required: ["x"],
        additionalProperties: false,
      },
    ],
    [
      "required stays where nothing is declared",
      { type: "object", required: ["x"] },
      { type: "object", required: ["x"] },
    ],
    [
      "a name called __proto__",
      JSON.parse('{"properties":{"__proto__":{"type":"null"}}}'),
      JSON.parse(
        '{"properties":{"__proto__":{"type":"null"}},"type":"object","required":["__proto__"],"additionalProperties":false}',
      ),
    ],
  ])("%s", (_, property, expected) => {
    expect(propertyIn(property)).toEqual(expected);
    expect(JSON.stringify(propertyIn(property))).toBe(JSON.stringify(expected));
  });

  test("a reference stays when its place does, and finds it among the definitions when it does not", () => {
    const schema: JsonObject = {
      properties: {
        a: { $ref: "#/$defs/t" },
        b: { $ref: "#/definitions/u" },
        c: { $ref: "#/properties/a" },
        d: { $ref: "#" },
      },
      $defs: { t: { properties: { x: { type: "integer", minimum: 1 } } }, "moved-1": {} },
      definitions: { u: { type: "array", items: { $ref: "#/definitions/u" }, minItems: 1 } },
    };
    const { schema: found, removed } = responseSchemaOf(schema);
    expect(found.properties).toEqual({
      a: { $ref: "#/$defs/t" },
      b: { $ref: "#/$defs/moved-2" },
      c: { $ref: "#/properties/a" },
      d: { $ref: "#" },
    });
    expect(found.$defs).toEqual({
      t: { properties: { x: { type: "integer" } }, type: "object", required: ["x"], additionalProperties: false },
      "moved-1": {},
      "moved-2": { type: "array", items: { $ref: "#/$defs/moved-2" } },
    });
    expect(removed).toEqual(["/$defs/t/properties/x/minimum", "/definitions", "/definitions/u/minItems"]);
  });
});

const KEPT =
  "type properties required enum const items prefixItems anyOf oneOf $ref $defs title description additionalProperties";

test("what is sent is accepted by the lint, has no other keyword, and reduces to itself", () => {
  fc.assert(
    fc.property(fc.oneof(anyJudgedSchema(), anyShapedSchema()), (judged) => {
      const schema: JsonObject = {
        properties: { a: judged, b: {} },
        ...(judged.$defs === undefined ? {} : { $defs: judged.$defs }),
      };
      fc.pre(lintSchema(schema).length === 0);
      const found = responseSchemaOf(schema);
      expect(lintSchema(found.schema)).toEqual([]);
      expect(JSON.parse(found.text)).toEqual(found.schema);
      const again = responseSchemaOf(found.schema);
      expect(again.text).toBe(found.text);
      expect(again.removed).toEqual([]);
      expect(found.schema.required).toEqual(fieldOrder(schema));
      for (const name of Object.keys(found.schema)) expect(KEPT.split(" ")).toContain(name);
    }),
  );
});
