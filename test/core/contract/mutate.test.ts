import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalize } from "../../../src/core/contract/canonicalize.ts";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { findCollisions, MAX_WRITE_DEPTH, type Mutation, mutate } from "../../../src/core/contract/mutate.ts";
import { readPath, splitPath } from "../../../src/core/contract/path.ts";
import type { WritError } from "../../../src/core/error.ts";
import { compactJson, type JsonObject, type JsonValue } from "../../../src/core/json/value.ts";
import { AGENT_ID, anyEnvelope, anyJson, anyPatch, likelyEnvelope } from "./arbitrary.ts";

const START = initialEnvelope(AGENT_ID);

function done(envelope: JsonObject, mutation: Mutation): JsonObject {
  const mutated = mutate(envelope, mutation);
  if (!mutated.ok) throw mutated.error;
  return mutated.envelope;
}

function refused(envelope: JsonObject, mutation: Mutation): WritError {
  const mutated = mutate(envelope, mutation);
  if (mutated.ok) throw new Error(`it was accepted: ${compactJson(mutated.envelope)}`);
  return mutated.error;
}

test.each([
  { what: "a scalar", field: "a.n", value: 2, after: { a: { n: 2, o: { x: 1 }, l: [1], e: [], z: null } } },
  {
    what: "an object, whole",
    field: "a.o",
    value: { y: 1 },
    after: { a: { n: 1, o: { y: 1 }, l: [1], e: [], z: null } },
  },
  { what: "a list, unguarded", field: "a.l", value: [], after: { a: { n: 1, o: { x: 1 }, l: [], e: [], z: null } } },
  {
    what: "an absent key with parents",
    field: "b.c.d",
    value: 1,
    after: { a: { n: 1, o: { x: 1 }, l: [1], e: [], z: null }, b: { c: { d: 1 } } },
  },
  {
    what: "what lies under null",
    field: "a.z.k",
    value: 1,
    after: { a: { n: 1, o: { x: 1 }, l: [1], e: [], z: { k: 1 } } },
  },
  {
    what: "what lies under a scalar",
    field: "a.n.k",
    value: 1,
    after: { a: { n: { k: 1 }, o: { x: 1 }, l: [1], e: [], z: null } },
  },
  {
    what: "what lies under an empty list",
    field: "a.e.0",
    value: 1,
    after: { a: { n: 1, o: { x: 1 }, l: [1], e: { "0": 1 }, z: null } },
  },
  { what: "a root key", field: "a", value: "x", after: { a: "x" } },
])("set replaces $what, and keys keep their place", ({ field, value, after }) => {
  const envelope = { a: { n: 1, o: { x: 1 }, l: [1], e: [], z: null } };
  const before = compactJson(envelope);
  expect(compactJson(done(envelope, { verb: "set", field, value }))).toBe(compactJson(after));
  expect(compactJson(envelope)).toBe(before);
});

test.each(["set", "add"] as const)("%s through a populated list is refused with its path and count", (verb) => {
  const error = refused({ a: { l: [1, 2] } }, { verb, field: "a.l.b.c", value: 1 });
  expect(error).toMatchObject({ code: "path_through_list", path: "a.l", status: "error" });
  expect(error.message).toBe("field 'a.l.b.c' runs through 'a.l', a list of 2 entries");
});

test.each(["set", "add"] as const)("%s without a segment is empty_path", (verb) => {
  for (const field of ["", ".", "..."]) expect(refused(START, { verb, field, value: 1 }).code).toBe("empty_path");
});

test.each([
  { before: { l: [1] }, after: { l: [1, [2, 3]] } },
  { before: {}, after: { l: [[2, 3]] } },
  { before: { l: null }, after: { l: [[2, 3]] } },
  { before: { l: [] }, after: { l: [[2, 3]] } },
])("add puts one entry behind $before", ({ before, after }) => {
  expect(done(before as JsonObject, { verb: "add", field: "l", value: [2, 3] })).toEqual(after);
});

test.each([
  { value: "x", type: "string" },
  { value: {}, type: "object" },
  { value: 0, type: "number" },
  { value: false, type: "boolean" },
])("add to a $type is refused", ({ value, type }) => {
  const error = refused({ a: { b: value } }, { verb: "add", field: "a..b", value: 1 });
  expect(error).toMatchObject({ code: "not_a_list", path: "a.b", message: `field 'a.b' is not a list (got ${type})` });
});

