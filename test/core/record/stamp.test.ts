import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { ANNOTATION, RECOVERED, recoverList, stampList } from "../../../src/core/record/stamp.ts";

describe("stampList()", () => {
  test.each<[string, readonly JsonValue[], readonly string[] | null, readonly JsonValue[]]>([
    ["leaves an unbound list", ["a", { x: 1 }], null, ["a", { x: 1 }]],
    ["drops a marked entry that names a recorded one, blanks aside", [`${RECOVERED} a `], ["a"], ["a"]],
    ["compares trimmed on both sides", ["a"], [" a "], [" a "]],
    ["does not mark twice behind a blank", [` ${ANNOTATION}x`], ["a"], ["a", ` ${ANNOTATION}x`]],
    [
      "puts a reference in the place of its path",
      ["c.ts", { path: "b.ts", commit: "abc1234" }],
      ["a.ts", "b.ts", "c.ts"],
      ["a.ts", { path: "b.ts", commit: "abc1234" }, "c.ts"],
    ],
    [
      "keeps every reference to one path",
      [{ path: "a", commit: "1234567" }, "a", { path: "a", commit: "7654321" }],
      ["a", "b"],
      [{ path: "a", commit: "1234567" }, { path: "a", commit: "7654321" }, "b"],
    ],
    [
      "takes an object with other keys for no reference",
      [{ path: "a", note: 1 }],
      ["a"],
      ["a", `${ANNOTATION}{"path":"a","note":1}`],
    ],
    ["takes a blank path for no reference", [{ path: " " }], [], [`${ANNOTATION}{"path":" "}`]],
    [
      "writes other values as compact JSON",
      [1, null, [1, 2], true],
      [],
      [`${ANNOTATION}1`, `${ANNOTATION}null`, `${ANNOTATION}[1,2]`, `${ANNOTATION}true`],
    ],
    ["keeps a key named __proto__", [JSON.parse('{"__proto__":1}')], [], [`${ANNOTATION}{"__proto__":1}`]],
  ])("%s", (_, agent, recorded, stamped) => {
    expect(stampList(agent, recorded)).toEqual(stamped);
  });

  test("stamping twice changes nothing", () => {
    const textOf = (...parts: readonly string[]) =>
      fc.array(fc.constantFrom(...parts), { maxLength: 4 }).map((chosen) => chosen.join(""));
    const text = textOf("a", "b", " ", ANNOTATION, RECOVERED, "[agent annotation]");
    const reference = fc.record({ path: text, commit: fc.constant("abc1234") });
    const entry = fc.oneof(text, reference, fc.record({ path: text, x: text }), fc.integer());
    fc.assert(
      fc.property(fc.array(entry), fc.array(textOf("a", "b", " ")), (agent, recorded) => {
        const once = stampList(agent, recorded);
        expect(stampList(once, recorded)).toEqual(once);
      }),
      { numRuns: 1000 },
    );
  });
});

test("recoverList() fills an empty list and touches no other", () => {
  expect(recoverList([], ["ls", "npm test"])).toEqual([`${RECOVERED}ls`, `${RECOVERED}npm test`]);
  expect(recoverList(["x"], ["ls"])).toEqual(["x"]);
  expect(recoverList([], [])).toEqual([]);
});
