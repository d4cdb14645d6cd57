import { expect, test } from "bun:test";
import fc from "fast-check";
import { entryText, readUpdates, splitUpdates, type UpdateRefusalCode } from "../../../src/core/contract/updates.ts";
import { compactJson, isArray, isObject, type JsonValue } from "../../../src/core/json/value.ts";
import { anyJson } from "./arbitrary.ts";

const ENTRY = { contract: "stack", payload: { a: 1 } };

test.each<{ how: string; value: JsonValue | undefined; entries: readonly unknown[] }>([
  { how: "absent: no entry", value: undefined, entries: [] },
  { how: "null: no entry", value: null, entries: [] },
  { how: "an empty list: no entry", value: [], entries: [] },
  { how: "an empty object: no entry", value: {}, entries: [] },
  {
    how: "a list: its elements",
    value: [ENTRY, ENTRY],
    entries: [
      { index: 0, ...ENTRY },
      { index: 1, ...ENTRY },
    ],
  },
  { how: "an entry: that entry", value: ENTRY, entries: [{ index: 0, ...ENTRY }] },
  {
    how: "any other object: an entry a key, in order",
    value: { stack: { a: 1 }, apps: { b: 2 } },
    entries: [
      { index: 0, contract: "stack", payload: { a: 1 } },
      { index: 1, contract: "apps", payload: { b: 2 } },
    ],
  },
  {
    how: "a section called contract: no entry by itself, since its value is no text",
    value: { contract: { a: 1 } },
    entries: [{ index: 0, contract: "contract", payload: { a: 1 } }],
  },
  {
    how: "two sections called contract and payload",
    value: { contract: { a: 1 }, payload: { b: 1 } },
    entries: [
      { index: 0, contract: "contract", payload: { a: 1 } },
      { index: 1, contract: "payload", payload: { b: 1 } },
    ],
  },
  {
    how: "keys that an entry does not know are dropped",
    value: [{ ...ENTRY, note: 1 }],
    entries: [{ index: 0, ...ENTRY }],
  },
  {
    how: "a drift is kept whatever it is",
    value: [{ ...ENTRY, drift: 5 }],
    entries: [{ index: 0, ...ENTRY, drift: 5 }],
  },
  {
    how: "a name is kept as it is spelled",
    value: [{ contract: " Stäck ", payload: {} }],
    entries: [{ index: 0, contract: " Stäck ", payload: {} }],
  },
])("readUpdates() of $how", ({ value, entries }) => {
  expect(readUpdates(value)).toEqual({ entries, refused: [] } as unknown as ReturnType<typeof readUpdates>);
});

test.each<{ code: UpdateRefusalCode; value: JsonValue; contract: string | null; reason: string }>([
  { code: "not_an_array", value: 5, contract: null, reason: "update_contracts is a list of entries, not a number" },
  { code: "not_an_array", value: "[]", contract: null, reason: "update_contracts is a list of entries, not a string" },
  {
    code: "not_an_array",
    value: false,
    contract: null,
    reason: "update_contracts is a list of entries, not a boolean",
  },
  { code: "entry_not_object", value: ["x"], contract: null, reason: "An entry is an object, not a string" },
  { code: "entry_not_object", value: [null], contract: null, reason: "An entry is an object, not null" },
  { code: "entry_not_object", value: [[ENTRY]], contract: null, reason: "An entry is an object, not an array" },
  {
    code: "contract_missing",
    value: [{ payload: {} }],
    contract: null,
    reason: "contract names a section, but it is absent",
  },
  {
    code: "contract_missing",
    value: [{ contract: 5, payload: {} }],
    contract: null,
    reason: "contract names a section, but it is 5",
  },
  {
    code: "contract_missing",
    value: [{ contract: " ", payload: {} }],
    contract: " ",
    reason: 'contract names a section, but it is " "',
  },
  {
    code: "contract_missing",
    value: { contract: "", payload: {} },
    contract: "",
    reason: 'contract names a section, but it is ""',
  },
  { code: "contract_missing", value: { " ": {} }, contract: " ", reason: 'contract names a section, but it is " "' },
  { code: "payload_missing", value: [{ contract: "stack" }], contract: "stack", reason: "The entry has no payload" },
  {
    code: "payload_not_object",
    value: { contract: "stack" }, // no payload beside it, so contract is read as a section's name
    contract: "contract",
    reason: "A payload is an object, whose keys are merged, not a string",
  },
  {
    code: "payload_not_object",
    value: [{ contract: "stack", payload: null }],
    contract: "stack",
    reason: "A payload is an object, whose keys are merged, not null",
  },
  {
    code: "payload_not_object",
    value: [{ contract: "stack", payload: [1] }],
    contract: "stack",
    reason: "A payload is an object, whose keys are merged, not an array",
  },
  {
    code: "payload_not_object",
    value: { contract: "stack", payload: null },
    contract: "stack",
    reason: "A payload is an object, whose keys are merged, not null",
  },
  {
    code: "payload_not_object",
    value: { stack: "x" },
    contract: "stack",
    reason: "A payload is an object, whose keys are merged, not a string",
  },
])("readUpdates() refuses as $code: $reason", ({ code, value, contract, reason }) => {
  const { entries, refused } = readUpdates(value);
  expect(entries).toEqual([]);
  expect(refused).toMatchObject([{ index: 0, contract, key: null, code, reason }]);
  expect(refused[0]?.hint).toMatch(/^The legal shape: \[?\{"contract":".+","payload":\{.+\}\}\]?$/);
});

