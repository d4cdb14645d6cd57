import { describe, expect, test } from "bun:test";
import type { ClosedTurn } from "../../../src/core/contract/closed-turn.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { agrees, planProof } from "../../../src/core/prove/plan.ts";
import type { Capture } from "../../../src/core/record/tool-record.ts";
import { capture, refusalOf } from "../../support/turn.ts";

function turnOf(verification: JsonValue, runs: readonly Capture[]): ClosedTurn {
  const place = { contract_id: "c", prev_digest: "", digest: "" };
  return {
    row: { contract_id: "c" } as ClosedTurn["row"],
    envelope: { evidence_report: { verification } },
    content_checks: null,
    record: runs.map((run, index) => ({ ...run, ...place, seq: index + 1 })),
  };
}

const CITED = { type: "command", command: "make test", result: "pass" };

describe("planProof()", () => {
  test("finds the last run of the cited command, by its text or by its words", () => {
    const runs = [capture("make test", { exit_code: 2 }), capture("make test"), capture("make")];
    expect(planProof(turnOf(CITED, runs), null).run.seq).toBe(2);
    const words = capture("make 'test'", { argv: ["make", "test"] });
    expect(planProof(turnOf({ ...CITED, command: ' make  "test" ' }, [words]), null).run.seq).toBe(1);
  });

  test.each([
    {
      run: { exit_code: 0 },
      verification: CITED,
      expected: { exit_code: 0, signal: null, failed: false, from: "record" },
    },
    {
      run: { exit_code: 3 },
      verification: { ...CITED, result: "fail", expect_exit: 0 }, // what was recorded, not what was expected
      expected: { exit_code: 3, signal: null, failed: false, from: "record" },
    },
    {
      run: { exit_code: null, signal: "SIGKILL" },
      verification: CITED,
      expected: { exit_code: null, signal: "SIGKILL", failed: false, from: "record" },
    },
    {
      run: { exit_code: null, failed: true },
      verification: CITED,
      expected: { exit_code: null, signal: null, failed: true, from: "record" },
    },
    {
      run: { exit_code: null },
      verification: CITED,
      expected: { exit_code: 0, signal: null, failed: false, from: "envelope" },
    },
    {
      run: { exit_code: null },
      verification: { ...CITED, expect_exit: 4 },
      expected: { exit_code: 4, signal: null, failed: false, from: "envelope" },
    },
  ] as const)("of a run with $run expects $expected", ({ run, verification, expected }) => {
    expect<object>(planProof(turnOf(verification, [capture("make test", run)]), null).expected).toEqual(expected);
  });

  test.each([
    { what: "no verification", verification: null, runs: [] },
    { what: "a verification without a command", verification: { type: "self_review" }, runs: [] },
    { what: "a blank command", verification: { command: " " }, runs: [] },
    { what: "a command that is no text", verification: { command: ["make"] }, runs: [] },
    { what: "a command that was not run", verification: CITED, runs: [capture("make tests")] },
    { what: "a command that was only read", verification: CITED, runs: [capture("make test", { tool: "read" })] },
    {
      what: "a command that the record keeps redacted",
      verification: { ...CITED, command: "curl https://u:secretpassword@h/" },
      runs: [capture("curl https://u:[REDACTED]@h/")],
    },
    {
      what: "words that the record keeps redacted",
      verification: { ...CITED, command: "make test" },
      runs: [capture("make test", { argv: ["make", "[REDACTED]"] })],
    },
    {
      what: "a run whose end was not kept, and no claim of a pass",
      verification: { ...CITED, result: "fail" },
      runs: [capture("make test", { exit_code: null })],
    },
  ] as const)("of $what there is nothing to prove", ({ verification, runs }) => {
    expect(refusalOf(() => planProof(turnOf(verification as JsonValue, runs), null)).code).toBe("nothing_to_prove");
  });

  test("does not repeat a secret that was cited in clear", () => {
    const verification = { ...CITED, command: "curl https://u:secretpassword@h/" };
    const { message } = refusalOf(() => planProof(turnOf(verification, []), null));
    expect(message).not.toContain("secretpassword");
  });
});

describe("agrees()", () => {
  const from = "record" as const;
  test.each([
    { expected: { exit_code: 0, signal: null, failed: false }, end: { exit_code: 0, signal: null }, is: true },
    { expected: { exit_code: 0, signal: null, failed: false }, end: { exit_code: 1, signal: null }, is: false },
    { expected: { exit_code: 1, signal: null, failed: false }, end: { exit_code: 2, signal: null }, is: false },
    { expected: { exit_code: 0, signal: null, failed: false }, end: { exit_code: null, signal: "SIGKILL" }, is: false },
    {
      expected: { exit_code: null, signal: "SIGKILL", failed: false },
      end: { exit_code: null, signal: "SIGKILL" },
      is: true,
    },
    {
      expected: { exit_code: null, signal: "SIGKILL", failed: false },
      end: { exit_code: 137, signal: null },
      is: false,
    },
    { expected: { exit_code: null, signal: null, failed: true }, end: { exit_code: 5, signal: null }, is: true },
    { expected: { exit_code: null, signal: null, failed: true }, end: { exit_code: 0, signal: null }, is: false },
    {
      expected: { exit_code: null, signal: null, failed: true },
      end: { exit_code: null, signal: "SIGTERM" },
      is: true,
    },
    { expected: { exit_code: null, signal: null, failed: false }, end: { exit_code: null, signal: null }, is: false }, // nothing known agrees with nothing
  ])("of $expected and $end is $is", ({ expected, end, is }) => {
    expect(agrees({ ...expected, from }, end)).toBe(is);
  });
});
