import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { acceptsText, parseGrammar, unreachableRules } from "../../../scripts/vectors/gbnf.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { grammarOf } from "../../../src/core/schema/grammar.ts";
import { shapeOf } from "../../../src/core/schema/shape.ts";
import { isInLanguage } from "../../support/answer-language.ts";
import { anyAnswerText, anyShapedSchema } from "../../support/schemas.ts";

const WS = "ws ::= [ \\t\\n]{0,20}";
const STRING =
  'string ::= "\\"" ( [^"\\\\\\x00-\\x1F] | "\\\\" ( ["\\\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] ) )* "\\""';
const STRINGLIST = 'stringlist ::= "[" ws ( string ( ws "," ws string )* )? ws "]"';

function linesOf(schema: unknown): readonly string[] {
  return grammarOf(schema as JsonObject).split("\n");
}

describe("grammarOf()", () => {
  test("an enum and a list of numbers", () => {
    const schema = {
      properties: {
        verdict: { enum: ["clean", "drift-found"] },
        counts: { type: "array", items: { type: "integer" } },
      },
      required: ["verdict"],
    };
    expect(linesOf(schema)).toEqual([
      'root ::= "{" ws "\\"verdict\\"" ws ":" ws ( "\\"clean\\"" | "\\"drift-found\\"" ) ws "," ws "\\"counts\\"" ws ":" ws stringlist ws "}"',
      WS,
      STRING,
      STRINGLIST,
      "",
    ]);
  });

  test("the terminals that are used, and no other", () => {
    const schema = { properties: { b: { type: "boolean" }, i: { type: "integer" }, n: { type: "number" } } };
    expect(linesOf(schema).slice(1)).toEqual([
      WS,
      'number ::= "-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )?',
      'integer ::= "-"? ( "0" | [1-9] [0-9]* )',
      'boolean ::= "true" | "false"',
      "",
    ]);
  });

  test("nested objects and lists are numbered in the order in which they are first used", () => {
    const row = { type: "object", properties: { in: { type: "object" } } };
    const schema = {
      properties: {
        a: { type: "array", items: row },
        b: { type: "object" },
        c: { type: "array", items: { type: "array" } },
      },
    };
    expect(linesOf(schema)).toEqual([
      'root ::= "{" ws "\\"a\\"" ws ":" ws l1 ws "," ws "\\"b\\"" ws ":" ws o1 ws "," ws "\\"c\\"" ws ":" ws l2 ws "}"',
      'l1 ::= "[" ws ( o2 ( ws "," ws o2 )* ws )? "]"',
      'o1 ::= "{" ws "}"',
      'l2 ::= "[" ws ( stringlist ( ws "," ws stringlist )* ws )? "]"',
      'o2 ::= "{" ws "\\"in\\"" ws ":" ws o3 ws "}"',
      'o3 ::= "{" ws "}"',
      WS,
      STRING,
      STRINGLIST,
      "",
    ]);
  });

  test("a name is written as JSON first, then for the grammar", () => {
    const schema = { properties: { 'q"x': { enum: ["b\\c", "\n"] } } };
    expect(linesOf(schema)[0]).toBe(
      'root ::= "{" ws "\\"q\\\\\\"x\\"" ws ":" ws ( "\\"b\\\\\\\\c\\"" | "\\"\\\\n\\"" ) ws "}"',
    );
  });

  test("a member given twice stands once", () => {
    expect(linesOf({ properties: { a: { enum: ["x", "x"] } } })[0]).toContain('( "\\"x\\"" )');
  });

  test("no compilable property at all gives the empty object", () => {
    expect(linesOf({ type: "string" })).toEqual(['root ::= "{" ws "}"', WS, ""]);
  });
});

test("the grammar takes a text exactly when the language of the shape has it", () => {
  let accepted = 0;
  let rejected = 0;
  fc.assert(
    fc.property(
      anyShapedSchema().chain((schema) => fc.tuple(fc.constant(schema), anyAnswerText(shapeOf(schema)))),
      ([schema, text]) => {
        const isExpected = isInLanguage(shapeOf(schema), text);
        if (isExpected) accepted += 1;
        else rejected += 1;
        expect(acceptsText(parseGrammar(grammarOf(schema)), text)).toBe(isExpected);
      },
    ),
    { numRuns: 600 },
  );
  expect(accepted).toBeGreaterThan(100);
  expect(rejected).toBeGreaterThan(100);
});

test("the same schema gives the same bytes, and every rule is reached", () => {
  fc.assert(
    fc.property(anyShapedSchema(), (schema) => {
      const grammar = grammarOf(schema);
      expect(grammarOf(JSON.parse(JSON.stringify(schema)))).toBe(grammar);
      expect(unreachableRules(parseGrammar(grammar))).toEqual([]);
    }),
  );
});

test.each([
  ["twenty blanks", `{${" ".repeat(20)}"a":[]}`, true],
  ["twenty-one blanks", `{${" ".repeat(21)}"a":[]}`, false],
  ["a carriage return", '{\r"a":[]}', false],
  ["a blank before", ' {"a":[]}', false],
  ["a blank behind", '{"a":[]} ', false],
  ["a raw control character", '{"a":["\u001f"]}', false],
  ["a DEL", '{"a":["\u007f"]}', true],
  ["an escape that JSON has not", '{"a":["\\x"]}', false],
  ["a slash, escaped", '{"a":["\\/"]}', true],
])("white space and strings: %s", (_, text, isAccepted) => {
  const schema: JsonObject = { properties: { a: { type: "array" } } };
  expect(acceptsText(parseGrammar(grammarOf(schema)), text)).toBe(isAccepted);
  expect(isInLanguage(shapeOf(schema), text)).toBe(isAccepted);
});