test("a prototype has no contract and no payload to lend", () => {
  const value = JSON.parse('[{"__proto__":{"contract":"stack","payload":{}}}]') as JsonValue;
  expect(readUpdates(value).refused).toMatchObject([{ code: "contract_missing" }]);
});

test("an abbreviated section may be called __proto__", () => {
  const { entries } = readUpdates(JSON.parse('{"__proto__":{"a":1}}') as JsonValue);
  expect(compactJson(entries as unknown as JsonValue)).toBe('[{"index":0,"contract":"__proto__","payload":{"a":1}}]');
});

test("a refused entry does not touch its siblings, and an index is the place in the list", () => {
  const { entries, refused } = readUpdates([ENTRY, 5, { contract: "x" }, ENTRY]);
  expect(entries.map(({ index }) => index)).toEqual([0, 3]);
  expect(refused.map(({ index, code }) => [index, code])).toEqual([
    [1, "entry_not_object"],
    [2, "payload_missing"],
  ]);
});

test("splitUpdates() takes out what deposits evidence, by its exact name", () => {
  const { entries } = readUpdates(
    ["evidence", "Evidence", "evidences", "evidence"].map((contract) => ({ contract, payload: {} })),
  );
  const { evidence, proposals } = splitUpdates(entries);
  expect([evidence.map(({ index }) => index), proposals.map(({ index }) => index)]).toEqual([
    [0, 3],
    [1, 2],
  ]);
});

test("entryText() is the same wherever an entry stands, and another with another drift", () => {
  const [one, two, three] = readUpdates([
    ENTRY,
    { payload: { a: 1 }, note: 1, contract: "stack" },
    { ...ENTRY, drift: null },
  ]).entries;
  if (one === undefined || two === undefined || three === undefined) throw new Error("an entry was refused");
  expect(entryText(one)).toBe('{"contract":"stack","payload":{"a":1}}');
  expect(entryText(two)).toBe(entryText(one));
  expect(entryText(three)).toBe('{"contract":"stack","payload":{"a":1},"drift":null}');
});

test("readUpdates() answers for any value, with each entry once", () => {
  const likely = fc.oneof(
    anyJson,
    fc.record({ contract: fc.oneof(fc.constantFrom("a", ""), anyJson), payload: anyJson }),
  );
  fc.assert(
    fc.property(fc.oneof(anyJson, likely, fc.array(likely)), (value) => {
      const { entries, refused } = readUpdates(value);
      const indexes = [...entries, ...refused].map(({ index }) => index).toSorted((left, right) => left - right);
      expect(indexes).toEqual(indexes.map((_, place) => place));
      if (isArray(value)) expect(indexes.length).toBe(value.length);
      for (const { contract, payload } of entries) expect(contract.trim() !== "" && isObject(payload)).toBe(true);
    }),
  );
});
