/**
 * A run of `bun test` that changed code cannot talk green (delegation run, section 10.5).
 *
 * An exit status proves nothing: a test can end the process with 0. So the gate adds a canary file of its own, which
 * makes the runner use workers and write the report from outside of them, and to each test file a sentinel: one test
 * that must pass and one that MUST be reported as failed, which no replaced matcher can know by name or value. The
 * verdict is made from the report.
 */
import { counted } from "../counted.ts";
import { compilePattern } from "../pattern/re2.ts";
import type { Proof } from "./gate-file.ts";
import { type ProofOutcome, proofOutcome } from "./judge-proof.ts";
import { readTestReport, type TestCase } from "./test-report.ts";

export type BunTestProof = Extract<Proof, { kind: "bun_test" }>;

/** Names that nobody could know before the run. */
export type Marks = {
  /** A module that each test file imports first, before any changed code is evaluated. */
  readonly guard: string;
  readonly canary: { readonly file: string; readonly test: string };
  /** One for each of the proof's files, in their order. */
  readonly sentinels: readonly Sentinel[];
};

export type Sentinel = { readonly file: string; readonly pass: string; readonly fail: string };

/**
 * Makes the marks of one run.
 *
 * @param random gives another text of letters and digits at each call
 */
export function mintMarks(files: readonly string[], random: () => string): Marks {
  return {
    guard: `writ-guard-${random()}.ts`,
    canary: { file: `writ-canary-${random()}.test.ts`, test: `canary ${random()}` },
    sentinels: files.map((file) => ({ file, pass: `sentinel ${random()}`, fail: `sentinel ${random()}` })),
  };
}

/**
 * The text of the guard: from its evaluation on, the matchers are what they are. Code that wants to replace them, be it for
 * one moment of one test, gets an error.
 *
 * @param ownMatchers a judge's file adds matchers of its own: then adding is left possible, and changing is not
 */
export function guardText(ownMatchers: boolean): string {
  const refuse = '() => { throw new Error("the matchers of a proof are not replaced"); }';
  const extend = `Object.defineProperty(expect, "extend", { value: ${refuse}, writable: false, configurable: false });`;
  return [
    'import { expect } from "bun:test";',
    ...(ownMatchers ? [] : [extend, "Object.freeze(Object.getPrototypeOf(expect(0)));", "Object.freeze(expect);"]),
    "",
  ].join("\n");
}

/** The text of the canary file. */
export function canaryText({ canary }: Marks): string {
  return `import { expect, test } from "bun:test";\ntest(${JSON.stringify(canary.test)}, () => { expect(1).toBe(1); });\n`;
}

/**
 * A test file with its sentinel behind it. The imports have names of their own, so that the file cannot shadow them.
 *
 * @param random as for `mintMarks`
 */
export function withSentinel(text: string, { guard }: Marks, sentinel: Sentinel, random: () => string): string {
  const [test, expect] = [`test_${random()}`, `expect_${random()}`];
  const [one, other] = [JSON.stringify(random()), JSON.stringify(random())];
  const lines = [
    "",
    `;import { test as ${test}, expect as ${expect} } from "bun:test";`,
    `${test}(${JSON.stringify(sentinel.pass)}, () => { ${expect}(${one}).toBe(${one}); });`,
    `${test}(${JSON.stringify(sentinel.fail)}, () => { ${expect}(${one}).toBe(${other}); });`,
    "",
  ];
  const up = "../".repeat(sentinel.file.split("/").length - 1);
  return `import "./${up}${guard}"; ${text}${lines.join("\n")}`;
}

/** The arguments behind the executable. `config` is an empty file and `report` a path that is not there yet. */
export function bunTestArguments(
  proof: Pick<BunTestProof, "files">,
  marks: Marks,
  { config, report }: { readonly config: string; readonly report: string },
): readonly string[] {
  return [
    `--config=${config}`,
    "--no-env-file",
    "--no-install",
    "test",
    "--parallel=2",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...[...proof.files, marks.canary.file].map((file) => `./${file}`),
  ];
}

