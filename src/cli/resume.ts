/** `writ resume`. */

import { resume } from "../brief/resume/resume.ts";
import type { Answers, ResumeWorld } from "../brief/resume/world.ts";
import { callDocument } from "../core/brief/call-text.ts";
import { EXIT, WritError } from "../core/error.ts";
import { isTaskStatus, TASK_STATUSES, type TaskStatus } from "../core/tracker/task.ts";
import { continuedBy } from "../editor/look.ts";
import { askLine } from "../host/prompt.ts";
import { readStdinWithin } from "../host/stdin.ts";
import { isTerminal } from "../host/stream.ts";
import { LARGEST_BRIEF, readBriefText } from "./brief/read.ts";
import { briefWorld } from "./brief/world.ts";
import { defineCommand } from "./command.ts";
import { STORE_OPTION } from "./flow-world.ts";
import { oneLineText } from "./phase/answer.ts";
import { inWorld, openReadingWorld } from "./world.ts";

/** How long a pipe may stay silent, and how long it may take then, in milliseconds. */
const FIRST_MS = 2_000;
const WHOLE_MS = 60_000;

export const command = defineCommand({
  meta: { name: "resume", description: "Go on with a flow from its handoff brief" },
  args: {
    what: {
      type: "positional",
      required: false,
      valueHint: "BRIEF",
      description: "A brief, - for standard input, a worktree, or a spec to take up",
    },
    where: { type: "positional", required: false, valueHint: "WORKTREE", description: "Where to resume the brief" },
    "plan-only": { type: "boolean", description: "Check everything, print the calls, make none" },
    "skills-dir": { type: "string", valueHint: "DIR", description: "Look the brief's skills up in this folder" },
    pick: { type: "string", valueHint: "N", description: "Which of the briefs of the mailbox" },
    base: { type: "string", valueHint: "REF", description: "Where the branch began, if nothing tells" },
    spec: { type: "string", valueHint: "PATH", description: "Which of several specs" },
    plan: { type: "string", valueHint: "PATH", description: "Which of several plans" },
    approved: { type: "boolean", description: "The spec is approved: its plan is to be written" },
    "not-approved": { type: "boolean", description: "The spec is not approved" },
    confirm: { type: "boolean", description: "The proposed tasks and stage are right, with the changes given" },
    task: { type: "string", multiple: true, valueHint: "N=STATUS", description: "Change the status of Task N" },
    stage: { type: "enum", options: ["implement", "verify"], description: "Change the stage" },
    target: { type: "enum", options: ["verify", "stop"], description: "Where to go on when every task is done" },
    worktree: { type: "string", valueHint: "PATH", description: "Which of several worktrees of a spec" },
    "create-worktree": { type: "boolean", description: "Make the worktree of a spec that has none" },
    "skip-pr-check": { type: "boolean", description: "Do not ask gh whose branch the pull request is on" },
    "pending-recovered": { type: "boolean", description: "The ledger's pending return was recovered" },
    ...STORE_OPTION,
    json: { type: "boolean", description: "Print one JSON document" },
  },
  usage: ["writ resume [BRIEF|-|WORKTREE|SPEC.md] [WORKTREE] [options]"],
  examples: ["writ resume --plan-only /tmp/pi-handoff/x.md", "writ resume x.md .worktrees/x"],
  notes: [
    "Everything that can be checked is checked before the first call. Earlier phases are skipped with a reason, never completed; gate history and reviews are not restored.",
    "What only a person may say is asked at a terminal, or answered by a flag. writ docs briefs tells the whole of it.",
  ],
  exits: {
    0: "resumed, or nothing to restore",
    1: "the brief has a stop, or the plan has findings that cannot be repaired",
    2: "the call makes no sense",
    3: "stopped, and why; or an answer is needed",
    4: "the store is locked, or git or gh does not answer",
  },
  async run({ args, json, out }) {
    const said: string[] = [];
    const notices: string[] = [];
    const answers = answersOf(args);
    // An operand becomes a reason, which is one line.
    const words = [args.what, args.where].flatMap((word) => (word === undefined ? [] : [oneLineText(word, "operand")]));
    const stdin = await stdinText(args.what);
    const skillName = args["skills-dir"] === undefined ? undefined : await skillReader();
    const base = briefWorld(args.store, out, skillName);
    const world: ResumeWorld = {
      ...base,
      answers,
      typed: typedWords(),
      say: (text) => (json ? void said.push(text) : out.line(text)),
      notice: (text) => (json ? void notices.push(text) : out.talk(text)),
      ask: askLine,
      turn: turnAt,
    };
    const skillsDir = args["skills-dir"] === undefined ? null : base.resolve(base.cwd, args["skills-dir"]);
    const { calls, prs, ...resumed } = resume(world, { words, stdin }, { planOnly: args["plan-only"], skillsDir });
    if (json) {
      const lists = { calls: calls.map(callDocument), prs: prs.map((pr) => ({ ...pr })) };
      out.document({ ok: true, ...resumed, ...lists, lines: said, notices });
    }
    return EXIT.ok;
  },
});

type Args = Parameters<(typeof command)["run"]>[0]["args"];

/** Errors: `usage` */
function answersOf(args: Args): Answers {
  if (args.approved && args["not-approved"]) {
    throw new WritError("usage", "--approved and --not-approved cannot be given together");
  }
  if (args.pick !== undefined && !/^[1-9]\d{0,5}$/.test(args.pick)) {
    throw new WritError("usage", `--pick takes the number of a brief, not "${args.pick}"`);
  }
  return {
    pick: args.pick === undefined ? null : Number(args.pick),
    base: args.base ?? null,
    spec: args.spec ?? null,
    plan: args.plan ?? null,
    approved: args.approved ? true : args["not-approved"] ? false : null,
    confirm: args.confirm,
    tasks: new Map(args.task.map(taskEdit)),
    stage: args.stage === "implement" || args.stage === "verify" ? args.stage : null,
    target: args.target === "verify" || args.target === "stop" ? args.target : null,
    worktree: args.worktree ?? null,
    skipPrCheck: args["skip-pr-check"],
    pendingRecovered: args["pending-recovered"],
    createWorktree: args["create-worktree"],
  };
}

/** Errors: `usage` */
function taskEdit(text: string): readonly [number, TaskStatus] {
  const [, number = "", status = ""] = /^(\d{1,6})=([a-z_]+)$/.exec(text) ?? [];
  if (number !== "" && isTaskStatus(status)) return [Number(number), status];
  throw new WritError("usage", `--task takes N=STATUS, not "${text}"`, {
    hint: `STATUS is ${TASK_STATUSES.join(", ")}`,
  });
}

async function stdinText(operand: string | undefined): Promise<string | null> {
  if (operand === "-") return await readBriefText("-");
  if (operand !== undefined || isTerminal(0)) return null;
  return await readStdinWithin({ maxBytes: LARGEST_BRIEF, firstMillis: FIRST_MS, wholeMillis: WHOLE_MS });
}

function turnAt(contractId: string): ReturnType<ResumeWorld["turn"]> {
  return inWorld(openReadingWorld(), (reading) => {
    const row = reading.store?.read((tables) => tables.handoffs.find(contractId)) ?? null;
    return row === null ? null : { agent_state: row.agent_state, live: continuedBy(reading, contractId) };
  });
}

/** YAML is read for this one option alone. */
async function skillReader() {
  return (await import("../core/brief/front-matter.ts")).frontMatterName;
}

function typedWords(): readonly string[] {
  const words = process.argv.slice(2);
  return words.slice(words.indexOf("resume") + 1);
}
