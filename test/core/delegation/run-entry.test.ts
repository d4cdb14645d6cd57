import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LegResult } from "../../../src/core/delegation/result.ts";
import { findRun, readRunEntry } from "../../../src/core/delegation/run-entry.ts";
import { recordLeg, recordPieces, scrubJson, scrubText } from "../../../src/core/delegation/run-record.ts";
import { parseJson } from "../../../src/core/json/parse.ts";

const scrub = (text: string) => text.replaceAll("hunter22", "[REDACTED]");
const LEG = {
  index: 0,
  status: "succeeded",
  node: "local",
  seat: "s",
  output: 'say "hunter22"',
  structured: '{"n": 0.50,\n "k":"hunter22"}',
  diff: "--- a\n+++ b\n",
  wall_ms: 7,
} as unknown as LegResult;
const HEAD = {
  schema_version: 1,
  run_id: `run-${"a".repeat(24)}`,
  summary: { succeeded: 1, deferred: 0, failed_verification: 0, failed: 0, infrastructure: 0 },
  writ_version: "1.2.3",
  started_at: "2026-01-05T10:00:00Z",
  wall_ms: 9,
} as const;
const FACTS = {
  legs: 2,
  ended: false,
  pid: 41,
  label: "nightly",
  argv: ["writ", "delegate"],
  placements: [],
  events: [],
};
const record = (contract: { goal: string } | null = null) =>
  [...recordPieces(HEAD, [recordLeg(LEG, contract, scrub)], FACTS)].join("");

describe("a record that is read back", () => {
  test("has its facts, and its document to the letter without what was kept beside it", () => {
    const text = record({ goal: "hunter22" });
    expect(readRunEntry(text)).toMatchObject({
      run_id: HEAD.run_id,
      started_at: HEAD.started_at,
      wall_ms: 9,
      legs: 2,
      ended: false,
      pid: 41,
      label: "nightly",
      summary: { succeeded: 1, infrastructure: 0 },
    });
    expect(text).toContain('"contracts":[{"goal":"[REDACTED]"}]');
    const document = readRunEntry(text)?.document ?? "";
    expect(text.startsWith(document.slice(0, -1))).toBe(true);
    expect(document).toEndWith(',"wall_ms":9}');
  });

  test("gives a text without its quotes, and anything else as it is written", () => {
    const [leg] = readRunEntry(record())?.results ?? [];
    expect(leg?.fields.get("output")).toEqual({ kind: "string", value: 'say "[REDACTED]"' });
    expect(leg?.fields.get("structured")).toEqual({ kind: "object", value: '{"n": 0.50,\n "k":"[REDACTED]"}' });
    expect(leg?.fields.get("diff")?.value).toBe("--- a\n+++ b\n");
    expect([...(leg?.fields.keys() ?? [])]).toEqual(Object.keys(LEG));
  });

  test("says of each leg without a result where it was handed to last", () => {
    const events = [
      { at_ms: 0, kind: "placed", index: 0, node: "a", seat: "s" },
      { at_ms: 5, kind: "placed", index: 1, node: "a", seat: "s" },
      { at_ms: 7, kind: "waiting", index: 1, why: "a is full" },
      { at_ms: 9, kind: "placed", index: 2, node: "a", seat: "s" },
      { at_ms: 11, kind: "placed", index: 2, node: "b", seat: "t" },
    ];
    const text = [...recordPieces(HEAD, [recordLeg(LEG, null, scrub)], { ...FACTS, legs: 3, events })].join("");
    expect(readRunEntry(text)?.unfinished).toEqual([
      { index: 1, node: "", seat: "", at_ms: 7 },
      { index: 2, node: "b", seat: "t", at_ms: 11 },
    ]);
    const boasting = [...recordPieces(HEAD, [], { ...FACTS, legs: 1e9 })].join("");
    expect(readRunEntry(boasting)?.unfinished).toHaveLength(64);
  });

  test("is none where it is cut, or something else", () => {
    for (const text of ["", "{", "[]", "{}", '{"run_id":"run-1","results":{},"summary":{}}', record().slice(0, -20)]) {
      expect(readRunEntry(text)).toBeNull();
    }
  });

  test("of a plain result document is read as well", () => {
    const document = readRunEntry(record())?.document ?? "";
    expect(readRunEntry(document)).toMatchObject({ ended: true, legs: 1, document });
  });
});

describe("masking", () => {
  test("scrubText() changes texts alone, and what comes out is JSON", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        if (!parseJson(json).ok) return;
        expect(scrubText(json, (text) => text)).toBe(json);
        expect(parseJson(scrubText(json, () => 'x"\\')).ok).toBe(true);
      }),
    );
  });

  test("scrubJson() reaches every text at any depth, and leaves keys", () => {
    expect(scrubJson({ hunter22: ["hunter22", { a: "x hunter22" }, 1, null, true] }, scrub)).toEqual({
      hunter22: ["[REDACTED]", { a: "x [REDACTED]" }, 1, null, true],
    });
  });
});

describe("findRun()", () => {
  const ids = ["run-abc1", "run-abd2"];
  test.each<[string, ReturnType<typeof findRun>]>([
    ["run-abc1", { kind: "one", run_id: "run-abc1" }],
    ["abc", { kind: "one", run_id: "run-abc1" }],
    ["run-abd", { kind: "one", run_id: "run-abd2" }],
    ["ab", { kind: "several", run_ids: ids }],
    ["run-", { kind: "several", run_ids: ids }],
    ["run", { kind: "several", run_ids: ids }],
    ["run-f", { kind: "none" }],
    ["runa", { kind: "none" }],
    ["", { kind: "none" }],
    ["f", { kind: "none" }],
  ])("%p", (typed, expected) => {
    expect(findRun(ids, typed)).toEqual(expected);
  });
});
