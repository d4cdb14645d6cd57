import { describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { anyJudgedSchema, anyShapedSchema, smallValue } from "../../support/schemas.ts";

function pathsIn(schema: unknown): readonly string[] {
  return lintSchema(schema as JsonObject).map(({ path }) => path);
}

/** The places of what is wrong with a property `p`, below it. */
function pathsBelow(property: unknown): readonly string[] {
  return pathsIn({ properties: { p: property } }).map((path) => path.replace(/^\/properties\/p/, ""));
}

describe("lintSchema() on the top", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["no properties", { type: "string" }, ["", "/type"]],
    ["no properties but a requirement", { type: "object", required: ["a"] }, [""]],
    ["empty properties", { properties: {} }, ["/properties"]],
    ["properties that are a list", { properties: [] }, ["/properties"]],
    ["properties that are null", { properties: null }, ["/properties"]],
    ["no compilable property", { properties: { a: "string", b: true, c: null } }, ["/properties"]],
    ["one compilable property", { properties: { a: true, b: {} } }, []],
    ["no type", { properties: { a: {} } }, []],
    ["types with object among them", { type: ["object", "null"], properties: { a: {} } }, []],
    ["a type that no object is of", { type: "array", properties: { a: {} } }, ["/type"]],
    ["an $id", { $id: "https://example.com/x", properties: { a: {} } }, []],
  ])("%s", (_, schema, paths) => {
    expect(pathsIn(schema)).toEqual([...paths]);
  });
});

describe("lintSchema() takes", () => {
  test.each<[string, unknown]>([
    ["a name repeated in required", { required: ["a", "a"], properties: { a: {} } }],
    ["a name in required that is not declared", { required: ["ghost"] }],
    [
      "unknown keywords, whatever they hold",
      { nullable: 5, "x-y": { type: "strng" }, additionalItems: 3, dependencies: 1 },
    ],
    ["notes of any form", { title: 5, description: null, format: {}, default: { type: "strng" }, examples: 1 }],
    ["values of any form", { enum: [{ type: "strng" }, null], const: { pattern: "(" } }],
    ["properties that are skipped", { properties: { a: 1, b: null } }],
    ["boolean schemas", { items: true, additionalProperties: false, allOf: [true], if: false }],
    ["types that follow each other", { type: ["string", "null"] }],
    ["numbers with a point but no fraction", { minLength: 3.0, multipleOf: 0.5 }],
    ["the largest integer", { const: Number.MAX_SAFE_INTEGER }],
    ["a number beyond it that is no integer in writing", { maximum: 1e300 }],
    ["a recursion through properties", { $ref: "#" }],
    ["a recursion through items", { items: { $ref: "#/properties/p" } }],
    ["a pattern of RE2 alone", { pattern: "(?i)\\Aa\\z", patternProperties: { "(?P<x>a)": {} } }],
    ["a place that a reference names twice", { allOf: [{ $ref: "#/properties/q" }, { $ref: "#/properties/q" }] }],
    ["a reference to a boolean", { $ref: "#/properties/p/not", not: true }],
  ])("%s", (_, property) => {
    expect(lintSchema({ properties: { p: property, q: {} } } as JsonObject)).toEqual([]);
  });
});

