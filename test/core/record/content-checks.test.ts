import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../../src/core/json/value.ts";
import {
  type ContentCheck,
  type ContentClaims,
  checkContent,
  type EvidenceRow,
  lastRunOf,
} from "../../../src/core/record/content-checks.ts";
import { redact } from "../../../src/core/record/redact.ts";
import type { RecordedRun } from "../../../src/core/record/tool-record.ts";

const COMMAND = "evidence_report.verification.command";
const RESULT = "evidence_report.verification.result";
const IDS = "evidence_report.verification.evidence_ids";
const ENTRY = "evidence_report.verbatim_outputs[0]";

const PROGRAMS = new Set(["npm", "make", "grep"]);
const ROWS: readonly EvidenceRow[] = [
  { id: 3, brief_id: 1, task_id: null, polarity: "positive" },
  { id: 4, brief_id: 1, task_id: null, polarity: "negative" },
  { id: 5, brief_id: 2, task_id: null, polarity: "positive" },
  { id: 6, brief_id: 1, task_id: 8, polarity: "positive" },
  { id: 7, brief_id: null, task_id: null, polarity: "positive" },
  { id: 8, brief_id: 2, task_id: null, polarity: "negative" },
];

type Check = Omit<ContentCheck, "held">;

function check(claims: Partial<ContentClaims>): Check {
  const { held: _, ...checked } = checkAll(claims);
  return checked;
}

function checkAll(claims: Partial<ContentClaims>): ContentCheck {
  return checkContent({
    verification: undefined,
    verbatim_outputs: undefined,
    record: [],
    evidence: (id) => ROWS.find((row) => row.id === id) ?? null,
    turn: { brief_id: 1, plan_task_id: null },
    isProgram: (word) => PROGRAMS.has(word),
    ...claims,
  });
}

function ran(command: string, more: Partial<RecordedRun> = {}): RecordedRun {
  return { command, exit_code: 0, output: "", truncated: false, ...more };
}

function codesOf({ findings }: Check): readonly string[] {
  return findings.map(({ code, path }) => `${code} ${path}`);
}

function skipsOf({ skipped }: Check): readonly string[] {
  return skipped.map(({ check: what, path, reason, key }) => [what, path, reason, ...(key ? [key] : [])].join(" "));
}

describe("the truth table of the command check", () => {
  const run = "npm test";
  const exit = (reason: string): readonly string[] => [`exit ${COMMAND} ${reason}`];
  const verdict = `command_is_verdict ${COMMAND}`;
  const notRunnable = `command_not_runnable ${COMMAND}`;
  const notRun = `command_not_run ${COMMAND}`;
  const mismatch = `exit_mismatch ${RESULT}`;
  const missing = `evidence_missing ${IDS}[0]`;

  type Row = {
    readonly row: string;
    readonly command: string;
    readonly record: readonly RecordedRun[] | null;
    readonly ids?: JsonValue;
    readonly result?: JsonValue;
    readonly findings?: readonly string[];
    readonly skipped?: readonly string[];
  };
  const rows: readonly Row[] = [
    { row: "a verdict", command: "PASS", record: [ran("PASS")], findings: [verdict] },
    { row: "a verdict, unbound", command: "PASS", record: null, findings: [verdict] },
    { row: "a verdict with ids that hold", command: "PASS", record: [], ids: [3], findings: [verdict] },
    { row: "a verdict with ids that do not", command: "PASS", record: [], ids: [9], findings: [verdict, missing] },
    { row: "unbound, runnable", command: run, record: null, skipped: exit("no_tool_record") },
    { row: "unbound, runnable, ids hold", command: run, record: null, ids: [3], skipped: exit("no_tool_record") },
    { row: "unbound, not runnable", command: "n/a", record: null, findings: [notRunnable] },
    { row: "unbound, not runnable, ids hold", command: "n/a", record: null, ids: [3], findings: [notRunnable] },
    { row: "unbound, no pass", command: run, record: null, result: "fail", skipped: exit("result_not_pass") },
    { row: "unbound, no pass, not runnable", command: "n/a", record: null, result: "fail", findings: [notRunnable] },
    {
      row: "unbound, bad ids",
      command: run,
      record: null,
      ids: [9],
      findings: [missing],
      skipped: exit("no_tool_record"),
    },
    { row: "unbound, bad ids, not runnable", command: "n/a", record: null, ids: [9], findings: [missing, notRunnable] },
    { row: "ran as claimed", command: run, record: [ran(run)] },
    { row: "ran as claimed, ids hold", command: run, record: [ran(run)], ids: [3] },
    { row: "ran otherwise", command: run, record: [ran(run, { exit_code: 1 })], findings: [mismatch] },
    {
      row: "ran otherwise, ids hold",
      command: run,
      record: [ran(run, { exit_code: 1 })],
      ids: [3],
      findings: [mismatch],
    },
    { row: "exit unknown", command: run, record: [ran(run, { exit_code: null })], skipped: exit("exit_not_kept") },
    {
      row: "exit unknown, failed",
      command: run,
      record: [ran(run, { exit_code: null, failed: true })],
      findings: [mismatch],
    },
    {
      row: "ran, no pass",
      command: run,
      record: [ran(run, { exit_code: 1 })],
      result: "fail",
      skipped: exit("result_not_pass"),
    },
    { row: "ran, bad ids", command: run, record: [ran(run)], ids: [9], findings: [missing] },
    {
      row: "ran otherwise, bad ids",
      command: run,
      record: [ran(run, { exit_code: 1 })],
      ids: [9],
      findings: [missing, mismatch],
    },
    { row: "not run", command: run, record: [ran("npm t")], findings: [notRun] },
    { row: "not run, no pass", command: run, record: [], result: "fail", findings: [notRun] },
    { row: "not run, an empty list of ids", command: run, record: [], ids: [], findings: [notRun] },
    { row: "not run, ids null", command: run, record: [], ids: null, findings: [notRun] },
    { row: "not run, ids hold", command: run, record: [], ids: [3], skipped: exit("proven_by_evidence") },
    {
      row: "not run, ids hold, no pass",
      command: run,
      record: [],
      ids: [3],
      result: "fail",
      skipped: exit("result_not_pass"),
    },
    { row: "not run, bad ids", command: run, record: [], ids: [9], findings: [missing] },
    { row: "not run, ids no list", command: run, record: [], ids: 3, findings: [`evidence_id_malformed ${IDS}`] },
  ];

  test.each(rows)("$row", ({ command, record, ids, result = "pass", findings = [], skipped = [] }) => {
    const verification = { command, result, ...(ids === undefined ? {} : { evidence_ids: ids }) };
    const outcome = check({ verification, record });
    expect({ findings: codesOf(outcome), skipped: skipsOf(outcome) }).toEqual({
      findings: [...findings],
      skipped: [...skipped],
    });
  });
});