test("a prototype is never reached", () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as JsonObject;
  const filled = done({ a: 1 }, { verb: "fill", patch });
  expect(compactJson(filled)).toBe('{"a":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  expect(compactJson(done({}, { verb: "set", field: "__proto__.polluted", value: 1 }))).toBe(
    '{"__proto__":{"polluted":1}}',
  );
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("fill merges objects, replaces the rest, and appends new keys in the order of the patch", () => {
  const envelope = { a: { x: 1, y: { z: 1 } }, b: 1, c: [] };
  const patch = { d: 4, b: 2, a: { w: 0, y: { q: 2 } }, c: [1] };
  expect(compactJson(done(envelope, { verb: "fill", patch }))).toBe(
    '{"a":{"x":1,"y":{"z":1,"q":2},"w":0},"b":2,"c":[1],"d":4}',
  );
  expect(done(envelope, { verb: "fill", patch: {} })).toEqual(envelope);
});

test("fill with a patch that is no object is not_an_object", () => {
  for (const patch of [[], "x", 5, null, true]) {
    expect(refused(START, { verb: "fill", patch }).code).toBe("not_an_object");
  }
});

function nested(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

test("a write is refused beyond one hundred levels, its path counted in", () => {
  expect(mutate({}, { verb: "fill", patch: nested(MAX_WRITE_DEPTH) }).ok).toBe(true);
  expect(refused({}, { verb: "fill", patch: nested(MAX_WRITE_DEPTH + 1) }).code).toBe("too_deep");
  expect(mutate({}, { verb: "set", field: "a.a", value: nested(MAX_WRITE_DEPTH - 2) }).ok).toBe(true);
  expect(refused({}, { verb: "set", field: "a.a", value: nested(MAX_WRITE_DEPTH - 1) }).code).toBe("too_deep");
  expect(mutate({}, { verb: "add", field: "a", value: nested(MAX_WRITE_DEPTH - 2) }).ok).toBe(true);
  expect(refused({}, { verb: "add", field: "a", value: nested(MAX_WRITE_DEPTH - 1) }).code).toBe("too_deep");
  expect(mutate({}, { verb: "set", field: "a.".repeat(MAX_WRITE_DEPTH), value: 1 }).ok).toBe(true);
  expect(refused({}, { verb: "set", field: "a.".repeat(MAX_WRITE_DEPTH + 1), value: 1 }).code).toBe("too_deep");
});

test.each([
  { what: "an absent list", stored: {}, patch: { l: [1] }, found: [] },
  {
    what: "null, a scalar and an empty list",
    stored: { n: null, s: 1, e: [] },
    patch: { n: [1], s: {}, e: 5 },
    found: [],
  },
  { what: "an identical list", stored: { l: [1, { a: 1 }] }, patch: { l: [1, { a: 1 }] }, found: [] },
  { what: "another list", stored: { l: [1, 2] }, patch: { l: [3] }, found: [["l", 2, 1]] },
  { what: "a list in another order", stored: { l: [1, 2] }, patch: { l: [2, 1] }, found: [["l", 2, 2]] },
  {
    what: "keys of an entry in another order",
    stored: { l: [{ a: 1, b: 2 }] },
    patch: { l: [{ b: 2, a: 1 }] },
    found: [["l", 1, 1]],
  },
  { what: "an empty list", stored: { l: [1] }, patch: { l: [] }, found: [["l", 1, 0]] },
  { what: "null", stored: { l: [1] }, patch: { l: null }, found: [["l", 1, 0]] },
  { what: "an object", stored: { l: [1] }, patch: { l: { length: 9 } }, found: [["l", 1, 0]] },
  {
    what: "a scalar over an object",
    stored: { o: { b: [1], i: { c: [1, 2], e: [] }, t: "x" } },
    patch: { o: 5 },
    found: [
      ["o.b", 1, 0],
      ["o.i.c", 2, 0],
    ],
  },
  { what: "a list over an object", stored: { o: { b: [1] } }, patch: { o: [1, 2, 3] }, found: [["o.b", 1, 0]] },
  { what: "a list inside a list", stored: { l: [{ m: [1] }] }, patch: { l: [{ m: [2] }] }, found: [["l", 1, 1]] },
  {
    what: "two lists, in the order of the patch",
    stored: { a: [1], o: { b: [1] } },
    patch: { o: { b: [2] }, a: [2, 3] },
    found: [
      ["o.b", 1, 1],
      ["a", 1, 2],
    ],
  },
  {
    what: "a commit that the store lower-cased",
    stored: { evidence_report: { files_checked: [{ path: "a", commit: "abcdef1" }] } },
    patch: { evidence_report: { files_checked: [{ path: "a", commit: " ABCDEF1" }] } },
    found: [],
  },
])("findCollisions() over $what", ({ stored, patch, found }) => {
  const collisions = findCollisions(stored as JsonObject, patch as JsonObject);
  expect(collisions.map(({ field, existing, incoming }) => [field, existing, incoming])).toEqual(
    found.map((entry) => [...entry]),
  );
});

test("one collision refuses the whole patch, and says so in both forms", () => {
  const one = refused({ l: [1, 2, 3] }, { verb: "fill", patch: { harmless: 1, l: [9] } });
  expect(one).toMatchObject({
    code: "list_overwrite",
    status: "refused",
    message: "fill would overwrite 1 populated list -- nothing was written.",
    details: {
      collisions: [{ field: "l", existing: 3, incoming: 1 }],
      message: "fill would overwrite 1 populated list; nothing was written.",
    },
    lines: ["  l: existing 3, incoming 1"],
    hint: "Use `writ contract add` to extend a list, or `writ contract set` to replace it.",
  });
  const two = refused({ l: [1], m: [1] }, { verb: "fill", patch: { l: [], m: [] } });
  expect(two.message).toBe("fill would overwrite 2 populated lists -- nothing was written.");
});

const field = fc.constantFrom(
  "evidence_report.key_outputs",
  "evidence_report.verification.checks",
  "agent_status.pending_steps",
  "update_contracts",
  "a.__proto__.b",
  "x..y",
  "conclusion",
);

test("law: no verb changes its input, and what it answers is an envelope or an error", () => {
  const mutation: fc.Arbitrary<Mutation> = fc.oneof(
    fc.record({ verb: fc.constantFrom("set" as const, "add" as const), field, value: anyJson }),
    fc.record({ verb: fc.constant("fill" as const), patch: fc.oneof(anyPatch, anyJson) }),
  );
  fc.assert(
    fc.property(anyEnvelope, mutation, (envelope, change) => {
      const before = compactJson(envelope);
      mutate(envelope, change);
      expect(compactJson(envelope)).toBe(before);
    }),
    { numRuns: 300 },
  );
});

test("law: filling twice is filling once, when the first is accepted", () => {
  fc.assert(
    fc.property(likelyEnvelope, anyPatch, (envelope, patch) => {
      const once = mutate(envelope, { verb: "fill", patch });
      if (!once.ok) return;
      // What is stored is canonical; the patch is sent again as it was typed.
      const stored = canonicalize(once.envelope).envelope;
      const twice = mutate(stored, { verb: "fill", patch });
      if (!twice.ok) throw twice.error;
      expect(canonicalize(twice.envelope).envelope).toEqual(stored);
    }),
    { numRuns: 300 },
  );
});

test("law: setting twice is setting once, and it reads back", () => {
  fc.assert(
    fc.property(anyEnvelope, field, anyJson, (envelope, path, value) => {
      const once = mutate(envelope, { verb: "set", field: path, value });
      if (!once.ok) return;
      expect(readPath(once.envelope, splitPath(path))).toEqual({ found: true, value });
      expect(mutate(once.envelope, { verb: "set", field: path, value })).toEqual(once);
    }),
    { numRuns: 300 },
  );
});

test("law: add never loses an entry", () => {
  fc.assert(
    fc.property(anyEnvelope, field, fc.array(anyJson, { minLength: 1, maxLength: 4 }), (envelope, path, values) => {
      const stored = readPath(envelope, splitPath(path));
      const before = stored.found && Array.isArray(stored.value) ? (stored.value as readonly JsonValue[]) : [];
      let current = envelope;
      for (const value of values) {
        const added = mutate(current, { verb: "add", field: path, value });
        if (!added.ok) {
          expect(current).toBe(envelope);
          return;
        }
        current = added.envelope;
      }
      expect(readPath(current, splitPath(path))).toEqual({ found: true, value: [...before, ...values] });
    }),
    { numRuns: 300 },
  );
});

test("law: a fill that is accepted displaces no entry of a stored list", () => {
  fc.assert(
    fc.property(likelyEnvelope, anyPatch, (envelope, patch) => {
      const filled = mutate(envelope, { verb: "fill", patch });
      if (!filled.ok) return;
      for (const name of ["files_checked", "key_outputs", "open_gaps"]) {
        const before = readPath(envelope, ["evidence_report", name]);
        const after = readPath(filled.envelope, ["evidence_report", name]);
        if (!before.found || !Array.isArray(before.value) || before.value.length === 0) continue;
        expect(after.found && Array.isArray(after.value) && after.value.length).toBe(before.value.length);
      }
    }),
    { numRuns: 300 },
  );
});
