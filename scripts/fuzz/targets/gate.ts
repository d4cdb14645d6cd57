/** Gates and their reports, sets of fixtures, and what the programs of a proof print. */
import { findAcceptance, mentionsAcceptance } from "../../../src/core/delegation/acceptance-keys.ts";
import { digestSetFindings } from "../../../src/core/delegation/digest-set.ts";
import { judgeFixtures } from "../../../src/core/delegation/fixtures.ts";
import { readManifest } from "../../../src/core/delegation/manifest.ts";
import { judgeNameOnly } from "../../../src/core/delegation/name-only.ts";
import { readFactPointer, readGate } from "../../../src/core/gate/gate-file.ts";
import { type BunTestProof, judgeBunTest, mintMarks } from "../../../src/core/gate/judge-bun-test.ts";
import { type CommandProof, judgeCommand } from "../../../src/core/gate/judge-command.ts";
import { type FileProof, judgeFileProof, type Subject } from "../../../src/core/gate/judge-proof.ts";
import { renderGatePage } from "../../../src/core/gate/page.ts";
import { judgeParallel } from "../../../src/core/gate/parallel.ts";
import { legLine, readGateReport, verdictLine } from "../../../src/core/gate/report.ts";
import { readTestReport } from "../../../src/core/gate/test-report.ts";
import { issueLines } from "../../../src/core/issue-text.ts";
import { readSource } from "../../../src/core/json/source.ts";
import { fileAt, filesBelow } from "../corpus.ts";
import { decode } from "../mutate.ts";
import { hold, oneLineEach, reading, same } from "../target.ts";

export const gateFile = reading({
  name: "gate-file",
  parts: ["gate"],
  corpus: () =>
    ["contracts/write-door/gate.json", "contracts/write-door-go/gate.json", ...PARALLEL].map((each) =>
      each.startsWith("{") ? each : fileAt(each),
    ),
  words: ["mode", "write", "answer", "parallel", "legs", "proofs", "kind", "bun_test", "command", "expect", "when", "before", "after", "match", "files", "expect_files", "at", "/results[name=x]/y", "~1", "(a+)+$"], // biome-ignore format: a list
  read: ({ bytes, text }) => {
    const read = readGate(bytes);
    if (!read.ok) {
      hold("a refusal has issues", read.issues.length > 0 && read.issues.length <= 64 * 64, read.issues.length);
      oneLineEach(read.issues.flatMap((issue) => issueLines(issue)));
      return;
    }
    const again = readGate(new TextEncoder().encode(JSON.stringify(read.gate)));
    same("a gate that was read reads as itself", again.ok && again.gate, read.gate);
    readFactPointer(text.slice(0, 200));
  },
});

const PARALLEL = ['{"schema_version":1,"name":"parallel","mode":"parallel","k":4}'];

export const factPointer = reading({
  name: "fact-pointer",
  parts: ["pointer"],
  corpus: () => ["", "/a/b", "/results[name=a]/count", "/a~1b/~0", "/x[k=]", "/[=]"],
  words: ["/", "[", "]", "=", "~0", "~1", "~2", "[a=b]"],
  read: ({ text }) => {
    const steps = readFactPointer(text);
    if (steps !== null)
      same("a pointer has a step for each slash", steps.length, text === "" ? 0 : text.slice(1).split("/").length);
  },
});

const LEG = {
  name: "t1", verdict: "PASS", cause: "", detail: "", node: "local", seat: "a", scripted: true, wall_ms: 12.5, exit: 0, steps: 3,
  diff_files: ["a.ts"], diff_bytes: 10, diff: "--- a/a.ts\n", applied: true,
  proofs: [{ kind: "bun_test", when: "after", expect: "pass", verdict: "PASS", detail: "3 passed" }],
}; // biome-ignore format: a record
const REPORT = {
  gate: "write-door", form: "ts", verdict: "PASS", partial: false, scripted: true, ran_at: "2026-01-01T00:00:00Z", writ_version: "0.1.0",
  route: "local", remote: "", protections: { sandbox: true, network: true, group_kill: true },
  legs: [LEG, { ...LEG, verdict: "FAIL", cause: "proof", detail: "red" }],
}; // biome-ignore format: a record

