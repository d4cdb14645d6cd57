/**
 * The rows: what is measured, against what, and the goal. A row prepares its own data folder, and looks afterwards
 * whether the work was really done: a hook ends in 0 whatever happened.
 */
import { type Answer, evaluateChecks } from "../../src/core/acceptance/evaluate.ts";
import { checkPlan } from "../../src/core/plan/check.ts";
import { FLEET_ROWS } from "./fleet.ts";
import type { Step } from "./measure.ts";
import type { Scene } from "./scene.ts";

export type Row = {
  readonly name: string;
  readonly work: string;
  readonly against: string;
  /** The largest ratio that is good enough; null for a row that is only told. */
  readonly goal: number | null;
  /** What keeps it from its goal, for whoever reads that it was missed. */
  readonly limit?: string;
  readonly repetitions: number;
  readonly warmups: number;
  readonly prepare: (scene: Scene) => Trial | Promise<Trial>;
};

export type Trial = {
  readonly work: Step;
  readonly baseline: Step;
  /** Throws when something is missing; what it says otherwise stands behind the row. */
  readonly verify: () => string;
  /** Ends what was started for it. */
  readonly close?: () => Promise<void>;
};

const PARALLEL = 50;
const KEY_OUTPUTS = "evidence_report.key_outputs";

export const ROWS: readonly Row[] = [
  {
    name: "version",
    work: "`writ --version`",
    against: "a program that prints one line",
    goal: 1.3,
    repetitions: 60,
    warmups: 5,
    prepare: (scene) => {
      const data = scene.dataFolder("version");
      return {
        work: () => void scene.writ(["--version"], { data }),
        baseline: () => scene.baseline("print"),
        verify: () => "",
      };
    },
  },
  {
    name: "record",
    work: "`writ record` of one hook call",
    against: "a program that reads stdin and commits one durable row",
    goal: 1.5,
    limit:
      "The rest is JavaScript that a process of some milliseconds runs once and cold, spread evenly over its entry, the command, the store, masking and the transaction: no part of it stands out in a profile, and one bundle in place of split ones brought nothing.",
    repetitions: 60,
    warmups: 5,
    prepare: (scene) => {
      const { call, entries, counter } = boundTurn(scene, "record");
      return {
        work: () => void scene.writ(["record"], { ...call, stdin: hookPayload(counter.next()) }),
        baseline: () => scene.baseline("commit", [entries, "--stdin"], hookPayload(0)),
        verify: () => demandCount("records", scene.recordCount(call), counter.value()),
      };
    },
  },
  {
    name: "add",
    work: "`writ contract add`",
    against: "a program that commits one durable row",
    goal: 1.5,
    limit:
      "An addition commits a row and replaces a file, both durably; against the same durable work see the next row. The rest is JavaScript that a process of some milliseconds runs once and cold, spread evenly over its entry, the command, the store, masking and the transaction: no part of it stands out in a profile, and one bundle in place of split ones brought nothing.",
    repetitions: 60,
    warmups: 5,
    prepare: (scene) => {
      const { call, entries, counter } = boundTurn(scene, "add");
      return {
        work: () => void scene.writ(addition(counter.next()), call),
        baseline: () => scene.baseline("commit", [entries]),
        verify: () => demandCount("entries", keyOutputs(scene, call).length, counter.value()),
      };
    },
  },
  {
    name: "add-and-file",
    work: "`writ contract add`",
    against: "a program that commits one durable row and replaces one file durably",
    goal: null,
    repetitions: 40,
    warmups: 3,
    prepare: (scene) => {
      const { call, entries, counter } = boundTurn(scene, "add-and-file");
      return {
        work: () => void scene.writ(addition(counter.next()), call),
        baseline: () => scene.baseline("commit", [entries, "--file"]),
        verify: () => demandCount("entries", keyOutputs(scene, call).length, counter.value()),
      };
    },
  },
  {
    name: "run",
    work: "`writ run -- true`, recorded",
    against: "a program that starts `true`",
    goal: 1.5,
    limit:
      "It commits the run durably, which the program does not; against the same durable work see the next row. The rest is JavaScript that a process of some milliseconds runs once and cold, spread evenly over its entry, the command, the store, masking and the transaction: no part of it stands out in a profile, and one bundle in place of split ones brought nothing.",
    repetitions: 60,
    warmups: 5,
    prepare: (scene) => {
      const { call, counter } = boundTurn(scene, "run");
      return {
        work: () => void scene.writ(["run", "--", "true"], tick(counter, call)),
        baseline: () => scene.baseline("spawn"),
        verify: () => demandCount("records", scene.recordCount(call), counter.value()),
      };
    },
  },
  {
    name: "run-and-commit",
    work: "`writ run -- true`, recorded",
    against: "a program that starts `true`, then one that commits one durable row",
    goal: null,
    repetitions: 40,
    warmups: 3,
    prepare: (scene) => {
      const { call, entries, counter } = boundTurn(scene, "run-and-commit");
      return {
        work: () => void scene.writ(["run", "--", "true"], tick(counter, call)),
        baseline: () => {
          scene.baseline("spawn");
          scene.baseline("commit", [entries]);
        },
        verify: () => demandCount("records", scene.recordCount(call), counter.value()),
      };
    },
  },
  finalizeRow("finalize", 10_000, 100),
  finalizeRow("finalize-large", 10_000, 1_000),
  {
    name: "parallel-adds",
    work: `${PARALLEL} parallel \`writ contract add\` to one draft`,
    against: `${PARALLEL} in a row`,
    goal: 1,
    repetitions: 7,
    warmups: 1,
    prepare: (scene) => {
      const parallel = boundTurn(scene, "parallel-adds");
      const sequence = boundTurn(scene, "parallel-adds-in-a-row");
      const batch = Array.from({ length: PARALLEL });
      const verify = ({ call, counter }: Turn) => {
        const entries = keyOutputs(scene, call);
        return demandCount("entries", new Set(entries).size, counter.value());
      };
      return {
        work: async () => {
          const { call, counter } = parallel;
          await Promise.all(batch.map(() => scene.writAtOnce(addition(counter.next()), call)));
        },
        baseline: async () => {
          const { call, counter } = sequence;
          for (const _ of batch) await scene.writAtOnce(addition(counter.next()), call);
        },
        verify: () => {
          verify(sequence);
          return `${verify(parallel)}, none lost`;
        },
      };
    },
  },
  {
    name: "grade",
    work: "grading 1,000 checks over 256 KiB of documents",
    against: "1,000 plain scans of the same documents",
    goal: 20,
    repetitions: 15,
    warmups: 2,
    prepare: () => {
      const { lines, answer, needles } = gradingScene();
      let met = 0;
      return {
        work: () => {
          met = evaluateChecks(lines, answer).filter(({ outcome }) => outcome === "pass").length;
        },
        baseline: () => {
          for (const needle of needles) for (const { text } of answer.documents) text.includes(needle);
        },
        verify: () => demandCount("passes", met, lines.length),
      };
    },
  },
  {
    name: "plan-check",
    work: "plan check of a plan of 20,000 lines",
    against: "the same of 5,000 lines",
    goal: 4,
    repetitions: 15,
    warmups: 3,
    prepare: () => {
      const [large, small] = [planScene(20_000), planScene(5_000)];
      let count = -1;
      return {
        work: () => {
          count = large();
        },
        baseline: () => void small(),
        verify: () => demandCount("findings", count, 0),
      };
    },
  },
  ...FLEET_ROWS,
];

