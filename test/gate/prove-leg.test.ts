import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LegResult } from "../../src/core/delegation/result.ts";
import { type Leg, type LegGate, readGate } from "../../src/core/gate/gate-file.ts";
import type { FixtureTree } from "../../src/core/gate/proof-place.ts";
import { renderPatch } from "../../src/core/patch/render.ts";
import { proveLeg } from "../../src/gate/prove-leg.ts";
import { runGate } from "../../src/gate/run.ts";
import type { Delegated } from "../../src/gate/world.ts";
import { gateWorld, type Script, shippedTree, treeOf } from "../support/gate-world.ts";

const SET = join(import.meta.dir, "../../contracts/write-door/gate.json");
const read = readGate(readFileSync(SET));
const GATE = (read.ok ? read.gate : null) as LegGate;
const legOf = (name: string): Leg => GATE.legs.find((leg) => leg.name === name) as Leg;

const TREES: Readonly<Record<string, FixtureTree>> = {
  t1: shippedTree("t1", ["clamp.ts", "clamp.test.ts"]),
  t2: shippedTree("t2", ["port.ts", "port.test.ts"]),
  t3: shippedTree("t3", ["nodes.json", "nodes.md"]),
  t4: shippedTree("t4", ["release-notes.md"]),
};

const open: ReturnType<typeof gateWorld>[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]();
});

/** An edit of a file of a tree: what is replaced, and by what. */
type Edit = readonly [path: string, from: string, to: string];

/** What a seat hands back that makes these edits; with a null, the file goes or comes. */
function answer(tree: FixtureTree, edits: readonly Edit[], more: Partial<LegResult> = {}, exit = 0): Delegated {
  const texts = new Map<string, string>();
  for (const [path, from, to] of edits) {
    const text = texts.get(path) ?? new TextDecoder().decode(tree.get(path)?.bytes ?? new Uint8Array());
    if (!text.includes(from)) throw new Error(`${path} has no "${from}"`);
    texts.set(path, text.replace(from, to));
  }
  const bytes = (text: string) => ({ kind: "bytes" as const, bytes: new TextEncoder().encode(text) });
  const patch = renderPatch(
    [...texts].map(([path, text]) => {
      const before = tree.get(path);
      return {
        path,
        before: before === undefined ? null : { kind: "bytes" as const, bytes: before.bytes },
        after: text === "" ? null : bytes(text),
      };
    }),
  );
  const result = {
    status: "succeeded",
    node: "local",
    seat: "s",
    deferred: false,
    steps: 2,
    diff: patch.diff,
    diff_files: patch.diff_files,
    ...more,
  };
  return {
    exit,
    result: result as LegResult,
    succeeded: result.status === "succeeded" ? 1 : 0,
    fault: null,
  };
}

const CLAMP: Edit = ["clamp.ts", "if (v > hi) {\n    return lo;", "if (v > hi) {\n    return hi;"];
const PORT: Edit = ["port.ts", "if (port < 1) {", "if (port < 1 || port > 65535) {"];
const ROW: Edit = [
  "port.test.ts",
  '  { name: "text"',
  '  { name: "too large", in: "65536", wantErr: true },\n  { name: "text"',
];
const NOTES: Edit = ["release-notes.md", "Status: draft", "Status: final"];

async function prove(
  name: string,
  answered: Delegated | undefined,
  more: Partial<Script> & { readonly leg?: Leg } = {},
) {
  const scripted = gateWorld({
    tree: TREES[name] as FixtureTree,
    ...(answered === undefined ? {} : { answer: answered }),
    ...more,
  });
  open.push(scripted);
  const report = await proveLeg(scripted.world, more.leg ?? legOf(name), "write");
  return { report, kept: scripted.kept };
}

describe("a leg that is done rightly is a PASS", () => {
  test("t1", async () => {
    const { report, kept } = await prove("t1", answer(TREES.t1 as FixtureTree, [CLAMP]));
    expect(report).toMatchObject({
      verdict: "PASS",
      cause: "",
      applied: true,
      diff_files: ["clamp.ts"],
      proofs: [{ when: "before", verdict: "PASS" }, { when: "after", verdict: "PASS" }, {}, {}],
    });
    expect(kept.get("t1.patch")).toBe(report.diff);
  });

  test("t2", async () => {
    const { report } = await prove("t2", answer(TREES.t2 as FixtureTree, [PORT, ROW]));
    expect(report.wall_ms).toBeInteger();
    expect([report.verdict, report.detail, report.proofs.length]).toEqual(["PASS", "", 9]);
  });

  test("t4", async () => {
    const { report } = await prove("t4", answer(TREES.t4 as FixtureTree, [NOTES]));
    expect([report.verdict, report.detail]).toEqual(["PASS", ""]);
  });
});

