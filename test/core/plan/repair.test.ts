import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { PlanFiles } from "../../../src/core/plan/check/context.ts";
import { checkPlan } from "../../../src/core/plan/check.ts";
import { findingOf } from "../../../src/core/plan/finding.ts";
import { parsePlan } from "../../../src/core/plan/plan-file.ts";
import {
  continuationLines,
  type Repair,
  type RepairEvidence,
  repairFindingText,
  repairPlan,
  statusOf,
} from "../../../src/core/plan/repair.ts";
import { parseSpec } from "../../../src/core/plan/spec-file.ts";
import { tasksOf } from "../../support/flow.ts";

const FOLDER = join(import.meta.dir, "..", "..", "..", "fixtures", "plan", "passing");
const SPEC = readFileSync(join(FOLDER, "spec.md"), "utf8");
const PLAN = readFileSync(join(FOLDER, "plan.md"), "utf8");
const DONE = tasksOf("W1: Bounded greeting cache=complete", "W1: Cached flag=complete");

/** A checkout in which test/cli.test.ts became test/flag.test.ts, and src/main.ts was deleted. */
const EXISTING = new Set(["src/cli.ts", "test/flag.test.ts", "README.md", "CHANGELOG.md"]);
const FILES: PlanFiles = { exists: (path) => EXISTING.has(path), expand: () => ({ ok: true, paths: [] }) };
const EVIDENCE: RepairEvidence = {
  exists: FILES.exists,
  wasDeleted: (path) => path === "src/main.ts",
  renamedTo: (path) => (path === "test/cli.test.ts" ? "test/flag.test.ts" : null),
};

function repair(plan: string, more: Partial<Parameters<typeof repairPlan>[0]> = {}): Repair {
  const check = (text: string) => checkPlan(text, SPEC, FILES);
  return repairPlan({ plan, spec: parseSpec(SPEC), tasks: DONE, evidence: EVIDENCE, check, ...more });
}

function repaired(plan: string) {
  const found = repair(plan);
  if (!found.ok) throw new Error(`${found.kind}: ${found.stop}`);
  return found;
}

test("a renamed test file takes its new name where it stands by itself", () => {
  const command = "- `node --test test/cli.test.ts`";
  const plan = PLAN.replace(command, "- `node --test test/cli.test.ts::a test/cli.test.tsx-not ./test/cli.test.ts`");
  const found = repaired(plan);
  expect(found.plan).toContain("- Test: `test/flag.test.ts`");
  expect(found.plan).toContain("- `node --test test/flag.test.ts::a test/cli.test.tsx-not ./test/cli.test.ts`");
  expect(found.edits).toEqual([{ edit: "E6", task: 2, line: 42 }]);
});

const SOUND = repaired(PLAN).plan;

test("a plan that passes is left as it is, byte for byte", () => {
  expect(repair(SOUND)).toEqual({ ok: true, rounds: 0, repaired: 0, edits: [], plan: SOUND });
});

const DAMAGE: readonly { readonly name: string; readonly hurt: (plan: string) => string }[] = [
  { name: "a range of a task", hurt: (plan) => plan.replace('"Command" L19-L19\n', '"Command" L21-L21\n') },
  { name: "a range of a row", hurt: (plan) => plan.replace('| § "Command" L19-L19', '| § "Command" L17-L19') },
  { name: "a range without end", hurt: (plan) => plan.replace('"Edge cases" L23-L23\n', '"Edge cases" L99-L2\n') },
  { name: "a literal", hurt: (plan) => plan.replace(", return `Hello, stranger` for", " for") },
  { name: "two literals", hurt: (plan) => plan.replace("Export `getGreeting(name)`, keep `64` entries", "Export it") },
  {
    name: "the verification",
    hurt: (plan) => plan.replace("**Verification:** `npm run verify`", "**Verification:** make all"),
  },
  { name: "an old test path", hurt: (plan) => plan.replaceAll("test/flag.test.ts", "test/cli.test.ts") },
  {
    name: "a dead path",
    hurt: (plan) => plan.replace("- Modify: `src/cli.ts:1-40`", "- Modify: `src/main.ts`\n- Modify: src/cli.ts"),
  },
];

test.each(DAMAGE)("repair mends $name", ({ hurt }) => {
  const plan = hurt(SOUND);
  expect(plan).not.toBe(SOUND);
  const found = repaired(plan);
  expect(checkPlan(found.plan, SPEC, FILES).findings).toEqual([]);
  expect(found.repaired).toBeGreaterThan(0);
});

/** What repair never changes: tasks, waves, solo lines, requirements and owners. */
function skeleton(plan: string) {
  const { tasks, waves, coverage, text } = parsePlan(plan);
  return {
    tasks: tasks.map(({ number, title, wave }) => `${wave} ${number} ${title}`),
    waves: waves.map(({ number }) => number),
    solo: text.lines.filter((line) => line.startsWith("Solo:")),
    rows: coverage?.rows.map(({ requirement, owner }) => [requirement, owner]),
  };
}

