/**
 * One leg of a gate, from its fixture to its verdict (delegation run, section 10.2): the fixture is in its staged state,
 * the leg is delegated, what came back changes exactly the pinned files, it applies to a fresh copy, and every proof
 * holds on a fresh copy of its own. The first that does not hold names the cause.
 */

import { pathsOfDiff } from "../core/delegation/diff-files.ts";
import type { LegResult } from "../core/delegation/result.ts";
import { isRunnerFile, type Leg, type Proof } from "../core/gate/gate-file.ts";
import type { FixtureTree } from "../core/gate/proof-place.ts";
import type { Cause, LegReport, ProofReport, Verdict } from "../core/gate/report.ts";
import { changedLines, planPatch } from "../core/patch/apply.ts";
import { parsePatch, refusalText } from "../core/patch/parse.ts";
import { type Changes, makeProof } from "./make-proof.ts";
import type { Delegated, GateWorld } from "./world.ts";

/** How a leg ended; the rest of its report is filled in from what is known. */
type Ending = { readonly verdict: Verdict; readonly cause: Cause; readonly detail: string };

const HELD: Ending = { verdict: "PASS", cause: "", detail: "" };

/** Proves one leg. Errors: `copy_failed`; the reason of the signal */
export async function proveLeg(world: GateWorld, leg: Leg, mode: "write" | "answer"): Promise<LegReport> {
  const started_ms = world.clock.ms();
  const proofs: ProofReport[] = [];
  let asked: Delegated | null = null;
  let applied = false;
  const ending = await prove();
  return reportOf({ leg, ending, asked, applied, proofs, wall_ms: Math.round(world.clock.ms() - started_ms) });

  async function prove(): Promise<Ending> {
    const fixture = mode === "write" ? world.readFixture(leg) : { ok: true as const, tree: new Map() as FixtureTree };
    if (!fixture.ok) return { verdict: "FAIL", cause: "fixture", detail: fixture.fault };
    const before = await proveAll("before", fixture.tree, NOTHING);
    if (before !== null) return before;
    asked = await world.delegate(leg);
    const refused = answerFault(asked, leg, mode);
    if (refused !== null) return refused;
    const result = asked.result as LegResult;
    if (mode === "answer") return (await proveAll("after", answerTree(result), NOTHING)) ?? HELD;
    const patch = result.diff ?? "";
    world.keep(`${leg.name}.patch`, patch);
    const changes = applyPatch(world, fixture.tree, new TextEncoder().encode(patch), leg);
    if (typeof changes === "string") return { verdict: "FAIL", cause: "patch", detail: changes };
    applied = true;
    return (await proveAll("after", fixture.tree, changes)) ?? HELD;
  }

  async function proveAll(when: Proof["when"], tree: FixtureTree, changes: Changes): Promise<Ending | null> {
    for (const [at, proof] of leg.proofs.entries()) {
      if (proof.when !== when) continue;
      world.signal.throwIfAborted();
      const { outcome, ended_by } = await makeProof(world, {
        proof,
        tree,
        changes,
        name: `${leg.name}.proof-${at + 1}`,
      });
      const isLate = ended_by === "time" && when === "before";
      const verdict = isLate ? "INCONCLUSIVE" : outcome.verdict;
      const expect = "expect" in proof ? proof.expect : null;
      proofs.push({ kind: proof.kind, when, expect, verdict, detail: outcome.detail });
      if (verdict === "PASS") continue;
      const { detail } = outcome;
      if (verdict === "INCONCLUSIVE") return { verdict, cause: isLate ? "time" : "tool", detail };
      return { verdict, cause: when === "before" ? "fixture" : "proof", detail };
    }
    return null;
  }
}

const NOTHING: Changes = { files: new Map(), patch: [] };

/** Applies the patch to a fresh copy, as the proofs will get it; the changes, or why it is not applied. */
function applyPatch(world: GateWorld, tree: FixtureTree, bytes: Uint8Array, leg: Leg): Changes | string {
  const parsed = parsePatch(bytes);
  if (!parsed.ok) return refusalText(parsed.refusal);
  const planned = planPatch(parsed.patch, (path) => {
    const file = tree.get(path);
    return file === undefined ? { kind: "absent" } : { kind: "file", bytes: file.bytes };
  });
  if (!planned.ok) return planned.refusals.map(refusalText).join("; ");
  const files = new Map(planned.files.map(({ path, after }) => [path, after]));
  const copy = world.place.makeCopy(tree);
  try {
    const before = copy.list();
    for (const [path, after] of files) copy.replace(path, after);
    const why = changesFault(before, copy.list(), new Set(leg.expect_files));
    return why ?? { files, patch: parsed.patch.files.map((file) => ({ path: file.path, ...changedLines(file) })) };
  } finally {
    copy.remove();
  }
}