/** A finalize that holds its claim against the record, again and again: a state that is not terminal runs every step. */
function finalizeRow(name: string, large: number, small: number): Row {
  return {
    name,
    work: `\`writ contract finalize\` with a record of ${large.toLocaleString("en")} runs`,
    against: `the same with ${small.toLocaleString("en")}`,
    goal: large / small,
    repetitions: 15,
    warmups: 2,
    prepare: (scene) => {
      const turns = [large, small].map((runs) => finishedTurn(scene, `${name}-${runs}`, runs));
      const [ofLarge, ofSmall] = turns as [FinishedTurn, FinishedTurn];
      return {
        work: () => finalize(scene, ofLarge),
        baseline: () => finalize(scene, ofSmall),
        verify: () => "",
      };
    },
  };
}

type Turn = { readonly call: { readonly data: string; readonly contractId: string }; readonly counter: Counter };
type Counter = { next(): number; value(): number };
type FinishedTurn = { readonly call: Turn["call"]; readonly runs: number };

/** A turn in a data folder of its own, and beside it the baseline's database. */
function boundTurn(scene: Scene, name: string): Turn & { readonly entries: string } {
  const data = scene.dataFolder(name);
  let count = 0;
  return {
    call: { data, contractId: scene.dispatch(data) },
    counter: { next: () => ++count, value: () => count },
    entries: scene.entriesDatabase(`${name}-baseline`),
  };
}

function tick(counter: Counter, call: Turn["call"]): Turn["call"] {
  counter.next();
  return call;
}

function addition(number: number): string[] {
  return ["contract", "add", KEY_OUTPUTS, `finding ${number}: roundTotal truncates instead of rounding`];
}

function keyOutputs(scene: Scene, call: Turn["call"]): readonly unknown[] {
  return JSON.parse(scene.writ(["contract", "view", "--field", KEY_OUTPUTS], call));
}

