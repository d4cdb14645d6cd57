/** Handoff briefs, plans, specs and ledgers, and what else the tracker reads. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTaskList } from "../../../src/cli/plan/answer.ts";
import { frontMatterName } from "../../../src/core/brief/front-matter.ts";
import { gatherText, unfaithful } from "../../../src/core/brief/human-text.ts";
import { briefIssueText } from "../../../src/core/brief/issue.ts";
import {
  homeTuple,
  membershipFault,
  readHomeTuple,
  readReceipt,
  readSpecLegs,
  resolveHome,
} from "../../../src/core/brief/leg-files.ts";
import {
  firstStop,
  isBrief,
  parseBrief,
  parseParts,
  processSection,
  stopDetails,
} from "../../../src/core/brief/parse.ts";
import { processState, renderBrief, taskSubject } from "../../../src/core/brief/render.ts";
import { planRestore, shipRetryCalls } from "../../../src/core/brief/restore.ts";
import { readReworkRecord } from "../../../src/core/brief/rework-record.ts";
import { isDraft, readSpecHeader } from "../../../src/core/brief/spec-header.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { checkAllowance, checkLedger } from "../../../src/core/ledger/check.ts";
import { isLedger, parseLedger } from "../../../src/core/ledger/ledger-file.ts";
import { refreshTasks } from "../../../src/core/ledger/refresh.ts";
import { isCanonicalRow, restoreRowName } from "../../../src/core/ledger/row-name.ts";
import { checkPlan } from "../../../src/core/plan/check.ts";
import { parsePlan } from "../../../src/core/plan/plan-file.ts";
import { repairPlan } from "../../../src/core/plan/repair.ts";
import { parseSpec } from "../../../src/core/plan/spec-file.ts";
import { PHASE_NAMES } from "../../../src/core/tracker/phase.ts";
import { fileAt, filesBelow, short, textsAt, vectors } from "../corpus.ts";
import { ownFolder } from "../folder.ts";
import { hold, reading, refusal, same } from "../target.ts";

const BRIEF_WORDS = ["# Handoff: ", "## Intent\n", "## Repo state\n", "## Decisions\n", "## Process state\n", "toplevel: /w\n", "worktree: yes /w\n", "dirty: clean\n", "Phases:\n", "  → implement\n", "  ✓ plan\n", "  ⊘ verify (r)\n", "  ○ ship\n", "Ledger: docs/ledger.md\n", "PR: a/b#1\n", "Pre-rework head: ", "legs:\n", "- repo: a\n", "  worktree: /w\n", "Gate history not restored - re-validate before advancing.\n", "0123456789abcdef0123456789abcdef01234567", "Active task: ", "## Skills loaded: none\n", "```\n"]; // biome-ignore format: a list

export const brief = reading({
  name: "brief",
  parts: ["brief", "spec", "plan"],
  corpus: () => {
    const restores = vectors<{ readonly text: string; readonly spec: string; readonly plan: string }>("brief-restore");
    return [
      ...restores.map(({ text, spec, plan: path }) => [text, spec ?? "", path ?? ""]),
      ...short(textsAt(vectors("brief-parse"), "text")).map((text) => [text, "doc/specs/a.md", "doc/plans/a.md"]),
    ];
  },
  words: BRIEF_WORDS,
  read: ({ text }, { text: spec }, { text: path }) => {
    isBrief(text);
    processSection(text);
    parseParts(text);
    const { brief: read, issues } = parseBrief(text);
    const lines = text.split("\n").length;
    same("there is a brief where there is no stop", read === null, firstStop(issues) !== null);
    for (const issue of issues) {
      hold("an issue stands on a line of the text", issue.line >= 0 && issue.line <= lines, issue, lines);
      hold("an issue has a sentence", briefIssueText(issue.code).length > 0, issue);
    }
    const stop = firstStop(issues);
    if (stop !== null)
      hold(
        "a stop is told by its lines",
        stopDetails(text, stop).every((detail) => /^line \d+: /.test(detail)),
        stop,
      );
    if (read === null) return;
    const written = renderBrief(read);
    const again = parseBrief(written);
    if (again.brief !== null) same("what was written again is written the same", renderBrief(again.brief), written);
    if (again.brief !== null && !issues.some(({ code }) => code === "plan-counts" || code === "task-index"))
      same("what was written again reads as the same", again.brief, read);
    if (read.process === null) return;
    const input = { process: read.process, brief: "brief.md", spec, plan: path };
    planRestore(input as Parameters<typeof planRestore>[0]);
    shipRetryCalls(input as Parameters<typeof planRestore>[0]);
  },
});

const PLAN_WORDS = ["## Wave 1 — a\n", "### Task 1: a\n", "- Modify: `src/a.ts`\n", "- Create: `src/b.ts`\n", "- Test: `test/a.test.ts`\n", "**Spec:** `doc/specs/a.md`\n", "**Goal:** x\n", "| § | quote | task |\n| - | - | - |\n", "§ \"x\" L1-L9", "Depends on: Task 1\n", "## Open questions\n", "Baseline: ", "TODO", "TBD", "src/**/*.ts", "{a,b}", "`", "```\n", "Run: `bun test`\n", "Expected: FAIL\n", "L10-L2", "Task 999999999999999999999", "# Ledger - loop engine\n"]; // biome-ignore format: a list

