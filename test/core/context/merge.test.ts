import { expect, test } from "bun:test";
import fc from "fast-check";
import { mergeContext, type ProjectOwner, splitByOwner } from "../../../src/core/context/merge.ts";
import {
  compactJson,
  isObject,
  type JsonObject,
  type JsonValue,
  sameJson,
  valueAt,
} from "../../../src/core/json/value.ts";
import { anyJson } from "../contract/arbitrary.ts";

const PROTO = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
const anyObject = anyJson.filter(isObject);

test.each<{ rule: string; stored: JsonValue | undefined; payload: JsonObject; section: JsonObject }>([
  { rule: "an absent section is the payload", stored: undefined, payload: { a: 1 }, section: { a: 1 } },
  { rule: "a section that is no object is replaced", stored: [1], payload: { a: 1 }, section: { a: 1 } },
  { rule: "objects merge", stored: { a: { b: 1 } }, payload: { a: { c: 2 } }, section: { a: { b: 1, c: 2 } } },
  { rule: "a list replaces whole", stored: { a: [1, 2] }, payload: { a: [3] }, section: { a: [3] } },
  { rule: "null is a value to store", stored: { a: { b: 1 } }, payload: { a: null }, section: { a: null } },
  { rule: "a stored null is replaced", stored: { a: null }, payload: { a: { b: 1 } }, section: { a: { b: 1 } } },
  { rule: "an object replaces a scalar", stored: { a: 1 }, payload: { a: { b: 1 } }, section: { a: { b: 1 } } },
])("mergeContext(): $rule", ({ stored, payload, section }) => {
  expect(mergeContext(stored, payload)).toEqual(section);
});

test("a stored key keeps its place, a new one comes last", () => {
  expect(compactJson(mergeContext({ b: 1, a: 2 }, { c: 3, a: 4 }))).toBe('{"b":1,"a":4,"c":3}');
});

test("a key __proto__ is a key like any other and reaches no prototype", () => {
  const merged = mergeContext(PROTO, JSON.parse('{"__proto__":{"y":2},"constructor":{"prototype":{"z":1}}}'));
  expect(compactJson(merged)).toBe('{"__proto__":{"x":1,"y":2},"constructor":{"prototype":{"z":1}}}');
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(({} as { y?: number; z?: number }).y).toBeUndefined();
  expect(({} as { y?: number; z?: number }).z).toBeUndefined();
});

test("merging twice is merging once, and no input is changed", () => {
  fc.assert(
    fc.property(anyJson, anyObject, (stored, payload) => {
      const before = [compactJson(stored), compactJson(payload)];
      const once = mergeContext(stored, payload);
      expect(compactJson(mergeContext(once, payload))).toBe(compactJson(once));
      expect([compactJson(stored), compactJson(payload)]).toEqual(before);
    }),
  );
});

test("an empty payload changes nothing, and into nothing the payload comes whole", () => {
  fc.assert(
    fc.property(anyObject, (section) => {
      expect(compactJson(mergeContext(section, {}))).toBe(compactJson(section));
      expect(compactJson(mergeContext(undefined, section))).toBe(compactJson(section));
      expect(compactJson(mergeContext({}, section))).toBe(compactJson(section));
    }),
  );
});

/** What is mentioned is there as given, what is not stays as stored. */
function holdsBoth(merged: JsonValue | undefined, stored: JsonValue | undefined, payload: JsonValue): boolean {
  if (!isObject(payload)) return merged !== undefined && sameJson(merged, payload);
  if (!isObject(merged)) return false;
  const old = isObject(stored) ? stored : {};
  const unmentioned = Object.keys(old).filter((key) => !Object.hasOwn(payload, key));
  return (
    unmentioned.every((key) => sameJson(valueAt(merged, key) ?? null, valueAt(old, key) ?? null)) &&
    Object.entries(payload).every(([key, value]) => holdsBoth(valueAt(merged, key), valueAt(old, key), value)) &&
    Object.keys(merged).length === unmentioned.length + Object.keys(payload).length
  );
}

