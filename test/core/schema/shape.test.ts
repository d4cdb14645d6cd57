import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { fieldOrder, type Shape, shapeOf } from "../../../src/core/schema/shape.ts";

const STRING: Shape = { kind: "string" };

function shapeIn(property: unknown): Shape | undefined {
  return shapeOf({ properties: { p: property } } as JsonObject).fields[0]?.shape;
}

test.each<[string, unknown, Shape]>([
  ["a string", { type: "string" }, STRING],
  ["a number", { type: "number" }, { kind: "number" }],
  ["an integer", { type: "integer" }, { kind: "integer" }],
  ["a boolean", { type: "boolean" }, { kind: "boolean" }],
  ["null", { type: "null" }, STRING],
  ["an unknown type", { type: "strng" }, STRING],
  ["a list of types", { type: ["integer", "null"] }, STRING],
  ["a list of one type", { type: ["integer"] }, STRING],
  ["a type that is none", { type: 5 }, STRING],
  ["nothing said", {}, STRING],
  ["a constant", { const: 3 }, STRING],
  ["an enum", { enum: ["b", "a"] }, { kind: "enum", values: ["b", "a"] }],
  ["an enum before its type", { enum: ["a"], type: "integer" }, { kind: "enum", values: ["a"] }],
  ["the texts of a mixed enum", { enum: [1, "a", null] }, { kind: "enum", values: ["a"] }],
  ["an enum without texts", { enum: [1, 2], type: "integer" }, { kind: "integer" }],
  ["an enum without texts and type", { enum: [1, 2] }, STRING],
  ["an empty enum", { enum: [], type: "boolean" }, { kind: "boolean" }],
  ["a list of strings", { type: "array", items: { type: "string" } }, { kind: "list", item: STRING }],
  ["a list of numbers", { type: "array", items: { type: "number" } }, { kind: "list", item: STRING }],
  ["a list of an enum", { type: "array", items: { enum: ["a"] } }, { kind: "list", item: STRING }],
  ["a list of anything", { type: "array" }, { kind: "list", item: STRING }],
  ["a list of items that are true", { type: "array", items: true }, { kind: "list", item: STRING }],
  [
    "a list of lists",
    { type: "array", items: { type: "array" } },
    { kind: "list", item: { kind: "list", item: STRING } },
  ],
  ["an object without properties", { type: "object" }, { kind: "object", fields: [] }],
  ["an object by its properties", { properties: {} }, { kind: "object", fields: [] }],
  ["properties beside a reference", { properties: { x: {} }, $ref: "#" }, STRING],
  ["properties beside anyOf", { properties: { x: {} }, anyOf: [{}] }, STRING],
  ["properties beside oneOf", { properties: { x: {} }, oneOf: [{}] }, STRING],
  [
    "an object that says so, beside anyOf",
    { type: "object", properties: { x: {} }, anyOf: [{}] },
    { kind: "object", fields: [{ key: "x", shape: STRING }] },
  ],
])("the shape of %s", (_, property, expected) => {
  expect(shapeIn(property)).toEqual(expected);
});

test.each<[string, string, readonly string[]]>([
  ["required first, then by code point", '{"properties":{"b":{},"a":{},"C":{}},"required":["b"]}', ["b", "C", "a"]],
  ["names like integers are names", '{"properties":{"10":{},"9":{},"b":{}}}', ["10", "9", "b"]],
  [
    "names like integers where they are required",
    '{"properties":{"10":{},"9":{},"b":{}},"required":["b","9"]}',
    ["b", "9", "10"],
  ],
  ["by code point, not by UTF-16", '{"properties":{"\\ud83d\\ude00":{},"\\uffff":{}}}', ["\uffff", "😀"]],
  ["two pairs by their second halves", '{"properties":{"\\ud83d\\ude01":{},"\\ud83d\\ude00":{}}}', ["😀", "😁"]],
  ["a prefix first", '{"properties":{"ab":{},"a":{},"":{}}}', ["", "a", "ab"]],
  ["a name called __proto__", '{"properties":{"b":{},"__proto__":{}}}', ["__proto__", "b"]],
  ["nothing of a prototype", '{"properties":{"a":{}},"required":["constructor","toString"]}', ["a"]],
  ["no properties", "{}", []],
])("fieldOrder(): %s", (_, schema, expected) => {
  expect(fieldOrder(JSON.parse(schema))).toEqual([...expected]);
});

test("the fields without required are in the order of their bytes in UTF-8", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: "grapheme" })), (names) => {
      const properties = Object.fromEntries(names.filter((name) => name !== "__proto__").map((name) => [name, {}]));
      const byBytes = Object.keys(properties).sort((left, right) =>
        Buffer.compare(Buffer.from(left), Buffer.from(right)),
      );
      expect(fieldOrder({ properties })).toEqual(byBytes);
    }),
  );
});
