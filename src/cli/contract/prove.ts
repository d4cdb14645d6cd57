/** `writ contract prove`: the cited verification once more, in a fresh copy. */
import { resolve } from "node:path";
import { EXIT, WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { Expected } from "../../core/prove/plan.ts";
import { runCaptured } from "../../host/captured.ts";
import { copyFolder } from "../../host/copy.ts";
import { isFolder } from "../../host/folder.ts";
import { outsideOfGit } from "../../host/git-call.ts";
import { interruptible } from "../../host/interrupt.ts";
import { programFinder } from "../../host/program.ts";
import { isTerminal, writeAll } from "../../host/stream.ts";
import { type Proof, proveTurn } from "../../prove/prove.ts";
import type { World } from "../../prove/world.ts";
import { keepOutputOf } from "../../record/keep.ts";
import { defineCommand, type Output } from "../command.ts";
import { stoppedDocument } from "../print.ts";
import { everySecond, openProgress, type Progress } from "../progress.ts";
import { recordMeans } from "../record/world.ts";
import { instant, openReadingWorld } from "../world.ts";
import { JSON_SWITCH, wholeNumber } from "./address.ts";

const TIMEOUT_SECONDS = 600;
/** A day: a longer wait is a mistake in the number, and timers do not reach much further. */
const LONGEST_SECONDS = 86_400;

export const command = defineCommand({
  meta: { name: "contract prove", description: "Repeat a closed turn's verification in a fresh copy" },
  args: {
    contract: { type: "positional", required: true, description: "A contract id or a handoff id" },
    cwd: { type: "string", valueHint: "DIR", description: "Copy this folder instead of the one it ran in" },
    timeout: {
      type: "string",
      valueHint: "SECONDS",
      description: `Stop the command after this time (default ${TIMEOUT_SECONDS})`,
    },
    ...JSON_SWITCH,
  },
  examples: ["writ contract prove 41", "writ contract prove a3f1c09d2be47a650.5d2e8c01b7f4 --timeout 60 --json"],
  notes: [
    "The copy holds what git tracks or would track, as it is now; of a folder outside of git, everything.",
    "It is removed afterwards, and nothing is written to the store.",
    "A copy is no sandbox: what the command does elsewhere, it does.",
  ],
  exits: {
    0: "it ended as the row says",
    1: "it ended otherwise, or the record of the turn is broken",
    3: "no such turn, or nothing to prove: not closed, no command, no run on record",
    4: "it could not be run, or did not end in time",
  },
  async run({ args, json, out }) {
    const seconds = wholeNumber(args.timeout, "--timeout", 1) ?? TIMEOUT_SECONDS;
    if (seconds > LONGEST_SECONDS) {
      throw new WritError("usage", `--timeout takes at most ${LONGEST_SECONDS} seconds, not "${args.timeout}"`);
    }
    if (args.cwd !== undefined && !isFolder(args.cwd)) {
      throw new WritError("usage", `--cwd "${args.cwd}" is no folder`, { hint: "Name a folder that is there" });
    }
    using interrupt = interruptible();
    const reading = openReadingWorld();
    try {
      const proof = await watched(async (progress) =>
        proveTurn(worldOf(reading, progress, out), {
          contract: args.contract,
          folder: args.cwd === undefined ? null : resolve(args.cwd),
          timeout_ms: seconds * 1000,
          signal: interrupt.signal,
        }),
      );
      print(proof, json, out);
      return proof.outcome === "agrees" ? EXIT.ok : EXIT.no;
    } catch (error) {
      const stopped = interrupt.received();
      if (stopped === null || error !== interrupt.signal.reason) throw error;
      const message = `Stopped by ${stopped.name}`;
      if (json) out.document(stoppedDocument(message));
      else out.talk(message);
      return stopped.status;
    } finally {
      reading.store?.close();
    }
  },
});

async function watched<T>(work: (progress: Progress) => Promise<T>): Promise<T> {
  using progress = openProgress({
    isTerminal: isTerminal(2),
    write: (text) => writeAll(2, text),
    ticking: everySecond,
  });
  return await work(progress);
}

function worldOf(reading: ReturnType<typeof openReadingWorld>, progress: Progress, out: Output): World {
  const means = recordMeans();
  return {
    store: reading.store,
    sha256: reading.sha256,
    values: means.values,
    copyFolder: (folder, signal) => copyFolder(folder, { signal, onProgress: progress.show }),
    run: (argv, how) => {
      const mark = crypto.randomUUID();
      return runCaptured(argv, { ...how, env: { ...environmentOf(how.cwd), WRIT_PROOF: mark }, mark });
    },
    keepOutput: () => keepOutputOf(means),
    isProgram: programFinder(process.env),
    progress: progress.show,
    warn: (text) => out.talk(`Warning: ${text}`),
  };
}

/** The caller's environment; but the proof is no run of the turn, and nothing in it leads back to the original. */
function environmentOf(cwd: string): Record<string, string | undefined> {
  const { WRIT_CONTRACT_ID: _, OLDPWD: __, ...rest } = outsideOfGit(process.env);
  return { ...rest, PWD: cwd };
}

function print(proof: Proof, json: boolean, out: Output): void {
  for (const line of proof.copy.skipped) out.talk(`Left out of the copy: ${line}`);
  if (json) out.document(documentOf(proof));
  else for (const line of plainLines(proof)) out.line(line);
}

function documentOf(proof: Proof): JsonObject & { ok: boolean } {
  const { outcome, contract_id, handoff_id, command, moved, seq, expected, end, output, copy } = proof;
  return {
    ok: outcome === "agrees",
    status: outcome,
    contract_id,
    handoff_id,
    command,
    moved_command: moved,
    expected: { seq, ...expected },
    found: {
      exit_code: end.exit_code,
      signal: end.signal,
      started_at: instant(end.started_ms),
      ended_at: instant(end.ended_ms),
      output: output.output,
      tail: output.tail,
      truncated: output.truncated || end.cut,
      output_bytes: end.cut ? null : output.output_bytes,
      output_sha256: end.cut ? null : output.output_sha256,
    },
    copy,
  };
}

function plainLines(proof: Proof): readonly string[] {
  const { outcome, handoff_id, command, moved, seq, expected, end, output, copy } = proof;
  const verdict = outcome === "agrees" ? "OK: today agrees with the row" : "No: today does not agree with the row";
  const lines = [
    `${verdict} (handoff_id=${handoff_id}).`,
    `command  ${command}`,
    ...(moved === null ? [] : [`run as   ${moved}`]),
    `row      ${expectedText(expected)} (${expected.from === "record" ? `record, seq ${seq}` : "as the envelope claims"})`,
    `today    ${endText(end)}`,
    `copy     ${copyText(copy)}`,
  ];
  if (outcome === "agrees") return lines;
  if (copy.ignored.length > 0) lines.push(`not in it, since git ignores them: ${copy.ignored.join(", ")}`);
  const printed = [output.output, ...(output.truncated ? ["[…]"] : []), output.tail ?? ""].join("");
  if (printed.trim() !== "")
    lines.push(
      "",
      ...printed
        .trimEnd()
        .split("\n")
        .map((line) => `  ${line}`),
    );
  return lines;
}

function expectedText(expected: Expected): string {
  return expected.failed ? "failed" : endText(expected);
}

function endText({ exit_code, signal }: { readonly exit_code: number | null; readonly signal: string | null }): string {
  if (signal !== null) return `killed by ${signal}`;
  return exit_code === null ? "unknown" : `exit ${exit_code}`;
}

function copyText({ kind, source, commit, dirty, files, bytes }: Proof["copy"]): string {
  const size = `${files} files, ${bytes} bytes`;
  if (kind === "folder") return `folder ${source}, ${size}`;
  const at = commit === null ? "before its first commit" : `at ${commit.slice(0, 12)}`;
  return `git state of ${source} ${at}${dirty === false ? "" : ", dirty"}, ${size}`;
}
