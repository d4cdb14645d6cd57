import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { readValue } from "../../../src/core/json/read-document.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

const Choice = v.union([
  v.string(),
  v.strictObject({ repeat: v.string(), count: v.number() }),
  v.strictObject({ echo: v.picklist(["goal", "last"]) }),
]);
const Document = v.strictObject({
  name: v.string(),
  more: v.optional(v.array(Choice)),
  bag: v.optional(v.record(v.string(), v.unknown())),
  any: v.optional(v.unknown()),
});

function told(value: JsonValue): readonly string[] {
  const read = readValue(Document, value);
  return read.ok
    ? []
    : read.issues.map(({ code, path, hint }) => [code, path, ...(hint === null ? [] : [hint])].join(" "));
}

describe("readValue()", () => {
  test("tells of every unknown key of an object, each with what may have been meant", () => {
    expect(told({ nam: "a", name: "a", mor: [], zzzzz: 1 })).toEqual([
      "unknown_key /nam Did you mean name?",
      "unknown_key /mor Did you mean more?",
      "unknown_key /zzzzz Known are: name, more, bag, any",
    ]);
  });

  test.each([
    { value: [], told: ["type_mismatch "] },
    { value: { name: "a", bag: [] }, told: ["type_mismatch /bag"] },
    { value: { name: "a", bag: { "a/b": [[]] }, any: [[]] }, told: [] },
    { value: { name: "a", more: [["x"]] }, told: ["type_mismatch /more/0"] },
    { value: { name: "a", more: [[], "x", { repeat: 1 }] }, told: ["type_mismatch /more/0"] },
  ])("takes no list for an object in $value", ({ value, told: wanted }) => {
    expect(told(value as JsonValue).slice(0, 1)).toEqual(wanted.slice(0, 1));
    expect(told(value as JsonValue).length > 0).toBe(wanted.length > 0);
  });

  test.each([
    { item: 1, told: ["type_mismatch /more/0"] },
    { item: { repeat: 1, count: 2 }, told: ["type_mismatch /more/0/repeat"] },
    { item: { repeat: "x" }, told: ["missing_key /more/0/count"] },
    { item: { ech: "goal" }, told: ["missing_key /more/0/echo", "unknown_key /more/0/ech Did you mean echo?"] },
    { item: { echo: "all" }, told: ["type_mismatch /more/0/echo"] },
    { item: { "e~/o": "all", echo: "goal" }, told: ["unknown_key /more/0/e~0~1o Known are: echo"] },
  ])("tells what is wrong with $item by the choice of a union that is closest", ({ item, told: wanted }) => {
    expect(told({ name: "a", more: [item] as JsonValue })).toEqual(wanted);
  });
});