type PlanCase = { readonly spec: string; readonly plan: string; readonly exists: readonly string[] };

const planCases = () => vectors<PlanCase>("brief-plan-check", "brief-repair");

export const plan = reading({
  name: "plan",
  parts: ["plan", "spec"],
  corpus: () => [
    ...planCases().map(({ plan: text, spec }) => [text, spec]),
    [fileAt("fixtures/plan/passing/plan.md"), fileAt("fixtures/plan/passing/spec.md")],
  ],
  words: PLAN_WORDS,
  read: ({ text }, { text: spec }) => {
    const files = {
      exists: (path: string) => path.length % 2 === 0,
      expand: () => ({ ok: true, paths: ["src/a.ts"] }) as const,
    };
    parsePlan(text);
    const found = checkPlan(text, spec, files);
    const lines = Math.max(text.split("\n").length, spec.split("\n").length);
    for (const { line, reason, check } of found.findings) {
      hold("no check throws", check !== "internal" || /more comparisons/.test(reason), reason);
      hold(
        "a finding stands on a line, and is one",
        line >= 0 && line <= lines + 1 && !/[\r\n]/.test(reason),
        line,
        lines,
        reason,
      );
    }
    const repaired = repairPlan({
      plan: text,
      spec: parseSpec(spec),
      tasks: [{ name: "W1: a", status: "complete" }],
      evidence: {
        exists: files.exists,
        wasDeleted: (path) => path.length % 3 === 0,
        renamedTo: (path) => (path.length % 5 === 0 ? "src/moved.ts" : null),
      },
      check: (changed) => checkPlan(changed, spec, files),
    });
    if (!repaired.ok) return;
    same(
      "a plan that was repaired passes",
      checkPlan(repaired.plan, spec, files).findings.filter(
        ({ check }) => check !== "baseline-line" && check !== "open-questions",
      ),
      [],
    );
  },
});

const LEDGER = `# Ledger - loop engine

**Spec:** \`doc/specs/x.md\`
**Allowance:** 3

## Rows

| row | status | tries | requirement |
|---|---|---|---|
| row 1 | complete | 1 | parse |
| row 2 (red) | in_progress | 2 | print |
| row 3 | pending | 0 |  |

## Decisions

- row 1 accepted
- row 2 split | again

Pending: a question
`;

export const ledger = reading({
  name: "ledger",
  parts: ["ledger", "row name"],
  corpus: () => {
    const names = vectors<{ readonly name?: string }>("brief-ledger").flatMap(({ name }) =>
      name === undefined ? [] : [name],
    );
    return names.map((name, at) => [at % 2 === 0 ? LEDGER : LEDGER.replaceAll("\n", "\r\n"), name]);
  },
  words: [
    "# Ledger - loop engine\n",
    "**Spec:** ",
    "**Allowance:** 9\n",
    "## Decisions\n",
    "- ",
    "Pending: x\n",
    "R1",
    "| row 1 | complete | 3 | x |\n",
    "| row 9 | pending | 0 | a\\|b |\n",
    "## Rows\n",
    "(red)",
    "```\n",
  ],
  read: ({ text }, { text: name }) => {
    isLedger(text);
    const read = parseLedger(text);
    const lines = read.lines.length;
    for (const report of [
      checkLedger(read, null),
      checkLedger(read, { path: "a", isReadable: false }),
      checkAllowance(read),
    ])
      for (const { line } of report.findings)
        hold("a finding stands on a line", line >= 0 && line <= lines + 1, line, lines);
    refreshTasks([{ name, status: "pending" }], read);
    isCanonicalRow(name);
    const restored = restoreRowName(name);
    same("a name that was restored stays", restoreRowName(restored), restored);
  },
});