describe("a verification", () => {
  test.each(
    [undefined, null, "pass", 5, true, [{ command: "PASS" }], {}, { command: null }, { command: " \n" }].map(
      (verification) => ({ verification }),
    ),
  )("$verification carries no command: nothing is checked", ({ verification }) => {
    expect(check({ verification: verification as JsonValue })).toEqual({ findings: [], skipped: [], restsOn: null });
  });

  test.each([{ command: 5 }, { command: false }, { command: ["npm", "test"] }, { command: {} }])(
    "%j is skipped",
    (verification) => {
      const outcome = check({ verification });
      expect(skipsOf(outcome)).toEqual([`command ${COMMAND} command_not_string`]);
      expect(outcome.findings).toEqual([]);
    },
  );

  test("reads own keys only", () => {
    const verification = JSON.parse('{"__proto__":{"command":"PASS"},"constructor":"PASS"}');
    expect(check({ verification }).findings).toEqual([]);
  });

  test("its type word plays no part", () => {
    expect(codesOf(check({ verification: { type: "observation", command: "all green" } }))).toEqual([
      `command_is_verdict ${COMMAND}`,
    ]);
  });
});

describe("the expected exit", () => {
  const record = [ran("x", { exit_code: 3 })];

  test.each([
    { expect_exit: 3, codes: [] },
    { expect_exit: null, codes: ["exit_mismatch"] },
    { expect_exit: 0, codes: ["exit_mismatch"] },
    { expect_exit: 4, codes: ["exit_mismatch"] },
  ])("$expect_exit against 3: $codes", ({ expect_exit, codes }) => {
    const outcome = check({ verification: { command: "x", result: "pass", expect_exit }, record });
    expect(outcome.findings.map((finding) => finding.code)).toEqual([...codes]);
  });

  test.each([256, -1, 1.5, "0", true, [0], {}].map((expect_exit) => ({ expect_exit })))(
    "$expect_exit is malformed",
    ({ expect_exit }) => {
      const malformed = ["expect_exit_malformed evidence_report.verification.expect_exit"];
      for (const result of ["pass", "fail"]) {
        expect(codesOf(check({ verification: { command: "x", result, expect_exit } as JsonValue, record }))).toEqual(
          malformed,
        );
      }
      const unbound = check({
        verification: { command: "npm x", result: "pass", expect_exit } as JsonValue,
        record: null,
      });
      expect([codesOf(unbound), unbound.skipped]).toEqual([malformed, []]);
    },
  );

  test.each([0, 255])("%d is in range", (expect_exit) => {
    const outcome = check({
      verification: { command: "x", result: "pass", expect_exit },
      record: [ran("x", { exit_code: expect_exit })],
    });
    expect(outcome.findings).toEqual([]);
  });

  test("is not looked at when the command was refused, or rests on ids that do not hold", () => {
    expect(codesOf(check({ verification: { command: "x", expect_exit: -1 } }))).toEqual([`command_not_run ${COMMAND}`]);
    const outcome = check({ verification: { command: "x", expect_exit: -1, evidence_ids: [9] } });
    expect(codesOf(outcome)).toEqual([`evidence_missing ${IDS}[0]`]);
  });

  test("a failure without a number is refuted only where 0 was expected", () => {
    const failed = [ran("x", { exit_code: null, failed: true })];
    const outcome = check({ verification: { command: "x", result: "pass", expect_exit: 1 }, record: failed });
    expect([outcome.findings, skipsOf(outcome)]).toEqual([[], [`exit ${COMMAND} exit_not_kept`]]);
  });

  test("the last run counts", () => {
    const claim = { command: "x", result: "pass" };
    expect(check({ verification: claim, record: [ran("x", { exit_code: 1 }), ran("x")] }).findings).toEqual([]);
    expect(codesOf(check({ verification: claim, record: [ran("x"), ran("x", { exit_code: 1 })] }))).toEqual([
      `exit_mismatch ${RESULT}`,
    ]);
    const unknown = check({ verification: claim, record: [ran("x", { exit_code: 1 }), ran("x", { exit_code: null })] });
    expect([unknown.findings, skipsOf(unknown)]).toEqual([[], [`exit ${COMMAND} exit_not_kept`]]);
  });
});

