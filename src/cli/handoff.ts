/** `writ handoff`. */
import { type Handoff, type HandoffOptions, isFileStem, notWritten, writeHandoff } from "../brief/handoff.ts";
import { quoteWords } from "../core/brief/quote.ts";
import { type TurnText, turnText } from "../core/brief/turn-text.ts";
import { isClosed } from "../core/contract/state.ts";
import { EXIT, WritError } from "../core/error.ts";
import { continuedBy, showHandoff } from "../editor/look.ts";
import { readBodyFile } from "../host/named-file.ts";
import { readStdinText } from "../host/stdin.ts";
import { verifyRecord } from "../record/verify.ts";
import { LARGEST_BRIEF } from "./brief/read.ts";
import { briefWorld } from "./brief/world.ts";
import { defineCommand, type Output } from "./command.ts";
import { STORE_OPTION } from "./flow-world.ts";
import { oneLineText } from "./phase/answer.ts";
import { inWorld, openReadingWorld } from "./world.ts";

/** The words that tools of the family know. */
const FAULTS = {
  missing: (flag: string) => `Handoff not written: ${flag} has no value`,
  twice: (flag: string) => `Handoff not written: ${flag} given twice`,
};
const SKILL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const text = (valueHint: string, description: string) =>
  ({ type: "string", valueHint, description, faults: FAULTS }) as const;
const texts = (valueHint: string, description: string) =>
  ({ ...text(valueHint, description), multiple: true }) as const;

export const command = defineCommand({
  meta: { name: "handoff", description: "Write a brief by which a fresh session goes on with this flow" },
  args: {
    out: text("PATH", "Write it to this file"),
    key: text("STEM", "Write it to the mailbox, as STEM.md (default: the branch)"),
    worktree: text("PATH", "The checkout to hand off (default: this one)"),
    title: text("TEXT", "The title (default: the first line of the intent; without one: continue BRANCH)"),
    intent: text("TEXT", "What the work is for"),
    decision: texts("TEXT", "A decision that was made; several are given one by one"),
    rejected: texts("TEXT", "An alternative that was rejected"),
    question: texts("TEXT", "What is still open"),
    skill: texts("NAME", "A skill that was loaded"),
    from: text("FILE", "Markdown with any of the headings that a person writes; - is standard input"),
    contract: text("ID", "Say how this open turn stands: its state, its gaps, its last commands, from row and record"),
    ledger: text("PATH", "The loop ledger (default: the one that names the spec)"),
    hotfix: { type: "boolean", description: "Leave the flow out: a hotfix has none" },
    print: { type: "boolean", description: "Print the brief and write no file" },
    ...STORE_OPTION,
    json: { type: "boolean", description: "Print one JSON document" },
  },
  examples: [
    'writ handoff --key x --title "continue greeting cache" --skill handoff',
    'writ handoff --from notes.md --decision "keep the cache bounded" --rejected "persist to disk"',
    "writ handoff --contract a3f1c09d2be47a650.5d2e8c01b7f4",
  ],
  notes: [
    "Under the branch's name the brief of another checkout is never replaced; under --key and --out it is.",
    "Without --contract nothing of a turn is in the brief; with it the turn's goal stands for an intent that is not given, and its first line for the title.",
    "The mailbox is pi-handoff in the temporary folder, or WRIT_HANDOFF_DIR. writ docs briefs tells what a brief says and how it is resumed.",
  ],
  exits: {
    0: "written",
    2: "the call makes no sense",
    3: "not written, and why",
    4: "the store is locked, or git is missing",
  },
  async run({ args, json, out }) {
    const options = await readOptions(args);
    const world = briefWorld(args.store, out);
    const made = writeHandoff(world, {
      ...options,
      worktree: args.worktree === undefined ? null : world.resolve(world.cwd, args.worktree),
    });
    for (const { line, message } of made.dropped) out.talk(`Warning: --from line ${line}: ${message}`);
    if (json)
      out.document({ ok: true, path: made.path, process: made.process, resume: resumeWords(made), ...textOf(made) });
    else print(out, made);
    made.mark();
    if (made.plain !== null) out.talk(`Plain handoff: ${made.plain}.`);
    if (made.lacks !== null)
      out.talk(`Its branch has no ${made.lacks}: writ resume stops at this brief until it has one.`);
    if (options.turn === null) talkOfTurn(out);
    return EXIT.ok;
  },
});