export const markdown = reading({
  name: "spec-and-skill",
  parts: ["page"],
  corpus: () => [
    "---\nname: handoff\ndescription: >\n  Hands off\n---\n# Handoff\n",
    "---\r\nname: 'a b'\r\nmetadata: {x: [1, 2], y: &a b, z: *a}\r\n---\r\n",
    "# T\n\n**Goal:** x\n**Deferred:** none\n**Grant:** none\n\n## Rework record\nPR: a/b#1\nPre-rework head: 0123456789abcdef0123456789abcdef01234567\nRework base: 0123456789abcdef0123456789abcdef01234567\n### x\n",
    fileAt("fixtures/plan/passing/spec.md"),
    ...filesBelow("docs", ".md").map((text) => text.slice(0, 6000)),
  ],
  words: ["---\n", "name: ", "name: |\n  a\n", "!!binary ", "&a ", "*a", "<<: *a\n", "? ", "- ", "{", "[", "%YAML 1.2\n", "name: [a\n", "\"\\u0041\"", "**Grant:** x\n", "**Deferred:** y\n", "# CONTEXT DRAFT - NOT A SPEC - fully replaced at spec-writing\n", "## Rework record\n", "PR: ", "```\n"], // biome-ignore format: a list
  read: ({ text }) => {
    const name = frontMatterName(text);
    hold("a name is one line of text", name === null || (name.length > 0 && !/[\r\n]/.test(name)), name);
    isDraft(text);
    readSpecHeader(text);
    readReworkRecord(text);
    const gathered = gatherText(text, { title: null, intent: null, decisions: [], questions: [], skills: [] });
    if (gathered !== null) unfaithful(gathered.text);
  },
});

export const legs = reading({
  name: "leg-files",
  parts: ["spec or leg file", "receipt"],
  corpus: () => [
    ["# S\n\n**Home:** repo-a | feature/x | doc/specs/x.md\n\n## Legs\n### Leg: repo-a\nbranch: feature/x\nhome: doc/specs/<NAME>.md\n### Leg: repo-b\nbranch: feature/y\n## Next\n", '{"repo":"repo-b","branch":"feature/y","head":"0123456789abcdef0123456789abcdef01234567","pr":7,"repository":"acme/b"}'],
    [fileAt("fixtures/plan/passing/spec.md"), "{}"],
  ], // biome-ignore format: a list
  words: [
    "## Legs\n",
    "### Leg: a\n",
    "branch: ",
    "home: ",
    "**Home:** ",
    " | ",
    "<NAME>",
    "```\n",
    '"pr":',
    "repo",
    "head",
    "repository",
  ],
  read: ({ text }, { text: receipt }) => {
    const found = readSpecLegs(text);
    for (const { branch, home } of found)
      if (branch !== null && home !== null) {
        const { path, name } = resolveHome(home, branch);
        hold("a branch is one name in a path", !name.includes("/") && (home.includes("<NAME>") || path === home), path);
      }
    const repos = found.map(({ repo }) => repo);
    same("the members of a spec are its own", membershipFault(repos, repos), null);
    const tuple = readHomeTuple(text);
    if (tuple !== null) same("a tuple reads as itself", homeTuple(tuple.split("|")), tuple);
    const parsed = parseJson(receipt);
    const read = parsed.ok ? readReceipt(parsed.value) : null;
    if (read !== null) same("a receipt reads as itself", readReceipt({ ...read }), read);
  },
});

const NO_REPOSITORY = { kind: "not-a-git-repo", reason: null, fields: null } as const;

export const tasks = reading({
  name: "task-list",
  parts: ["file"],
  corpus: () => ['["W1: contract",{"name":"W2: producer","status":"complete"}]', '[{"name":"a"}]', "[]"],
  words: [
    "name",
    "status",
    "pending",
    "in_progress",
    "complete",
    "skipped",
    "blocked",
    "[0] ",
    "\u2192 ",
    "(1 pending)",
  ],
  read: async ({ bytes }) => {
    const path = join(ownFolder(), "tasks.json");
    writeFileSync(path, bytes);
    const list = await readTaskList(path).catch(refusal);
    if (list === null || list.length === 0) return;
    const phases = PHASE_NAMES.map(
      (name) => ({ name, status: name === "implement" ? "in_progress" : "pending" }) as const,
    );
    const state = processState(
      { phases, tasks: list },
      { subject: taskSubject(list), prs: [], rework_base: null, legs: [] },
    );
    const written = renderBrief({
      title: "t",
      intent: "i",
      repo_state: NO_REPOSITORY,
      decisions: [],
      open_questions: [],
      skills: [],
      process: state,
    });
    const { brief: read } = parseBrief(written);
    same(
      "a brief gives the tasks back",
      read?.process?.plan?.tasks.map(({ name, status }) => ({ name, status })),
      list.map(({ name, status }) => ({ name, status })),
    );
  },
});