describe("a cited command names a run", () => {
  const argv = ["grep", "a b", "f"];
  test.each([
    { rule: "with the same text", cited: "npm test", run: ran("npm test") },
    { rule: "with blanks around it", cited: " npm test\n", run: ran("\tnpm test ") },
    { rule: "with the same words", cited: 'grep "a b" f', run: ran("grep 'a b' f", { argv }) },
    { rule: "with the same words in other quotes", cited: "grep   a\\ b f", run: ran("grep 'a b' f", { argv }) },
    {
      rule: "with its text although it has words",
      cited: "grep 'a b' f",
      run: ran("grep 'a b' f", { argv: ["other"] }),
    },
    { rule: "with a secret by shape", cited: "x AKIAABCDEFGHIJKLMNOP", run: ran("x [REDACTED]") },
    {
      rule: "with a secret among its words",
      cited: "x  AKIAABCDEFGHIJKLMNOP",
      run: ran("x '[REDACTED]'", { argv: ["x", "[REDACTED]"] }),
    },
    {
      rule: "with a quoted secret among its words",
      cited: 'x "k AKIAABCDEFGHIJKLMNOP"',
      run: ran("x", { argv: ["x", "k [REDACTED]"] }),
    },
    {
      rule: "with a secret that was not redacted there",
      cited: "x AKIAABCDEFGHIJKLMNOP",
      run: ran("x AKIAABCDEFGHIJKLMNOP"),
    },
  ])("$rule", ({ cited, run }) => {
    expect(lastRunOf(cited, [run])).toBe(run);
    expect(check({ verification: { command: cited, result: "pass" }, record: [run] }).findings).toEqual([]);
  });

  test.each([
    { rule: "in another case", cited: "NPM test", run: ran("npm test") },
    { rule: "with other blanks within", cited: "npm  test", run: ran("npm test") },
    { rule: "with more behind", cited: "npm test --silent", run: ran("npm test") },
    { rule: "with a prefix", cited: "cd x && npm test", run: ran("npm test") },
    { rule: "in other quotes without words", cited: 'grep "a b" f', run: ran("grep 'a b' f") },
    { rule: "in another Unicode form", cited: "echo \u00e9", run: ran("echo e\u0301") },
    {
      rule: "where only a shell tells the words",
      cited: "grep 'a b' f | cat",
      run: ran("x", { argv: ["grep", "a b", "f", "|", "cat"] }),
    },
    { rule: "where a quote stays open", cited: 'echo "a', run: ran("x", { argv: ["echo", '"a'] }) },
  ])("not $rule", ({ cited, run }) => {
    expect(lastRunOf(cited, [run])).toBeNull();
  });

  test("the last of all that text or words name, in the order of the record", () => {
    const byWords = ran("grep 'a b' f", { argv });
    const byText = ran('grep "a b" f');
    expect(lastRunOf('grep "a b" f', [byWords, byText, ran("x")])).toBe(byText);
    expect(lastRunOf('grep "a b" f', [byText, byWords, ran("x")])).toBe(byWords);
  });

  test("values that are secret here are redacted before the comparison", () => {
    const values = (text: string): string => text.replaceAll("hunter22", "[REDACTED]");
    expect(lastRunOf("login hunter22", [ran("login [REDACTED]")], values)).not.toBeNull();
    expect(lastRunOf("login hunter22", [ran("login [REDACTED]")])).toBeNull();
    const claim = { command: "login hunter22", result: "pass" };
    expect(check({ verification: claim, record: [ran("login [REDACTED]")], values }).findings).toEqual([]);
  });
});

describe("evidence ids", () => {
  const claim = (evidence_ids: JsonValue): JsonValue => ({ command: "make e2e", result: "pass", evidence_ids });

  test.each(["3", 0, -3, 1.5, true, null, 2 ** 53, 2 ** 63, [3], {}].map((id) => ({ id })))(
    "$id is malformed, and nothing is looked up",
    ({ id }) => {
      const asked: number[] = [];
      const evidence = (asking: number): null => {
        asked.push(asking);
        return null;
      };
      const outcome = check({ verification: claim([9, id as JsonValue, 3]), evidence });
      expect(codesOf(outcome)).toEqual([`evidence_id_malformed ${IDS}[1]`]);
      expect(asked).toEqual([]);
    },
  );

  test.each([3, true, "3", {}].map((ids) => ({ ids })))("$ids is no list", ({ ids }) => {
    expect(codesOf(check({ verification: claim(ids) }))).toEqual([`evidence_id_malformed ${IDS}`]);
  });

  test.each([
    { what: "no row", id: 9, code: "evidence_missing" },
    { what: "a negative row", id: 4, code: "evidence_not_positive" },
    { what: "a negative row of another brief", id: 8, code: "evidence_not_positive" },
    { what: "a row of another brief", id: 5, code: "evidence_out_of_scope" },
    { what: "a row of no brief", id: 7, code: "evidence_out_of_scope" },
    { what: "a row of a task, the turn has none", id: 6, code: "evidence_out_of_scope" },
    { what: "a row of no task, the turn has one", id: 3, task: 8, code: "evidence_out_of_scope" },
    { what: "a row of another task", id: 6, task: 9, code: "evidence_out_of_scope" },
    { what: "any row, the turn has no brief", id: 3, brief: null, code: "evidence_out_of_scope" },
    { what: "a row without brief, the turn has none either", id: 7, brief: null, code: "evidence_out_of_scope" },
  ])("$what: $code", ({ id, code, task = null, brief = 1 }) => {
    const outcome = check({ verification: claim([id]), turn: { brief_id: brief, plan_task_id: task } });
    expect(codesOf(outcome)).toEqual([`${code} ${IDS}[0]`]);
    expect(outcome.skipped).toEqual([]);
  });

  test("hold for the turn's brief and task", () => {
    expect(check({ verification: claim([3, 3]) }).findings).toEqual([]);
    expect(check({ verification: claim([6]), turn: { brief_id: 1, plan_task_id: 8 } }).findings).toEqual([]);
  });

  test("are all judged, each at its place", () => {
    expect(codesOf(check({ verification: claim([4, 3, 5, 9]) }))).toEqual([
      `evidence_not_positive ${IDS}[0]`,
      `evidence_out_of_scope ${IDS}[2]`,
      `evidence_missing ${IDS}[3]`,
    ]);
  });

  test("are judged without a command, and with one that is no string", () => {
    expect(codesOf(check({ verification: { evidence_ids: [9] } }))).toEqual([`evidence_missing ${IDS}[0]`]);
    const outcome = check({ verification: { command: 5, evidence_ids: [9] } });
    expect([codesOf(outcome), skipsOf(outcome)]).toEqual([
      [`evidence_missing ${IDS}[0]`],
      [`command ${COMMAND} command_not_string`],
    ]);
  });
});

