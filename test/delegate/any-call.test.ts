import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LEG_STATUSES } from "../../src/core/delegation/result.ts";
import type { Routing } from "../../src/core/placement/pin.ts";
import type { PlaceOutcome } from "../../src/core/placement/port.ts";
import { deferOf } from "../support/legs.ts";
import { seatRecord } from "../support/places.ts";
import { type Handed, type Play, play, scriptedLocal, scriptedRemote } from "../support/scripted-place.ts";

const SCHEMA = { output_schema: { properties: { n: {} } }, acceptance: ["contains:412"] };
const ANSWER = { structured: '{"n":1}' };

const refusal = (http: number | null, code: string): PlaceOutcome => {
  return { kind: "refused", http, code, message: "", retry_after_sec: http === 503 ? 4 : null };
};
const anyPlay: fc.Arbitrary<Play> = fc
  .record({
    takes_ms: fc.constantFrom(0, 10, 1000, 7000, 45_000, 400_000),
    is_deaf: fc.boolean(),
    end: fc.constantFrom<Omit<Play, "takes_ms" | "is_deaf">>(
      { result: ANSWER },
      { result: ANSWER },
      { result: { ...ANSWER, output: "many" } },
      { result: { ...ANSWER, output: "" } },
      { result: { job_id: "wrt-other" } },
      { result: (job) => deferOf(job, "infrastructure", "seat down: refused") },
      { result: (job) => deferOf(job, "budget", "wall timeout after 300s") },
      { outcome: refusal(503, "queue_full") },
      { outcome: refusal(null, "") },
      { outcome: refusal(401, "unauthorized") },
      { outcome: refusal(400, "write_door_closed") },
      { outcome: refusal(400, "bad_contract") },
      { outcome: { kind: "withdrawn", queued_sec: 1, message: "reaped" } },
      { outcome: { kind: "failed", reason: "remote job error: x" } },
      { outcome: { kind: "lost", reason: "remote job error: x" } },
      { outcome: { kind: "gave_up", defer_class: "budget", reason: "poll deadline after 9s: x", queued_sec: 0 } },
      { stopped: "withdrawn" },
      { throws: "x" },
    ),
  })
  .map(({ end, takes_ms, is_deaf }) => ({ ...end, takes_ms, is_deaf }));
const plays = fc.array(anyPlay, { minLength: 1, maxLength: 4 });

const anyRoute = fc.constantFrom<Routing>(
  { kind: "auto", hint: null },
  { kind: "auto", hint: "remote" },
  { kind: "spread" },
  { kind: "pinned", to: "local", reason: "operator" },
  { kind: "pinned", to: "remote", reason: "operator" },
);

/** The most jobs that were at places at one moment. */
function mostAtOnce(handed: readonly Handed[], end: number): number {
  const starts = handed.map(({ at_ms }) => at_ms);
  return Math.max(
    0,
    ...starts.map((at) => handed.filter((job) => job.at_ms <= at && (job.ended_ms ?? end) > at).length),
  );
}

describe("any call, whatever its places do", () => {
  test("ends, with one result a leg, four buckets that sum to them, and no more at work than its width", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          legs: fc.integer({ min: 1, max: 12 }),
          width: fc.integer({ min: 1, max: 8 }),
          local: fc.option(fc.tuple(plays, fc.integer({ min: 1, max: 3 })), { nil: null }),
          remotes: fc.array(fc.tuple(plays, fc.integer({ min: 1, max: 3 })), { maxLength: 3 }),
          routing: anyRoute,
          stop_ms: fc.option(fc.constantFrom(0, 500, 5000, 60_000), { nil: undefined }),
          timeout_sec: fc.constantFrom(null, null, 5, 60, 600),
          capacity_wait_sec: fc.constantFrom(-1, 0, 10, 120),
        }),
        async ({ legs, width, local, remotes, routing, stop_ms, timeout_sec, capacity_wait_sec }) => {
          const ran = await play({
            contracts: Array(legs).fill(SCHEMA),
            call: { width, routing, timeout_sec },
            limits: { capacity_wait_sec },
            ...(stop_ms === undefined ? {} : { stop_ms }),
            local: (clock) =>
              local === null ? null : scriptedLocal(clock, local[0], { seats: [seatRecord({ slots: local[1] })] }),
            remotes: (clock) =>
              remotes.map(([each, max_running], at) =>
                scriptedRemote(clock, `http://n${at}:1`, each, [{ max_running }], at === 0 ? "ONE" : "OTHER"),
              ),
          });
          const { results, summary, document, events } = ran;
          expect(results.map(({ index }) => index)).toEqual([...Array(legs).keys()]);
          const { succeeded, deferred, failed_verification, failed } = summary;
          expect(succeeded + deferred + failed_verification + failed).toBe(legs);
          expect(events.filter(({ kind }) => kind === "done")).toHaveLength(legs);
          const handed = [ran.local, ...ran.remotes].flatMap((place) => place?.stage.handed ?? []);
          // A deaf job that was given up goes on at its place, and holds no position here.
          const obedient = handed.filter(({ ended_ms }) => ended_ms !== null);
          if (stop_ms === undefined && timeout_sec === null) {
            expect(mostAtOnce(obedient, document.wall_ms)).toBeLessThanOrEqual(width);
          }
          expect(new Set(handed.map(({ job }) => job.job_id)).size).toBe(handed.length);
          for (const leg of results) {
            expect(LEG_STATUSES).toContain(leg.status);
            expect(leg.deferred).toBe(leg.status === "deferred");
            expect(leg.placement).not.toBe("");
            if (leg.status !== "succeeded") expect(leg.reason ?? "").not.toBe("");
            if (routing.kind === "pinned" && leg.node !== "") expect(leg.node === "local").toBe(routing.to === "local");
            expect(leg.attempts.map(({ n }) => n)).toEqual(leg.attempts.map((_, at) => at + 1));
            const succeededOnce = leg.attempts.filter(({ status }) => status === "succeeded").length;
            expect(succeededOnce).toBe(leg.status === "succeeded" ? 1 : 0);
          }
          const bound =
            stop_ms !== undefined ? stop_ms + 8000 : timeout_sec !== null ? timeout_sec * 1000 + 10_000 : 1e8;
          expect(document.wall_ms).toBeLessThanOrEqual(bound);
        },
      ),
      { numRuns: 60 },
    );
  });
});
