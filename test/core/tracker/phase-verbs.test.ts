import { expect, test } from "bun:test";
import fc from "fast-check";
import { activePhase, flowText, INITIAL_FLOW, isIdle, phaseOf } from "../../../src/core/tracker/flow.ts";
import { PHASE_NAMES } from "../../../src/core/tracker/phase.ts";
import type { PhaseCall } from "../../../src/core/tracker/phase-verbs.ts";
import type { PlanCall } from "../../../src/core/tracker/plan-verbs.ts";
import { DEFAULT_SETTINGS, flowSettings, plansDir } from "../../../src/core/tracker/settings.ts";
import { offendersOf } from "../../../src/core/tracker/task.ts";
import { answerTo, flowAfter, NO_FACTS, tasksOf } from "../../support/flow.ts";

const START: PhaseCall = { action: "start", phase: "brainstorm", force: false };

function refusalOf(...calls: readonly (PhaseCall | PlanCall)[]) {
  const last = calls.at(-1);
  if (last === undefined) throw new Error("no call");
  const answer = answerTo(flowAfter(calls.slice(0, -1)), last);
  if (answer.ok) throw new Error(`done: ${answer.text}`);
  return answer.refusal;
}

test("what is missing on the command line is a usage error", () => {
  expect(refusalOf({ action: "complete", phase: null })).toEqual({
    code: "usage",
    message: "Error: phase required for complete",
    error: "phase required",
    hint: null,
  });
  expect(refusalOf({ action: "skip", phase: "plan", reason: "  " }).code).toBe("usage");
  expect(refusalOf({ action: "update", index: null, status: "failed" }).code).toBe("usage");
});

test("unfinished tasks are named with their places", () => {
  const { message, error } = refusalOf(
    START,
    { action: "skip", phase: "brainstorm", reason: "r" },
    { action: "init", tasks: tasksOf("a=complete", "b=in_progress", "c=failed", "d") },
    { action: "complete", phase: "implement" },
  );
  expect(message).toBe(
    "Cannot complete implement: unfinished tasks:\n1: b (in_progress)\n3: d (pending)\nReconcile these same indices against acceptance evidence, update them and retry.",
  );
  expect(error).toBe("unfinished tasks");
});

test("a refusal says what to type", () => {
  expect(refusalOf(START, { action: "complete", phase: "brainstorm" }, START).hint).toBe(
    "writ phase start brainstorm --force",
  );
  expect(refusalOf({ action: "update", index: 0, status: "failed" }).hint).toBe("writ plan init");
  expect(refusalOf(START, { action: "complete", phase: "verify" }).hint).toContain("conformance-reviewer");
});

const STAMP = { plan_path: "/p", plan_sha256: "1", spec_path: "/s", spec_sha256: "2" };

test.each([
  { what: "the plan is gone", digests: {}, error: "plan-check stamp file missing at /p" },
  { what: "the spec is gone", digests: { "/p": "1" }, error: "plan-check stamp file missing at /s" },
  { what: "the spec changed", digests: { "/p": "1", "/s": "3" }, error: "plan-check stamp is stale: /s changed" },
])("start implement is refused where $what", ({ digests, error }) => {
  const flow = { ...flowAfter([START, { action: "complete", phase: "brainstorm" }]), stamp: STAMP };
  const known: Readonly<Record<string, string>> = digests;
  const facts = { settings: DEFAULT_SETTINGS, digestOf: (path: string) => known[path] ?? null };
  const answer = answerTo(flow, { action: "start", phase: "implement", force: false }, facts);
  expect(answer.ok ? answer.text : answer.refusal.error).toStartWith(error);
  const free = { ...facts, settings: { ...DEFAULT_SETTINGS, guards: false } };
  expect(answerTo(flow, { action: "start", phase: "implement", force: false }, free).ok).toBe(true);
});

test("reset leaves the tasks and takes the rest", () => {
  const flow = { ...flowAfter([START, { action: "init", tasks: tasksOf("a") }]), stamp: STAMP, reviewed: true };
  const answer = answerTo(flow, { action: "reset" });
  expect(answer.ok && answer.flow).toEqual({ ...INITIAL_FLOW, tasks: tasksOf("a") });
});

