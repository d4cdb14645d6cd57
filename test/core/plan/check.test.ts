import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { PlanFiles } from "../../../src/core/plan/check/context.ts";
import { checkPlan } from "../../../src/core/plan/check.ts";
import { CHECKS, FINDINGS_LISTED, LISTED_CHARACTERS } from "../../../src/core/plan/finding.ts";

const FOLDER = join(import.meta.dir, "..", "..", "..", "fixtures", "plan", "passing");
const SPEC = readFileSync(join(FOLDER, "spec.md"), "utf8");
const PLAN = readFileSync(join(FOLDER, "plan.md"), "utf8");
const EXISTING = new Set(["src/cli.ts", "test/cli.test.ts", "README.md", "CHANGELOG.md"]);
const FILES: PlanFiles = {
  exists: (path) => EXISTING.has(path),
  expand: (pattern) => (pattern.includes("[") ? { ok: false, error: "no class" } : { ok: true, paths: [] }),
};

function check(plan: string, files: PlanFiles = FILES) {
  return checkPlan(plan, SPEC, files).findings;
}

/** check class, task, line, as the table of the specification gives them. */
function told(plan: string, files?: PlanFiles): readonly string[] {
  return check(plan, files).map(({ check, class: name, task, line }) => `${check} ${name} ${task ?? "-"} ${line}`);
}

function withLine(line: number, text: string | null, plan = PLAN): string {
  return plan
    .split("\n")
    .flatMap((old, index) => (index + 1 !== line ? [old] : text === null ? [] : [text]))
    .join("\n");
}

test("the worked example passes", () => {
  expect(check(PLAN)).toEqual([]);
});

test.each([
  {
    change: "nothing but a heading",
    plan: "# nothing\n",
    findings: [
      "input no-waves - 0",
      "input no-tasks - 0",
      "table-closure no-table - 0",
      "header-entrypoint header-missing - 0",
    ],
  },
  {
    change: "a placeholder",
    plan: withLine(50, "  TODO wire `greet --cached` to the cache."),
    findings: ["placeholder-scan banned-token 2 50"],
  },
  {
    change: "the full suite in prose",
    plan: withLine(50, "  Wire `greet --cached`, then run `npm run verify`."),
    findings: ["header-entrypoint prose-entrypoint 2 50"],
  },
  {
    change: "the full suite as a run line",
    plan: withLine(50, "  Wire `greet --cached` to the cache.\n\n  Run: `npm run verify`"),
    findings: ["header-entrypoint run-segment 2 52"],
  },
  {
    change: "no verification line",
    plan: withLine(7, null),
    findings: ["quote-integrity verification-literal-missing - 82", "header-entrypoint header-missing - 0"],
  },
  {
    change: "a malformed happy path",
    plan: withLine(8, "**Happy path:** script/e2e-greet"),
    findings: ["header-happy-path line-malformed - 8"],
  },
  {
    change: "a waived literal",
    plan: withLine(84, '| § "Out of scope" L31 | `persist()` stays out | waived: out of scope per spec |'),
    findings: ["waiver-literal waived-literal - 84"],
  },
  {
    change: "one file in two tasks",
    plan: withLine(41, "- Modify: `src/cli.ts:1-40`\n- Create: `src/cache.ts`"),
    findings: ["wave-file-disjointness overlap - 16"],
  },
  {
    change: "another range",
    plan: PLAN.replace('"Command" L19-L19\n', '"Command" L21-L21\n'),
    findings: ["table-closure anchor-not-in-task 2 82", "anchor-resolution range-outside-section 2 38"],
  },
  {
    change: "a literal that is gone",
    plan: withLine(50, "  Wire the flag to the cache."),
    findings: ["quote-integrity task-literal-missing 2 82"],
  },
  {
    change: "a coverage row that is gone",
    plan: withLine(82, null),
    findings: ["table-closure task-uncovered 2 36"],
  },
  {
    change: "a path that is not there",
    plan: withLine(41, "- Modify: `src/main.ts:1-40`"),
    findings: ["paths-exist modify-missing 2 41"],
  },
  {
    change: "a bare test command",
    plan: withLine(45, "- `node --test`"),
    findings: ["tests-block segment-unanchored 2 45"],
  },
  { change: "no baseline", plan: withLine(46, null), findings: ["baseline-line baseline-missing 2 44"] },
  {
    change: "an open question",
    plan: withLine(14, "- Which eviction order applies at 64 entries?"),
    findings: ["open-questions contract-question - 14"],
  },
])("plan check tells of $change", ({ plan, findings }) => {
  // The table of the specification counts the lines of coverage from a plan with one more line.
  expect(told(plan)).toEqual(findings);
});

