import { describe, expect, test } from "bun:test";
import {
  type BunTestProof,
  bunTestArguments,
  canaryText,
  guardText,
  judgeBunTest,
  type Marks,
  mintMarks,
  withSentinel,
} from "../../../src/core/gate/judge-bun-test.ts";
import { readTestReport } from "../../../src/core/gate/test-report.ts";

const marks: Marks = {
  guard: "writ-guard-0.ts",
  canary: { file: "writ-canary-1.test.ts", test: "canary 2" },
  sentinels: [{ file: "a.test.ts", pass: "sentinel 3", fail: "sentinel 4" }],
};

type Case = { readonly name: string; readonly is?: "failed" | "skipped"; readonly text?: string };

/** A report as the runner writes it. */
function report(cases: readonly Case[], change: (xml: string) => string = (xml) => xml): string {
  const all = [...cases, { name: "sentinel 3" }, { name: "sentinel 4", is: "failed" as const }];
  const count = (is: Case["is"]) => all.filter((each) => each.is === is).length;
  const rows = all.map(({ name, is, text }: Case) => {
    const inside =
      is === "failed"
        ? `<failure type="Error" message="${text ?? ""}">Error</failure>`
        : is === "skipped"
          ? "<skipped />"
          : "";
    return `<testcase name="${name}" file="a.test.ts" assertions="0">${inside}</testcase>`;
  });
  return change(
    `<?xml version="1.0"?><testsuites name="bun test" tests="${all.length + 1}" failures="${count("failed")}" skipped="${count("skipped")}">` +
      `<testsuite name="a.test.ts" file="a.test.ts">${rows.join("")}</testsuite>` +
      `<testsuite name="c" file="writ-canary-1.test.ts"><testcase name="canary 2"/></testsuite></testsuites>`,
  );
}

const proof = (more: Partial<BunTestProof> = {}): BunTestProof => ({
  kind: "bun_test",
  when: "after",
  files: ["a.test.ts"],
  expect: "pass",
  pass: ["one"],
  timeout_sec: 60,
  env: {},
  ...more,
});
const RED = proof({ expect: "fail", fail: [{ test: "two", match: "want \\d+" }] });

const judged = (xml: string | null, of = proof(), run: object = {}) =>
  judgeBunTest(of, marks, { exit_code: 1, ended_by: "itself", report: xml, ...run });