test.each([
  { signal: "SIGSEGV", exit_code: null, verdict: "refuted" },
  { signal: "SIGSEGV", exit_code: 139, verdict: "refuted" },
  { signal: null, exit_code: null, verdict: "skipped" },
])("a run that $signal ended, with exit $exit_code, leaves a pass $verdict", ({ signal, exit_code, verdict }) => {
  const verification = { type: "command", command: "npm test", result: "pass" };
  const outcome = check({ verification, record: [ran("npm test", { signal, exit_code })] });
  expect([codesOf(outcome), skipsOf(outcome)]).toEqual(
    verdict === "refuted" ? [[`exit_mismatch ${RESULT}`], []] : [[], [`exit ${COMMAND} exit_not_kept`]],
  );
});

describe("a verbatim output", () => {
  const record = [ran("npm test", { output: "Tests  15 passed\nkey [REDACTED] ok\n" })];
  const held = (
    entry: JsonValue,
    more: Partial<ContentClaims> = {},
  ): { findings: readonly string[]; skipped: readonly string[] } => {
    const outcome = check({ verbatim_outputs: [entry], record, ...more });
    return {
      findings: outcome.findings.map(({ code, path }) => (path === ENTRY ? code : `${code} ${path}`)),
      skipped: skipsOf(outcome).map((skip) => skip.replace(`verbatim ${ENTRY} `, "")),
    };
  };
  const quote = { command: "npm test", excerpt: "15 passed" };

  test.each([
    { rule: "a string names no command", entry: "15 passed", skipped: ["unattributed"] },
    { rule: "null is not readable", entry: null, skipped: ["entry_not_readable"] },
    { rule: "a list is not readable", entry: [quote], skipped: ["entry_not_readable"] },
    { rule: "a number is not readable", entry: 5, skipped: ["entry_not_readable"] },
    { rule: "a quote that stands there holds", entry: quote },
    { rule: "output is a quote as well", entry: { command: "npm test", output: "15 passed" } },
    { rule: "excerpt comes before output", entry: { ...quote, output: "nope" } },
    { rule: "an excerpt of null leaves output", entry: { command: "npm test", excerpt: null, output: "15 passed" } },
    {
      rule: "other keys are not read",
      entry: { ...quote, stdout: 1, Output: 2 },
      skipped: ["unread_key stdout", "unread_key Output"],
    },
    {
      rule: "a key may be __proto__",
      entry: JSON.parse('{"__proto__":1,"excerpt":"x"}'),
      skipped: ["unread_key __proto__", "unattributed"],
    },
    {
      rule: "a quote must be a string",
      entry: { command: "npm test", excerpt: 5, output: [] },
      skipped: ["quote_not_string excerpt", "quote_not_string output", "no_quote"],
    },
    {
      rule: "output serves where excerpt is no string",
      entry: { command: "npm test", excerpt: 5, output: "15 passed" },
      skipped: ["quote_not_string excerpt"],
    },
    {
      rule: "output is looked at behind an excerpt too",
      entry: { ...quote, output: 5 },
      skipped: ["quote_not_string output"],
    },
    {
      rule: "a command must be a string",
      entry: { command: 5, excerpt: "x" },
      skipped: ["command_not_string", "unattributed"],
    },
    { rule: "a blank command is none", entry: { command: " ", excerpt: "x" }, skipped: ["unattributed"] },
    { rule: "a blank quote without attribution is skipped", entry: { excerpt: " " }, skipped: ["unattributed"] },
    { rule: "no quote, nothing to check", entry: { command: "npm test" }, skipped: ["no_quote"] },
    { rule: "an empty object has no quote", entry: {}, skipped: ["no_quote"] },
    { rule: "evidence attests a quote", entry: { excerpt: "x", evidence_id: 3 }, skipped: ["proven_by_evidence"] },
    {
      rule: "evidence of a failure does as well",
      entry: { excerpt: "x", evidence_id: 4 },
      skipped: ["proven_by_evidence"],
    },
    {
      rule: "evidence attests a command that was not run",
      entry: { command: "y", excerpt: "x", evidence_id: 3 },
      skipped: ["proven_by_evidence"],
    },
    { rule: "an evidence id of null is none", entry: { excerpt: "x", evidence_id: null }, skipped: ["unattributed"] },
    {
      rule: "a secret meets the record's mark",
      entry: { command: "npm test", excerpt: "key AKIAABCDEFGHIJKLMNOP ok" },
    },
    {
      rule: "the quote of a command that was not run",
      entry: { command: "y", excerpt: "x" },
      findings: ["verbatim_command_not_run"],
    },
    { rule: "a quote that is not there", entry: { ...quote, excerpt: "16 passed" }, findings: ["excerpt_not_found"] },
    {
      rule: "evidence excuses no quote that is not there",
      entry: { ...quote, excerpt: "16 passed", evidence_id: 3 },
      findings: ["excerpt_not_found"],
    },
    { rule: "a quote that shows nothing", entry: { ...quote, excerpt: " ... \n" }, findings: ["excerpt_empty"] },
    {
      rule: "a quote that shows nothing of a command not run",
      entry: { command: "y", excerpt: "…" },
      findings: ["excerpt_empty"],
    },
    {
      rule: "evidence for a quote that shows nothing",
      entry: { excerpt: " ", evidence_id: 3 },
      findings: ["excerpt_empty"],
    },
    {
      rule: "evidence that is missing",
      entry: { command: "y", excerpt: "x", evidence_id: 9 },
      findings: [`evidence_missing ${ENTRY}.evidence_id`],
    },
    {
      rule: "evidence out of scope",
      entry: { excerpt: "x", evidence_id: 5 },
      findings: [`evidence_out_of_scope ${ENTRY}.evidence_id`],
    },
    {
      rule: "an evidence id that is none",
      entry: { ...quote, evidence_id: "3" },
      findings: [`evidence_id_malformed ${ENTRY}.evidence_id`],
    },
    {
      rule: "bad evidence and no quote",
      entry: { evidence_id: 9 },
      findings: [`evidence_missing ${ENTRY}.evidence_id`],
      skipped: ["no_quote"],
    },
    {
      rule: "bad evidence and a bad quote",
      entry: { ...quote, excerpt: "16 passed", evidence_id: 9 },
      findings: [`evidence_missing ${ENTRY}.evidence_id`, "excerpt_not_found"],
    },
  ])("$rule", ({ entry, findings = [], skipped = [] }) => {
    expect(held(entry as JsonValue)).toEqual({ findings, skipped });
  });

  test("is not compared where no record is bound", () => {
    expect(held(quote, { record: null })).toEqual({ findings: [], skipped: ["no_tool_record"] });
    expect(held({ ...quote, excerpt: "..." }, { record: null })).toEqual({ findings: ["excerpt_empty"], skipped: [] });
    expect(held({ excerpt: "x", evidence_id: 3 }, { record: null })).toEqual({
      findings: [],
      skipped: ["proven_by_evidence"],
    });
  });

  test("with an empty record was not run", () => {
    expect(held(quote, { record: [] })).toEqual({ findings: ["verbatim_command_not_run"], skipped: [] });
  });

  test.each([
    { rule: "any run may hold it", outputs: [{ output: "15 passed" }, { output: "x" }], findings: [], skipped: [] },
    {
      rule: "one that was cut excuses all",
      outputs: [
        { output: "x" },
        { output: null },
        { output: "x", truncated: true },
        { output: "passed 15", ordered: false },
      ],
      skipped: ["output_truncated"],
    },
    {
      rule: "else one that was not kept",
      outputs: [{ output: "x" }, { output: null }, { output: "x", ordered: false }],
      skipped: ["output_not_kept"],
    },
    {
      rule: "else one whose order was not kept",
      outputs: [{ output: "15\npassed 1\n15" }, { output: "15 p\n15 passed", ordered: false }],
      excerpt: "15 passed\n15 p",
      skipped: ["order_not_kept"],
    },
    {
      rule: "lines of several runs make no quote",
      outputs: [
        { output: "b", ordered: false },
        { output: "a", ordered: false },
      ],
      excerpt: "b\na",
      findings: ["excerpt_not_found"],
    },
    {
      rule: "fragments of several runs make no quote",
      outputs: [{ output: "15 passed" }, { output: "16 passed" }],
      excerpt: "15 passed ... 16 passed",
      findings: ["excerpt_not_found"],
    },
    {
      rule: "one that was cut counts beside a like one that was not",
      outputs: [{ output: "x", truncated: true }, { output: "x" }],
      skipped: ["output_truncated"],
    },
    {
      rule: "one without order counts beside a like one with it",
      outputs: [{ output: "x\n15", ordered: false }, { output: "x\n15" }],
      excerpt: "15\nx",
      skipped: ["order_not_kept"],
    },
    { rule: "else it is refuted", outputs: [{ output: "x" }, { output: "" }], findings: ["excerpt_not_found"] },
  ])("of several runs: $rule", ({ outputs, excerpt = "15 passed", findings = [], skipped = [] }) => {
    const runs = outputs.map((output) => ran("npm test", output));
    expect(held({ command: "npm test", excerpt }, { record: runs })).toEqual({ findings, skipped });
  });

  test.each([undefined, null, "15 passed", {}, 5].map((list) => ({ list })))(
    "$list is no list: nothing is checked",
    ({ list }) => {
      expect(check({ verbatim_outputs: list as JsonValue, record })).toEqual({
        findings: [],
        skipped: [],
        restsOn: null,
      });
    },
  );

  test("quotes a secret value only as the record's mark", () => {
    const values = (text: string): string => text.replaceAll("hunter22", "[REDACTED]");
    expect(held({ command: "npm test", excerpt: "key hunter22 ok" }, { values })).toEqual({
      findings: [],
      skipped: [],
    });
    const outcome = check({
      verbatim_outputs: [
        { command: "x hunter22", excerpt: "no hunter22" },
        { command: "npm test", excerpt: "no hunter22" },
      ],
      record,
      values,
    });
    expect(outcome.findings).toHaveLength(2);
    expect(JSON.stringify(outcome)).not.toContain("hunter22");
  });

  test.each([
    { excerpt: "check token: PASSED", findings: [], skipped: ["output_redacted"] },
    { excerpt: "check token: [REDACTED]", findings: [], skipped: [] },
    { excerpt: "Permission denied", findings: [], skipped: ["output_redacted"] },
    { excerpt: "3 checks ran", findings: [], skipped: [] },
    { excerpt: "4 checks ran", findings: ["excerpt_not_found"], skipped: [] },
  ])("is not held by a mark that may hide anything: $excerpt", ({ excerpt, findings, skipped }) => {
    const output = redact("check token: FAILED\ncat: /etc/passwd: Permission denied\n3 checks ran\n", "output");
    const runs = [ran("npm test", { output })];
    expect(held({ command: "npm test", excerpt }, { record: runs })).toEqual({ findings, skipped });
  });

  test("may quote what the record did not take for a secret", () => {
    const values = (text: string): string => text.replaceAll("hunter22", "[REDACTED]");
    const runs = [ran("npm test", { output: "hunter22 ok" })];
    expect(held({ command: "npm test", excerpt: "hunter22 ok" }, { record: runs, values })).toEqual({
      findings: [],
      skipped: [],
    });
  });
});