export const gateReport = reading({
  name: "gate-report",
  parts: ["report"],
  corpus: () => [JSON.stringify(REPORT), JSON.stringify({ ...REPORT, verdict: "INCONCLUSIVE", legs: [] }, null, 2)],
  words: ["INCONCLUSIVE", "FAIL", "proofs", "<script>", "&amp;", "legs"],
  read: ({ text }) => {
    const report = readGateReport(text);
    if (report === null) return;
    const page = renderGatePage([report]);
    hold("no text opens a tag of the page", !/<(?:script|img|a) [^>]*(?:onerror|javascript:)/i.test(page));
    for (const leg of report.legs) legLine(leg);
    verdictLine(report);
    same("a report that was read reads as itself", readGateReport(JSON.stringify(report)), report);
  },
});

const JUNIT = [
  '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test" tests="3" assertions="4" failures="1" skipped="1" time="0.01">\n  <testsuite name="a.test.ts" file="a.test.ts" tests="3" failures="1" skipped="1">\n    <testsuite name="outer" file="a.test.ts" line="1" tests="1">\n      <testcase name="works" classname="outer" time="0" file="a.test.ts" line="2" assertions="1" />\n    </testsuite>\n    <testcase name="fails" file="a.test.ts"><failure type="AssertionError" message="no">stack &lt;x&gt;</failure></testcase>\n    <testcase name="later" file="a.test.ts"><skipped /></testcase>\n  </testsuite>\n</testsuites>\n',
  '<testsuites tests="0" failures="0" skipped="0"></testsuites>',
  '<testsuites><testsuite><testcase name="canary k3Jx" file="writ-canary-k3Jx.test.ts"/><testcase name="sentinel k3Jx" file="a.test.ts"/><testcase name="works" file="a.test.ts"/></testsuite></testsuites>',
  "building\nok\n",
];

const BUN_TEST = { kind: "bun_test", files: ["a.test.ts"], expect: "pass", pass: ["works"], when: "after", timeout_sec: 60 } as unknown as BunTestProof; // biome-ignore format: a record
const COMMAND = { kind: "command", run: ["make"], expect: "pass", when: "after", timeout_sec: 60 } as unknown as CommandProof; // biome-ignore format: a record
const MARKS = mintMarks(BUN_TEST.files, () => "k3Jx");

export const testReport = reading({
  name: "test-report",
  parts: ["report"],
  corpus: () => JUNIT,
  words: ["<testsuite ", "</testsuite>", '<testcase name="x"/>', "<failure>", "<![CDATA[", "]]>", "<!--", "-->", '<!DOCTYPE a [<!ENTITY x "y">]>', "&x;", "&#0;", "&#x110000;", 'tests="1"', "<?xml", 'name="', "<error/>"], // biome-ignore format: a list
  read: ({ text }) => {
    const read = readTestReport(text);
    hold("a refusal is one line", read.ok || !/[\r\n]/.test(read.reason), read);
    const run = { exit_code: 1, ended_by: "itself", report: text } as const;
    const { verdict, detail } = judgeBunTest(BUN_TEST, MARKS, run);
    hold("a report without the marks proves nothing", verdict !== "PASS" || text.includes(MARKS.canary.test), detail);
    const printed = { is_started: true, exit_code: 0, signal: null, ended_by: "itself", output: text } as const;
    const command = judgeCommand({ ...COMMAND, match: "(?m)^ok$" }, printed);
    same("a text that is pinned is there", command.verdict === "PASS", text.split("\n").includes("ok"));
    oneLineEach([detail, command.detail]);
    if (read.ok)
      for (const { file, outcome } of read.cases)
        hold("a test is of a file", file !== undefined && outcome !== undefined);
  },
});

export const proofFile = reading({
  name: "proof-file",
  parts: ["file now", "file before"],
  corpus: () => [
    ['{"nodes":[{"id":"a","open":true}]}\n', '{"nodes":[{"id":"a","open":false}]}\n'],
    ["one\nTWO\nthree\n", "one\ntwo\nthree\n"],
  ],
  words: ["nodes", "id", "open", "one\n", "two", "TWO", "\r\n"],
  read: ({ bytes: now }, { bytes: before }) => {
    const subject: Subject = {
      file: () => now,
      fixture: () => before,
      patch: [{ path: "f", added: decode(now).split("\n"), removed: decode(before).split("\n") }],
      sha256: () => "0".repeat(64),
    };
    for (const proof of FILE_PROOFS) {
      const judged = judgeFileProof({ when: "after", ...proof } as FileProof, subject);
      oneLineEach([judged.detail]);
      hold("a detail is short", judged.detail.length < 4_000, judged.detail.length);
      same("the same is judged the same", judgeFileProof({ when: "after", ...proof } as FileProof, subject), judged);
    }
    const unchanged = judgeFileProof({ kind: "unchanged", when: "after", files: ["f"] } as FileProof, subject);
    same("a file is as it was or it is not", unchanged.verdict === "PASS", Buffer.from(now).equals(before));
  },
});