describe("judgeBunTest()", () => {
  test("passes what is as listed", () => {
    expect(judged(report([{ name: "one" }]))).toEqual({ verdict: "PASS", detail: "1 named test passed" });
    const red = report([{ name: "one" }, { name: "two", is: "failed", text: "want 10" }]);
    expect(judged(red, RED)).toEqual({
      verdict: "PASS",
      detail: "two failed with the pinned text, 1 named test passed",
    });
  });

  test.each<[string, string | null, BunTestProof, object, string]>([
    ["a status of 0", report([{ name: "one" }]), proof(), { exit_code: 0 }, "ended early (status 0)"],
    [
      "a run that a signal ended",
      report([{ name: "one" }]),
      proof(),
      { exit_code: null },
      "ended early (status of a signal)",
    ],
    ["a run out of time", report([{ name: "one" }]), proof(), { ended_by: "time" }, "did not end within 60 s"],
    ["no report", null, proof(), {}, "wrote no report"],
    ["a report that is cut", "<testsuites", proof(), {}, "does not parse"],
    ["a report of no tests", "<html/>", proof(), {}, "has no testsuites"],
    [
      "a count that does not fit",
      report([{ name: "one" }], (xml) => xml.replace('tests="4"', 'tests="5"')),
      proof(),
      {},
      "counts 5 tests and lists 4",
    ],
    [
      "a canary that did not pass",
      report([{ name: "one" }], (xml) => xml.replace("canary 2", "canary 3")),
      proof(),
      {},
      "the canary did not pass",
    ],
    [
      "a sentinel that passed and must fail",
      report([{ name: "one" }], (xml) =>
        xml.replace(/<failure.*?<\/failure>/, "").replace('failures="1"', 'failures="0"'),
      ),
      proof(),
      {},
      "the sentinel in a.test.ts",
    ],
    [
      "a sentinel that is not there",
      report([{ name: "one" }], (xml) => xml.replace("sentinel 3", "other")),
      proof(),
      {},
      "the sentinel in a.test.ts",
    ],
    [
      "a file that is not there",
      report([{ name: "one" }], (xml) => xml.replace('file="a.test.ts">', 'file="b.test.ts">')),
      proof(),
      {},
      "nothing of a.test.ts",
    ],
    ["a test that is gone", report([{ name: "uno" }]), proof(), {}, 'there is no test "one"'],
    ["a test that failed", report([{ name: "one", is: "failed", text: "boom" }]), proof(), {}, '"one" failed: boom'],
    [
      "a test that was skipped",
      report([{ name: "one" }, { name: "two", is: "skipped" }]),
      proof(),
      {},
      '"two" was skipped',
    ],
    ["another test that failed", report([{ name: "one" }, { name: "two", is: "failed" }]), proof(), {}, '"two" failed'],
    ["a name that is there twice", report([{ name: "one" }, { name: "one" }]), proof(), {}, '"one" is there twice'],
    ["a red test that passed", report([{ name: "one" }, { name: "two" }]), RED, {}, '"two" passed, and it must fail'],
    ["a red test that is gone", report([{ name: "one" }]), RED, {}, 'there is no test "two"'],
    [
      "a test that is red for another reason",
      report([{ name: "one" }, { name: "two", is: "failed", text: "no" }]),
      RED,
      {},
      "failed for another reason",
    ],
  ])("fails %s", (_, xml, of, run, detail) => {
    expect(judged(xml, of, run)).toEqual({ verdict: "FAIL", detail: expect.stringContaining(detail) });
  });
});

test("the marks of a real run are seen in its report, and a nested test by its whole name", async () => {
  const folder = Bun.spawnSync(["mktemp", "-d"]).stdout.toString().trim();
  let next = 0;
  const random = () => {
    next += 1;
    return `r${next}`;
  };
  const minted = mintMarks(["a.test.ts"], random);
  const [sentinel] = minted.sentinels;
  if (sentinel === undefined) throw new Error("no sentinel");
  const text = 'import { describe, test } from "bun:test";\ndescribe("out", () => { test("in", () => {}); });\n';
  await Bun.write(`${folder}/a.test.ts`, withSentinel(text, minted, sentinel, random));
  await Bun.write(`${folder}/${minted.guard}`, guardText(false));
  await Bun.write(`${folder}/${minted.canary.file}`, canaryText(minted));
  await Bun.write(`${folder}.toml`, "");
  const argv = bunTestArguments({ files: ["a.test.ts"] }, minted, {
    config: `${folder}.toml`,
    report: `${folder}.xml`,
  });
  const ran = Bun.spawnSync([process.execPath, ...argv], { cwd: folder, env: { PATH: process.env.PATH, CI: "1" } });
  const xml = await Bun.file(`${folder}.xml`).text();
  const run = { exit_code: ran.exitCode, ended_by: "itself" as const, report: xml };
  expect(judgeBunTest(proof({ pass: ["out > in"] }), minted, run)).toEqual({
    verdict: "PASS",
    detail: "1 named test passed",
  });
  Bun.spawnSync(["rm", "-r", folder, `${folder}.toml`, `${folder}.xml`]);
});

test.each([
  ["<testsuites><testsuite/></testsuites>", "of no file"],
  ['<testsuites><testsuite file="a"><testcase/></testsuite></testsuites>', "without a name"],
  ['<testsuites><testsuite file="a"><x name="a"/></testsuite></testsuites>', "an element x"],
  [
    `<testsuites><testsuite file="a">${'<testsuite name="g">'.repeat(70)}${"</testsuite>".repeat(70)}</testsuite></testsuites>`,
    "too deep",
  ],
])("readTestReport() refuses %s", (xml, reason) => {
  expect(readTestReport(xml)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
});
