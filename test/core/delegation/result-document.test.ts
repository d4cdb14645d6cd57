import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bestAttempt } from "../../../src/core/delegation/attempts.ts";
import { type LegEnd, legResult } from "../../../src/core/delegation/leg-result.ts";
import {
  printedPieces,
  renderLegResult,
  renderPrinted,
  renderResultDocument,
  resultPieces,
} from "../../../src/core/delegation/render-result.ts";
import {
  type Attempt,
  LEG_STATUSES,
  type LegResult,
  type ResultDocument,
} from "../../../src/core/delegation/result.ts";
import { readSavedAnswers } from "../../../src/core/delegation/saved-answer.ts";
import { type Settled, settleResult, unsettled } from "../../../src/core/delegation/settle-result.ts";
import { exitOfSummary, NO_TALLY, summarise } from "../../../src/core/delegation/summary.ts";
import { DEFER_CLASSES } from "../../../src/core/delegation/wire-result.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { contractOf, jobOf, wireResultOf } from "../../support/legs.ts";

const END: LegEnd = {
  index: 0,
  settled: unsettled("deferred", "no eligible place had room for 120s", "capacity"),
  node: "",
  seat: "",
  is_scripted: false,
  job_id: "",
  placement: "local: cap (2/2 slots)",
  route: "auto",
  route_asked: "auto",
  pin_reason: "",
  max_steps: 12,
  acceptance_lint: [],
  wall_ms: 0,
  capacity_wait_sec: 0,
  retry_after_sec: 0,
  queue_wait_sec: 0,
  attempts: [],
  retried_on: "",
  retry_note: "",
  replacements: 0,
  replacement_note: "",
  contract_sha256: "9d1e",
};
const settledWith = (fields: Parameters<typeof wireResultOf>[1]): Settled => {
  const job = jobOf(contractOf({ output_schema: { properties: { n: {} } }, acceptance: ["contains:@answer:412"] }));
  return settleResult(job, wireResultOf(job, fields));
};

/** The order of section 3.1 of the delegation run. */
const ORDER =
  `index status node seat scripted placement route route_asked pin_reason job_id output structured deferred reason
  defer_class failed acceptance_failures acceptance acceptance_authority acceptance_note acceptance_lint diff diff_files
  write_note steps max_steps stop_reason stop_note forced_final output_truncated repack tokens wall_ms node_wall_ms
  capacity_wait_sec retry_after_sec queue_wait_sec admission_wait_sec admission_note contention_wait_sec seat_down_wait_sec
  timings trace attempts retried_on retry_note replacements replacement_note contract_sha256 seat_pin`.split(/\s+/);

describe("legResult()", () => {
  test("calls a scripted seat so, also where nothing came of it", () => {
    expect(legResult(END)).not.toHaveProperty("scripted");
    expect(legResult({ ...END, is_scripted: true })).toMatchObject({ status: "deferred", scripted: true });
  });

  test("leaves out what is zero or empty", () => {
    expect(legResult(END)).toEqual({
      index: 0,
      status: "deferred",
      node: "",
      seat: "",
      placement: "local: cap (2/2 slots)",
      route: "auto",
      job_id: "",
      deferred: true,
      reason: "no eligible place had room for 120s",
      defer_class: "capacity",
      max_steps: 12,
      wall_ms: 0,
      attempts: [],
      contract_sha256: "9d1e",
    });
  });

  test("has every member in its order where all have something to say", () => {
    const attempt: Attempt = {
      n: 1,
      kind: "first",
      node: "b",
      seat: "s",
      job_id: "wrt-1",
      status: "succeeded",
      wall_ms: 1,
      steps: 1,
      tokens: 1,
    };
    const settled = settledWith({
      structured: '{"n": 0.50}',
      diff: "",
      steps: 3,
      stop_note: "x",
      forced_final: true,
      output_truncated: true,
      scripted: true,
      repack: { mode: "grammar", attempts: 1, ms: 2 },
      trace: [{ step: 1, tool: "t", status: "ok", obs_chars: 1 }],
      waits: { admission_sec: 1, admission_note: "n", contention_sec: 2, seat_down_sec: 3 },
      seat_pin: { engine: "e", model: "m", ctx_tokens: 1 },
    });
    const result =
      settled.result === null ? null : { ...settled.result, diff: "d", diff_files: ["x"], write_note: "w" };
    const leg = legResult({
      ...END,
      settled: { ...settled, result, note: "noted", reason: "r", defer_class: "c", failures: ["f"] },
      route_asked: "remote",
      pin_reason: "operator",
      acceptance_lint: ["SHAPE-ONLY: x"],
      wall_ms: 12.6,
      capacity_wait_sec: 1.23456,
      retry_after_sec: 40.2,
      queue_wait_sec: 2,
      attempts: [attempt],
      retried_on: "b",
      retry_note: "y",
      replacements: 1,
      replacement_note: "z",
    });
    // Only a leg that failed says so.
    expect(Object.keys(leg)).toEqual(ORDER.filter((key) => key !== "failed"));
    expect(leg).toMatchObject({ wall_ms: 13, capacity_wait_sec: 1.235, retry_after_sec: 41, node_wall_ms: 1000 });
    const failed = legResult({ ...END, settled: unsettled("failed", "internal: x", "") });
    expect(Object.keys(failed)).toEqual(ORDER.filter((key) => Object.hasOwn(failed, key)));
    expect(failed).toMatchObject({ failed: true, deferred: false });
  });
});

