/** `writ gate apply`: the caller's own hand. Nothing else in writ brings a diff to a user's tree. */
import { realpathSync } from "node:fs";
import type { ProvenDiff } from "../../author/proven-diff.ts";
import { spelledOut } from "../../core/acceptance/quoting.ts";
import { WritError } from "../../core/error.ts";
import { changedLines } from "../../core/patch/apply.ts";
import { refusalText } from "../../core/patch/parse.ts";
import { chooseDiff, isPatch } from "../../gate/apply.ts";
import { type AppliedPatch, applyPatch } from "../../host/apply-patch.ts";
import { isFolder } from "../../host/folder.ts";
import { type Interruptible, interruptible } from "../../host/interrupt.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { readStdinText } from "../../host/stdin.ts";
import { sha256 } from "../../store/drafts.ts";
import { assertOneStdin, authorWorld } from "../author-world.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { gradeDocument } from "../grade.ts";
import { printParagraph } from "../paragraph.ts";
import { stoppedDocument } from "../print.ts";
import { oneLine } from "../table.ts";

/** A document of 64 legs, each with its diff and a long answer. */
const MAX_BYTES = 64 * 1024 * 1024;

export const command = defineCommand({
  meta: { name: "gate apply", description: "Apply the diff of a result to a folder of yours, all of it or nothing" },
  args: {
    result: {
      type: "positional",
      required: true,
      valueHint: "RESULT",
      description: "A result document, or a patch; - is standard input",
    },
    to: { type: "string", required: true, valueHint: "DIR", description: "The folder: the read root of the contract" },
    index: { type: "string", valueHint: "N", description: "The leg, from 0; needed where several have a diff" },
    contract: {
      type: "string",
      valueHint: "FILE",
      description: "Grade what writ runs recover kept by this contract first; --index is its subtask then",
    },
    "read-root": { type: "string", valueHint: "DIR", description: "With --contract: where its context_paths are" },
    yes: { type: "boolean", description: "Write; without it nothing is written" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ gate apply result.json --to .",
    "writ gate apply out/01/diff.patch --to ~/src/port --yes",
    "writ runs show run-5f0c | writ gate apply - --to .",
    "writ gate apply ~/.writ/run/recovered/wrt-0c1d.json --contract port.json --read-root . --to .",
  ],
  notes: [
    "Only the diff of a leg that succeeded is applied. What writ runs recover kept has no verdict: with --contract it is graded as writ grade does, and applied only where every check passes and a live leg would have succeeded. A patch has no verdict either: to name one is your own act, but a file called diff.unverified.patch is refused, also behind a link.",
    "Every line of the diff's context must stand in the folder as it does in the diff, at that very place; else nothing is touched. No file outside of the folder is written, and no link is followed.",
    "Ctrl-C, SIGTERM and SIGHUP leave all of it or nothing. After a SIGKILL or a power cut the same command goes on: a file that is as the diff makes it already is left alone where the others fit.",
    "For a tree that has moved on, the diff also fits git apply -p1 at the root of the work tree: in a folder below it git skips the patch and still ends in 0.",
  ],
  exits: {
    0: "it was applied; without --yes, it would be",
    1: "it does not fit this folder; nothing was touched",
    2: "there is no such file, leg or folder",
    3: "the leg did not succeed, or nobody has graded it, or the grade does not pass; nothing was touched",
    130: "SIGINT came; it says what was done, which is all of it or nothing (SIGTERM: 143, SIGHUP: 129)",
  },
  async run({ args, json, out }) {
    const index = wholeNumber(args.index, "--index", 0);
    const { result } = args;
    assertOneStdin([result, args.contract ?? ""]);
    if (args.contract === undefined && args["read-root"] !== undefined) {
      throw new WritError("usage", "--read-root goes with --contract: it says where the documents of the contract are");
    }
    const text = result === "-" ? await readStdinText(MAX_BYTES) : await readBodyFile(result, MAX_BYTES);
    const proven =
      args.contract === undefined ? null : await provenOf(args.contract, args["read-root"], text, result, index);
    const diff = proven?.diff ?? chooseDiff({ file: result, real: realPath(result) }, text, index);
    if (!isFolder(args.to)) {
      throw new WritError("no_folder", `There is no folder "${args.to}"`, {
        hint: "Name the read root of the contract",
      });
    }
    using interrupt = args.yes ? interruptible() : null;
    const applied = await untilStopped(interrupt, (signal) =>
      applyPatch(args.to, new TextEncoder().encode(diff), { dryRun: !args.yes, ...signal }),
    );
    const stopped = interrupt?.received() ?? null;
    if (applied === null) {
      const message = `Stopped by ${stopped?.name}; nothing was touched`;
      if (json) out.document(stoppedDocument(message));
      else out.talk(message);
      return stopped?.status ?? 1;
    }
    const files = filesOf(applied);
    for (const note of proven?.grade.notes ?? []) out.talk(`note: ${note}`);
    const isDone = applied.ok && args.yes;
    if (json) {
      const refusals = applied.ok ? [] : applied.refusals.map((refusal) => ({ ...refusal }));
      const grade = proven === null ? {} : { grade: gradeDocument(proven.grade) };
      const status = applied.ok ? "ok" : "no";
      out.document({ ok: applied.ok, status, to: args.to, applied: isDone, files, refusals, ...grade });
    } else if (applied.ok) {
      for (const { path, change, added, removed } of files) {
        const what = applied.already.has(path) ? "already" : change;
        out.line(`${what.padEnd(7)}  ${spelledOut(path)}  +${added} -${removed}`);
      }
      if (applied.already.size > 0) {
        out.line('What is called "already" stood there as the patch makes it: only the others are written.');
      }
      out.line(isDone ? `Applied to "${oneLine(args.to)}".` : "It fits. Nothing was written: --yes writes it.");
    } else {
      out.line(`It does not fit "${oneLine(args.to)}"; nothing was touched.`);
      for (const refusal of applied.refusals) printParagraph(out, refusalText(refusal), "  ");
    }
    return stopped?.status ?? (applied.ok ? 0 : 1);
  },
});

/** Null where a signal stopped it. Errors: those of the work */
async function untilStopped(
  interrupt: Interruptible | null,
  work: (options: { readonly signal?: AbortSignal }) => Promise<AppliedPatch>,
): Promise<AppliedPatch | null> {
  if (interrupt === null) return work({});
  try {
    return await work({ signal: interrupt.signal });
  } catch (error) {
    if (error === interrupt.signal.reason) return null;
    throw error;
  }
}

/** Errors: `usage`, and those of `provenDiff` */
async function provenOf(
  contract: string,
  readRoot: string | undefined,
  text: string,
  result: string,
  index: number | null,
): Promise<ProvenDiff> {
  if (isPatch(text)) {
    throw new WritError("usage", `"${result}" is a patch: there is no answer beside it that could be graded`, {
      hint: "Without --contract it is applied as it is",
    });
  }
  const { provenDiff } = await import("../../author/proven-diff.ts");
  return provenDiff({ ...authorWorld(readRoot), sha256 }, text, { file: contract, result, index });
}

/** The path behind every link; null for standard input, and where it has gone since it was read. */
function realPath(file: string): string | null {
  if (file === "-") return null;
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}

function filesOf(applied: AppliedPatch) {
  return (applied.patch?.files ?? []).map((file) => {
    const { added, removed } = changedLines(file);
    const already = applied.ok && applied.already.has(file.path) ? { already: true } : {};
    return { path: file.path, change: file.kind, added: added.length, removed: removed.length, ...already };
  });
}
