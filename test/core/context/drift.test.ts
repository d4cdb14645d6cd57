import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type DriftInput,
  type DriftRun,
  decisionNote,
  evaluateDrift,
  factsOf,
  GUARD_NAMES,
  GUARDS,
  type GuardName,
} from "../../../src/core/context/drift.ts";
import { mergeContext } from "../../../src/core/context/merge.ts";
import { isObject, type JsonObject, type JsonValue, sameJson, valueAt } from "../../../src/core/json/value.ts";
import { anyJson } from "../contract/arbitrary.ts";

const COMMAND = "kubectl get deploy api --context prod-eu -n shop -o json";

const RUN: DriftRun = {
  command: COMMAND,
  exit_code: 0,
  output: '"strategy": "RollingUpdate"',
  truncated: false,
  ended_at: "2026-11-30T09:00:01Z",
};

const DRIFT = {
  key_path: "api.strategy",
  old: null,
  new: "RollingUpdate",
  command: COMMAND,
  observed_at: "2026-11-30T09:00:00Z",
} as const;

/** Every guard holds. */
const GOOD = {
  entry: { contract: "apps", payload: { api: { strategy: "RollingUpdate" } }, drift: DRIFT },
  stored: { apps: { api: { image: "old" } } },
  goal: "Check the api of shop on prod-eu",
  project: "shop",
  record: [RUN],
} as const satisfies DriftInput;

function withDrift(changes: JsonObject, input: DriftInput = GOOD): DriftInput {
  const drift = isObject(input.entry.drift) ? input.entry.drift : {};
  return { ...input, entry: { ...input.entry, drift: { ...drift, ...changes } } };
}

/** The correction of another value, shown by the run. */
function withValue(value: JsonValue, output: string = String(value)): DriftInput {
  const payload = { api: { strategy: value } };
  const input = { ...GOOD, entry: { ...GOOD.entry, payload }, record: [{ ...RUN, output }] };
  return withDrift({ new: value }, input);
}

/** The same, seen by another command. */
function withCommand(command: string, input: DriftInput = GOOD): DriftInput {
  const record = (input.record ?? []).map((run) => ({ ...run, command }));
  return withDrift({ command }, { ...input, record });
}

function withOutput(output: string | null, changes: Partial<DriftRun> = {}): DriftInput {
  return { ...GOOD, record: [{ ...RUN, output, ...changes }] };
}

function failedOf(input: DriftInput): readonly GuardName[] {
  return evaluateDrift(input).failed;
}

test("a correction whose every guard holds applies, with its evidence", () => {
  expect(evaluateDrift(GOOD)).toEqual({
    applies: true,
    failed: [],
    evidence: { command: COMMAND, exit_code: 0, ran_at: "2026-11-30T09:00:01Z", output: '"strategy": "RollingUpdate"' },
    key_path: "api.strategy",
  });
});

test("there are eighteen guards, in the order of the specification", () => {
  expect(GUARD_NAMES).toEqual([
    "drift_shape",
    "payload_matches",
    "project_resolved",
    "section_exact",
    "how_section",
    "how_keys",
    "nothing_lost",
    "run_recorded",
    "value_shown",
    "value_long",
    "value_not_numeric",
    "value_clean",
    "value_not_in_command",
    "single_command",
    "tier_t0",
    "allowlisted",
    "target_single",
    "target_in_goal",
  ]);
});