/** What a run left. */
export type BunTestRun = {
  /** Null when it was killed by a signal. */
  readonly exit_code: number | null;
  readonly ended_by: "itself" | "time" | "caller";
  /** The text of the report; null when there is none. */
  readonly report: string | null;
};

/**
 * The verdict on a run.
 *
 * Errors: none
 */
export function judgeBunTest(proof: BunTestProof, marks: Marks, run: BunTestRun): ProofOutcome {
  const why = faultOf(proof, marks, run);
  if (why !== null) return proofOutcome("FAIL", why);
  const passed = `${counted(proof.pass.length, "named test")} passed`;
  const failed = (proof.fail ?? []).map(({ test }) => test).join(", ");
  const detail = proof.expect === "pass" ? passed : `${failed} failed with the pinned text, ${passed}`;
  return proofOutcome("PASS", detail);
}

function faultOf(proof: BunTestProof, marks: Marks, run: BunTestRun): string | null {
  if (run.ended_by === "time") return `the test run did not end within ${proof.timeout_sec} s`;
  if (run.ended_by === "caller") return "the test run was stopped";
  // One sentinel of each file fails: an honest run ends in 1.
  if (run.exit_code !== 1) return `the test run ended early (status ${run.exit_code ?? "of a signal"})`;
  if (run.report === null) return "the test run wrote no report";
  const read = readTestReport(run.report);
  if (!read.ok) return `the report of the test run cannot be used: ${read.reason}`;
  return markFault(marks, read.cases) ?? testFault(proof, marks, read.cases);
}

/** What the canary and the sentinels tell of the run itself. */
function markFault({ canary, sentinels }: Marks, cases: readonly TestCase[]): string | null {
  const outcome = (file: string, name: string) => {
    const found = cases.filter((each) => isFile(each.file, file) && each.name === name);
    return found.length === 1 ? found[0]?.outcome : undefined;
  };
  if (outcome(canary.file, canary.test) !== "passed") return "the canary did not pass: the runner was tampered with";
  for (const { file, pass, fail } of sentinels) {
    if (!cases.some((each) => isFile(each.file, file))) return `the report has nothing of ${file}`;
    if (outcome(file, pass) !== "passed" || outcome(file, fail) !== "failed") {
      return `the sentinel in ${file} did not end as it must: what judges the tests was replaced, or the file did not run to its end`;
    }
  }
  return null;
}

function testFault(proof: BunTestProof, { canary, sentinels }: Marks, cases: readonly TestCase[]): string | null {
  const marks = new Set([canary.test, ...sentinels.flatMap(({ pass, fail }) => [pass, fail])]);
  const tests = cases.filter(({ name }) => !marks.has(name));
  const seen = new Set<string>();
  for (const { file, name } of tests) {
    const key = `${file}\0${name}`;
    if (seen.has(key)) return `"${name}" is there twice in ${file}: which of the two ran is not known`;
    seen.add(key);
  }
  const skipped = tests.find(({ outcome }) => outcome === "skipped");
  if (skipped !== undefined) return `"${skipped.name}" was skipped`;
  for (const name of proof.pass) {
    const found = tests.filter((each) => each.name === name);
    if (found.length === 0) return `there is no test "${name}"`;
    const red = found.find(({ outcome }) => outcome !== "passed");
    if (red !== undefined) return `"${name}" failed: ${clip(red.message)}`;
  }
  const due = proof.fail ?? [];
  for (const { test, match } of due) {
    const found = tests.filter((each) => each.name === test);
    if (found.length === 0) return `there is no test "${test}"`;
    if (found.some(({ outcome }) => outcome !== "failed")) return `"${test}" passed, and it must fail`;
    if (match !== undefined && !found.every(({ message }) => matches(match, message))) {
      return `"${test}" failed for another reason than /${match}/: ${clip(found[0]?.message ?? "")}`;
    }
  }
  const other = tests.find(({ name, outcome }) => outcome === "failed" && !due.some(({ test }) => test === name));
  return other === undefined ? null : `"${other.name}" failed: ${clip(other.message)}`;
}

/** The runner names files from its folder, with or without `./`. */
function isFile(reported: string, file: string): boolean {
  return reported === file || reported === `./${file}`;
}

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  return compiled.ok && compiled.pattern.test(text);
}

function clip(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