test.each([
  {
    rule: "a task without anchor needs a mechanical row",
    plan: withLine(86, '| § "Cache" L15-L15 | changelog entry | Task 4 |'),
    findings: [
      "table-closure anchor-not-in-task 4 86",
      "table-closure task-no-anchor 4 68",
      "quote-integrity task-literal-missing 4 86",
      "quote-integrity task-literal-missing 4 86",
    ],
  },
  {
    rule: "a shell inside of a command ends its test",
    plan: withLine(45, "- `cd test && node --test *`"),
    findings: ["tests-block shell-unsupported 2 45"],
  },
  {
    rule: "the happy path belongs to verify",
    plan: withLine(45, "- `node --test test/cli.test.ts && script/e2e-greet`"),
    findings: ["tests-block segment-unanchored 2 45", "tests-block full-suite-command 2 45"],
  },
  {
    rule: "a glob that cannot be read",
    plan: withLine(41, "- Modify: `src/[cli.ts`"),
    findings: [
      "paths-exist glob-invalid 2 41",
      "wave-file-disjointness glob-invalid - 16",
      "wave-file-disjointness glob-invalid - 16",
      "wave-file-disjointness glob-invalid - 16",
    ],
  },
  {
    rule: "a failing baseline is reported",
    plan: withLine(46, "- baseline: fail 1 @ 0123456789abcdef0123456789abcdef01234567"),
    findings: ["baseline-line baseline-unreported 2 46"],
  },
  {
    rule: "a heading that the spec has twice",
    plan: PLAN.replaceAll('§ "Command" L19-L19', '§ "Twice" L19-L19'),
    findings: ["anchor-resolution heading-missing 2 38"],
  },
])("plan check: $rule", ({ plan, findings }) => {
  expect(told(plan)).toEqual(findings);
});

test("a reason is one line, also where a literal of the spec is not", () => {
  const spec = SPEC.replace("`npm run verify`", "`npm run\nverify`");
  const cited = PLAN.replace("L27 | whole suite passes", "L27-L28 | whole suite passes");
  const [found] = checkPlan(cited, spec, FILES).findings.filter(({ about }) => about === "npm run\nverify");
  expect(found?.reason).toBe("verification header does not contain the required verbatim literal `npm run\\nverify`");
});

test("two headings of one title are ambiguous", () => {
  const spec = `${SPEC}\n## Command\n`;
  const found = checkPlan(PLAN, spec, FILES).findings;
  expect(found.map(({ reason }) => reason)).toEqual(['ambiguous spec heading "Command" matches 2 headings']);
});

test("globs overlap with what they match, and two with what both match; tests may share a file", () => {
  const files: PlanFiles = {
    exists: () => true,
    expand: (pattern) => ({ ok: true, paths: pattern === "src/*.ts" ? ["src/cli.ts", "src/x.ts"] : ["src/x.ts"] }),
  };
  const plan = withLine(41, "- Modify: `src/*.ts`", withLine(23, "- Create: `src/{x,y}.ts`"));
  expect(check(plan, files).map(({ reason }) => reason)).toEqual([
    'Task 1 and Task 2 in Wave 1 both declare "src/{x,y}.ts" / "src/*.ts"',
  ]);
  const shared = withLine(42, "- Test: `test/cache.test.ts`", withLine(45, "- `node --test test/cache.test.ts`"));
  expect(check(shared, files).map(({ reason }) => reason)).toEqual([
    'Task 1 and Task 2 in Wave 1 both declare "test/cache.test.ts" / "test/cache.test.ts"',
  ]);
});

test("a finding says where, what was expected, and what to do", () => {
  expect(check(withLine(41, "- Modify: `src/main.ts:1-40`"))).toEqual([
    {
      check: "paths-exist",
      class: "modify-missing",
      reason: 'Modify: path "src/main.ts" does not exist',
      task: 2,
      line: 41,
      column: 12,
      about: "src/main.ts",
      evidence: "- Modify: `src/main.ts:1-40`",
      expected: "a path that exists",
      hint: "Mend the path, or make it a Create: line",
    },
  ]);
  const columns = (plan: string) => check(plan).map(({ line, column }) => `${line}:${column}`);
  expect(columns(withLine(50, "  Wire `greet --cached`; TODO etc."))).toEqual(["50:26", "50:31"]);
  expect(columns(PLAN.replace('"Command" L19-L19\n', '"Command" L21-L21\n'))).toEqual(["82:3", "38:50"]);
  expect(columns(withLine(45, "- `node --test`"))).toEqual(["45:4"]);
  expect(columns("# nothing\n").every((place) => place === "0:0")).toBe(true);
});

test("every class has an expectation and a hint", () => {
  const texts = Object.values(CHECKS).flatMap((classes) => Object.values(classes).flat());
  expect(texts.every((text) => text !== "")).toBe(true);
  expect(texts.length).toBeGreaterThan(100);
});