/** For each guard an input that this guard alone refuses, or the fewest together, and why. */
const ALONE: Readonly<Record<GuardName, { readonly input: DriftInput; readonly with?: readonly GuardName[] }>> = {
  drift_shape: { input: withDrift({ observed_at: "2026-11-30" }) },
  payload_matches: { input: withDrift({ key_path: "api.other" }) },
  project_resolved: { input: { ...GOOD, project: null } },
  section_exact: { input: { ...GOOD, stored: { Apps: {} } } },
  how_section: {
    input: { ...GOOD, entry: { ...GOOD.entry, contract: "targets" }, stored: { targets: {} } },
  },
  how_keys: {
    input: withDrift(
      { key_path: "env.strategy" },
      {
        ...GOOD,
        entry: { ...GOOD.entry, payload: { env: { strategy: "RollingUpdate" } } },
      },
    ),
  },
  nothing_lost: { input: { ...GOOD, stored: { apps: { api: { strategy: "Recreate" } } } } },
  // Without a run there is no output that could show the value.
  run_recorded: { input: { ...GOOD, record: [] }, with: ["value_shown"] },
  value_shown: { input: withOutput("something else") },
  value_long: { input: withValue("abc") },
  value_not_numeric: { input: withValue("12345") },
  value_clean: { input: withValue("a[REDACTED]b") },
  value_not_in_command: { input: withValue("deploy") },
  // A closed list of plain words admits no other command than a single one.
  single_command: { input: withCommand('kubectl get "$KIND" --context prod-eu -n shop'), with: ["allowlisted"] },
  tier_t0: { input: withCommand("oc get template --context prod-eu -n shop") },
  allowlisted: { input: withCommand("kubectl logs api --context prod-eu -n shop") },
  // A target that is not one cannot be looked for in the goal.
  target_single: { input: withCommand("kubectl get deploy -n shop"), with: ["target_in_goal"] },
  target_in_goal: { input: withCommand("kubectl get deploy --context prod-us -n shop") },
};

test.each(GUARD_NAMES)("%s refuses what every other guard lets pass", (name) => {
  const { input, with: also = [] } = ALONE[name];
  const decision = evaluateDrift(input);
  expect(decision.failed.toSorted()).toEqual([name, ...also].toSorted());
  expect(decision.applies).toBe(false);
});

type GuardCase = { readonly why: string; readonly input: DriftInput; readonly holds: boolean };

function tableOf(name: GuardName, cases: readonly GuardCase[]): void {
  test.each(cases)("$why: $holds", ({ input, holds }) => {
    expect(GUARDS[name](factsOf(input))).toBe(holds);
  });
}

describe("drift_shape", () => {
  const without = (key: string) => {
    const drift: JsonObject = Object.fromEntries(Object.entries(DRIFT).filter(([name]) => name !== key));
    return { ...GOOD, entry: { ...GOOD.entry, drift } };
  };
  tableOf("drift_shape", [
    { why: "no drift", input: { ...GOOD, entry: { contract: "apps", payload: GOOD.entry.payload } }, holds: false },
    { why: "a text", input: { ...GOOD, entry: { ...GOOD.entry, drift: "x" } }, holds: false },
    { why: "a list", input: { ...GOOD, entry: { ...GOOD.entry, drift: [DRIFT] } }, holds: false },
    { why: "no old", input: without("old"), holds: true },
    { why: "no new", input: without("new"), holds: false },
    { why: "new is null", input: withDrift({ new: null }), holds: true },
    { why: "no key_path", input: without("key_path"), holds: false },
    { why: "key_path is a list", input: withDrift({ key_path: ["api"] }), holds: false },
    { why: "key_path is dots", input: withDrift({ key_path: "..." }), holds: false },
    { why: "key_path is blank", input: withDrift({ key_path: "  " }), holds: false },
    { why: "empty segments are dropped", input: withDrift({ key_path: ".api..strategy." }), holds: true },
    { why: "no command", input: without("command"), holds: false },
    { why: "command is blank", input: withDrift({ command: " \t" }), holds: false },
    { why: "command is a number", input: withDrift({ command: 7 }), holds: false },
    { why: "no observed_at", input: without("observed_at"), holds: false },
    { why: "observed_at is a number", input: withDrift({ observed_at: 1 }), holds: false },
    { why: "an offset", input: withDrift({ observed_at: "2026-11-30T09:00:00+02:00" }), holds: true },
    { why: "no offset", input: withDrift({ observed_at: "2026-11-30T09:00:00" }), holds: false },
  ]);
});

