/** Flows, tasks and briefs for tests: by hand, and from generators. */
import fc from "fast-check";
import type { Brief, Leg, ProcessState, PullRequest, RepoState, Subject } from "../../src/core/brief/brief.ts";
import { processState, taskSubject } from "../../src/core/brief/render.ts";
import type { TrackerAnswer } from "../../src/core/tracker/answer.ts";
import { type Flow, INITIAL_FLOW } from "../../src/core/tracker/flow.ts";
import { PHASE_NAMES, type Phase } from "../../src/core/tracker/phase.ts";
import { movePhase, type PhaseCall, type PhaseFacts } from "../../src/core/tracker/phase-verbs.ts";
import { movePlan, type PlanCall } from "../../src/core/tracker/plan-verbs.ts";
import { DEFAULT_SETTINGS } from "../../src/core/tracker/settings.ts";
import { TASK_STATUSES, type Task } from "../../src/core/tracker/task.ts";

export const SHA = "0123456789abcdef0123456789abcdef01234567";
export const NO_FACTS: PhaseFacts = { settings: DEFAULT_SETTINGS, digestOf: () => null };

/** The flow after calls, each of which has to go through. */
export function flowAfter(calls: readonly (PhaseCall | PlanCall)[], facts: PhaseFacts = NO_FACTS): Flow {
  return calls.reduce((flow: Flow, call) => {
    const answer = answerTo(flow, call, facts);
    if (!answer.ok) throw new Error(answer.refusal.message);
    return answer.flow;
  }, INITIAL_FLOW);
}

export function answerTo(flow: Flow, call: PhaseCall | PlanCall, facts: PhaseFacts = NO_FACTS): TrackerAnswer {
  return isPlanCall(call) ? movePlan(flow, call) : movePhase(flow, call, facts);
}

function isPlanCall(call: PhaseCall | PlanCall): call is PlanCall {
  return call.action === "init" || call.action === "add" || call.action === "update" || call.action === "clear";
}

export function tasksOf(...words: readonly string[]): readonly Task[] {
  return words.map((word) => {
    const [name = "", status = "pending"] = word.split("=");
    return { name, status: status as Task["status"] };
  });
}

/** A line that a brief can hold: no break, no blank at its ends, never empty. */
export const aLine = fc
  .string({ unit: fc.constantFrom(..."abcXYZ019 .,:;()[]#|-_`é→✓\"'"), minLength: 1, maxLength: 24 })
  .map((text) => text.trim())
  .filter((text) => text !== "" && text !== "none" && !text.startsWith("```"));

const aSha = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 40, maxLength: 40 });
const aPath = fc
  .array(fc.constantFrom("w", "repo", "a b", "é", "x.md"), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join("/")}`);
const aName = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/);

/** A list in which every pending task trails. */
export const someTasks: fc.Arbitrary<readonly Task[]> = fc
  .array(fc.record({ name: aLine, status: fc.constantFrom(...TASK_STATUSES) }), { maxLength: 6 })
  .map((tasks) => [
    ...tasks.filter(({ status }) => status !== "pending"),
    ...tasks.filter(({ status }) => status === "pending"),
  ]);

/** All five phases, exactly one of them in progress. */
export const somePhases: fc.Arbitrary<readonly Phase[]> = fc
  .tuple(
    fc.nat(PHASE_NAMES.length - 1),
    fc.array(fc.constantFrom("pending", "complete", "skipped"), { minLength: 5, maxLength: 5 }),
    fc.option(aLine, { nil: undefined }),
    aLine,
  )
  .map(([active, statuses, substep, reason]) =>
    PHASE_NAMES.map((name, index): Phase => {
      if (index === active) return { name, status: "in_progress", ...(substep === undefined ? {} : { substep }) };
      const status = statuses[index] ?? "pending";
      return status === "skipped" ? { name, status, reason } : { name, status };
    }),
  );

const aPr: fc.Arbitrary<PullRequest> = fc.record({
  repo: fc.tuple(aName, aName).map((parts) => parts.join("/")),
  number: fc.integer({ min: 1, max: 99_999 }),
  pre_rework_head: aSha,
});

const aLeg: fc.Arbitrary<Leg> = fc
  .record({ repo: aName, path: fc.option(aPath), branch: aName, head: aSha, receipt: fc.option(aLine) })
  .map(({ path, ...leg }) => ({
    ...leg,
    worktree: path ?? "missing",
    dirty: path === null ? "unavailable" : " M a.ts; ?? b.ts",
  }));

export const aProcess: fc.Arbitrary<ProcessState> = fc
  .record({
    phases: somePhases,
    tasks: someTasks,
    ledger: fc.option(fc.record({ path: aLine, last_decision: fc.option(aLine) })),
    prs: fc.array(aPr, { maxLength: 3 }),
    base: fc.option(aSha),
    legs: fc.array(aLeg, { maxLength: 3 }),
  })
  .map(({ phases, tasks, ledger, prs, base, legs }) => {
    const subject: Subject = ledger === null ? taskSubject(tasks) : { kind: "ledger", ...ledger };
    const rework_base = prs.length === 0 ? null : base;
    const state = processState({ phases, tasks }, { subject, prs, rework_base, legs });
    if (state === null) throw new Error("a phase is in progress");
    return state;
  });

const aRepoState: fc.Arbitrary<RepoState> = fc.oneof(
  fc.constant<RepoState>({ kind: "not-a-git-repo", reason: null, fields: null }),
  fc
    .option(aLine.filter((text) => !text.includes(")")))
    .map((reason): RepoState => ({ kind: "unavailable", reason, fields: null })),
  fc
    .record({
      toplevel: fc.option(aPath),
      worktree: fc.option(
        fc.oneof(
          aPath.map((path) => ({ kind: "yes" as const, path })),
          fc.constant({ kind: "no" as const }),
          fc.constant({ kind: "unavailable" as const }),
        ),
      ),
      branch: fc.option(aLine),
      head: fc.option(aSha),
      base: fc.option(aLine),
      dirty: fc.option(fc.constantFrom(["clean"], [" M a.ts"], ["?? a b.ts", " M c.ts"])),
      diff_stat: fc.option(fc.constantFrom(["unavailable"], [" a.ts | 2 +-", " 1 file changed"])),
      test_cmd: fc.option(fc.oneof(aLine, fc.constant(""))),
    })
    .map((fields): RepoState => ({ kind: "fields", reason: null, fields })),
);

/** Texts of several lines that a bullet can hold. */
const aText = fc.array(aLine, { minLength: 1, maxLength: 3 }).map((lines) => lines.join("\n"));

/** Lines of an intent: none opens a section. */
const anIntent = fc
  .array(fc.oneof(aLine, fc.constant("")), { maxLength: 4 })
  .map((lines) => lines.join("\n").replace(/^\n+|\n+$/g, ""))
  .filter((text) => !/^## /m.test(text));

export const aBrief: fc.Arbitrary<Brief> = fc.record({
  title: fc.oneof(aLine, fc.constant("")),
  intent: anIntent,
  repo_state: aRepoState,
  decisions: fc.array(
    fc.record({ text: aText.filter((text) => !text.startsWith("rejected: ")), rejected: fc.boolean() }),
    { maxLength: 3 },
  ),
  open_questions: fc.array(aText, { maxLength: 3 }),
  skills: fc.array(aName, { maxLength: 3 }),
  process: fc.option(aProcess),
});
