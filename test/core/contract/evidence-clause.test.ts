import { expect, test } from "bun:test";
import fc from "fast-check";
import { type EvidenceLookups, readEvidence, readEvidenceBatch } from "../../../src/core/contract/evidence-clause.ts";
import { EVIDENCE_TYPES } from "../../../src/core/evidence/payload.ts";
import { isObject, type JsonObject, withoutKey } from "../../../src/core/json/value.ts";
import { anyJson } from "./arbitrary.ts";

const ROOT = "/data/evidence/";

const LOOKUPS: EvidenceLookups = {
  briefExists: (id) => id === 1 || id === 2,
  taskBelongsTo: (task, brief) => task === 7 && brief === 1,
  resolveArtifact: (path) => {
    const real = path.replace(/^~\//, "/data/");
    return real.startsWith(ROOT) && !real.includes("..") ? real : null;
  },
};

const GOOD: JsonObject = { brief_id: 1, ac_id: "AC-1", type: "text", text: "x" };

function defectsOf(payload: JsonObject): readonly string[] {
  const read = readEvidence(payload, LOOKUPS);
  return read.ok ? [] : read.defects;
}

test("readEvidence() gives what is inserted, with the defaults", () => {
  expect(readEvidence(GOOD, LOOKUPS)).toEqual({
    ok: true,
    deposit: {
      brief_id: 1,
      ac_id: "AC-1",
      task_id: null,
      type: "text",
      polarity: "positive",
      text: "x",
      artifact_path: null,
      size_bytes: null,
      created_by_agent: null,
    },
  });
});

test("readEvidence() takes every optional field", () => {
  const more = { brief_id: "2", type: "file", polarity: "negative", created_by_agent: "qa", size_bytes: 0 };
  expect(readEvidence({ ...GOOD, ...more }, LOOKUPS)).toMatchObject({
    ok: true,
    deposit: { brief_id: 2, type: "file", polarity: "negative", created_by_agent: "qa", size_bytes: 0 },
  });
  expect(readEvidence({ ...GOOD, task_id: 7 }, LOOKUPS)).toMatchObject({ ok: true, deposit: { task_id: 7 } });
});

test.each(EVIDENCE_TYPES)("readEvidence() knows the type %s", (type) => {
  expect(readEvidence({ ...GOOD, type }, LOOKUPS)).toMatchObject({ ok: true, deposit: { type } });
});

test("an artifact path is stored as it resolves", () => {
  const payload = { ...withoutKey(GOOD, "text"), artifact_path: "~/evidence/me/b/AC-1/x.txt" };
  expect(readEvidence(payload, LOOKUPS)).toMatchObject({
    ok: true,
    deposit: { text: null, artifact_path: "/data/evidence/me/b/AC-1/x.txt" },
  });
});

const AN_ARTIFACT = { text: null };

test.each<{ field: string; change: JsonObject; defect: string }>([
  { field: "brief_id", change: { brief_id: null }, defect: "brief_id is missing" },
  { field: "brief_id", change: { brief_id: "" }, defect: "brief_id is missing" },
  { field: "brief_id", change: { brief_id: 9 }, defect: "brief_id 9 names no brief" },
  { field: "brief_id", change: { brief_id: -1 }, defect: "brief_id -1 names no brief" },
  { field: "brief_id", change: { brief_id: 1.5 }, defect: "brief_id is an integer that can be held exactly, not 1.5" },
  {
    field: "brief_id",
    change: { brief_id: "1.0" },
    defect: 'brief_id is an integer that can be held exactly, not "1.0"',
  },
  {
    field: "brief_id",
    change: { brief_id: " 1" },
    defect: 'brief_id is an integer that can be held exactly, not " 1"',
  },
  { field: "brief_id", change: { brief_id: "١" }, defect: 'brief_id is an integer that can be held exactly, not "١"' },
  {
    field: "brief_id",
    change: { brief_id: "9007199254740993" },
    defect: 'brief_id is an integer that can be held exactly, not "9007199254740993"',
  },
  {
    field: "brief_id",
    change: { brief_id: true },
    defect: "brief_id is an integer that can be held exactly, not true",
  },
  {
    field: "brief_id",
    change: { brief_id: [1] },
    defect: "brief_id is an integer that can be held exactly, not an array",
  },
  { field: "ac_id", change: { ac_id: " " }, defect: "ac_id is missing" },
  { field: "ac_id", change: { ac_id: 1 }, defect: "ac_id is a text, not 1" },
  {
    field: "type",
    change: { type: null },
    defect: "type is missing; it is one of text, file, command_output, url, screenshot",
  },
  {
    field: "type",
    change: { type: "Text" },
    defect: 'type is one of text, file, command_output, url, screenshot, not "Text"',
  },
  {
    field: "type",
    change: { type: {} },
    defect: "type is one of text, file, command_output, url, screenshot, not an object",
  },
  { field: "body", change: { text: null }, defect: "one of text and artifact_path is given; both are missing" },
  { field: "body", change: { artifact_path: `${ROOT}x` }, defect: "one of text and artifact_path is given, not both" },
  { field: "text", change: { text: 5 }, defect: "text is a text, not 5" },
  { field: "artifact_path", change: { ...AN_ARTIFACT, artifact_path: 5 }, defect: "artifact_path is a text, not 5" },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: "" },
    defect: 'artifact_path "" is not an absolute path',
  },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: "out/x.txt" },
    defect: 'artifact_path "out/x.txt" is not an absolute path',
  },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: "~x/y" },
    defect: 'artifact_path "~x/y" is not an absolute path',
  },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: `${ROOT}x\0` },
    defect: 'artifact_path "/data/evidence/x\\u0000" is not an absolute path',
  },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: "/tmp/x.txt" },
    defect: 'artifact_path "/tmp/x.txt" is not a file below the evidence folder',
  },
  {
    field: "artifact_path",
    change: { ...AN_ARTIFACT, artifact_path: `${ROOT}../x` },
    defect: 'artifact_path "/data/evidence/../x" is not a file below the evidence folder',
  },
  { field: "task_id", change: { task_id: 8 }, defect: "task_id 8 names no task of brief 1" },
  { field: "task_id", change: { task_id: 7, brief_id: 2 }, defect: "task_id 7 names no task of brief 2" },
  { field: "task_id", change: { task_id: "7" }, defect: 'task_id is an integer, not "7"' },
  { field: "created_by_agent", change: { created_by_agent: 5 }, defect: "created_by_agent is a text, not 5" },
  { field: "size_bytes", change: { size_bytes: -1 }, defect: "size_bytes is a whole number from 0 on, not -1" },
  { field: "size_bytes", change: { size_bytes: 1.5 }, defect: "size_bytes is a whole number from 0 on, not 1.5" },
  { field: "polarity", change: { polarity: "maybe" }, defect: 'polarity is one of positive, negative, not "maybe"' },
])("readEvidence() refuses $change", ({ change, defect }) => {
  expect(defectsOf({ ...GOOD, ...change })).toEqual([defect]);
});