test("an exception inside the checks is one finding", () => {
  const files: PlanFiles = {
    ...FILES,
    exists: () => {
      throw new Error("disk gone\nat x");
    },
  };
  const report = checkPlan(PLAN, SPEC, files);
  expect(report.findings.map(({ check, reason }) => `${check}: ${reason}`)).toEqual(["internal: disk gone"]);
});

const anyLine = fc.oneof(
  fc.constantFrom(...PLAN.split("\n")),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom("```", "---", "**Tests:**", "- none: x", "| a | b | c |", '**Spec:** § "Cache" L1-L9', "Run: x"),
);

test("plan check returns on any plan and any spec, without an internal finding", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 60 }), fc.array(anyLine, { maxLength: 30 }), (plan, spec) => {
      const { findings } = checkPlan(plan.join("\n"), spec.join("\n"), FILES);
      expect(findings.filter(({ check }) => check === "internal")).toEqual([]);
      for (const { line, evidence } of findings)
        expect(evidence).toBe(line === 0 ? "" : (plan.join("\n").split("\n")[line - 1] ?? ""));
    }),
  );
});

/** Each would keep a check busy for minutes if it compared all with all. */
const TASK = (n: number) => `### Task ${n}: t\n\n**Files:**\n- Modify: src/cli.ts\n\n**Tests:**\n- none: docs\n`;
const HEAD = "# P\n\n**Verification:** `npm run verify`\n\n---\n\n## Wave 1 — w\n\n";
const COVERAGE = "\n## Spec coverage\n\n| a | r | o |\n|---|---|---|\n";
const LITERALS = Array.from({ length: 4_000 }, (_, n) => `\`${"a".repeat(n % 300)}${n}\``).join("\n");

test.each([
  { what: "one file in every task", plan: HEAD + Array.from({ length: 1_000 }, (_, n) => TASK(n)).join("\n") },
  { what: "many waves of one number", plan: HEAD + `## Wave 1 — w\n${TASK(1)}`.repeat(100) },
  {
    what: "many waves of one number, and as many tasks of it",
    plan: HEAD + "## Wave 1 — w\n".repeat(8_000) + "### Task 1: t\n".repeat(8_000),
  },
  { what: "many headings", plan: `${HEAD}${"## Wave 1 — w\n".repeat(50_000)}` },
  {
    what: "many rows that cite the whole spec",
    plan: `${HEAD}${TASK(1)}${COVERAGE}${'| § "S" L1-L4000 | r | Task 1 |\n'.repeat(3_000)}`,
  },
  {
    what: "rows that cite ever other parts of the spec",
    plan: `${HEAD}${TASK(1)}${COVERAGE}${Array.from({ length: 3_900 }, (_, n) => `| § "S" L${n + 1}-L4000 | r | Task 1 |`).join("\n")}`,
  },
  { what: "a line of placeholders", plan: `${HEAD}${TASK(1)}\n${"TODO".repeat(50_000)}` },
  { what: "a command of many tokens", plan: `${HEAD}${TASK(1).replace("none: docs", `\`${"a* ".repeat(50_000)}x\``)}` },
  { what: "a token of colons", plan: `${HEAD}${TASK(1).replace("none: docs", `\`${":".repeat(200_000)}\``)}` },
  {
    what: "a run of blanks",
    plan: `${HEAD}${TASK(1)}**Happy path:** ${" - ".repeat(50_000)}\nRun:${" ".repeat(100_000)}x`,
  },
  {
    what: "unclosed quotes",
    plan: `${HEAD}**Spec:** ${'§ "'.repeat(50_000)}\n${TASK(1)}**Spec:** ${'§ "x'.repeat(50_000)}`,
  },
  { what: "backticks", plan: `${HEAD}${"`".repeat(200_000)}\n${"`a".repeat(100_001)}` },
  {
    what: "angle brackets",
    plan: `${HEAD}${TASK(1)}${COVERAGE}| § "S" L1 | r | Task 1 |`,
    spec: `\`${"<".repeat(200_000)}\``,
  },
  { what: "a table row of many cells", plan: `${HEAD}${COVERAGE}${"|".repeat(200_000)}` },
])("plan check comes to an end with $what", ({ plan, spec = `# S\n${LITERALS}` }) => {
  const { findings, count } = checkPlan(plan, spec, FILES);
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.length).toBeLessThanOrEqual(FINDINGS_LISTED);
  expect(count).toBeGreaterThanOrEqual(findings.length);
  const told = findings.reduce((sum, { reason, evidence }) => sum + reason.length + evidence.length, 0);
  expect(told).toBeLessThanOrEqual(2 * LISTED_CHARACTERS);
});