type Args = Parameters<(typeof command)["run"]>[0]["args"];

/** Errors: `usage`, and those of a file that cannot be read */
async function readOptions(args: Args): Promise<Omit<HandoffOptions, "worktree">> {
  for (const [name, value] of [
    ["--out", args.out],
    ["--key", args.key],
    ["--contract", args.contract],
  ] as const) {
    if (value === "") throw notWritten(`${name} has no value`, true);
  }
  if (args.out !== undefined && args.key !== undefined) throw notWritten("--out and --key are exclusive", true);
  if (args.key !== undefined && !isFileStem(args.key)) throw notWritten("--key is not a valid file name stem", true);
  const wrong = args.skill.find((name) => !SKILL_NAME.test(name));
  if (wrong !== undefined) throw new WritError("usage", `"${wrong}" is no name of a skill`);
  return {
    out: args.out ?? null,
    key: args.key ?? null,
    from: args.from === undefined ? null : await readFrom(args.from),
    human: {
      title: args.title === undefined ? null : oneLineText(args.title, "title"),
      intent: args.intent ?? null,
      decisions: [
        ...args.decision.map((each) => ({ text: each, rejected: false })),
        ...args.rejected.map((each) => ({ text: each, rejected: true })),
      ],
      questions: args.question,
      skills: args.skill,
    },
    turn: args.contract === undefined ? null : readTurn(args.contract),
    ledger: args.ledger ?? null,
    hotfix: args.hotfix,
    print: args.print,
  };
}

/** Where this shell works on an open turn, its brief says nothing of it unless asked. */
function talkOfTurn(out: Output): void {
  inWorld(openReadingWorld(), (world) => {
    if (world.contractId === null) return;
    const live = continuedBy(world, world.contractId) ?? world.contractId;
    const row = world.store?.read((tables) => tables.handoffs.find(live)) ?? null;
    if (row === null || isClosed(row.agent_state)) return;
    out.talk(`Nothing is said of the open turn ${live}: --contract ${live} adds how it stands.`);
  });
}

/** What a brief says of an open turn. Errors: `handoff_not_written`, where there is none or its record was touched */
function readTurn(id: string): TurnText {
  return inWorld(openReadingWorld(), (world) => {
    try {
      const shown = showHandoff(world, id);
      const { contract_id, agent_state } = shown.row;
      if (isClosed(agent_state)) {
        const live = continuedBy(world, contract_id);
        const next = live === null ? `writ contract show ${contract_id}` : `writ handoff --contract ${live}`;
        throw notWritten(`contract ${contract_id} is closed (${agent_state})`, false, next);
      }
      verifyRecord(world, contract_id);
      return turnText(shown);
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      if (error.code === "no_row") throw notWritten(`there is no contract or row "${id}"`, false, "writ contract list");
      if (error.code === "record_broken") throw notWritten(error.message, false, `writ record verify ${id}`);
      throw error;
    }
  });
}

async function readFrom(file: string): Promise<string> {
  return file === "-" ? await readStdinText(LARGEST_BRIEF) : await readBodyFile(file, LARGEST_BRIEF);
}

/** The operands of `writ resume`; empty for a brief that was only printed. */
function resumeWords({ path, process, toplevel, isInGit }: Handoff): readonly string[] {
  if (path === null) return [];
  return process && isInGit && toplevel !== null ? [path, toplevel] : [path];
}

function textOf({ path, text: brief }: Handoff) {
  return path === null ? { text: brief } : {};
}

function print(out: Output, made: Handoff): void {
  const { path, process, isInGit, text: brief } = made;
  if (path === null) {
    // Byte for byte: what is piped on is resumed by its digest.
    out.raw(brief);
    return;
  }
  out.line(`Handoff written: ${path}`);
  out.line(`writ resume ${quoteWords(resumeWords(made))}`);
  if (process && !isInGit) {
    out.line("No resumable worktree found - pass the worktree path as the second argument.");
  }
}
