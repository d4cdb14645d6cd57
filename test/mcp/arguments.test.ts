import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { type Parameters, readArguments, schemaOf } from "../../src/mcp/arguments.ts";

const PARAMETERS = {
  name: { kind: "text", required: true, description: "A name" },
  route: { kind: "text", choices: ["auto", "local"], default: "auto" },
  limit: { kind: "text", orNumber: true },
  count: { kind: "number", least: 1, most: 8 },
  strict: { kind: "flag" },
  paths: { kind: "texts" },
  value: { kind: "json", schema: { type: "object" } },
} as const satisfies Parameters;

function issuesOf(text: string): readonly (readonly [string, string])[] {
  try {
    readArguments(PARAMETERS, text);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "bad_input") throw error;
    const issues = error.details.issues as readonly { readonly code: string; readonly path: string }[];
    return issues.map(({ code, path }) => [code, path]);
  }
  throw new Error(`no issue: ${text}`);
}

describe("readArguments()", () => {
  test("gives each value by its name, and JSON as it is written", () => {
    const text =
      '{"name":"a","route":"local","limit":12,"count":8,"strict":true,"paths":["x"],"value": {"a":1,"a":1e400} }';
    expect(readArguments(PARAMETERS, text)).toEqual({
      name: "a",
      route: "local",
      limit: "12",
      count: 8,
      strict: true,
      paths: ["x"],
      value: '{"a":1,"a":1e400}',
    });
  });

  test("counts null as not given, but for JSON", () => {
    expect(readArguments(PARAMETERS, '{"name":"a","count":null,"value":null}')).toEqual({
      name: "a",
      value: "null",
    } as never);
    expect(issuesOf('{"name":null}')).toEqual([["missing_argument", "/name"]]);
  });

  test("tells of everything that is wrong at once", () => {
    expect(issuesOf('{"nam":"a","route":"locla","count":0,"strict":"yes","paths":[1],"limit":true,"limit":1}')).toEqual(
      [
        ["unknown_argument", "/nam"],
        ["bad_argument", "/route"],
        ["bad_argument", "/count"],
        ["bad_argument", "/strict"],
        ["bad_argument", "/paths"],
        ["bad_argument", "/limit"],
        ["duplicate_argument", "/limit"],
        ["missing_argument", "/name"],
      ],
    );
  });

  test.each(["[]", '"name"', "null", "7"])("takes no arguments that are %s", (text) => {
    expect(issuesOf(text)).toEqual([["not_an_object", ""]]);
  });

  test.each(["1.0", "1e0", "9", '"3"'])("takes %s for no whole number from 1 to 8", (count) => {
    expect(issuesOf(`{"name":"a","count":${count}}`)).toEqual([["bad_argument", "/count"]]);
  });

  test("says what may have been meant", () => {
    const error = (() => {
      try {
        return readArguments(PARAMETERS, '{"name":"a","rout":"auto"}');
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({
      message: 'There is no argument "rout"',
      path: "/rout",
      hint: 'Did you mean "route"?',
    });
  });

  test("tells of 64 issues of a call that has more", () => {
    const many = Array.from({ length: 1000 }, (_, at) => `"x${at}":1`).join(",");
    expect(issuesOf(`{"name":"a",${many}}`)).toHaveLength(64);
  });
});

test("schemaOf() shows all of it to clients", () => {
  expect(schemaOf(PARAMETERS)).toEqual({
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties: {
      name: { type: "string", description: "A name" },
      route: { type: "string", enum: ["auto", "local"], default: "auto" },
      limit: { type: ["string", "integer"] },
      count: { type: "integer", minimum: 1, maximum: 8 },
      strict: { type: "boolean" },
      paths: { type: "array", items: { type: "string" } },
      value: { type: "object" },
    },
  });
});