test("findings come in the order of the checks: the verification, then the outputs by index", () => {
  const outcome = check({
    verification: { command: "PASS", evidence_ids: [9] },
    verbatim_outputs: [
      { command: "y", excerpt: "x" },
      "s",
      { command: "x", excerpt: "b" },
      { command: "x", excerpt: "" },
    ],
    record: [ran("x", { output: "a" })],
  });
  expect(codesOf(outcome)).toEqual([
    `command_is_verdict ${COMMAND}`,
    `evidence_missing ${IDS}[0]`,
    "verbatim_command_not_run evidence_report.verbatim_outputs[0]",
    "excerpt_not_found evidence_report.verbatim_outputs[2]",
    "excerpt_empty evidence_report.verbatim_outputs[3]",
  ]);
  expect(skipsOf(outcome)).toEqual(["verbatim evidence_report.verbatim_outputs[1] unattributed"]);
});

describe("what a finding says", () => {
  const only = (claims: Partial<ContentClaims>): { readonly message: string; readonly hint: string | null } => {
    const [finding, ...more] = check(claims).findings;
    expect(more).toEqual([]);
    return { message: finding?.message ?? "", hint: finding?.hint ?? null };
  };

  test("exit_mismatch names the exit seen and the one expected", () => {
    const verification = { command: "npm test", result: "pass" };
    expect(only({ verification, record: [ran("npm test", { exit_code: 2 })] })).toEqual({
      message: 'Result "pass" is refuted: the last run of "npm test" ended in exit 2, expected exit 0',
      hint: `Mend the work and run the command again; or say what is so, in a state that does not need a pass: writ contract fill --json '{"agent_status":{"agent_state":"BLOCKED","next_action":"..."},"conclusion":"...","evidence_report":{"verification":{"result":"fail"}}}'; or, where the command is meant to end in 2, set expect_exit`,
    });
  });

  test("exit_mismatch names a failure without a number", () => {
    const verification = { command: "npm test", result: "pass" };
    const { message } = only({ verification, record: [ran("npm test", { exit_code: null, failed: true })] });
    expect(message).toBe('Result "pass" is refuted: the last run of "npm test" failed, expected exit 0');
  });

  test("command_not_run names the recorded command that is nearest, as recorded", () => {
    const record = [ran("git status"), ran("  npm run test -- --silent "), ran("make lint")];
    expect(only({ verification: { command: "npm run tests --silent" }, record })).toEqual({
      message: 'Command "npm run tests --silent" is not among the 3 commands that the turn ran',
      hint: "writ run -- npm run tests --silent runs it under capture. Of what ran cite, exactly as recorded, only what shows the claim; the nearest:   npm run test -- --silent ",
    });
  });

  test.each([
    { cited: "ab z", commands: ["ab x", "ab y"], nearest: "ab y", why: "of equals the newest" },
    { cited: "aab", commands: ["aab c", "aaaaaaa"], nearest: "aab c", why: "a repeated pair counts once" },
    { cited: "npm test", commands: ["npm tset", "npm run x", "z"], nearest: "npm tset", why: "most in common" },
  ])("the nearest of $commands to $cited: $why", ({ cited, commands, nearest }) => {
    const record = commands.map((command) => ran(command));
    expect(only({ verification: { command: cited }, record }).hint).toEndWith(`the nearest: ${nearest}`);
  });

  test("verbatim_command_not_run does as well, whatever the other is", () => {
    const verbatim_outputs = [{ command: "zzz", excerpt: "x" }];
    expect(only({ verbatim_outputs, record: [ran("make lint")] })).toEqual({
      message: 'Command "zzz" is not the one command that the turn ran',
      hint: "writ run -- zzz runs it under capture. Of what ran cite, exactly as recorded, only what shows the claim; the nearest: make lint",
    });
  });

  test("command_not_run says where nothing was run", () => {
    expect(only({ verification: { command: "npm test" } })).toEqual({
      message: 'Command "npm test" was not run: the turn ran no command',
      hint: "writ run -- npm test runs it under capture",
    });
  });

  test.each([
    { cited: "npm test", call: "writ run -- npm test" },
    { cited: `sh -c 'exit 1'`, call: `writ run -- sh -c 'exit 1'` },
    { cited: "make 2>&1 | tail", call: "writ run -c 'make 2>&1 | tail'" },
    { cited: `echo 'it"s' && ls`, call: `writ run -c 'echo '"'"'it"s'"'"' && ls'` },
  ])("command_not_run begins with the call that would run $cited", ({ cited, call }) => {
    expect(only({ verification: { command: cited } }).hint).toStartWith(`${call} runs it under capture`);
  });

  test("counts what holds: the verdict on a command, each id of evidence, each quote", () => {
    const record = [ran("npm test", { output: "4 pass" })];
    const verification = { command: "npm test", result: "pass", evidence_ids: [3] };
    const quote = { command: "npm test", excerpt: "4 pass" };
    const verbatim_outputs = [quote, "a text", { ...quote, stdout: 1 }, { command: "npm test" }];
    expect(checkAll({ verification, verbatim_outputs, record }).held).toBe(4);
    expect(checkAll({ verification, record: null }).held).toBe(1);
    expect(checkAll({ verification: { ...verification, result: "fail" }, record }).held).toBe(1);
    expect(checkAll({ verification: { ...verification, evidence_ids: [3, 4] }, record }).held).toBe(1);
    expect(checkAll({ verification, record: [ran("npm test", { exit_code: null })] }).held).toBe(1);
    expect(checkAll({}).held).toBe(0);
  });

  test("excerpt_not_found names the quote, the command and how many runs were asked", () => {
    const verbatim_outputs = [{ command: "npm test", excerpt: "16\npassed" }];
    const runs = [ran("npm test"), ran("npm test", { output: "x" })];
    expect(only({ verbatim_outputs, record: runs }).message).toBe(
      'Excerpt "16 passed" is not in what "npm test" printed in any of its 2 runs',
    );
    expect(only({ verbatim_outputs, record: runs.slice(1) }).message).toEndWith('"npm test" printed in its run');
  });

  test("evidence_out_of_scope names both scopes", () => {
    const message = (id: number, plan_task_id: number | null, brief_id: number | null = 1): string =>
      only({ verification: { evidence_ids: [id] }, turn: { brief_id, plan_task_id } }).message;
    expect(message(5, 8)).toBe("Evidence 5 belongs to brief 2, no task, the turn to brief 1, task 8");
    expect(message(7, null, null)).toBe("Evidence 7 belongs to no brief, the turn to no brief");
  });

  test.each([
    { verification: { command: "PASS" }, message: 'Command "PASS" is a verdict, not a command' },
    { verification: { command: "n/a" }, message: 'Command "n/a" does not begin with anything that can be run' },
    {
      verification: { command: "npm x", expect_exit: "0" },
      message: 'Expected exit "0" is not an integer from 0 to 255',
    },
    {
      verification: { command: "npm x", expect_exit: [] },
      message: "Expected exit an array is not an integer from 0 to 255",
    },
    { verification: { evidence_ids: "3" }, message: 'Evidence ids are a list, not "3"' },
    {
      verification: { evidence_ids: ["3"] },
      message: 'Evidence id "3" is not a positive integer that can be held exactly',
    },
    { verification: { evidence_ids: [9] }, message: "Evidence 9 does not exist" },
    { verification: { evidence_ids: [4] }, message: "Evidence 4 is negative: it does not prove a command" },
  ])("$message", ({ verification, message }) => {
    const said = only({ verification: verification as JsonValue, record: null });
    expect(said.message).toBe(message);
    expect(said.hint).not.toBeNull();
  });

  test("long values are cut", () => {
    const { message } = only({ verification: { command: "x".repeat(100_000) }, record: null });
    expect(message.length).toBeLessThan(250);
  });
});

