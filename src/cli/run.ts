/** `writ run`: behaves as the command does, and adds a record. */
import { resolve } from "node:path";
import { WritError } from "../core/error.ts";
import { redact } from "../core/record/redact.ts";
import { quoteWords } from "../core/record/words.ts";
import { isFolder } from "../host/folder.ts";
import { runCommand } from "../host/process.ts";
import { keepOutputOf, keepRun } from "../record/keep.ts";
import { defineCommand, type Output } from "./command.ts";
import { openRecordWorld, recordMeans } from "./record/world.ts";
import { instant } from "./world.ts";

export const command = defineCommand({
  meta: { name: "run", description: "Run a command and record how it went" },
  args: {
    "contract-id": { type: "string", alias: "draft-id", valueHint: "ID", description: "The contract it belongs to" },
    cwd: { type: "string", valueHint: "DIR", description: "Run it in this folder" },
    command: { type: "string", alias: "c", valueHint: "TEXT", description: "Run this text with sh" },
  },
  rest: { name: "CMD [ARG...]", description: "The command and its arguments" },
  output: "none",
  withoutJson:
    '"writ run" prints what its command prints and has no --json; what it recorded: writ contract show ID --json',
  usage: ["writ run [--contract-id ID] [--cwd DIR] -- CMD [ARG...]", "writ run [--contract-id ID] [--cwd DIR] -c TEXT"],
  examples: ["writ run -- bun test checkout", "writ run -c 'make 2>&1 | tee build.log'"],
  notes: [
    "Standard input, both streams, the terminal and the exit status are the command's own. What it prints is kept redacted: the first and the last 500 characters, its size and its digest.",
    "The record is written when the command has ended: where writ run itself is killed, nothing is recorded, and the command may run on.",
    "A signal goes to the command alone. What it started and left behind runs on, as without writ; where that still holds the output open after 2 seconds, writ run ends without it.",
    "Without --contract-id the record goes to WRIT_CONTRACT_ID; with neither the command runs unrecorded.",
  ],
  exits: { 0: "the command's own status, whatever it is", 126: "it cannot be executed", 127: "it was not found" },
  async run({ args, rest, out }) {
    const shell = args.command;
    if ((shell === undefined) === (rest.length === 0)) {
      throw new WritError(
        "usage",
        shell === undefined ? "There is no command" : "A command was given twice: behind -- and as -c",
        {
          hint: "Type: writ run -- CMD, or writ run -c 'SHELL COMMAND'",
        },
      );
    }
    checkFolder(args.cwd);
    const means = recordMeans();
    const keeping = keepOutputOf(means);
    const end = await runCommand(shell === undefined ? rest : ["sh", "-c", shell], {
      cwd: args.cwd,
      keep: keeping.push,
    });
    if (shell === undefined && end.status === 127) tellOfShellLine(out, rest);
    const named = args["contract-id"] ?? null;
    if (named === null && (process.env.WRIT_CONTRACT_ID ?? "").trim() === "") {
      out.talk("writ run: nothing was recorded: no contract was named");
      return end.status;
    }
    try {
      const output = keeping.finish();
      const masked = (text: string) => redact(text, "command", means.values);
      const world = openRecordWorld();
      try {
        const kept = keepRun(world, named, {
          source: "run",
          harness: null,
          tool: "bash",
          tool_use_id: null,
          command: masked(shell ?? quoteWords(rest)),
          argv: shell === undefined ? rest.map(masked) : null,
          path: null,
          cwd: resolve(args.cwd ?? "."),
          exit_code: end.status,
          signal: end.signal,
          failed: false,
          exit_note: null,
          started_at: instant(end.started_ms),
          ended_at: instant(end.ended_ms),
          output: output.output,
          tail: output.tail,
          output_bytes: end.cut ? null : output.output_bytes,
          output_sha256: end.cut ? null : output.output_sha256,
          truncated: output.truncated || end.cut,
          ordered: end.ordered,
        });
        if (kept.contract_id === null) out.talk(`writ run: nothing was recorded: ${kept.why}`);
        else if (!kept.has_row && world.drafts.read(kept.contract_id) === null) {
          out.talk(
            `writ run: no turn of this store has the id ${kept.contract_id}: the run is recorded under it, and no turn sees it`,
          );
        } else if (kept.after_close) {
          out.talk(`writ run: ${kept.contract_id} is closed: the run is recorded behind what its close saw`);
        }
      } finally {
        world.store.leave();
      }
    } catch (error) {
      // What went wrong with the record never changes what the command's status was.
      out.talk(`writ run: nothing was recorded: ${error instanceof Error ? error.message : String(error)}`);
    }
    return end.status;
  },
});

/** What only a shell knows: words that it carries out itself. */
const SHELL_WORDS = new Set([
  "cd",
  "export",
  "source",
  "alias",
  "set",
  "unset",
  "ulimit",
  "umask",
  "eval",
  "exec",
  "if",
  "for",
  "while",
  "!",
  "{",
]);

/** What was meant as a line for a shell: an assignment or a word of it first, or one word with blanks that names no program. */
function tellOfShellLine(out: Output, words: readonly string[]): void {
  const [word = ""] = words;
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word) || SHELL_WORDS.has(word)) {
    out.talk(
      `writ run: ${JSON.stringify(word)} is for a shell; -c takes one string: writ run -c ${quoteWords([quoteWords(words)])}`,
    );
    return;
  }
  if (words.length > 1 || !/\s/.test(word.trim()) || Bun.which(word) !== null) return;
  out.talk(`writ run: it is one word with blanks in it; -c takes one string: writ run -c ${quoteWords([word])}`);
}

/** Errors: `usage`. */
function checkFolder(path: string | undefined): void {
  if (path === undefined || isFolder(path)) return;
  throw new WritError("usage", `--cwd "${path}" is no folder`, { hint: "Name a folder that is there" });
}