describe("payload_matches", () => {
  const of = (payload: JsonObject, key_path: JsonValue, value: JsonValue) =>
    withDrift({ key_path, new: value }, { ...GOOD, entry: { ...GOOD.entry, payload } });
  const noNew = { ...GOOD, entry: { ...GOOD.entry, drift: { key_path: "api.strategy" } } };
  tableOf("payload_matches", [
    { why: "new at its path", input: of({ a: { b: "x" } }, "a.b", "x"), holds: true },
    { why: "empty segments do not count", input: of({ a: { b: "x" } }, "a..b", "x"), holds: true },
    { why: "another value", input: of({ a: { b: "x" } }, "a.b", "y"), holds: false },
    { why: "another path", input: of({ a: { b: "x" } }, "a.c", "x"), holds: false },
    { why: "a shorter path", input: of({ a: { b: "x" } }, "a", "x"), holds: false },
    { why: "a longer path", input: of({ a: "x" }, "a.b", "x"), holds: false },
    { why: "one more leaf beside it", input: of({ a: { b: "x", c: "y" } }, "a.b", "x"), holds: false },
    { why: "one more leaf above it", input: of({ a: { b: "x" }, c: "y" }, "a.b", "x"), holds: false },
    { why: "an object for new, keys in any order", input: of({ a: { b: 1, c: 2 } }, "a", { c: 2, b: 1 }), holds: true },
    { why: "a list is compared whole", input: of({ a: [1, 2] }, "a", [1, 2]), holds: true },
    { why: "a list in another order", input: of({ a: [1, 2] }, "a", [2, 1]), holds: false },
    { why: "a key with a dot is one key", input: of({ "a.b": "x" }, "a.b", "x"), holds: false },
    { why: "an empty payload", input: of({}, "a", {}), holds: false },
    { why: "a payload without a leaf", input: of({ a: {} }, "a", {}), holds: false },
    { why: "an empty object beside the leaf", input: of({ a: { b: "x", c: {} } }, "a.b", "x"), holds: false },
    { why: "an empty object within new", input: of({ a: { b: "x", c: {} } }, "a", { b: "x", c: {} }), holds: false },
    { why: "new is null", input: of({ a: null }, "a", null), holds: true },
    { why: "no new", input: noNew, holds: false },
    { why: "no path", input: of({ a: "x" }, "..", "x"), holds: false },
    { why: "a very long path", input: of({ a: "x" }, "a.".repeat(100_000), "x"), holds: false },
    {
      why: "__proto__ is a key",
      input: of(JSON.parse('{"__proto__":{"x":"yyyy"}}'), "__proto__.x", "yyyy"),
      holds: true,
    },
    { why: "a key of every object is absent", input: of({ a: "x" }, "constructor", "x"), holds: false },
  ]);
});

describe("project_resolved", () => {
  tableOf("project_resolved", [
    { why: "a project", input: GOOD, holds: true },
    { why: "none", input: { ...GOOD, project: null }, holds: false },
    { why: "a blank one", input: { ...GOOD, project: " " }, holds: false },
  ]);
});

describe("section_exact", () => {
  const named = (contract: string) => ({ ...GOOD, entry: { ...GOOD.entry, contract } });
  tableOf("section_exact", [
    { why: "spelled as stored", input: GOOD, holds: true },
    { why: "another case", input: named("Apps"), holds: false },
    { why: "a blank more", input: named("apps "), holds: false },
    { why: "a key of every object", input: named("constructor"), holds: false },
    { why: "__proto__", input: named("__proto__"), holds: false },
    { why: "an empty section", input: { ...GOOD, stored: { apps: {} } }, holds: true },
  ]);
});

describe("how_section", () => {
  const named = (contract: string) => ({ ...GOOD, entry: { ...GOOD.entry, contract } });
  tableOf("how_section", [
    { why: "HOW", input: named("stack"), holds: true },
    { why: "WHAT", input: named("cluster_details"), holds: false },
    { why: "project_identity", input: named("project_identity"), holds: false },
    { why: "targets", input: named("targets"), holds: false },
    { why: "targets in capitals", input: named("TARGETS"), holds: false },
    { why: "a target is another section", input: named("target"), holds: true },
    { why: "not ASCII", input: named("größe"), holds: false },
  ]);
});