describe("the run that a claim rests on", () => {
  const last = ran("x", { exit_code: 0 });
  const record = [ran("x", { exit_code: 1 }), last, ran("y")];

  test("is the last run of the command when nothing refutes the pass", () => {
    expect(check({ verification: { command: "x", result: "pass" }, record }).restsOn).toBe(last);
    expect(check({ verification: { command: "x", result: "pass", evidence_ids: [3] }, record }).restsOn).toBe(last);
    const unknown = ran("x", { exit_code: null });
    expect(check({ verification: { command: "x", result: "pass" }, record: [unknown] }).restsOn).toBe(unknown);
  });

  test.each([
    { why: "the result is another", verification: { command: "x", result: "fail" } },
    { why: "the exit is another", verification: { command: "x", result: "pass", expect_exit: 1 } },
    { why: "the expected exit is malformed", verification: { command: "x", result: "pass", expect_exit: -1 } },
    { why: "an id does not hold", verification: { command: "x", result: "pass", evidence_ids: [9] } },
    { why: "the command was not run", verification: { command: "z", result: "pass" } },
    { why: "evidence proves it", verification: { command: "z", result: "pass", evidence_ids: [3] } },
    { why: "there is no command", verification: { result: "pass" } },
  ])("is none when $why", ({ verification }) => {
    expect(check({ verification: verification as JsonValue, record }).restsOn).toBeNull();
  });

  test("is none where no record is bound", () => {
    expect(check({ verification: { command: "npm x", result: "pass" }, record: null }).restsOn).toBeNull();
  });
});

