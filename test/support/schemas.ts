/** Schemas, and answers to them, for laws. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import type { Shape } from "../../src/core/schema/shape.ts";

const NAMES = ["a", "b", "C", "10", "9", "é", "a b", 'q"x', "b\\k", "😀", "__proto__", "constructor", "\u0001", ""];

/** An object whose own keys may be called anything. */
function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`);
}

/** Schemas of every shape, with names that are hard to write, nested up to three levels. */
export function anyShapedSchema(): fc.Arbitrary<JsonObject> {
  const { object } = fc.letrec<{ node: JsonObject; object: JsonObject }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject>(
        { type: "string" },
        { type: "number" },
        { type: "integer" },
        { type: "boolean" },
        { type: ["string", "null"] },
        { enum: ["clean", "drift-found"] },
        { enum: ["a", 'a"b', "a\\", "\n", 1] },
        { type: "object" },
        { type: "array", items: { type: "number" } },
        {},
      ),
      tie("object"),
      tie("node").map((items): JsonObject => ({ type: "array", items })),
    ),
    object: fc
      .tuple(
        fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie("node")), {
          selector: ([name]) => name,
          minLength: 1,
          maxLength: 4,
        }),
        fc.subarray(NAMES, { maxLength: 3 }),
      )
      .map(([properties, required]): JsonObject => ({ type: "object", properties: objectOf(properties), required })),
  }));
  return object;
}

/** Texts that the shape takes, and texts that differ from such a one in a little. */
export function anyAnswerText(shape: Shape): fc.Arbitrary<string> {
  const right = rightText(shape);
  const wrong = fc
    .tuple(
      right,
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom("", " ", '"', ",", "{}", "[]", "1", "-", "\r", " ".repeat(21), "\\", "null"),
    )
    .map(([text, at, cut, put]) => {
      const place = text.length === 0 ? 0 : at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + cut);
    });
  return fc.oneof(right, wrong);
}

function rightText(shape: Shape): fc.Arbitrary<string> {
  const blank = fc.oneof(
    { arbitrary: fc.constant(""), weight: 4 },
    fc.string({ unit: fc.constantFrom(" ", "\t", "\n"), maxLength: 20 }),
  );
  switch (shape.kind) {
    case "string":
      return fc.oneof(
        fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
        fc.constantFrom('"\\u00e9"', '"\\/"', '"\u007f"', '"12"'),
      );
    case "number":
      return fc.constantFrom("0", "-0", "1.5", "1e3", "-1.5E-10", "12.0");
    case "integer":
      return fc.constantFrom("0", "-7", "9007199254740993");
    case "boolean":
      return fc.constantFrom("true", "false");
    case "enum":
      return fc.constantFrom(...shape.values).map((value) => JSON.stringify(value));
    case "list":
      return fc
        .tuple(blank, fc.array(fc.tuple(rightText(shape.item), blank, blank), { maxLength: 3 }))
        .map(
          ([first, items]) =>
            `[${first}${items.map(([text, before, behind], index) => text + before + (index < items.length - 1 ? `,${behind}` : "")).join("")}]`,
        );
    case "object":
      return fc
        .tuple(blank, ...shape.fields.map(({ shape: inner }) => fc.tuple(rightText(inner), blank, blank, blank, blank)))
        .map(([first, ...values]) => {
          const members = values.map(([text, one, two, three, four], index) => {
            const key = JSON.stringify(shape.fields[index]?.key);
            return `${key}${one}:${two}${text}${three}${index < values.length - 1 ? `,${four}` : ""}`;
          });
          return `{${first}${members.join("")}}`;
        });
  }
}

/** Schemas of which two validators should think alike, with every judged keyword; `$defs` has `t` and a tree `n`. */
export function anyJudgedSchema(): fc.Arbitrary<JsonObject> {
  type Pair = readonly [string, JsonValue];
  const { node } = fc.letrec<{ node: JsonObject; inner: JsonValue; pair: Pair }>((tie) => {
    const inner = tie("inner");
    const listOfInner = fc.array(inner, { minLength: 1, maxLength: 2 });
    const leaf = fc.oneof(
      ...pairs({
        type: fc.oneof(
          fc.constantFrom("null", "boolean", "object", "array", "number", "string", "integer"),
          fc.subarray(["null", "boolean", "object", "array", "number", "string"], { minLength: 1 }),
        ),
        enum: fc.array(smallValue(), { minLength: 1, maxLength: 3 }),
        const: smallValue(),
        minLength: fc.nat({ max: 3 }),
        maxLength: fc.nat({ max: 3 }),
        pattern: fc.constantFrom("^[a-c]+$", "b", "^$", "😀"),
        minimum: fc.integer({ min: -2, max: 3 }),
        exclusiveMaximum: fc.integer({ min: -2, max: 3 }),
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minItems: fc.nat({ max: 2 }),
        maxItems: fc.nat({ max: 2 }),
        uniqueItems: fc.boolean(),
        minProperties: fc.nat({ max: 2 }),
        maxProperties: fc.nat({ max: 2 }),
        required: fc.subarray(["a", "b", "c"]),
        dependentRequired: fc.constant({ a: ["b"] }),
        propertyNames: fc.constantFrom<JsonValue>({ pattern: "^[ab]" }, { maxLength: 1 }, true),
        minContains: fc.nat({ max: 2 }),
        maxContains: fc.nat({ max: 2 }),
        $ref: fc.constantFrom("#/$defs/t", "#/$defs/n"),
        format: fc.constant("date"),
      }),
    );
    const branch = fc.oneof(
      ...pairs({
        dependentSchemas: inner.map((schema): JsonValue => ({ a: schema })),
        properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node"), { maxKeys: 2, noNullPrototype: true }),
        patternProperties: fc.dictionary(fc.constantFrom("^a", "b$", "[bc]"), inner, {
          maxKeys: 2,
          noNullPrototype: true,
        }),
        additionalProperties: inner,
        unevaluatedProperties: inner,
        items: inner,
        prefixItems: listOfInner,
        contains: inner,
        unevaluatedItems: inner,
        allOf: listOfInner,
        anyOf: listOfInner,
        oneOf: listOfInner,
        not: inner,
        if: inner,
        [THEN]: inner,
        else: inner,
      }),
    );
    return {
      inner: fc.oneof({ maxDepth: 3, depthSize: "small" }, fc.boolean(), tie("node")),
      pair: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, branch),
      node: fc
        .uniqueArray(tie("pair"), { selector: ([name]) => name, maxLength: 4 })
        .map((each): JsonObject => Object.fromEntries(each)),
    };
  });
  return node.map((schema) => ({ ...schema, $defs: DEFINITIONS }));
}

/** Not written as a key: linters take an object that has it for a promise. */
const THEN = "then";

const DEFINITIONS: JsonObject = {
  t: { type: ["number", "string"], maximum: 2 },
  n: {
    type: "object",
    properties: { a: { $ref: "#/$defs/n" }, b: { type: "string" } },
    additionalProperties: { type: "null" },
  },
};

function pairs(values: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<readonly [string, JsonValue]>[] {
  return Object.entries(values).map(([name, value]) => value.map((each) => [name, each] as const));
}

/** Values that such schemas tell apart. */
export function smallValue(): fc.Arbitrary<JsonValue> {
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, 2.5, -1, "", "a", "b", "abc", "😀", "2024-01-01"),
      fc.array(tie("value"), { maxLength: 3 }),
      smallObject(tie("value")),
    ),
  }));
  return value;
}

export function smallObject(value: fc.Arbitrary<JsonValue> = smallValue()): fc.Arbitrary<JsonObject> {
  return fc.dictionary(fc.constantFrom("a", "b", "c", "ab"), value, { maxKeys: 3, noNullPrototype: true });
}