describe("how_keys", () => {
  const of = (payload: JsonObject, section: JsonValue = {}) => ({
    ...GOOD,
    entry: { ...GOOD.entry, payload },
    stored: { apps: section },
  });
  tableOf("how_keys", [
    { why: "HOW at every depth", input: of({ a: { b: [{ c: 1 }] } }), holds: true },
    { why: "WHAT at the top", input: of({ env: "x" }), holds: false },
    { why: "WHAT deep within", input: of({ a: { b: { kubeContext: "x" } } }), holds: false },
    { why: "WHAT within a list", input: of({ a: [{ b: [{ ns: 1 }] }] }), holds: false },
    { why: "WHAT as a value", input: of({ a: "env" }), holds: true },
    { why: "not ASCII", input: of({ hоst: "x" }), holds: false }, // the o is Cyrillic
    { why: "a scalar over WHAT", input: of({ a: 1 }, { a: { env: 1 } }), holds: false },
    { why: "null over WHAT", input: of({ a: null }, { a: { b: { env: 1 } } }), holds: false },
    { why: "a list over WHAT", input: of({ a: [] }, { a: [{ env: 1 }] }), holds: false },
    { why: "a scalar over HOW", input: of({ a: 1 }, { a: { b: 1 } }), holds: true },
    { why: "WHAT that stays", input: of({ a: { b: 1 } }, { a: { env: 1 }, env: 2 }), holds: true },
    {
      why: "an object over a list: not replaced by one of these",
      input: of({ a: { b: 1 } }, { a: [{ env: 1 }] }),
      holds: true,
    },
    { why: "a stored section that is no object", input: of({ a: 1 }, [{ env: 1 }]), holds: true },
  ]);
});

describe("nothing_lost", () => {
  const of = (payload: JsonObject, section: JsonValue) => ({
    ...GOOD,
    entry: { ...GOOD.entry, payload },
    stored: { apps: section },
  });
  tableOf("nothing_lost", [
    { why: "an absent path", input: of({ a: { b: 1 } }, { a: { c: 1 } }), holds: true },
    { why: "an equal value", input: of({ a: 1 }, { a: 1 }), holds: true },
    { why: "another value", input: of({ a: 1 }, { a: 2 }), holds: false },
    { why: "a stored null is a value", input: of({ a: 1 }, { a: null }), holds: false },
    { why: "null over null", input: of({ a: null }, { a: null }), holds: true },
    { why: "null over a value", input: of({ a: null }, { a: 1 }), holds: false },
    { why: "an equal list", input: of({ a: [1] }, { a: [1] }), holds: true },
    { why: "a longer list", input: of({ a: [1, 2] }, { a: [1] }), holds: false },
    { why: "an empty object over an object", input: of({ a: {} }, { a: { b: 1 } }), holds: true },
    { why: "an empty object over a list", input: of({ a: {} }, { a: [] }), holds: false },
    { why: "an empty object over null", input: of({ a: {} }, { a: null }), holds: false },
    { why: "an object over a scalar", input: of({ a: { b: 1 } }, { a: 1 }), holds: false },
    { why: "a scalar over an object", input: of({ a: 1 }, { a: { b: 1 } }), holds: false },
    { why: "one of two replaces", input: of({ a: 1, b: 1 }, { b: 2 }), holds: false },
    { why: "a section that is no object", input: of({ a: 1 }, "text"), holds: false },
    { why: "a section that is null", input: of({ a: 1 }, null), holds: false },
    { why: "no section", input: { ...GOOD, stored: {} }, holds: true },
  ]);
});

describe("run_recorded", () => {
  tableOf("run_recorded", [
    { why: "the run", input: GOOD, holds: true },
    { why: "no record is bound", input: { ...GOOD, record: null }, holds: false },
    { why: "another command", input: { ...GOOD, record: [{ ...RUN, command: `${COMMAND} ` }] }, holds: false },
    { why: "another case", input: { ...GOOD, record: [{ ...RUN, command: COMMAND.toUpperCase() }] }, holds: false },
    { why: "the last one failed", input: { ...GOOD, record: [RUN, { ...RUN, exit_code: 1 }] }, holds: false },
    { why: "an earlier one failed", input: { ...GOOD, record: [{ ...RUN, exit_code: 1 }, RUN] }, holds: true },
    { why: "its status is unknown", input: withOutput("x", { exit_code: null }), holds: false },
    { why: "it is marked failed", input: withOutput("x", { failed: true }), holds: false },
    {
      why: "another ran behind it",
      input: { ...GOOD, record: [RUN, { ...RUN, command: "x", exit_code: 1 }] },
      holds: true,
    },
    {
      why: "what the envelope says it ran is not asked",
      input: withDrift({ commands_run: [COMMAND] }, { ...GOOD, record: [] }),
      holds: false,
    },
  ]);
});

