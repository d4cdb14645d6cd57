import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { closeSchema } from "../../../src/core/schema/close.ts";
import { coerceText } from "../../../src/core/schema/coerce.ts";
import { smallObject } from "../../support/schemas.ts";

const MEMBERS = { enum: [1, 2.5, null, true, "x"] };

test.each<[unknown, string, string]>([
  [{ type: "number" }, '"1.50"', "1.50"],
  [{ type: "number" }, '"-1e400"', "-1e400"],
  [{ type: "number" }, '" 1"', '" 1"'],
  [{ type: "number" }, '"+3"', '"+3"'],
  [{ type: "number" }, '"01"', '"01"'],
  [{ type: "number" }, '"1\\n"', '"1\\n"'],
  [{ type: "number" }, '"Infinity"', '"Infinity"'],
  [{ type: "integer" }, '"-0"', "-0"],
  [{ type: "integer" }, '"9007199254740993"', "9007199254740993"],
  [{ type: "integer" }, '"3.0"', '"3.0"'],
  [{ type: "integer" }, '"1e1"', '"1e1"'],
  [{ type: "boolean" }, '"true"', "true"],
  [{ type: "boolean" }, '"True"', '"True"'],
  [{ type: "boolean" }, '"yes"', '"yes"'],
  [{ type: "null" }, '"null"', '"null"'],
  [{ type: "string" }, "1", "1"],
  [{ type: ["integer", "null"] }, '"1"', '"1"'],
  [{ anyOf: [{ type: "integer" }] }, '"1"', '"1"'],
  [MEMBERS, '"1"', "1"],
  [MEMBERS, '"1.0"', "1.0"],
  [MEMBERS, '"25e-1"', "25e-1"],
  [MEMBERS, '"null"', "null"],
  [MEMBERS, '"true"', "true"],
  [MEMBERS, '"false"', '"false"'],
  [MEMBERS, '"x"', '"x"'],
  [MEMBERS, '"3"', '"3"'],
  [{ ...MEMBERS, type: "number" }, '"3"', '"3"'],
  [{ type: "array", items: { type: "integer" } }, '[ "1" , "x",2, "3"]', '[ 1 , "x",2, 3]'],
  [{ items: { type: "integer" } }, '["1"]', '["1"]'],
  [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } }, '["1","2"]', '["1",2]'],
  [{ type: "array", items: { type: "array", items: { type: "number" } } }, '[["1"],[]]', "[[1],[]]"],
  [{ properties: { x: { type: "integer" } } }, '{"x":"1","y":"2"}', '{"x":1,"y":"2"}'],
  [{ properties: { "": { type: "integer" } }, type: ["object", "null"] }, '{"":"1"}', '{"":1}'],
  [true, '"1"', '"1"'],
])("coerceText() by %j makes of %s: %s", (property, value, expected) => {
  const schema = { properties: { v: property } } as JsonObject;
  expect(coerceText(` {"v" :${value}, "w":"1"}\n`, schema)).toBe(` {"v" :${expected}, "w":"1"}\n`);
});

test("coerceText() reaches a member called __proto__, and only its own", () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"integer"}}}');
  expect(coerceText('{"__proto__":"1","constructor":"2"}', schema)).toBe('{"__proto__":1,"constructor":"2"}');
});

test.each(["", "[", '["1"]', '"1"', '{"v":"1","v":"1"}', '{"v":"1"', '\ufeff{"v":"1"}'])(
  "coerceText() leaves %j as it is",
  (text) => {
    expect(coerceText(text, { properties: { v: { type: "integer" } }, items: { type: "integer" } })).toBe(text);
  },
);

test("coerceText() twice is coerceText() once", () => {
  const schema: JsonObject = {
    properties: { a: { type: "number" }, b: { type: "array", items: { enum: [1, null, "a"] } } },
  };
  fc.assert(
    fc.property(smallObject(fc.oneof(scalarText(), fc.array(scalarText()))), (value) => {
      const once = coerceText(JSON.stringify(value), schema);
      expect(coerceText(once, schema)).toBe(once);
    }),
  );
});

function scalarText(): fc.Arbitrary<JsonValue> {
  return fc.constantFrom("1", "1.0", "null", "a", "", 1, null);
}

test.each<[string, JsonObject, readonly string[], unknown]>([
  [
    "behind what is there, each once",
    { properties: { a: {}, b: {}, c: {} }, required: ["c"] },
    ["b", "c", "a", "b"],
    ["c", "b", "a"],
  ],
  ["where nothing was required", { properties: { a: {} } }, ["a"], ["a"]],
  ["not what is not declared", { properties: { a: {} } }, ["ghost", "constructor", "a"], ["a"]],
  ["not what no answer could hold", { properties: { a: true, b: {} } }, ["a", "b"], ["b"]],
])("closeSchema() adds accepted fields: %s", (_, schema, accepted, required) => {
  expect(closeSchema(schema, accepted)).toEqual({ ...schema, required } as JsonObject);
});

test("closeSchema() gives the schema itself when there is nothing to add", () => {
  const schema: JsonObject = { properties: { a: {} }, required: ["a", "a", "x"] };
  expect(closeSchema(schema, ["a", "y"])).toBe(schema);
});