/** A payload as a harness sends it after a shell command, with an output of ordinary length. */
function hookPayload(number: number): string {
  const stdout = Array.from({ length: 12 }, (_, line) => `test/checkout-${line}.test.ts: 4 pass, 0 fail`).join("\n");
  return JSON.stringify({
    session_id: "bench",
    transcript_path: "/home/dev/.harness/bench.jsonl",
    cwd: "/home/dev/shop",
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_input: { command: `bun test checkout --seed ${number}`, description: "Run the checkout tests" },
    tool_response: { stdout, stderr: "", interrupted: false, isImage: false },
    tool_use_id: `toolu_bench_${number}`,
  });
}

/** A turn with so many runs, all through one call of `writ record`, and an envelope that cites one of them. */
function finishedTurn(scene: Scene, name: string, runs: number): FinishedTurn {
  const { call } = boundTurn(scene, name);
  const records = Array.from({ length: runs }, (_, index) => ({
    tool: "bash",
    command: `make check-${index}`,
    exit_code: 0,
    output: `check ${index}: 3 pass, 0 fail\n`,
  }));
  scene.writ(["record", "--harness", "generic"], { ...call, stdin: JSON.stringify(records) });
  demandCount("records", scene.recordCount(call), runs);

  const cited = Math.floor(runs / 2);
  const command = `make check-${cited}`;
  const patch = {
    agent_status: { agent_state: "NEEDS_INPUT", next_action: "choose a rounding mode" },
    evidence_report: {
      verification: { type: "command", command, method: "ran the check", result: "pass" },
      verbatim_outputs: [{ command, excerpt: `check ${cited}: 3 pass, 0 fail` }],
    },
    conclusion: "The check holds; which rounding is wanted is open.",
  };
  scene.writ(["contract", "fill", "--json", JSON.stringify(patch)], call);
  return { call, runs };
}

/** Finalizes, and demands that the whole record was looked at. */
function finalize(scene: Scene, { call, runs }: FinishedTurn): void {
  const { status, content_checks } = JSON.parse(scene.writ(["contract", "finalize", "--json"], call));
  if (status !== "finalized") throw new Error(`finalize answers "${status}"`);
  demandCount("records in content_checks", content_checks?.runs, runs);
}

function demandCount(what: string, found: unknown, wanted: number): string {
  if (found !== wanted) throw new Error(`${wanted} ${what} were due, ${found} are there`);
  return `${wanted} ${what}`;
}

/** A plan of so many lines that passes, and its check: how many findings there are. */
function planScene(lines: number): () => number {
  const sha = "0".repeat(40);
  const tasks = Math.floor(lines / 16);
  const spec = ["# Spec", "", "## Design"];
  const plan = ["# Plan", "", "**Verification:** `npm run verify`", "", "---", ""];
  const coverage = ["## Spec coverage", "", "| anchor | requirement | owner |", "|---|---|---|"];
  for (let task = 0; task < tasks; task++) {
    spec.push(`The module exports \`part${task}()\`.`);
    const anchor = `§ "Design" L${spec.length}-L${spec.length}`;
    const test = `test/part-${task}.test.ts`;
    if (task % 10 === 0) plan.push(`## Wave ${task / 10} — parts`, "");
    plan.push(`### Task ${task}: Part ${task}`, "", `**Spec:** doc/specs/x.md ${anchor}`, "", "**Files:**");
    plan.push(`- Create: ${test}`, `- Test: ${test}`, "", "**Tests:**", `- \`node --test ${test}\``);
    plan.push(`- baseline: new @ ${sha}`, "", `  Export \`part${task}()\`.`, "");
    coverage.push(`| ${anchor} | part | Task ${task} |`);
  }
  const text = [...plan, ...coverage].join("\n");
  const files = { exists: () => false, expand: () => ({ ok: true, paths: [] }) as const };
  return () => checkPlan(text, spec.join("\n"), files).count;
}

/** Checks that must look into the documents, each of which holds at the far end of them. */
function gradingScene(): { lines: readonly string[]; answer: Answer; needles: readonly string[] } {
  const filler = "The total is rounded before it is divided, and nothing else of it changes. ";
  const needles = Array.from({ length: 1000 }, (_, index) => `term-${index}-end`);
  const documents = Array.from({ length: 4 }, (_, place) => ({
    name: `docs/page-${place}.md`,
    text: filler.repeat(Math.ceil((64 * 1024) / filler.length)) + needles.join(" "),
  }));
  const output = needles.join(" ");
  const verbs = ["contains:@grounded:", "regex:@grounded:"];
  const lines = needles.map((needle, index) => `${verbs[index % verbs.length]}${needle}`);
  return { lines, answer: { output, structured: null, diff_files: [], documents }, needles };
}
