/** What `npm run test:real` holds a call against: each thing that must hold, and the document in which it does not. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ended, judge, renderTable } from "../../scripts/real/judge.ts";
import { planRuns, type Run } from "../../scripts/real/runs.ts";

const RUN: Run = {
  name: "digest",
  contract: "c.json",
  read_root: ".",
  legs: [{ acceptance: ["nonempty:summary"], hasSchema: true, isWrite: false }],
  limit_sec: 60,
};
const SHA = "a".repeat(64);
const SUCCEEDED = {
  index: 0,
  status: "succeeded",
  output: "It is so.",
  structured: { summary: "It is so." },
  deferred: false,
  acceptance: [{ check: "nonempty:summary", outcome: "pass" }],
  steps: 2,
  stop_reason: "done",
  repack: { mode: "grammar", attempts: 1, ms: 9 },
  tokens: { prompt: 900, completion: 40, reasoning: 0, cached: 0, estimated: false },
  wall_ms: 12_300,
  attempts: [],
  contract_sha256: SHA,
};
const DEFERRED = {
  index: 0,
  status: "deferred",
  deferred: true,
  reason: "empty final answer",
  defer_class: "abstention",
  stop_reason: "empty",
  wall_ms: 800,
  attempts: [],
  contract_sha256: SHA,
};
const SUMMARY = { succeeded: 0, deferred: 0, failed_verification: 0, failed: 0, infrastructure: 0 };

function endedWith(leg: object, more: { readonly summary?: object; readonly status?: number } = {}): Ended {
  const { status = 0 } = more;
  const of = "status" in leg ? String(leg.status) : "";
  const summary = { ...SUMMARY, [of]: 1, ...more.summary };
  const document = { ok: status === 0, schema_version: 1, run_id: "run-1", summary, results: [leg] };
  return { status, stdout: `${JSON.stringify(document)}\n`, stderr: "" };
}

test("a success that is one, and an honest defer, keep everything", () => {
  expect(judge(RUN, endedWith(SUCCEEDED)).faults).toEqual([]);
  const { rows, faults } = judge(RUN, endedWith(DEFERRED));
  expect(faults).toEqual([]);
  expect(rows).toMatchObject([{ leg: "digest", status: "deferred", why: "empty final answer", sec: 0.8 }]);
  const lost = { ...DEFERRED, defer_class: "infrastructure", reason: "stalled: no progress" };
  expect(judge(RUN, endedWith(lost, { summary: { infrastructure: 1 }, status: 4 })).faults).toEqual([]);
});

describe("what does not hold is named:", () => {
  const pass = { check: "nonempty:summary", outcome: "pass" };
  const fail = { check: "nonempty:summary", outcome: "fail" };
  test.each<{ fault: RegExp; ended: Ended }>([
    { fault: /was not done after 60 s/, ended: { status: null, stdout: "", stderr: "" } },
    { fault: /it ended in 70: boom/, ended: { status: 70, stdout: "", stderr: "boom" } },
    { fault: /it ended in 139/, ended: { status: 139, stdout: "", stderr: "" } },
    { fault: /not one result document/, ended: { status: 0, stdout: "{}\n{}\n", stderr: "" } },
    { fault: /not one result document/, ended: { status: 2, stdout: '{"ok":false,"code":"config"}\n', stderr: "" } },
    {
      fault: /one line feed/,
      ended: { ...endedWith(SUCCEEDED), stdout: `${endedWith(SUCCEEDED).stdout}\n` },
    },
    { fault: /ok is true, and the exit status 1/, ended: { ...endedWith(SUCCEEDED), status: 1 } },
    { fault: /the exit status is 1 and not 0/, ended: endedWith(SUCCEEDED, { status: 1 }) },
    {
      fault: /the exit status is 0 and not 4/,
      ended: endedWith({ ...DEFERRED, defer_class: "config" }, { summary: { infrastructure: 1 } }),
    },
    { fault: /summary.infrastructure is 0/, ended: endedWith({ ...DEFERRED, defer_class: "config" }) },
    { fault: /the buckets sum to 2 and not to 1/, ended: endedWith(SUCCEEDED, { summary: { deferred: 1 } }) },
    { fault: /summary.deferred is 1, and 0 legs are/, ended: endedWith(SUCCEEDED, { summary: { deferred: 1 } }) },
    { fault: /its status is done/, ended: endedWith({ ...SUCCEEDED, status: "done" }) },
    { fault: /its index is 3/, ended: endedWith({ ...SUCCEEDED, index: 3 }) },
    { fault: /says no reason/, ended: endedWith({ ...DEFERRED, reason: "" }) },
    { fault: /its class is "tired"/, ended: endedWith({ ...DEFERRED, defer_class: "tired" }) },
    { fault: /a scripted seat answered/, ended: endedWith({ ...SUCCEEDED, scripted: true }) },
    { fault: /it stopped by magic/, ended: endedWith({ ...SUCCEEDED, stop_reason: "magic" }) },
    { fault: /its repack mode is yaml/, ended: endedWith({ ...SUCCEEDED, repack: { mode: "yaml" } }) },
    { fault: /names no contract_sha256/, ended: endedWith({ ...SUCCEEDED, contract_sha256: "x" }) },
    { fault: /succeeded with 1 checks that do not pass/, ended: endedWith({ ...SUCCEEDED, acceptance: [fail] }) },
    { fault: /a check of the contract was not judged/, ended: endedWith({ ...SUCCEEDED, acceptance: [] }) },
    { fault: /without the structured answer/, ended: endedWith({ ...SUCCEEDED, structured: undefined }) },
    { fault: /has acceptance_failures/, ended: endedWith({ ...SUCCEEDED, acceptance_failures: ["x"] }) },
    { fault: /acceptance was judged on a leg/, ended: endedWith({ ...DEFERRED, acceptance: [pass] }) },
    {
      fault: /verification failed, and every check passes/,
      ended: endedWith({ ...SUCCEEDED, status: "failed_verification", reason: "no", acceptance: [pass] }),
    },
  ])("$fault", ({ fault, ended }) => {
    expect(judge(RUN, ended).faults.join("\n")).toMatch(fault);
  });

  test("a write that succeeded without a diff", () => {
    const run = { ...RUN, legs: RUN.legs.map((leg) => ({ ...leg, isWrite: true })) };
    expect(judge(run, endedWith(SUCCEEDED)).faults).toEqual(["digest: leg 1: it succeeded without a diff"]);
    expect(judge(run, endedWith({ ...SUCCEEDED, diff: "--- a\n" })).faults).toEqual([]);
  });

  test("fewer results than legs", () => {
    const run = { ...RUN, legs: [...RUN.legs, ...RUN.legs] };
    expect(judge(run, endedWith(SUCCEEDED)).faults).toContain("digest: 1 results for 2 legs");
  });
});

test("the table has a line for each leg, with its columns under each other", () => {
  const { rows } = judge(RUN, endedWith(SUCCEEDED));
  expect(renderTable(rows)).toBe(
    [
      "leg     status     class  steps  stop  repack   tokens  s   reason, or checks",
      "digest  succeeded         2      done  grammar  900+40  12",
    ].join("\n"),
  );
});

test("every template, every task of the write door and a digest set are handed over", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-real-"));
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
  const runs = planRuns(folder);
  expect(runs.map(({ name, legs }) => [name, legs.length])).toEqual([
    ["bench-log-digest", 1],
    ["docs-drift-scan", 1],
    ["research-digest", 1],
    ["schema-extraction", 1],
    ["write-door-t1", 1],
    ["write-door-t2", 1],
    ["write-door-t3", 1],
    ["write-door-t4", 1],
    ["digest-8-grounded", 8],
  ]);
  expect(runs.filter(({ legs }) => legs[0]?.isWrite)).toHaveLength(4);
  for (const run of runs) {
    const document = await Bun.file(run.contract).json();
    const paths: string[] = [document].flat().flatMap(({ context_paths = [] }) => context_paths);
    for (const path of paths) expect(await Bun.file(`${run.read_root}/${path}`).exists()).toBe(true);
  }
});