const FILE_PROOFS = [
  { kind: "patch_adds", literal: "TWO" },
  { kind: "patch_removes", regex: "^two$" },
  { kind: "count", file: "f", literal: "o", equals: 2 },
  { kind: "count", file: "f", regex: "(?i)t", equals: 2 },
  { kind: "lines", file: "f", changed: [{ from: "two", to: "TWO" }] },
  { kind: "lines", file: "f", changed_count: 1 },
  { kind: "json", file: "f", facts: [{ at: "/nodes[id=a]/open", equals: true }, { at: "/nodes", length: 1 }] },
]; // biome-ignore format: a list

const PRINTED = JSON.stringify({
  schema_version: 1,
  results: Array.from({ length: 8 }, (_, index) => ({
    index,
    status: index === 3 ? "deferred" : "succeeded",
    reason: "seat busy",
    defer_class: "contention",
    contention_wait_sec: 1.5,
    queue_wait_sec: 0,
    scripted: true,
  })),
});

export const parallel = reading({
  name: "parallel-output",
  parts: ["standard output"],
  corpus: () => [PRINTED],
  words: ["results", "status", "succeeded", "seat contended", "defer_class", "infrastructure"],
  read: ({ text }) => {
    const run = { exit: 0, stdout: text, wall_ms: 5 };
    const { verdict, cause } = judgeParallel([run, run, { exit: 0, stdout: PRINTED, wall_ms: 5 }]);
    hold("what is no PASS has a cause", (verdict === "PASS") === (cause === ""), verdict, cause);
  },
});

export const fixtureSet = reading({
  name: "fixture-set",
  parts: ["manifest", "file"],
  corpus: () => {
    const manifests = [fileAt("contracts/manifest.json")];
    const files = [
      ...filesBelow("contracts/templates", ".json"),
      ...filesBelow("contracts/digests", ".json"),
      '[{"goal":"a","acceptance":["contains:a"]}]',
    ];
    return files.flatMap((file) => manifests.map((manifest) => [manifest, file]));
  },
  words: [
    "acceptance",
    "digest_sets",
    "corpus",
    "schemas",
    "files_with_acceptance",
    "../x",
    "contains:",
    "regex:a|b",
    "docs_per_subtask",
  ],
  max_bytes: 48 * 1024,
  read: ({ text: manifestText }, { text }) => {
    const read = readManifest(manifestText);
    const source = readSource(text, { maxDepth: 64 });
    mentionsAcceptance(text);
    if (source.ok) {
      findAcceptance(source.node);
      const itself = judgeNameOnly(source.node, source.node);
      if (source.node.kind === "array")
        same("a set is another one of itself by name only", itself, { exempt: true, mapping: [] });
    }
    if (!read.ok) {
      hold(
        "a refusal has problems, a line each",
        read.problems.length > 0 && read.problems.every((line) => !line.includes("\n")),
        read.problems,
      );
      return;
    }
    const { manifest } = read;
    const corpus = new Map(manifest.corpus.map((name) => [name, null] as const));
    for (const set of manifest.digest_sets.slice(0, 1))
      digestSetFindings(set, text, source.ok ? source.node : null, corpus);
    const [path = "x.json"] = manifest.files_with_acceptance;
    const file = { path, text, isUtf8: true, sha256: "0".repeat(64), fault: null };
    const report = judgeFixtures(
      { files: [file], links: [], manifest, manifestText, corpus, schemas: new Map() },
      "manifest.json",
    );
    hold(
      "what is no PASS has findings",
      (report.verdict === "PASS") === (report.findings.length === 0),
      report.verdict,
      report.findings,
    );
  },
});