test("the digest is taken of every part of a state", () => {
  const flow = flowAfter([START, { action: "init", tasks: tasksOf("a") }]);
  const others = [
    { ...flow, armed: false },
    { ...flow, reviewed: true },
    { ...flow, stamp: STAMP },
    { ...flow, tasks: tasksOf("b") },
    flowAfter([
      START,
      { action: "substep", phase: "brainstorm", substep: "x" },
      { action: "init", tasks: tasksOf("a") },
    ]),
  ];
  expect(new Set([flow, ...others].map(flowText)).size).toBe(6);
  expect(flowText({ ...flow })).toBe(flowText(flow));
});

const aCall: fc.Arbitrary<PhaseCall | PlanCall> = fc.oneof(
  fc.record({ action: fc.constant("start" as const), phase: fc.constantFrom(...PHASE_NAMES), force: fc.boolean() }),
  fc.record({ action: fc.constant("complete" as const), phase: fc.constantFrom(...PHASE_NAMES) }),
  fc.record({
    action: fc.constant("skip" as const),
    phase: fc.constantFrom(...PHASE_NAMES),
    reason: fc.constantFrom("", "later"),
  }),
  fc.record({
    action: fc.constant("substep" as const),
    phase: fc.constantFrom(...PHASE_NAMES),
    substep: fc.constantFrom("", "W2"),
  }),
  fc.constant<PhaseCall>({ action: "reset" }),
  fc.constant<PhaseCall>({ action: "observe", agent: "conformance-reviewer", exit: 0 }),
  fc.constant<PlanCall>({ action: "init", tasks: tasksOf("a", "b", "c") }),
  fc.record({
    action: fc.constant("update" as const),
    index: fc.nat(3),
    status: fc.constantFrom("in_progress" as const, "complete" as const, "failed" as const, "skipped" as const),
  }),
);

test("whatever is called, at most one phase is in progress, pending tasks trail, and a refusal changes nothing", () => {
  fc.assert(
    fc.property(fc.array(aCall, { maxLength: 25 }), (calls) => {
      let flow = INITIAL_FLOW;
      for (const call of calls) {
        const before = flowText(flow);
        const answer = answerTo(flow, call, { ...NO_FACTS, settings: { ...DEFAULT_SETTINGS, guards: false } });
        if (answer.ok) flow = answer.flow;
        else expect(flowText(flow)).toBe(before);
        expect(flow.phases.filter(({ status }) => status === "in_progress").length).toBeLessThanOrEqual(1);
        expect(offendersOf(flow.tasks)).toEqual([]);
        expect(flow.phases.every(({ status, reason }) => reason === undefined || status === "skipped")).toBe(true);
        expect(flow.phases.every(({ status, substep }) => substep === undefined || status === "in_progress")).toBe(
          true,
        );
      }
      expect(isIdle(flow)).toBe(flow.phases.every(({ status }) => status === "pending"));
      expect(activePhase(flow)?.status ?? "in_progress").toBe("in_progress");
      expect(phaseOf(flow, "ship").name).toBe("ship");
    }),
  );
});

test.each([
  { what: "nothing", value: {}, settings: DEFAULT_SETTINGS },
  {
    what: "a guard that is off",
    value: { flowGuards: { enforce: false } },
    settings: { ...DEFAULT_SETTINGS, guards: false },
  },
  { what: "a guard that is no boolean", value: { flowGuards: { enforce: "false" } }, settings: DEFAULT_SETTINGS },
  {
    what: "directories, trimmed",
    value: { flowGuards: { specDirs: [" a/specs "] } },
    settings: { ...DEFAULT_SETTINGS, specDirs: ["a/specs"] },
  },
  { what: "a blank directory", value: { flowGuards: { specDirs: ["a", " "] } }, settings: DEFAULT_SETTINGS },
  { what: "no directory", value: { flowGuards: { specDirs: [] } }, settings: DEFAULT_SETTINGS },
  { what: "a list in the place of an object", value: { flowGuards: [], siblings: [] }, settings: DEFAULT_SETTINGS },
  {
    what: "siblings",
    value: { siblings: { b: "git@h:o/b.git", c: 3 } },
    settings: { ...DEFAULT_SETTINGS, siblings: new Map([["b", "git@h:o/b.git"]]) },
  },
])("flowSettings() of $what", ({ value, settings }) => {
  expect(flowSettings(value)).toEqual(settings);
});

test.each([
  ["doc/specs", "doc/plans"],
  ["a/b/specs", "a/b/plans"],
  ["specs", "plans"],
  ["specs/", "plans"],
])("the plans directory of %s is %s", (specs, plans) => {
  expect(plansDir(specs)).toBe(plans);
});