describe("value_shown", () => {
  const fill = "x ".repeat(300);
  const at = (place: number, rest = "") => `${fill.slice(0, place)}RollingUpdate${rest}`;
  tableOf("value_shown", [
    { why: "a whole token", input: withOutput("is RollingUpdate now"), holds: true },
    { why: "part of a word", input: withOutput("RollingUpdates"), holds: false },
    { why: "a second place", input: withOutput("RollingUpdates RollingUpdate"), holds: true },
    { why: "beside an en dash", input: withOutput("RollingUpdate–x"), holds: false },
    { why: "beside a plus", input: withOutput("RollingUpdate+"), holds: false },
    { why: "beside a full stop", input: withOutput("RollingUpdate."), holds: false },
    { why: "no output was kept", input: withOutput(null), holds: false },
    { why: "only in the tail", input: withOutput("x", { tail: " RollingUpdate" }), holds: false },
    {
      why: "another run showed it",
      input: {
        ...GOOD,
        record: [
          { ...RUN, command: "x" },
          { ...RUN, output: "y" },
        ],
      },
      holds: false,
    },
    {
      why: "an earlier run of the command showed it",
      input: { ...GOOD, record: [RUN, { ...RUN, output: "y" }] },
      holds: false,
    },
    { why: "at the very end of a whole output", input: withOutput("x RollingUpdate"), holds: true },
    { why: "at a cut", input: withOutput("x RollingUpdate", { truncated: true, tail: " y" }), holds: false },
    { why: "before a tail that goes on with it", input: withOutput("x RollingUpdate", { tail: "s" }), holds: false },
    { why: "before a tail that does not", input: withOutput("x RollingUpdate", { tail: " y" }), holds: true },
    { why: "up to the 500th character", input: withOutput(at(486, " more"), {}), holds: true },
    { why: "past the 500th character", input: withOutput(at(488, " more"), {}), holds: false },
    { why: "it ends with the 500th, and goes on", input: withOutput(`${" ".repeat(487)}RollingUpdates`), holds: false },
    { why: "it ends with the 500th, and ends", input: withOutput(`${" ".repeat(487)}RollingUpdate s`), holds: true },
    { why: "characters are code points", input: withOutput(`${"😀".repeat(486)} RollingUpdate`), holds: true },
    { why: "a number", input: withValue(12345), holds: false },
    { why: "a list of texts", input: withValue(["RollingUpdate"], "RollingUpdate"), holds: false },
    { why: "an empty text", input: withValue("", "a b"), holds: false },
  ]);

  test("every leaf is to be shown", () => {
    const value = { one: "first-value", two: "second-value" };
    expect(GUARDS.value_shown(factsOf(withValue(value, "first-value second-value")))).toBe(true);
    expect(GUARDS.value_shown(factsOf(withValue(value, "first-value second")))).toBe(false);
  });
});

describe("value_long", () => {
  tableOf("value_long", [
    { why: "four characters", input: withValue("abcd"), holds: true },
    { why: "three", input: withValue("abc"), holds: false },
    { why: "three and blanks", input: withValue(" abc "), holds: false },
    { why: "two characters of two code units", input: withValue("😀😀"), holds: false },
    { why: "an empty text", input: withValue(""), holds: false },
    { why: "a number is no matter of length", input: withValue(7), holds: true },
    { why: "one of two is short", input: withValue({ a: "long enough", b: "no" }), holds: false },
  ]);
});

describe("value_not_numeric", () => {
  const numeric =
    "12345 +12345 -12345 −12345 1234.5 1234. .1234 12e10 1.2E-10 0xff12 0XFF12 １２３４ ٣٤٥٦ ０ｘｆｆ１２ ①②③④";
  tableOf("value_not_numeric", [
    ...[...numeric.split(" "), " 12345 "].map((text) => ({ why: text, input: withValue(text), holds: false })),
    ..."v1.25.3 1.25.3 10.20.30.40 12345m 0xfg12 1234e 12-34 0x .e10 e12345"
      .split(" ")
      .map((text) => ({ why: text, input: withValue(text), holds: true })),
    { why: "a number", input: withValue(12345), holds: false },
    { why: "a boolean", input: withValue(true), holds: false },
    { why: "null", input: withValue(null), holds: false },
    { why: "a list", input: withValue(["text"]), holds: false },
    { why: "one of two is a number", input: withValue({ a: "text", b: 1 }), holds: false },
    { why: "a long row of digits and a letter", input: withValue(`${"1".repeat(100_000)}x`), holds: true },
  ]);
});