describe("checkContent() as a law", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom("npm test", "PASS", "pass", "15 passed", "...", "a"),
  );
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
    text,
    fc.dictionary(
      fc.constantFrom(
        "command",
        "result",
        "evidence_ids",
        "expect_exit",
        "excerpt",
        "output",
        "evidence_id",
        "__proto__",
      ),
      fc.oneof(text, fc.integer(), fc.constant(null), fc.array(fc.integer({ max: 9 }))) as fc.Arbitrary<JsonValue>,
    ),
  ) as fc.Arbitrary<JsonValue>;
  const run: fc.Arbitrary<RecordedRun> = fc.record({
    command: text,
    argv: fc.option(fc.array(text), { nil: null }),
    exit_code: fc.option(fc.integer({ min: 0, max: 2 })),
    failed: fc.boolean(),
    output: fc.option(text),
    tail: fc.option(text, { nil: null }),
    truncated: fc.boolean(),
    ordered: fc.boolean(),
  });
  const verbatim = fc.oneof(json, fc.array(json, { maxLength: 4 }));

  test("it returns on any JSON, and each entry of a list leaves a trace or holds", () => {
    fc.assert(
      fc.property(
        json,
        verbatim,
        fc.option(fc.array(run, { maxLength: 4 })),
        (verification, verbatim_outputs, record) => {
          const outcome = check({ verification, verbatim_outputs, record });
          for (const finding of outcome.findings) expect([finding.message === "", finding.hint]).not.toContain(null);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("a claim that nothing refutes stays so when another command was run before", () => {
    fc.assert(
      fc.property(
        json,
        verbatim,
        fc.array(run, { maxLength: 4 }),
        run,
        (verification, verbatim_outputs, record, other) => {
          fc.pre(check({ verification, verbatim_outputs, record }).findings.length === 0);
          const before = { ...other, command: "unrelated command", argv: null };
          expect(check({ verification, verbatim_outputs, record: [before, ...record] }).findings).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("what really was run and printed is never refuted", () => {
    const word = fc.stringMatching(/^[a-z]{2,8}$/);
    const real = fc.record({ words: fc.array(word, { minLength: 1 }), printed: fc.array(word, { minLength: 1 }) });
    fc.assert(
      fc.property(fc.array(real, { minLength: 1, maxLength: 8 }), fc.nat(), (reals, pick) => {
        const record = reals.map(({ words, printed }) =>
          ran(`./run ${words.join(" ")}`, { output: printed.join("\n") }),
        );
        const cited = record[pick % record.length] as RecordedRun;
        const outcome = check({
          verification: { command: cited.command, result: "pass" },
          verbatim_outputs: [{ command: cited.command, excerpt: cited.output }],
          record,
        });
        expect(outcome).toEqual({ findings: [], skipped: [], restsOn: lastRunOf(cited.command, record) });
      }),
    );
  });
});

describe("checkContent() on a large scale", () => {
  const record = Array.from({ length: 10_000 }, (_, index) =>
    ran(`npm run step-${index}`, { argv: ["npm", "run", `step-${index}`], output: `step ${index} ok` }),
  );

  test("looks each of many citations up", () => {
    const verbatim_outputs = record.map((run, index) => ({ command: `npm  run step-${index}`, excerpt: run.output }));
    expect(check({ verbatim_outputs, record })).toEqual({ findings: [], skipped: [], restsOn: null });
  });

  test("names a recorded command for each of many that were not run", () => {
    const verbatim_outputs = Array.from({ length: 10_000 }, (_, index) => ({
      command: `npm run stop-${index}`,
      excerpt: "x",
    }));
    const { findings } = check({ verbatim_outputs, record });
    expect(findings).toHaveLength(10_000);
    expect(findings[4]?.hint).toEndWith(" npm run step-4");
    expect(findings.every((finding) => finding.hint?.includes("npm run step-"))).toBe(true);
  });

  test("finds a quote among the outputs of many runs of one command", () => {
    const runs = record.map((run) => ({ ...run, command: "npm test", argv: null }));
    const verbatim_outputs = [
      { command: "npm test", excerpt: "step 9999 ok" },
      { command: "npm test", excerpt: "step 10000 ok" },
    ];
    expect(codesOf(check({ verbatim_outputs, record: runs }))).toEqual([
      "excerpt_not_found evidence_report.verbatim_outputs[1]",
    ]);
  });

  test("reports each of very many malformed ids", () => {
    const evidence_ids = Array.from({ length: 500_000 }, () => 0);
    expect(check({ verification: { evidence_ids } }).findings).toHaveLength(500_000);
  });

  test("returns on an excerpt of several megabytes", () => {
    const excerpt = "15 passed ... ".repeat(300_000);
    const outcome = check({
      verbatim_outputs: [{ command: "x", excerpt }],
      record: [ran("x", { output: "15 passed ".repeat(100) })],
    });
    expect(codesOf(outcome)).toEqual([`excerpt_not_found ${ENTRY}`]);
  });
});