/** Whether exactly the expected files of a copy differ; null, or the first that is not as it must be. */
function changesFault(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  expected: ReadonlySet<string>,
): string | null {
  for (const path of new Set([...expected, ...before.keys(), ...after.keys()])) {
    const isChanged = before.get(path) !== after.get(path);
    if (isChanged && !expected.has(path)) return `${path} changed, and the patch is not to touch it`;
    if (!isChanged && expected.has(path)) return `${path} has the bytes that it had before`;
  }
  return null;
}

/** What the answer itself tells: whose fault it is that there is nothing to prove; null where there is. */
function answerFault({ exit, result, succeeded, fault }: Delegated, leg: Leg, mode: "write" | "answer"): Ending | null {
  if (fault?.of === "fixture") return { verdict: "FAIL", cause: "fixture", detail: fault.text };
  if (result === null) {
    return { verdict: "INCONCLUSIVE", cause: "unreachable", detail: fault?.text ?? "no result document" };
  }
  if (result.status === "failed") {
    return { verdict: "INCONCLUSIVE", cause: "unreachable", detail: result.reason ?? "the leg failed" };
  }
  if (result.status === "deferred") {
    const blamed = WORK_CLASSES.has(result.defer_class ?? "");
    const detail = `${result.defer_class ?? ""}: ${result.reason ?? ""}`;
    return blamed
      ? { verdict: "FAIL", cause: "deferred", detail }
      : { verdict: "INCONCLUSIVE", cause: "unreachable", detail };
  }
  if (result.status === "failed_verification") {
    return { verdict: "FAIL", cause: "acceptance", detail: (result.acceptance_failures ?? []).join("; ") };
  }
  if (exit !== 0 || succeeded !== 1) {
    return {
      verdict: "INCONCLUSIVE",
      cause: "unreachable",
      detail: `delegate ended in ${exit}, ${succeeded} succeeded`,
    };
  }
  return mode === "answer" ? null : filesFault(result, leg);
}

/** Defers that say something of the seat's work; the others say that nobody answered for the door. */
const WORK_CLASSES: ReadonlySet<string> = new Set(["write", "abstention", "budget", "contract"]);

function filesFault(result: LegResult, leg: Leg): Ending | null {
  const wrong = (detail: string): Ending => ({ verdict: "FAIL", cause: "files", detail });
  const files = [...(result.diff_files ?? [])].sort();
  const expected = [...(leg.expect_files ?? [])].sort();
  if ((result.diff ?? "") === "" || files.length === 0) return wrong("the seat wrote nothing");
  const judges = new Set(leg.proofs.flatMap((proof) => (proof.kind === "bun_test" ? proof.files : [])));
  const outside = files.filter((path) => !expected.includes(path));
  if (outside.length > 0) {
    const named = outside.map((path) => (isRunnerFile(path) || judges.has(path) ? `${path} (a judge's file)` : path));
    return wrong(`changed beside the pinned files: ${named.join(", ")}`);
  }
  const missing = expected.filter((path) => !files.includes(path));
  if (missing.length > 0) return wrong(`not changed: ${missing.join(", ")}`);
  const inside = [...pathsOfDiff(result.diff ?? "")].sort();
  if (inside.join("\0") !== files.join("\0")) {
    return wrong(`the diff is about ${inside.join(", ")}, and diff_files says ${files.join(", ")}`);
  }
  return null;
}

function answerTree(result: LegResult): FixtureTree {
  const text = (content: string) => ({ bytes: new TextEncoder().encode(content), is_executable: false });
  const tree = new Map([["output.txt", text(result.output ?? "")]]);
  if (result.structured !== undefined) tree.set("structured.json", text(result.structured));
  return tree;
}

function reportOf(of: {
  readonly leg: Leg;
  readonly ending: Ending;
  readonly asked: Delegated | null;
  readonly applied: boolean;
  readonly proofs: readonly ProofReport[];
  readonly wall_ms: number;
}): LegReport {
  const { leg, ending, asked, applied, proofs, wall_ms } = of;
  const result = asked?.result ?? null;
  return {
    name: leg.name,
    verdict: ending.verdict,
    cause: ending.cause,
    detail: ending.detail,
    node: result?.node ?? "",
    seat: result?.seat ?? "",
    scripted: result?.scripted ?? false,
    wall_ms,
    exit: asked?.exit ?? null,
    steps: result?.steps ?? 0,
    diff_files: result?.diff_files ?? [],
    diff_bytes: new TextEncoder().encode(result?.diff ?? "").length,
    diff: result?.diff ?? "",
    applied,
    proofs,
  };
}