describe("value_clean", () => {
  tableOf("value_clean", [
    { why: "a mark of redaction", input: withValue("a [REDACTED]"), holds: false },
    { why: "a mark of a cut", input: withValue("abcd...[truncated]"), holds: false },
    { why: "three dots alone", input: withValue("abcd..."), holds: true },
    { why: "another word in brackets", input: withValue("[redacted]"), holds: true },
  ]);
});

describe("value_not_in_command", () => {
  tableOf("value_not_in_command", [
    { why: "a word of it", input: withValue("prod-eu"), holds: false },
    { why: "part of a word", input: withValue("ubec"), holds: false },
    { why: "across words", input: withValue("get deploy"), holds: false },
    { why: "another case", input: withValue("DEPLOY"), holds: true },
    { why: "a word that quotes hide", input: withCommand("kubectl get dep'loy'", withValue("deploy")), holds: false },
    { why: "no leaf", input: { ...GOOD, entry: { ...GOOD.entry, payload: {} } }, holds: true },
    { why: "no command", input: withDrift({ command: null }), holds: true },
    { why: "a command too long to be allowed", input: withCommand("x".repeat(5000)), holds: false },
  ]);
});

describe("the guards of the command", () => {
  test.each(["single_command", "tier_t0", "allowlisted", "target_single", "target_in_goal"] as const)(
    "%s fails without a usable command",
    (name) => {
      expect(GUARDS[name](factsOf(GOOD))).toBe(true);
      expect(GUARDS[name](factsOf(withDrift({ command: "  " })))).toBe(false);
      expect(GUARDS[name](factsOf({ ...GOOD, entry: { ...GOOD.entry, drift: null } }))).toBe(false);
    },
  );
});

describe("target_in_goal", () => {
  tableOf("target_in_goal", [
    { why: "both", input: GOOD, holds: true },
    { why: "no goal", input: { ...GOOD, goal: null }, holds: false },
    { why: "one of them", input: { ...GOOD, goal: "look at prod-eu" }, holds: false },
    { why: "part of a word", input: { ...GOOD, goal: "look at prod-eu-2 and shop" }, holds: false },
    { why: "beside a Unicode dash", input: { ...GOOD, goal: "look at prod-eu and shop\u2010two" }, holds: false },
    { why: "in quotes", input: { ...GOOD, goal: 'look at "prod-eu" and (shop)' }, holds: true },
  ]);
});

test("all guards are asked: nothing is right, and only what cannot be said of nothing holds", () => {
  const input: DriftInput = {
    entry: { contract: "targets", payload: { env: 1, n: "[REDACTED]", s: "a" }, drift: 5 },
    stored: { targets: { env: 2 } },
    goal: null,
    project: null,
    record: null,
  };
  expect(GUARD_NAMES.filter((name) => !failedOf(input).includes(name))).toEqual([
    "section_exact",
    "value_not_in_command",
  ]);
});

test("the decision note holds the command, its exit, its time and what it printed", () => {
  const { evidence } = evaluateDrift(GOOD);
  expect(evidence === null ? null : JSON.parse(decisionNote(evidence))).toEqual({
    command: COMMAND,
    exit_code: 0,
    ran_at: "2026-11-30T09:00:01Z",
    output: '"strategy": "RollingUpdate"',
  });
});

test("what is not known of the run is null", () => {
  const run: DriftRun = { command: COMMAND, exit_code: null, output: null, truncated: false };
  expect(evaluateDrift({ ...GOOD, record: [run] }).evidence).toEqual({
    command: COMMAND,
    exit_code: null,
    ran_at: null,
    output: null,
  });
  expect(evaluateDrift({ ...GOOD, record: [] }).evidence).toBeNull();
  expect(evaluateDrift(withDrift({ key_path: ".." })).key_path).toBeNull();
  expect(evaluateDrift(withDrift({ key_path: ".api..strategy" })).key_path).toBe("api.strategy");
});

const anyObject = anyJson.filter(isObject);
const anyRun: fc.Arbitrary<DriftRun> = fc.record({
  command: fc.constantFrom(COMMAND, "x", ""),
  exit_code: fc.constantFrom(0, 1, null),
  failed: fc.boolean(),
  output: fc.option(fc.string({ unit: "binary" }), { nil: null }),
  tail: fc.option(fc.string(), { nil: null }),
  truncated: fc.boolean(),
});

