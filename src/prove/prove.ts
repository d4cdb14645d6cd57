/**
 * Repeating the verification of a closed turn: the cited command once more, in a fresh copy of the folder it ran in.
 *
 * Nothing is written to the store. A copy is no sandbox: a command that leaves its folder by itself is not held back.
 */
import { readClosedTurn } from "../core/contract/closed-turn.ts";
import { WritError } from "../core/error.ts";
import type { CommandEnd } from "../core/prove/command-end.ts";
import type { FreshCopy } from "../core/prove/fresh-copy.ts";
import { agrees, type Expected, planProof } from "../core/prove/plan.ts";
import { type Move, relocate } from "../core/prove/relocate.ts";
import type { StreamedOutput } from "../core/record/capture.ts";
import { quoted } from "../core/record/quoted.ts";
import { quoteWords } from "../core/record/words.ts";
import type { World } from "./world.ts";

export type ProofRequest = {
  /** A contract id or a handoff id. */
  readonly contract: string;
  /** The folder instead of the recorded one; null: the recorded one. */
  readonly folder: string | null;
  readonly timeout_ms: number;
  /** Ends the proof; its reason is thrown once the copy is gone. */
  readonly signal: AbortSignal;
};

export type Proof = {
  readonly outcome: "agrees" | "disagrees";
  readonly contract_id: string;
  readonly handoff_id: number;
  /** As recorded. */
  readonly command: string;
  /** As repeated, where the recorded one names the folder that was copied; null where it is the same. */
  readonly moved: string | null;
  /** The `seq` of the run that was repeated. */
  readonly seq: number;
  readonly expected: Expected;
  readonly end: CommandEnd;
  readonly output: StreamedOutput & { readonly output_sha256: string };
  readonly copy: Omit<FreshCopy, "remove" | "root" | "folder">;
};

/**
 * Proves one closed turn.
 *
 * Errors: those of reading it (`no_row`, `not_closed`, `nothing_recoverable`, `record_broken`); `nothing_to_prove`;
 * `copy_failed`; `proof_inconclusive` when the time was up or the machine lacks the program; the signal's reason
 */
export async function proveTurn(world: World, request: ProofRequest): Promise<Proof> {
  const turn = readClosedTurn(world.store, request.contract, world.sha256);
  const { run, expected } = planProof(turn, world.values);
  const folder = request.folder ?? run.cwd;
  if (folder === null) {
    throw new WritError("nothing_to_prove", `The record does not say where ${quoted(run.command)} ran`, {
      hint: "Name the folder with --cwd DIR",
    });
  }
  if (expected.exit_code !== NOT_FOUND) checkProgram(world, run.argv);
  const { signal, timeout_ms } = request;
  const copy = await world.copyFolder(folder, signal);
  let moved: { readonly text: string; readonly argv: readonly string[] };
  let end: CommandEnd;
  const keeping = world.keepOutput();
  try {
    moved = inCopy(run, movesTo(copy, [folder, run.cwd ?? folder]));
    world.progress(`running: ${run.command}`);
    end = await world.run(moved.argv, { cwd: copy.folder, timeout_ms, signal, keep: keeping.push });
  } finally {
    const why = copy.remove();
    if (why !== null) world.warn(why);
  }
  signal.throwIfAborted();
  if (end.ended_by === "time") {
    throw new WritError(
      "proof_inconclusive",
      `${quoted(run.command)} did not end within ${timeout_ms / 1000} seconds and was stopped`,
      {
        hint: "Give it more time with --timeout SECONDS",
        details: { contract_id: turn.row.contract_id },
      },
    );
  }
  const { kind, source, commit, dirty, files, bytes, skipped, ignored } = copy;
  return {
    outcome: agrees(expected, end) ? "agrees" : "disagrees",
    contract_id: turn.row.contract_id,
    handoff_id: turn.row.id,
    command: run.command,
    moved: moved.text === run.command ? null : moved.text,
    seq: run.seq,
    expected,
    end,
    output: keeping.finish(),
    copy: { kind, source, commit, dirty, files, bytes, skipped, ignored },
  };
}

/** What a shell says of a program that it does not find. */
const NOT_FOUND = 127;

/** A program that this machine lacks says nothing of the work. One that is named by its path belongs to the work. */
function checkProgram(world: World, argv: readonly string[] | null): void {
  const [program] = argv ?? [];
  if (program === undefined || program.includes("/") || world.isProgram(program)) return;
  throw new WritError("proof_inconclusive", `There is no program ${quoted(program)} on this machine's PATH`, {
    hint: "Install it, or prove the turn where it ran",
  });
}

type Runnable = { readonly command: string; readonly argv: readonly string[] | null };

/** The command as it is to run in the copy: as words where they are known, else by a shell. */
function inCopy(
  { command, argv }: Runnable,
  moves: readonly Move[],
): { readonly text: string; readonly argv: readonly string[] } {
  const move = (text: string) => relocate(text, moves);
  if (argv === null) return { text: move(command), argv: ["sh", "-c", move(command)] };
  const words = argv.map(move);
  return { text: words.every((word, index) => word === argv[index]) ? command : quoteWords(words), argv: words };
}

/**
 * The paths under which the copied tree may be named: its real one, the folder as it was spelled, and what that spelling
 * makes of the root.
 */
function movesTo(copy: FreshCopy, spelled: readonly string[]): readonly Move[] {
  const below = copy.folder.slice(copy.root.length);
  const moves: Move[] = [{ from: copy.source, to: copy.root }];
  for (const folder of spelled) {
    const from = folder.replace(/(?<=.)\/$/, "");
    moves.push({ from, to: copy.folder });
    if (from.endsWith(below)) moves.push({ from: from.slice(0, from.length - below.length), to: copy.root });
  }
  return moves;
}