const document = (results: readonly LegResult[]): ResultDocument => ({
  schema_version: 1,
  run_id: "run-1",
  summary: summarise(results, NO_TALLY),
  results,
  writ_version: "1.2.3",
  started_at: "2026-01-05T10:00:00Z",
  wall_ms: 7,
});

describe("renderResultDocument()", () => {
  test("keeps a structured result as the place wrote it, and the order of the members", () => {
    const leg = legResult({ ...END, settled: settledWith({ structured: '{"n": 0.50,\n "m":9007199254740993}' }) });
    const text = renderResultDocument(document([leg]));
    expect(text).toStartWith(
      '{"schema_version":1,"run_id":"run-1","summary":{"succeeded":1,"deferred":0,"failed_verification":0,"failed":0,"infrastructure":0},"results":[{"index":0,',
    );
    expect(text).toContain('"structured":{"n": 0.50,\n "m":9007199254740993},"deferred":false');
    expect(text).toEndWith('"writ_version":"1.2.3","started_at":"2026-01-05T10:00:00Z","wall_ms":7}');
    expect(renderPrinted(text, true)).toStartWith('{"ok":true,"schema_version":1,');
  });

  test("is JSON whatever stands in it, and can be graded again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.json({ maxDepth: 3 }), (output, json) => {
        const structured = `{"n":${json}}`;
        if (!parseJson(structured).ok) return;
        const leg = legResult({ ...END, settled: settledWith({ output: `x${output}`, structured }) });
        const text = renderResultDocument(document([leg]));
        expect(parseJson(text)).toMatchObject({ ok: true });
        const saved = readSavedAnswers(text);
        expect(saved.ok && saved.answers[0]?.structured).toBe(leg.structured ?? null);
        expect(saved.ok && saved.answers[0]?.output).toBe(`x${output}`.toWellFormed());
      }),
    );
  });

  test("keeps a long text whole where its pieces end, also inside of a pair", () => {
    for (const before of [65_534, 65_535, 65_536]) {
      const output = `${"x".repeat(before)}😀"\n${"y".repeat(70_000)}`;
      const leg = legResult({ ...END, settled: settledWith({ output }) });
      const pieces = [...printedPieces(resultPieces(document([leg])), true)];
      expect(JSON.parse(pieces.join("")).results[0].output).toBe(output);
      for (const piece of pieces) expect([piece.isWellFormed(), piece.length < 100_000]).toEqual([true, true]);
    }
  });

  test("renderLegResult() prints one leg alone", () => {
    expect(JSON.parse(renderLegResult(legResult(END)))).toEqual(legResult(END));
  });
});