/** From wild to nearly right. */
const anyInput: fc.Arbitrary<DriftInput> = fc.record({
  entry: fc.record({
    contract: fc.oneof(fc.constantFrom("apps", "targets", "__proto__"), fc.string()),
    payload: fc.oneof(fc.constant(GOOD.entry.payload), anyObject),
    drift: fc.oneof(
      anyJson,
      fc.constant(DRIFT),
      fc.record({
        key_path: fc.oneof(fc.constant("api.strategy"), anyJson),
        new: fc.oneof(fc.constant("RollingUpdate"), anyJson),
        command: fc.oneof(fc.constant(COMMAND), anyJson),
        observed_at: fc.oneof(fc.constant("2026-11-30T09:00:00Z"), anyJson),
      }),
    ),
  }),
  stored: fc.oneof(fc.constant(GOOD.stored), anyObject, fc.record({ apps: anyJson })),
  goal: fc.oneof(fc.constant(GOOD.goal), fc.string(), fc.constant(null)),
  project: fc.constantFrom("shop", "", null),
  record: fc.oneof(fc.constant([RUN]), fc.array(anyRun, { maxLength: 3 }), fc.constant(null)),
});

test("evaluateDrift() answers whatever it is given, and applies exactly when no guard fails", () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const { applies, failed } = evaluateDrift(input);
      expect(applies).toBe(failed.length === 0);
      expect(failed).toEqual(GUARD_NAMES.filter((name) => !GUARDS[name](factsOf(input))));
    }),
    { numRuns: 500 },
  );
});

/** Each makes its guards fail, whatever stands in the rest. */
const BREAKERS: readonly { readonly guard: GuardName; readonly apply: (input: DriftInput) => DriftInput }[] = [
  { guard: "drift_shape", apply: (input) => withDrift({ observed_at: "now" }, input) },
  { guard: "payload_matches", apply: (input) => withDrift({ key_path: "other" }, input) },
  { guard: "project_resolved", apply: (input) => ({ ...input, project: null }) },
  { guard: "section_exact", apply: (input) => ({ ...input, stored: {} }) },
  { guard: "how_section", apply: (input) => ({ ...input, entry: { ...input.entry, contract: "ns" } }) },
  {
    guard: "how_keys",
    apply: (input) => ({ ...input, entry: { ...input.entry, payload: { ...input.entry.payload, env: "blue" } } }),
  },
  { guard: "run_recorded", apply: (input) => ({ ...input, record: [] }) },
  { guard: "value_shown", apply: (input) => ({ ...input, record: [{ ...RUN, exit_code: 1 }] }) },
  { guard: "allowlisted", apply: (input) => withDrift({ command: "kubectl delete deploy api" }, input) },
  { guard: "target_in_goal", apply: (input) => ({ ...input, goal: "" }) },
];

test("one more guard that fails never makes a correction apply", () => {
  fc.assert(
    fc.property(fc.oneof(fc.constant<DriftInput>(GOOD), anyInput), fc.subarray([...BREAKERS]), (start, breakers) => {
      let input = start;
      for (const { guard, apply } of breakers) {
        input = apply(input);
        const { applies, failed } = evaluateDrift(input);
        expect(applies).toBe(false);
        expect(failed).toContain(guard);
      }
    }),
    { numRuns: 500 },
  );
});

/** Whether every stored value is still there. */
function isKept(stored: JsonValue, merged: JsonValue | undefined): boolean {
  if (merged === undefined) return false;
  if (!isObject(stored)) return sameJson(stored, merged);
  return isObject(merged) && Object.entries(stored).every(([key, value]) => isKept(value, valueAt(merged, key)));
}

test("nothing_lost holds exactly when the merge keeps every stored value", () => {
  const key = fc.constantFrom("a", "b", "__proto__");
  const small = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<JsonValue>(1, 2, null, "x"),
      fc.array(fc.constantFrom(1, 2), { maxLength: 1 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(small, small.filter(isObject), (section, payload) => {
      const input = { ...GOOD, entry: { ...GOOD.entry, payload }, stored: { apps: section } };
      const keeps = isObject(section) && isKept(section, mergeContext(section, payload));
      expect(GUARDS.nothing_lost(factsOf(input))).toBe(keeps);
    }),
    { numRuns: 1000 },
  );
});
