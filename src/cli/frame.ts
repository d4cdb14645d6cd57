/**
 * One command line, from its words to its exit status: finds the command, loads it, reads its arguments, runs it.
 *
 * `run` lets every error through; whoever catches it hands it to `report`, which knows in which form this
 * call is owed its errors.
 */
import { EXIT, WritError } from "../core/error.ts";
import { isTerminal } from "../host/stream.ts";
import { keepOwnerBits } from "../host/umask.ts";
import { hasFlag, parseArguments } from "./arguments.ts";
import type { Call, Output } from "./command.ts";
import { usageOf } from "./declaration.ts";
import { openOutput, printError } from "./print.ts";
import { route, type Surface } from "./route.ts";
import { MISPLACED, TOPICS, TREE } from "./tree.ts";

const WRIT: Surface = { tree: TREE, misplaced: MISPLACED, topics: TOPICS };

export type Frame = {
  /** Runs the command and answers with its exit status. Throws whatever the command throws. */
  run(): Promise<number>;
  /** Prints what was thrown and answers with the exit status that the process ends in. */
  report(thrown: unknown): number;
};

/** Errors: `usage`: what would be done is not what was typed. */
async function assertUtf8(argv: readonly string[]): Promise<void> {
  const { firstBrokenWord } = await import("../host/words.ts");
  const at = firstBrokenWord(argv);
  if (at === null) return;
  throw new WritError("usage", `Word ${at + 1} behind "writ" is no UTF-8: ${JSON.stringify(argv[at])}`, {
    hint: "Hand the text over in UTF-8; a name that is none can stand in a script that is run",
  });
}

/**
 * A command line that has not been run yet.
 *
 * @param argv  the words behind `writ`
 * @param debug show the stack of a defect, whatever the words say
 * @param surface the commands there are
 */
export function openFrame(argv: readonly string[], debug: boolean, surface: Surface = WRIT): Frame {
  let hook = false;
  // Rendered for an error only.
  let usage = (): readonly string[] => [];
  let json = hasFlag(argv, "--json");
  let answered = false;
  const output = openOutput();
  const out: Output = {
    ...output,
    document: (value) => {
      answered = true;
      output.document(value);
    },
    product: (value) => {
      answered = true;
      output.product(value);
    },
    exact: (json) => {
      answered = true;
      output.exact(json);
    },
    exactPieces: (pieces) => {
      answered = true;
      output.exactPieces(pieces);
    },
    raw: (text) => {
      answered = true;
      output.raw(text);
    },
  };

  async function run(): Promise<number> {
    keepOwnerBits();
    if (argv.some((word) => word.includes("\ufffd"))) await assertUtf8(argv);
    const found = route(surface, argv);
    hook = found.node?.hook === true;
    if (found.wanted === "topic")
      return (await import("./help.ts")).printTopic(found.words[0] ?? "", found.json || json);
    if (found.wanted === "group" || found.node?.load === undefined) {
      return (await import("./help.ts")).printGroupHelp(found, json);
    }
    const { command } = await found.node.load();
    if (found.wanted === "help") return (await import("./help.ts")).printCommandHelp(command, found.node, json);
    usage = () => usageOf(command);
    if (command.output !== undefined && command.output !== "switch") json = command.output === "always";
    const call = parseArguments(command, found.argv);
    json = command.output !== "none" && (call.json || found.json);
    // The call was made from this very command's declaration.
    return await command.run({ ...call, json, out } as Call as never);
  }

  function report(thrown: unknown): number {
    // A document that was printed is the one that was owed; what goes wrong after it is talk.
    const owed = json && !answered;
    if (!hook) {
      return printError(thrown, {
        json: owed,
        debug: debug || hasFlag(argv, "--debug"),
        usage: usage(),
        oneLine: false,
      });
    }
    const person = isTerminal(0);
    const status = printError(thrown, { json: owed, debug: false, usage: person ? usage() : [], oneLine: !person });
    return person && status === EXIT.usage ? status : EXIT.ok;
  }

  return { run, report };
}