describe("lintSchema() refuses", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["a type that does not exist", { type: "strng" }, ["/type"]],
    ["a type that is no text", { type: 5 }, ["/type"]],
    ["one wrong type in a list", { type: ["string", "nil", null] }, ["/type", "/type"]],
    ["no type in a list", { type: [] }, ["/type"]],
    ["a type twice", { type: ["string", "string"] }, ["/type"]],
    ["a required text", { required: "a" }, ["/required"]],
    ["a required number", { required: [3, "b"] }, ["/required"]],
    ["a length in quotes", { minLength: "3" }, ["/minLength"]],
    ["a length below 0", { maxLength: -1, minItems: -1 }, ["/maxLength", "/minItems"]],
    [
      "a count with a fraction",
      { maxItems: 1.5, minProperties: 0.5, maxContains: 0.1 },
      ["/maxItems", "/minProperties", "/maxContains"],
    ],
    [
      "a bound in quotes",
      { minimum: "1", maximum: null, exclusiveMinimum: true },
      ["/minimum", "/maximum", "/exclusiveMinimum"],
    ],
    ["a multiple of nothing", { multipleOf: 0 }, ["/multipleOf"]],
    ["a flag in quotes", { uniqueItems: "true" }, ["/uniqueItems"]],
    ["an enum without members", { enum: [] }, ["/enum"]],
    ["an enum that is an object", { enum: { a: 1 } }, ["/enum"]],
    ["an empty choice", { anyOf: [] }, ["/anyOf"]],
    ["a choice that is an object", { oneOf: {} }, ["/oneOf"]],
    ["a choice with a text in it", { allOf: [{}, "x"] }, ["/allOf/1"]],
    ["items as a list", { items: [{}] }, ["/items"]],
    ["items as a text", { items: "string" }, ["/items"]],
    ["a condition as a number", { if: 5, not: null }, ["/if", "/not"]],
    ["properties as a list, further in", { properties: [] }, ["/properties"]],
    ["definitions with a text in them", { $defs: { a: "x" } }, ["/$defs/a"]],
    [
      "dependencies in the wrong form",
      { dependentRequired: { a: "b" }, dependentSchemas: [] },
      ["/dependentRequired", "/dependentSchemas"],
    ],
    ["a pattern that is none", { pattern: "(" }, ["/pattern"]],
    ["a pattern of JavaScript", { pattern: "(?=x)" }, ["/pattern"]],
    ["a pattern that is a number", { pattern: 5 }, ["/pattern"]],
    ["a pattern for names that is none", { patternProperties: { "a/(": {} } }, ["/patternProperties/a~1("]],
    [
      "what a pattern for names leads to",
      { patternProperties: { a: { type: "strng" } } },
      ["/patternProperties/a/type"],
    ],
    ["a reference that is a number", { $ref: 5 }, ["/$ref"]],
    ["a reference that leads nowhere", { $ref: "#/$defs/x" }, ["/$ref"]],
    ["a reference to a name of a prototype", { $ref: "#/constructor" }, ["/$ref"]],
    ["a reference to a list", { $ref: "#/properties/p/enum", enum: [1] }, ["/$ref"]],
    ["a reference past the end of a list", { $ref: "#/properties/p/allOf/1", allOf: [{}] }, ["/$ref"]],
    ["a reference elsewhere", { $ref: "https://example.com/x" }, ["/$ref"]],
    ["a reference by file", { $ref: "other.json#/x" }, ["/$ref"]],
    ["a reference to an anchor", { $ref: "#x", $anchor: "x" }, ["/$ref"]],
    ["a reference with a broken escape", { $ref: "#/%zz" }, ["/$ref"]],
    ["a moving reference", { $dynamicRef: "#x" }, ["/$dynamicRef"]],
    ["an $id further in", { $id: "x" }, ["/$id"]],
    [
      "what is wrong at any depth",
      { items: { anyOf: [{ properties: { x: { type: "strng" } } }] } },
      ["/items/anyOf/0/properties/x/type"],
    ],
    ["a number that no double holds", { const: [9007199254740992] }, ["/const/0"]],
    ["a number without bound", { "x-y": Number.POSITIVE_INFINITY }, ["/x-y"]],
    ["half a surrogate pair", { title: "\ud800" }, ["/title"]],
    ["half a surrogate pair in a name", { properties: { "\ud800": {} } }, ["/properties"]],
  ])("%s", (_, property, paths) => {
    expect(pathsBelow(property)).toEqual([...paths]);
  });

  test("what only a reference leads to, in its own place", () => {
    const schema = {
      properties: { p: { $ref: "#/definitions/t" } },
      definitions: { t: { type: "strng" }, u: { type: "strng" } },
    };
    expect(pathsIn(schema)).toEqual(["/definitions/t/type"]);
  });
});

describe("lintSchema() refuses a schema that comes back to itself without going into the value", () => {
  test.each<[string, unknown]>([
    ["a reference to itself", { properties: { a: { $ref: "#/properties/a" } } }],
    ["the whole", { properties: { a: {} }, $ref: "#" }],
    [
      "two references",
      { properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { $ref: "#/$defs/c" }, c: { $ref: "#/$defs/b" } } },
    ],
    ...["allOf", "anyOf", "oneOf"].map((name): [string, unknown] => [
      name,
      { properties: { a: { [name]: [{ $ref: "#/properties/a" }] } } },
    ]),
    ...["not", "if", "then", "else"].map((name): [string, unknown] => [
      name,
      { properties: { a: { [name]: { $ref: "#/properties/a" } } } },
    ]),
    ["dependentSchemas", { properties: { a: { dependentSchemas: { x: { $ref: "#/properties/a" } } } } }],
  ])("%s", (_, schema) => {
    const found = lintSchema(schema as JsonObject);
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toStartWith("The schema comes back to itself");
  });
});

