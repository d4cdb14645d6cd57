/** One proof, on a fresh copy of its own: the change is made, what is to be restored is put back, then it is judged. */
import type { Proof } from "../core/gate/gate-file.ts";
import {
  type BunTestProof,
  bunTestArguments,
  canaryText,
  guardText,
  judgeBunTest,
  mintMarks,
  withSentinel,
} from "../core/gate/judge-bun-test.ts";
import { type CommandProof, judgeCommand } from "../core/gate/judge-command.ts";
import { judgeFileProof, type PatchedFile, type ProofOutcome, proofOutcome } from "../core/gate/judge-proof.ts";
import type { FixtureTree, ProofFolder } from "../core/gate/proof-place.ts";
import { decodeUtf8 } from "../core/utf8.ts";
import type { GateWorld } from "./world.ts";

/** What came back, as it is put on a copy. */
export type Changes = {
  readonly files: ReadonlyMap<string, Uint8Array | null>;
  readonly patch: readonly PatchedFile[];
};

type ProofTask = {
  readonly proof: Proof;
  readonly tree: FixtureTree;
  readonly changes: Changes;
  /** Under which its output is kept. */
  readonly name: string;
};

type Made = { readonly outcome: ProofOutcome; readonly ended_by: "itself" | "time" | "caller" };

/** Makes one proof. Errors: `copy_failed` */
export async function makeProof(world: GateWorld, task: ProofTask): Promise<Made> {
  const { proof, tree, changes } = task;
  const copy = world.place.makeCopy(tree);
  try {
    for (const [path, bytes] of changes.files) copy.replace(path, bytes);
    for (const path of "restore" in proof ? (proof.restore ?? []) : [])
      copy.replace(path, tree.get(path)?.bytes ?? null);
    if (proof.kind === "bun_test") return await makeTestRun(world, task, proof, copy);
    if (proof.kind === "command") return await makeCommandRun(world, task, proof, copy);
    const subject = {
      file: copy.read,
      fixture: (path: string) => tree.get(path)?.bytes ?? null,
      patch: changes.patch,
      sha256: world.sha256,
    };
    return { outcome: judgeFileProof(proof, subject), ended_by: "itself" };
  } finally {
    copy.remove();
  }
}

async function makeTestRun(world: GateWorld, task: ProofTask, proof: BunTestProof, copy: ProofFolder): Promise<Made> {
  const marks = mintMarks(proof.files, world.random);
  const judges = new Map<string, Uint8Array>();
  for (const sentinel of marks.sentinels) {
    const bytes = copy.read(sentinel.file);
    const decoded = bytes === null ? null : decodeUtf8(bytes);
    if (decoded === null || !decoded.ok) {
      const detail = decoded === null ? `there is no ${sentinel.file}` : `${sentinel.file} is no UTF-8`;
      return { outcome: proofOutcome("FAIL", detail), ended_by: "itself" };
    }
    judges.set(sentinel.file, encode(withSentinel(decoded.text, marks, sentinel, world.random)));
  }
  const ownMatchers = proof.files.some((file) => textOf(task.tree.get(file)?.bytes).includes("expect.extend"));
  judges.set(marks.guard, encode(guardText(ownMatchers))).set(marks.canary.file, encode(canaryText(marks)));
  for (const [path, bytes] of runnerFiles(copy, proof.files)) judges.set(path, bytes);
  for (const [path, bytes] of judges) copy.replace(path, bytes);
  const before = copy.list();
  const stamps = new Map([...judges.keys()].map((path) => [path, copy.stamp(path)]));
  const report = `${world.random()}.xml`;
  const words = bunTestArguments(proof, marks, {
    config: `${copy.scratch}/bunfig.toml`,
    report: `${copy.reports}/${report}`,
  });
  const end = await world.place.run(copy, {
    argv: [...world.bun.argv, ...words],
    cwd: ".",
    env: { ...proof.env, CI: "1", ...world.bun.env },
    timeout_ms: proof.timeout_sec * 1000,
    signal: world.signal,
    locked: [...judges.keys()],
  });
  world.signal.throwIfAborted();
  const text = copy.readReport(report);
  world.keep(`${task.name}.output.txt`, end.output);
  if (text !== null) world.keep(`${task.name}.report.xml`, text);
  const after = copy.list();
  const touched = [...stamps].flatMap(([path, stamp]) => (copy.stamp(path) === stamp ? [] : [path]));
  const rewritten = [...new Set([...rewrittenFiles(before, after), ...touched])];
  const made = [...after.keys()].filter((path) => !before.has(path) && RUNNER_SETTING.test(path));
  if (rewritten.length + made.length > 0 && end.ended_by === "itself") {
    const what = rewritten.length > 0 ? "changed files that were there" : "made files that set up its runner";
    const detail = `the test run ${what}: ${[...rewritten, ...made].slice(0, 5).join(", ")}`;
    return { outcome: proofOutcome("FAIL", detail), ended_by: end.ended_by };
  }
  return { outcome: judgeBunTest(proof, marks, { ...end, report: text }), ended_by: end.ended_by };
}

/** What tells Bun to load code before the tests, or to take another module than the one that is named. */
const RUNNER_SETTING = /(?:^|\/)(?:bunfig\.toml|[jt]sconfig\.json)$/;

/**
 * The runner's settings in the folders of the judges and above them, as the fixture has them; where it has none they are
 * made, and say nothing. They have to be there: a worker that begins late would read what changed code has put there
 * meanwhile, and Bun takes the nearest `tsconfig.json`, be it in a folder above the copy.
 */
function runnerFiles(copy: ProofFolder, judges: readonly string[]): ReadonlyMap<string, Uint8Array> {
  const folders = judges.flatMap((judge) => {
    const names = judge.split("/").slice(0, -1);
    return names.map((_, at) => `${names.slice(0, at + 1).join("/")}/`);
  });
  const files = new Map([["bunfig.toml", copy.read("bunfig.toml") ?? encode("")]]);
  for (const folder of new Set(["", ...folders])) {
    const config = copy.read(`${folder}tsconfig.json`) ?? copy.read(`${folder}jsconfig.json`);
    files.set(`${folder}tsconfig.json`, config ?? encode(folder === "" ? "{}" : '{ "extends": "../tsconfig.json" }'));
  }
  return files;
}

/** Files that a run left other than it found them: code that rewrites its judge does so while it runs. */
function rewrittenFiles(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...before].flatMap(([path, digest]) => (after.get(path) === digest ? [] : [path]));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}

async function makeCommandRun(
  world: GateWorld,
  task: ProofTask,
  proof: CommandProof,
  copy: ProofFolder,
): Promise<Made> {
  const end = await world.place.run(copy, {
    argv: proof.run,
    cwd: proof.cwd,
    env: proof.env,
    timeout_ms: proof.timeout_sec * 1000,
    signal: world.signal,
    locked: [],
  });
  world.signal.throwIfAborted();
  world.keep(`${task.name}.output.txt`, end.output);
  return { outcome: judgeCommand(proof, end), ended_by: end.ended_by };
}