describe("a leg that is done wrongly is a FAIL", () => {
  const t1 = TREES.t1 as FixtureTree;
  const t2 = TREES.t2 as FixtureTree;
  const WEAK: Edit = ["clamp.test.ts", 'name: "above", v: 42, want: 10', 'name: "above", v: 42, want: 0'];
  const NEW: Edit = ["extra.ts", "", "export {};\n"];

  test.each<[string, string, Delegated, string, string]>([
    [
      "the right answer in the wrong file",
      "t1",
      answer(t1, [["clamp2.ts", "", "export const clamp = 1;\n"]]),
      "files",
      "changed beside the pinned files: clamp2.ts",
    ],
    ["a test that was weakened instead", "t1", answer(t1, [WEAK]), "files", "clamp.test.ts (a judge's file)"],
    ["a fix and a weakened test", "t1", answer(t1, [CLAMP, WEAK]), "files", "clamp.test.ts (a judge's file)"],
    [
      "a fix by deleting the test",
      "t1",
      answer(t1, [["clamp.test.ts", new TextDecoder().decode(t1.get("clamp.test.ts")?.bytes), ""]]),
      "files",
      "clamp.test.ts (a judge's file)",
    ],
    ["an extra file", "t1", answer(t1, [CLAMP, NEW]), "files", "changed beside the pinned files: extra.ts"],
    [
      "a preload for the runner",
      "t1",
      answer(t1, [CLAMP, ["bunfig.toml", "", '[test]\npreload = ["./x.ts"]\n']]),
      "files",
      "bunfig.toml (a judge's file)",
    ],
    ["one file of two", "t2", answer(t2, [PORT]), "files", "not changed: port.test.ts"],
    ["nothing written", "t1", answer(t1, []), "files", "the seat wrote nothing"],
    [
      "a diff about other files than it says",
      "t1",
      answer(t1, [CLAMP], {
        diff_files: ["clamp.ts"],
        diff: "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b\n",
      }),
      "files",
      "the diff is about x.ts",
    ],
    [
      "a diff that fits another place",
      "t1",
      answer(t1, [CLAMP], {
        diff: answer(t1, [CLAMP]).result?.diff?.replace(/@@ -(\d+)/, (_, at) => `@@ -${Number(at) + 1}`) ?? "",
      }),
      "patch",
      "clamp.ts",
    ],
    [
      "line ends that were flipped",
      "t1",
      answer(t1, [
        [
          "clamp.ts",
          new TextDecoder().decode(t1.get("clamp.ts")?.bytes),
          new TextDecoder().decode(t1.get("clamp.ts")?.bytes).replaceAll("\n", "\r\n"),
        ],
      ]),
      "proof",
      '"above" failed',
    ],
    [
      "a change that fixes nothing",
      "t1",
      answer(t1, [["clamp.ts", "return v;", "return v; // done"]]),
      "proof",
      '"above" failed',
    ],
    [
      "a row that the fixture's source passes as well",
      "t2",
      answer(t2, [
        ["port.ts", "if (port < 1) {", "if (port < 1 || port > 65535) {"],
        ["port.test.ts", '  { name: "text"', '  { name: "too large", in: "65535", want: 65535 },\n  { name: "text"'],
      ]),
      "proof",
      "none of",
    ],
    [
      "an old row that was weakened beside the new one",
      "t2",
      answer(t2, [
        PORT,
        ROW,
        ["port.test.ts", 'name: "zero", in: "0", wantErr: true', 'name: "zero", in: "1", want: 1'],
      ]),
      "proof",
      "port.test.ts has 0 of",
    ],
    [
      "a shut door",
      "t1",
      answer(t1, [], {
        status: "deferred",
        defer_class: "write",
        reason: "write door closed: agent_allow_write is false here",
      }),
      "deferred",
      "write door closed",
    ],
    [
      "nothing usable",
      "t1",
      answer(t1, [], { status: "deferred", defer_class: "abstention", reason: "empty final answer" }),
      "deferred",
      "empty final answer",
    ],
    [
      "too few steps",
      "t1",
      answer(t1, [CLAMP], { status: "deferred", defer_class: "budget", reason: "step budget exhausted (12 steps)" }),
      "deferred",
      "step budget",
    ],
    [
      "a check that failed",
      "t1",
      answer(t1, [CLAMP], { status: "failed_verification", acceptance_failures: ["nonempty:summary: fail"] }),
      "acceptance",
      "nonempty:summary",
    ],
  ])("%s", async (_, name, answered, cause, detail) => {
    const { report } = await prove(name, answered);
    expect([report.verdict, report.cause]).toEqual(["FAIL", cause as "files"]);
    expect(report.detail).toContain(detail);
  });

  test("a fixture that is green already, and the seat is not asked", async () => {
    const green: FixtureTree = new Map([
      ...t1,
      [
        "clamp.ts",
        {
          bytes: new TextEncoder().encode(
            "export const clamp = (v: number, lo: number, hi: number) => Math.min(hi, Math.max(lo, v));\n",
          ),
          is_executable: false,
        },
      ],
    ]);
    const { report } = await prove("t1", undefined, { tree: green });
    expect(report).toMatchObject({
      verdict: "FAIL",
      cause: "fixture",
      exit: null,
      detail: '"above" passed, and it must fail',
    });
  });

  test("a fixture that is red for another reason", async () => {
    const other: FixtureTree = new Map([
      ...t1,
      ["clamp.ts", { bytes: new TextEncoder().encode("export const clamp = () => 7;\n"), is_executable: false }],
    ]);
    expect((await prove("t1", undefined, { tree: other })).report).toMatchObject({ verdict: "FAIL", cause: "fixture" });
  });

  test("a proof after the change that runs out of time", async () => {
    const loop = answer(t1, [["clamp.ts", "return v;", "while (true);\n  return v;"]]);
    const leg = {
      ...legOf("t1"),
      proofs: legOf("t1").proofs.map((proof) => (proof.kind === "bun_test" ? { ...proof, timeout_sec: 3 } : proof)),
    };
    expect((await prove("t1", loop, { leg })).report).toMatchObject({
      verdict: "FAIL",
      cause: "proof",
      detail: "the test run did not end within 3 s",
    });
  });
});