test("keys that are not mentioned stay, keys that are hold what was given, and there are no others", () => {
  fc.assert(
    fc.property(anyJson, anyObject, (stored, payload) => {
      expect(holdsBoth(mergeContext(stored, payload), stored, payload)).toBe(true);
    }),
  );
});

const OWNERS: readonly ProjectOwner[] = [
  { workspace: "me", keys: ["shop_api", "billing"] },
  { workspace: "team", keys: ["search-ui", "billing"] },
];

test("splitByOwner() writes each key where its project lives, under the stored spelling", () => {
  const { owned, refused } = splitByOwner(3, { "shop-api": { a: 1 }, search_ui: { b: 2 } }, OWNERS);
  expect(owned).toEqual([
    { workspace: "me", payload: { shop_api: { a: 1 } }, keys: [{ given: "shop-api", stored: "shop_api" }] },
    { workspace: "team", payload: { "search-ui": { b: 2 } }, keys: [{ given: "search_ui", stored: "search-ui" }] },
  ]);
  expect(refused).toEqual([]);
});

test("splitByOwner() refuses a key that nobody owns, and the other keys go through", () => {
  const { owned, refused } = splitByOwner(3, { ghost: {}, shop_api: 1 }, OWNERS);
  expect(owned.map(({ payload }) => payload)).toEqual([{ shop_api: 1 }]);
  expect(refused).toMatchObject([{ index: 3, contract: "project_identity", key: "ghost", code: "project_unowned" }]);
  expect(refused[0]?.reason).toBe('No workspace owns the project "ghost"');
  expect(refused[0]?.hint).toContain('{"contract":"project_identity","payload":');
});

test("splitByOwner() refuses a key that two workspaces own, whatever its spelling", () => {
  const owners = [...OWNERS, { workspace: "old", keys: ["shop-api"] }];
  const { owned, refused } = splitByOwner(0, { billing: {}, shop_api: {} }, owners);
  expect(owned).toEqual([]);
  expect(refused.map(({ key, code }) => [key, code])).toEqual([
    ["billing", "project_ambiguous"],
    ["shop_api", "project_ambiguous"],
  ]);
  expect(refused[1]?.reason).toBe(
    'The project "shop_api" has more than one owner: "me" as "shop_api", "old" as "shop-api"',
  );
});

test("splitByOwner() takes the exact one of two spellings in one workspace, and guesses none", () => {
  const owners = [{ workspace: "me", keys: ["a_b-c", "a-b_c"] }];
  expect(splitByOwner(0, { "a-b_c": 1 }, owners).owned).toMatchObject([{ payload: { "a-b_c": 1 } }]);
  expect(splitByOwner(0, { a_b_c: 1 }, owners).refused).toMatchObject([{ code: "project_ambiguous" }]);
});

test("splitByOwner() merges two spellings of one key in their order", () => {
  const { owned } = splitByOwner(0, { "shop-api": { a: 1, b: 1 }, shop_api: { b: 2 } }, OWNERS);
  expect(owned.map(({ payload }) => payload)).toEqual([{ shop_api: { a: 1, b: 2 } }]);
});

test("splitByOwner() takes __proto__ for a project like any other", () => {
  const owners = [{ workspace: "me", keys: ["__proto__"] }];
  const { owned } = splitByOwner(0, PROTO, owners);
  expect(owned.map(({ payload }) => compactJson(payload))).toEqual(['{"__proto__":{"x":1}}']);
  expect(splitByOwner(0, PROTO, OWNERS).refused).toMatchObject([{ key: "__proto__", code: "project_unowned" }]);
});

test("splitByOwner() sends every key to one workspace or refuses it", () => {
  const key = fc.constantFrom("a-b", "a_b", "c", "__proto__", "d");
  const owners = fc.array(fc.record({ workspace: fc.constantFrom("w1", "w2"), keys: fc.array(key) }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.dictionary(key, anyJson), owners, (payload, given) => {
      const { owned, refused } = splitByOwner(0, payload, given);
      const placed = owned.flatMap(({ keys }) => keys.map((one) => one.given));
      expect([...placed, ...refused.map((one) => one.key)].toSorted()).toEqual(Object.keys(payload).toSorted());
    }),
  );
});