test("whatever was damaged together, repair mends it within three rounds and touches nothing else", () => {
  fc.assert(
    fc.property(fc.subarray([...DAMAGE]), (chosen) => {
      const plan = chosen.reduce((text, { hurt }) => hurt(text), SOUND);
      const found = repaired(plan);
      expect(checkPlan(found.plan, SPEC, FILES).findings).toEqual([]);
      expect(found.rounds).toBeLessThanOrEqual(3);
      expect(skeleton(found.plan)).toEqual(skeleton(plan));
    }),
  );
});

test("literals are added once, behind the last line of the task, under one blank line", () => {
  const plan = repaired(DAMAGE[4]?.hurt(SOUND) ?? "").plan;
  expect(plan).toContain(
    "  Export it, return `Hello, stranger` for an empty name.\n\nSpec literal: `getGreeting(name)`\nSpec literal: `64`\n\n### Task 2",
  );
});

test("a verification without backticks gets them, and what is missing behind it", () => {
  expect(repaired(DAMAGE[5]?.hurt(SOUND) ?? "").plan).toContain("**Verification:** `make all`, `npm run verify`\n");
  expect(repaired(SOUND.replace("**Verification:** `npm run verify`", "**Verification:**")).plan).toContain(
    "**Verification:** `npm run verify`\n",
  );
});

test("a dead path of a task that is not done has no row", () => {
  const plan = DAMAGE[7]?.hurt(SOUND) ?? "";
  const found = repair(plan, { tasks: tasksOf("W1: Cached flag=in_progress") });
  if (found.ok) throw new Error("it was repaired");
  expect(found.kind).toBe("no-row");
  expect(found.stop).toBe(
    'Repair stopped: paths-exist - Modify: path "src/main.ts" does not exist is outside citation repair; the plan file is unchanged. Edit the plan (task changes allowed), then re-run /skill:gauntlet-resume.',
  );
  expect(found.findings.map(repairFindingText)).toEqual([
    'Task 2: paths-exist @ line 41: Modify: path "src/main.ts" does not exist',
  ]);
});

test("what three rounds did not mend has survived them", () => {
  const finding = findingOf("quote-integrity", "task-literal-missing", "still missing", {
    task: 2,
    line: 82,
    about: "x",
  });
  const found = repair(SOUND, { check: () => ({ findings: [finding], count: 1 }) });
  if (found.ok) throw new Error("it was repaired");
  expect(found).toMatchObject({ kind: "survived", rounds: 3 });
  expect(found.stop).toBe(
    "Repair stopped: quote-integrity - still missing survived 3 rounds. Edit the plan, then re-run /skill:gauntlet-resume.",
  );
});

test.each([
  {
    finding: findingOf("baseline-line", "baseline-missing", "r"),
    lines: ["Baseline: land the fix, then have the plan's author rerun the baseline (Findings: rerun baseline)."],
  },
  {
    finding: findingOf("open-questions", "baseline-task", "r"),
    lines: [
      "Baseline: land the fix, then have the plan's author rerun the baseline (Findings: rerun baseline).",
      "fix-first",
      "narrow",
      "amend",
      "Recommendation: fix-first",
    ],
  },
  {
    finding: findingOf("open-questions", "baseline-global", "r"),
    lines: [
      "Baseline: restore the worktree (commit, discard or move the named paths), then have the plan's author rerun the baseline.",
    ],
  },
  {
    finding: findingOf("open-questions", "contract-question", "r"),
    lines: ["Open questions: answer the rows, then have the plan's author resolve them."],
  },
])(
  "$finding.check/$finding.class is no citation: repair ends at once and says what is needed",
  ({ finding, lines }) => {
    const found = repair(SOUND, { check: () => ({ findings: [finding], count: 1 }) });
    expect(found).toMatchObject({ ok: false, kind: "continuation", rounds: 0, stop: null });
    expect(continuationLines([finding])).toEqual(lines);
  },
);

test.each([
  { list: "W1: t=complete, x: t=failed", status: "complete" },
  { list: "x: t=failed", status: "failed" },
  { list: "t=skipped", status: "skipped" },
  { list: "x: t=failed, t=skipped", status: "pending" },
  { list: "other=complete", status: "pending" },
])("statusOf() a task in $list is $status", ({ list, status }) => {
  const [task] = parsePlan("## Wave 1 - w\n### Task 1: t\n").tasks;
  if (task === undefined) throw new Error("no task");
  expect(statusOf(task, tasksOf(...list.split(", ")))).toBe(status as never);
});

test("repair returns on any plan, and a stop gives the findings of a plan that it did not change", () => {
  const anyLine = fc.constantFrom(
    ...SOUND.split("\n"),
    ...PLAN.split("\n"),
    "```",
    '| § "Command" L1-L2 | x | Task 2 |',
  );
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 90 }), (lines) => {
      const found = repair(lines.join("\n"));
      if (found.ok) expect(checkPlan(found.plan, SPEC, FILES).findings).toEqual([]);
      else expect(found.findings.length).toBeGreaterThan(0);
    }),
  );
});
