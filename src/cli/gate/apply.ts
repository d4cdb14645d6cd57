/** `writ gate apply`: the caller's own hand. Nothing else in writ brings a diff to a user's tree. */
import { WritError } from "../../core/error.ts";
import { changedLines } from "../../core/patch/apply.ts";
import { refusalText } from "../../core/patch/parse.ts";
import { chooseDiff } from "../../gate/apply.ts";
import { type AppliedPatch, applyPatch } from "../../host/apply-patch.ts";
import { isFolder } from "../../host/folder.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { readStdinText } from "../../host/stdin.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { printParagraph } from "../paragraph.ts";
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
    yes: { type: "boolean", description: "Write; without it nothing is written" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ gate apply result.json --to .",
    "writ gate apply out/01/diff.patch --to ~/src/port --yes",
    "writ runs show run-5f0c | writ gate apply - --to .",
  ],
  notes: [
    "Every line of the diff's context must stand in the folder as it does in the diff, at that very place; else nothing is touched. No file outside of the folder is written, and no link is followed.",
    "For a tree that has moved on, the diff also fits git apply -p1 at the root of the work tree: in a folder below it git skips the patch and still ends in 0.",
  ],
  exits: {
    0: "it was applied; without --yes, it would be",
    1: "it does not fit this folder; nothing was touched",
    2: "there is no such file, leg or folder",
    3: "the leg did not succeed",
  },
  async run({ args, json, out }) {
    const index = wholeNumber(args.index, "--index", 0);
    const { result } = args;
    const text = result === "-" ? await readStdinText(MAX_BYTES) : await readBodyFile(result, MAX_BYTES);
    const diff = chooseDiff(result, text, index);
    if (!isFolder(args.to)) {
      throw new WritError("no_folder", `There is no folder "${args.to}"`, {
        hint: "Name the read root of the contract",
      });
    }
    const applied = applyPatch(args.to, new TextEncoder().encode(diff), { dryRun: !args.yes });
    const files = filesOf(applied);
    const isDone = applied.ok && args.yes;
    if (json) {
      const refusals = applied.ok ? [] : applied.refusals.map((refusal) => ({ ...refusal }));
      out.document({ ok: applied.ok, status: applied.ok ? "ok" : "no", to: args.to, applied: isDone, files, refusals });
    } else if (applied.ok) {
      for (const { path, change, added, removed } of files) {
        out.line(`${change.padEnd(7)}  ${oneLine(path)}  +${added} -${removed}`);
      }
      out.line(isDone ? `Applied to "${oneLine(args.to)}".` : "It fits. Nothing was written: --yes writes it.");
    } else {
      out.line(`It does not fit "${oneLine(args.to)}"; nothing was touched.`);
      for (const refusal of applied.refusals) printParagraph(out, refusalText(refusal), "  ");
    }
    return applied.ok ? 0 : 1;
  },
});

function filesOf({ patch }: AppliedPatch) {
  return (patch?.files ?? []).map((file) => {
    const { added, removed } = changedLines(file);
    return { path: file.path, change: file.kind, added: added.length, removed: removed.length };
  });
}