describe("what could not be looked at is INCONCLUSIVE", () => {
  test.each<[string, Delegated, string]>([
    [
      "a seat that is not there",
      answer(new Map(), [], { status: "deferred", defer_class: "infrastructure", reason: "seat down" }, 4),
      "infrastructure: seat down",
    ],
    [
      "no room",
      answer(new Map(), [], { status: "deferred", defer_class: "capacity", reason: "no room" }),
      "capacity: no room",
    ],
    [
      "a misconfigured place",
      answer(new Map(), [], { status: "deferred", defer_class: "config", reason: "model not served" }, 4),
      "config: ",
    ],
    [
      "a call that was stopped",
      answer(new Map(), [], { status: "deferred", defer_class: "canceled", reason: "canceled by the caller" }),
      "canceled: ",
    ],
    ["a leg that failed", answer(new Map(), [], { status: "failed", reason: "auth rejected" }, 1), "auth rejected"],
    [
      "no document",
      { exit: 70, result: null, succeeded: 0, fault: { of: "place", text: "no document came" } },
      "no document came",
    ],
  ])("%s", async (_, answered, detail) => {
    const { report } = await prove("t1", answered);
    expect([report.verdict, report.cause]).toEqual(["INCONCLUSIVE", "unreachable"]);
    expect(report.detail).toContain(detail);
  });

  test("a tool that is not there, and the seat is not asked", async () => {
    const proofs: Leg["proofs"] = [
      {
        kind: "command",
        when: "before",
        run: ["writ-no-such-tool"],
        expect: "pass",
        timeout_sec: 9,
        env: {},
        cwd: ".",
      },
      ...legOf("t4").proofs,
    ];
    const { report } = await prove("t4", undefined, { leg: { ...legOf("t4"), proofs } });
    expect(report).toMatchObject({
      verdict: "INCONCLUSIVE",
      cause: "tool",
      detail: "no writ-no-such-tool",
      exit: null,
    });
  });

  test("a proof before the change that runs out of time", async () => {
    const proofs: Leg["proofs"] = [
      { kind: "command", when: "before", run: ["sleep", "60"], expect: "pass", timeout_sec: 1, env: {}, cwd: "." },
      ...legOf("t4").proofs,
    ];
    const { report } = await prove("t4", undefined, { leg: { ...legOf("t4"), proofs } });
    expect(report).toMatchObject({ verdict: "INCONCLUSIVE", cause: "time" });
  });

  test("walls that are required and not there: nothing is run, and no seat asked", async () => {
    using scripted = gateWorld({ tree: TREES.t1 as FixtureTree });
    const run = await runGate(scripted.world, { ...GATE, legs: [legOf("t1")] }, { only: null, requireSandbox: true });
    expect(run).toMatchObject({ verdict: "INCONCLUSIVE", legs: [{ cause: "sandbox", exit: null }] });
  });

  test("a part of a set whose legs hold", async () => {
    using scripted = gateWorld({ tree: TREES.t4 as FixtureTree, answer: answer(TREES.t4 as FixtureTree, [NOTES]) });
    const run = await runGate(scripted.world, GATE, { only: ["t4"], requireSandbox: false });
    expect([run.verdict, run.partial, run.legs.map(({ verdict }) => verdict)]).toEqual([
      "INCONCLUSIVE",
      true,
      ["PASS"],
    ]);
    expect(scripted.said).toHaveLength(1);
  });
});

test("a gate of answers proves the text and the fields", async () => {
  const leg: Leg = {
    ...legOf("t4"),
    proofs: [
      { kind: "count", when: "after", file: "output.txt", literal: "yes", equals: 1 },
      { kind: "json", when: "after", file: "structured.json", facts: [{ at: "/n", equals: 3 }] },
    ],
  };
  const { expect_files: _, ...bare } = leg;
  using scripted = gateWorld({ answer: answer(treeOf({}), [], { output: "yes", structured: '{"n":3}' }) });
  expect(await proveLeg(scripted.world, bare, "answer")).toMatchObject({ verdict: "PASS" });
  using other = gateWorld({ answer: answer(treeOf({}), [], { output: "yes", structured: '{"n":4}' }) });
  expect(await proveLeg(other.world, bare, "answer")).toMatchObject({
    verdict: "FAIL",
    cause: "proof",
    detail: "structured.json /n: it is 4, 3 is due",
  });
});