test("every defect of a payload is named, in the order of the fields", () => {
  expect(defectsOf({ size_bytes: "x", task_id: 7 }).map((defect) => defect.split(" ", 1)[0])).toEqual([
    "brief_id",
    "ac_id",
    "type",
    "one",
    "size_bytes",
  ]);
});

test("keys that the clause does not know are passed over, a prototype's are not read", () => {
  expect(defectsOf({ ...GOOD, note: 1 })).toEqual([]);
  expect(defectsOf(JSON.parse('{"__proto__":{"brief_id":1,"ac_id":"A","type":"text","text":"x"}}'))).toHaveLength(4);
});

function entriesOf(...payloads: readonly JsonObject[]) {
  return payloads.map((payload, place) => ({ index: 10 + place, contract: "evidence", payload }));
}

test("a batch without a defect is deposited whole", () => {
  const entries = entriesOf(GOOD, { ...GOOD, ac_id: "AC-2" });
  const batch = readEvidenceBatch(entries, LOOKUPS);
  expect(batch.deposits.map(({ entry, deposit }) => [entry.index, deposit.ac_id])).toEqual([
    [10, "AC-1"],
    [11, "AC-2"],
  ]);
  expect({ ...batch, deposits: [] }).toEqual({ deposits: [], refused: [], invalid: [], reasons: [] });
});

test("an empty batch is none", () => {
  expect(readEvidenceBatch([], LOOKUPS)).toEqual({ deposits: [], refused: [], invalid: [], reasons: [] });
});

test("one defect fails the whole batch, and every entry is stamped", () => {
  const { deposits, refused, invalid, reasons } = readEvidenceBatch(
    entriesOf(GOOD, { ...GOOD, ac_id: "", type: "x" }, GOOD, { ...GOOD, brief_id: 9 }),
    LOOKUPS,
  );
  expect(deposits).toEqual([]);
  expect(invalid).toEqual([1, 3]);
  expect(reasons).toEqual([
    "evidence[1]: ac_id is missing",
    'evidence[1]: type is one of text, file, command_output, url, screenshot, not "x"',
    "evidence[3]: brief_id 9 names no brief",
  ]);
  expect(refused.map(({ index, reason }) => [index, reason])).toEqual([
    [10, `The batch fails together: ${reasons[0]}; ${reasons[1]}; and 1 more`],
    [11, `${reasons[0]}; ${reasons[1]}`],
    [12, `The batch fails together: ${reasons[0]}; ${reasons[1]}; and 1 more`],
    [13, `${reasons[2]}`],
  ]);
  for (const one of refused) {
    expect(one).toMatchObject({ contract: "evidence", key: null, code: "evidence_rejected" });
    expect(one.hint).toContain('{"contract":"evidence","payload":{"brief_id":1');
  }
});

test("readEvidenceBatch() answers for any payloads: all are deposited or none", () => {
  const payload = fc.oneof(
    fc.constant(GOOD),
    anyJson.filter(isObject),
    fc.record({ brief_id: anyJson, ac_id: anyJson, type: anyJson, text: anyJson, task_id: anyJson, polarity: anyJson }),
  );
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 4 }), (payloads) => {
      const { deposits, refused, invalid, reasons } = readEvidenceBatch(entriesOf(...payloads), LOOKUPS);
      const isBroken = payloads.some((one) => !readEvidence(one, LOOKUPS).ok);
      expect([deposits.length, refused.length]).toEqual(isBroken ? [0, payloads.length] : [payloads.length, 0]);
      expect([invalid.length > 0, reasons.length > 0]).toEqual([isBroken, isBroken]);
    }),
  );
});