const anyLeg: fc.Arbitrary<LegResult> = fc
  .record({
    status: fc.constantFrom(...LEG_STATUSES),
    defer_class: fc.constantFrom(...DEFER_CLASSES, "", "weather"),
    capacity_wait_sec: fc.constantFrom(0, 3),
    retried: fc.constantFrom(null, ...LEG_STATUSES),
  })
  .map(({ status, defer_class, capacity_wait_sec, retried }) => {
    const attempt = {
      n: 2,
      kind: "retry",
      node: "b",
      seat: "s",
      job_id: "wrt-2",
      wall_ms: 1,
      steps: 1,
      tokens: 1,
    } as const;
    const settled = { ...unsettled("failed", "r", ""), status, defer_class: status === "deferred" ? defer_class : "" };
    return legResult({
      ...END,
      settled,
      capacity_wait_sec,
      attempts: retried === null ? [] : [{ ...attempt, status: retried }],
    });
  });

describe("summarise()", () => {
  test("the four buckets sum to the legs, and annotations change none of them", () => {
    fc.assert(
      fc.property(fc.array(anyLeg, { maxLength: 64 }), (legs) => {
        const summary = summarise(legs, { ...NO_TALLY, replaced: 3, quarantined: 1 });
        expect(summary.succeeded + summary.deferred + summary.failed_verification + summary.failed).toBe(legs.length);
        expect(summary.infrastructure).toBeLessThanOrEqual(summary.deferred);
        expect(summary.retry_recovered ?? 0).toBeLessThanOrEqual(summary.retried ?? 0);
      }),
    );
  });

  test("infrastructure counts deferred legs of two classes and nothing else", () => {
    const deferred = (defer_class: string) =>
      legResult({ ...END, settled: { ...unsettled("deferred", "r", ""), defer_class } });
    const counted = [...DEFER_CLASSES, "", "weather"].filter(
      (word) => summarise([deferred(word)], NO_TALLY).infrastructure > 0,
    );
    expect(counted).toEqual(["infrastructure", "config"]);
  });

  test("leaves annotations out that are zero, and tells of lost telemetry how much there was", () => {
    expect(Object.keys(summarise([], NO_TALLY))).toEqual([
      "succeeded",
      "deferred",
      "failed_verification",
      "failed",
      "infrastructure",
    ]);
    expect(summarise([], { ...NO_TALLY, telemetry_lost: 1, telemetry_attempted: 4 })).toMatchObject({
      telemetry_lost: 1,
      telemetry_attempted: 4,
    });
    expect(summarise([], { ...NO_TALLY, telemetry_attempted: 4 })).not.toHaveProperty("telemetry_attempted");
  });
});

describe("exitOfSummary()", () => {
  const summary = { succeeded: 0, deferred: 0, failed_verification: 0, failed: 0, infrastructure: 0 };
  test.each<[string, object, boolean, number | null, number]>([
    ["all succeeded", { succeeded: 2 }, true, null, 0],
    ["honest defers and failed verification", { deferred: 1, failed_verification: 1 }, false, null, 0],
    ["the same under --strict", { deferred: 1, succeeded: 1 }, true, null, 1],
    ["failed verification under --strict", { failed_verification: 1, succeeded: 1 }, true, null, 1],
    ["infrastructure", { deferred: 2, infrastructure: 1 }, false, null, 4],
    ["infrastructure under --strict", { deferred: 2, infrastructure: 1 }, true, null, 4],
    ["a leg that failed beside infrastructure", { failed: 1, deferred: 1, infrastructure: 1 }, false, null, 1],
    ["a signal before everything else", { failed: 2 }, true, 130, 130],
  ])("%s", (_, counts, strict, stopped, expected) => {
    expect(exitOfSummary({ ...summary, ...counts }, 2, strict, stopped)).toBe(expected);
  });
});

describe("bestAttempt()", () => {
  const tried = (seat: string, settled: Settled) => ({ node: "local", seat, settled });
  const bad = unsettled("deferred", "empty final answer", "abstention");
  const good = settledWith({ structured: "{}" });

  test("a success beats everything", () => {
    expect(bestAttempt(tried("a", bad), tried("b", good))).toMatchObject({
      best: { seat: "b" },
      note: "first attempt on local/a: deferred (abstention): empty final answer",
    });
  });

  test("otherwise the first one stands", () => {
    const other = { ...bad, reason: "wall timeout after 5s", defer_class: "budget" };
    expect(bestAttempt(tried("a", bad), tried("b", other))).toMatchObject({
      best: { seat: "a" },
      note: "second attempt on local/b: deferred (budget): wall timeout after 5s",
    });
  });
});