describe("lintSchema() holds the limits", () => {
  function names(count: number): JsonObject {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, {}]));
  }

  test.each<[string, JsonObject, boolean]>([
    ["1,000 properties", { properties: names(1000) }, true],
    ["1,001 properties", { properties: names(1001) }, false],
    ["1,001 properties over all depths", { properties: { ...names(500), o: { properties: names(500) } } }, false],
    ["1,001 properties by pattern", { properties: { o: { patternProperties: names(1000) } } }, false],
    ["1,000 members", { properties: { a: { enum: Array.from({ length: 1000 }, (_, index) => index) } } }, true],
    [
      "1,001 members in all",
      { properties: { a: { enum: [1] }, b: { enum: Array.from({ length: 1000 }, (_, index) => index) } } },
      false,
    ],
    ["65,536 bytes", { properties: { a: { title: "x".repeat(65_536 - 33) } } }, true],
    ["65,537 bytes", { properties: { a: { title: "x".repeat(65_537 - 33) } } }, false],
    ["bytes and not characters", { properties: { a: { title: "é".repeat(32_760) } } }, false],
  ])("%s", (_, schema, isAccepted) => {
    expect(lintSchema(schema).length === 0).toBe(isAccepted);
  });

  test("8,192 instructions of all patterns, and not one more; those behind it are not looked at", () => {
    const patterns = (...each: readonly string[]): JsonObject => ({
      properties: { a: { allOf: each.map((pattern) => ({ pattern })) } },
    });
    // `[a-z]{n}` is n instructions, and two for the beginning and the end.
    const many = Array<string>(8).fill("[a-z]{998}");
    expect(lintSchema(patterns(...many, "[a-z]{190}"))).toEqual([]);
    const issues = lintSchema(patterns(...many, "[a-z]{191}", "("));
    expect(issues.map(({ path }) => path)).toEqual(["/properties/a/allOf/8/pattern"]);
    expect(issues[0]?.message).toContain("8193 instructions");
    const names = Object.fromEntries(many.map((pattern, index) => [`${pattern}${index}`, {}]));
    expect(lintSchema({ properties: { o: { patternProperties: { ...names, "[a-z]{999}": {} } } } })).toHaveLength(1);
  });

  function nested(levels: number): JsonObject {
    let schema: JsonObject = {};
    for (let level = 1; level < levels; level += 1) schema = { items: schema };
    return schema;
  }

  test("64 levels, and not 65", () => {
    expect(lintSchema({ properties: { a: nested(62) } })).toEqual([]);
    expect(lintSchema({ properties: { a: nested(63) } }).map(({ path }) => path)).toEqual([""]);
  });

  test("a schema that is wrong all over is told so 50 times", () => {
    const properties = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`n${index}`, { type: 5 }]));
    expect(lintSchema({ properties })).toHaveLength(50);
  });
});

test("an issue names what is wrong, and what may have been meant", () => {
  expect(lintSchema({ properties: { a: { type: "strng" } } })).toEqual([
    { path: "/properties/a/type", message: 'There is no type "strng"', hint: 'Did you mean "string"?' },
  ]);
  expect(lintSchema({ properties: { a: { minLength: "3" } } })).toEqual([
    {
      path: "/properties/a/minLength",
      message: '"minLength" wants a whole number of 0 or more, found "3"',
      hint: null,
    },
  ]);
});

test("schemas that the shape tree was made for are accepted", () => {
  fc.assert(fc.property(anyShapedSchema(), (schema) => expect(lintSchema(schema)).toEqual([])));
});

test("what is accepted, Ajv compiles", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  // Not "required": a name repeated there is pardoned here alone.
  const keywords = fc.constantFrom(
    "type",
    "enum",
    "minLength",
    "minimum",
    "multipleOf",
    "uniqueItems",
    "anyOf",
    "not",
    "items",
    "properties",
    "dependentRequired",
    "prefixItems",
    "$defs",
    "pattern",
  );
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(anyJudgedSchema(), keywords, smallValue(), (judged, name, value) => {
      const schema = { properties: { a: { ...judged, [name]: value } }, $defs: judged.$defs } as JsonObject;
      // Ajv wants a schema where a property is skipped here.
      fc.pre(name !== "properties" || !JSON.stringify(value).includes(":"));
      if (lintSchema(schema).length > 0) {
        refused += 1;
        return;
      }
      accepted += 1;
      expect(() => ajv.compile(schema)).not.toThrow();
      ajv.removeSchema();
    }),
    { numRuns: 600 },
  );
  expect(accepted).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(100);
});
