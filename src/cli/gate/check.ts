/** `writ gate check`: whether a file is a gate, without running anything of it. */
import { counted } from "../../core/counted.ts";
import { GATE_FILE_BYTES, readGate } from "../../core/gate/gate-file.ts";
import type { DocumentIssue } from "../../core/json/read-document.ts";
import { readFileText } from "../../host/contracts.ts";
import { defineCommand, type Output } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { printParagraph } from "../paragraph.ts";
import { oneLine } from "../table.ts";

export const command = defineCommand({
  meta: { name: "gate check", description: "Check a gate file, running nothing of it" },
  args: {
    file: { type: "positional", required: true, valueHint: "FILE", description: "The gate file" },
    ...JSON_SWITCH,
  },
  examples: ["writ gate check gate.json", "writ gate check --json gates/port/gate.json"],
  notes: [
    "Every issue is told at once, with its place. A key or a kind of proof that is not known is an issue: a misspelt proof would silently not run.",
    "writ docs schema gate prints the JSON Schema of gate files. writ docs gates says how to write one.",
  ],
  exits: { 0: "the file is a gate", 1: "it has issues", 2: "it does not open" },
  run({ args, json, out }) {
    const read = readGate(readFileText(args.file, GATE_FILE_BYTES + 1).bytes);
    const issues = read.ok ? [] : read.issues;
    const notes = read.ok ? read.notes : [];
    if (json) {
      const told = (list: readonly DocumentIssue[]) => list.map((each) => ({ ...each }));
      out.document({
        ok: read.ok,
        status: read.ok ? "ok" : "no",
        file: args.file,
        issues: told(issues),
        notes: told(notes),
      });
    } else {
      out.line(`${oneLine(args.file)}  ${read.ok ? "ok" : `invalid  ${counted(issues.length, "issue")}`}`);
      for (const issue of issues) print(out, issue, issue.code);
      for (const note of notes) print(out, note, "note");
    }
    return read.ok ? 0 : 1;
  },
});

function print(out: Output, { path, message, hint }: DocumentIssue, word: string): void {
  printParagraph(out, `${word}${path === "" ? "" : ` [${path}]`}: ${message}`, "  ");
  if (hint !== null) printParagraph(out, hint, "    ");
}
