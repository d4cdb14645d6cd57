import { expect, test } from "bun:test";
import fc from "fast-check";
import { applyChanges, findChanges, overlaps, revertChanges } from "../../../src/core/contract/changes.ts";
import { compactJson, type JsonObject, sameJson } from "../../../src/core/json/value.ts";
import { anyEnvelope } from "./arbitrary.ts";

test.each([
  { what: "nothing", before: { a: 1 }, after: { a: 1 }, changes: [] },
  { what: "the order of keys", before: { a: 1, b: { c: 1, d: 2 } }, after: { b: { d: 2, c: 1 }, a: 1 }, changes: [] },
  {
    what: "a scalar",
    before: { a: { b: 1 } },
    after: { a: { b: 2 } },
    changes: [{ path: "a.b", before: 1, after: 2 }],
  },
  {
    what: "a list, whole",
    before: { l: [1] },
    after: { l: [1, 2] },
    changes: [{ path: "l", before: [1], after: [1, 2] }],
  },
  { what: "a new path", before: {}, after: { a: { b: null } }, changes: [{ path: "a", after: { b: null } }] },
  { what: "a gone path", before: { a: null, b: 1 }, after: { b: 1 }, changes: [{ path: "a", before: null }] },
  {
    what: "an object for a scalar",
    before: { a: 1 },
    after: { a: { b: 1 } },
    changes: [{ path: "a", before: 1, after: { b: 1 } }],
  },
  {
    what: "several, stored keys first",
    before: { a: 1, b: 1, c: { d: 1, e: 2 } },
    after: { n: 1, c: { e: 3 }, b: 2, a: 1 },
    changes: [
      { path: "b", before: 1, after: 2 },
      { path: "c.d", before: 1 },
      { path: "c.e", before: 2, after: 3 },
      { path: "n", after: 1 },
    ],
  },
  {
    what: "a key with a dot, with the object around it",
    before: { o: { "a.b": 1, c: 1 }, p: 1 },
    after: { o: { "a.b": 2, c: 2 }, p: 2 },
    changes: [
      { path: "o", before: { "a.b": 1, c: 1 }, after: { "a.b": 2, c: 2 } },
      { path: "p", before: 1, after: 2 },
    ],
  },
  {
    what: "an empty key at the root, with all of it",
    before: { "": 1 },
    after: { "": 2 },
    changes: [{ path: "", before: { "": 1 }, after: { "": 2 } }],
  },
  {
    what: "beside a key with a dot that stays",
    before: { "a.b": { x: 1 }, c: 1 },
    after: { c: 2, "a.b": { x: 1 } },
    changes: [{ path: "c", before: 1, after: 2 }],
  },
])("findChanges() of $what", ({ before, after, changes }) => {
  expect(findChanges(before as JsonObject, after as JsonObject)).toEqual(changes as never);
});

test("a birth is one change of the whole, without a before", () => {
  expect(findChanges(null, { a: 1 })).toEqual([{ path: "", after: { a: 1 } }]);
  expect(applyChanges(null, findChanges(null, { a: 1 }))).toEqual({ a: 1 });
  expect(applyChanges(null, [])).toBeNull();
});

test("stored keys keep their place, and the given envelope stays as it was", () => {
  const envelope = { a: 1, b: { c: 1, d: 2 }, e: 3 };
  const before = compactJson(envelope);
  const changes = [
    { path: "b.c", before: 1, after: 9 },
    { path: "b.x", after: 1 },
    { path: "a", before: 1 },
  ];
  const after = applyChanges(envelope, changes) ?? {};
  expect(compactJson(after)).toBe('{"b":{"c":9,"d":2,"x":1},"e":3}');
  expect(compactJson(revertChanges(after, changes))).toBe('{"b":{"c":1,"d":2},"e":3,"a":1}');
  expect(compactJson(envelope)).toBe(before);
});

test("applyChanges() makes a path that does not fit, and removing what is not there changes nothing", () => {
  expect(applyChanges({ a: [1] }, [{ path: "a.b.c", after: 1 }])).toEqual({ a: { b: { c: 1 } } });
  expect(applyChanges({ a: 1 }, [{ path: "a.b", before: 1 }])).toEqual({ a: 1 });
  expect(applyChanges({ a: 1 }, [{ path: "x.y", before: 1 }])).toEqual({ a: 1 });
});

test("a change of a key named like a prototype stays plain data", () => {
  const changes = findChanges({ o: {} }, JSON.parse('{"o":{"__proto__":{"x":1}}}') as JsonObject);
  expect(changes).toHaveLength(1);
  const after = applyChanges({ o: {} }, changes) ?? {};
  expect(compactJson(after)).toBe('{"o":{"__proto__":{"x":1}}}');
  expect(compactJson(revertChanges(after, changes))).toBe('{"o":{}}');
});

test.each([
  { left: "a.b", right: "a.b", touch: true },
  { left: "a", right: "a.b", touch: true },
  { left: "a.b.c", right: "a", touch: true },
  { left: "", right: "a", touch: true },
  { left: "a.b", right: "a.c", touch: false },
  { left: "a", right: "ab", touch: false },
  { left: "a.b", right: "a.bc", touch: false },
])("overlaps($left, $right) is $touch", ({ left, right, touch }) => {
  expect(overlaps(left, right)).toBe(touch);
  expect(overlaps(right, left)).toBe(touch);
});

test("law: applying the changes gives the later state, reverting them the earlier one", () => {
  fc.assert(
    fc.property(anyEnvelope, anyEnvelope, (before, after) => {
      const changes = findChanges(before, after);
      expect(sameJson(applyChanges(before, changes) ?? null, after)).toBe(true);
      expect(sameJson(revertChanges(after, changes), before)).toBe(true);
      for (const [index, change] of changes.entries()) {
        for (const other of changes.slice(index + 1)) expect(overlaps(change.path, other.path)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});

test("law: a history is rebuilt step by step", () => {
  fc.assert(
    fc.property(fc.array(anyEnvelope, { minLength: 1, maxLength: 5 }), (states) => {
      let rebuilt: JsonObject | null = null;
      let last: JsonObject | null = null;
      for (const state of states) {
        rebuilt = applyChanges(rebuilt, findChanges(last, state));
        last = state;
        expect(sameJson(rebuilt ?? null, state)).toBe(true);
      }
    }),
  );
});
