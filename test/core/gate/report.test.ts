import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PAGE_REPORTS, renderGatePage } from "../../../src/core/gate/page.ts";
import { type GateReport, legLine, readGateReport, verdictLine, verdictOver } from "../../../src/core/gate/report.ts";

const LEG: GateReport["legs"][number] = {
  name: "t1",
  verdict: "PASS",
  cause: "",
  detail: "",
  node: "node-b",
  seat: "pool-b",
  scripted: false,
  wall_ms: 18_211,
  exit: 0,
  steps: 5,
  diff_files: ["clamp.ts"],
  diff_bytes: 412,
  diff: "--- a/clamp.ts\n",
  applied: true,
  proofs: [
    { kind: "bun_test", when: "before", expect: "fail", verdict: "PASS", detail: "above failed" },
    { kind: "bun_test", when: "after", expect: "pass", verdict: "PASS", detail: "4 named tests passed" },
  ],
};
const REPORT: GateReport = {
  gate: "write-door",
  form: "ts",
  verdict: "PASS",
  partial: false,
  scripted: false,
  ran_at: "2026-01-01T00:00:00Z",
  writ_version: "0.1.0",
  route: "local",
  remote: "",
  protections: { sandbox: true, network: false, group_kill: true },
  legs: [LEG],
};
const leg = (verdict: GateReport["verdict"]) => ({ ...LEG, verdict });

describe("verdictOver()", () => {
  test.each<[readonly GateReport["verdict"][], boolean, GateReport["verdict"]]>([
    [["PASS", "PASS"], false, "PASS"],
    [["PASS", "FAIL", "INCONCLUSIVE"], false, "FAIL"],
    [["PASS", "INCONCLUSIVE"], false, "INCONCLUSIVE"],
    [["PASS"], true, "INCONCLUSIVE"],
    [["FAIL"], true, "FAIL"],
    [[], false, "INCONCLUSIVE"],
  ])("of %p, a part %p, is %s", (verdicts, isPartial, verdict) => {
    expect(verdictOver(verdicts.map(leg), isPartial)).toBe(verdict);
  });
});

test.each([
  [LEG, "PASS t1 18.2s node-b/pool-b files=clamp.ts 412 B — red → green"],
  [
    { ...LEG, scripted: true, proofs: [] },
    "PASS t1 18.2s node-b/pool-b (scripted) files=clamp.ts 412 B — 0 proofs hold",
  ],
  [
    { ...LEG, verdict: "FAIL", cause: "fixture", detail: "red for another reason", node: "", diff_files: [] },
    "FAIL t1 18.2s — no files — fixture: red for another reason",
  ],
] as const)("legLine() of %# is one line", (of, line) => {
  expect(legLine(of as typeof LEG)).toBe(line);
});

test.each([
  [["PASS"], "INCONCLUSIVE (scripted seat), since it is a part of the set: 1 leg, 1 PASS, 0 FAIL, 0 INCONCLUSIVE"],
  [["FAIL"], "FAIL (scripted seat), of a part of the set: 1 leg, 0 PASS, 1 FAIL, 0 INCONCLUSIVE"],
  [
    ["PASS", "INCONCLUSIVE"],
    "INCONCLUSIVE (scripted seat), of a part of the set: 2 legs, 1 PASS, 0 FAIL, 1 INCONCLUSIVE",
  ],
] as const)("verdictLine() of a part of a set, %p, names it as the reason only where it is", (verdicts, line) => {
  const legs = verdicts.map(leg);
  expect(verdictLine({ verdict: verdictOver(legs, true), scripted: true, partial: true, legs })).toBe(line);
});

describe("readGateReport()", () => {
  test("reads what was written, and passes over keys that it does not know", () => {
    expect(readGateReport(JSON.stringify({ ...REPORT, later: 1 }))).toEqual(REPORT);
  });

  test.each([
    "",
    "{",
    "[]",
    JSON.stringify({ ...REPORT, verdict: "GREEN" }),
    JSON.stringify({ ...REPORT, legs: [{}] }),
  ])("is null for %s", (text) => {
    expect(readGateReport(text)).toBeNull();
  });
});

describe("renderGatePage()", () => {
  test("escapes whatever stands in a report", () => {
    const evil = '<script>alert("x")</script>\u202e';
    fc.assert(
      fc.property(fc.constantFrom("name", "detail", "node", "seat", "diff", "cause"), (key) => {
        const page = renderGatePage([
          { ...REPORT, gate: evil, remote: evil, legs: [{ ...LEG, verdict: "FAIL", [key]: evil }] },
        ]);
        expect(page).not.toMatch(/<script|\u202e/);
      }),
    );
  });

  test("has every leg of every report, and says how many reports are left out", () => {
    const older = Array.from({ length: PAGE_REPORTS + 1 }, (_, at) => ({
      ...REPORT,
      ran_at: `2025-01-0${at + 1}T00:00:00Z`,
      legs: [{ ...LEG, name: `old${at}` }],
    }));
    const page = renderGatePage([REPORT, ...older]);
    expect(page).toContain('id="leg-t1"');
    expect(page).toContain('id="leg-old4"');
    expect(page).toContain("2 older reports are not shown");
  });
});
