/** `writ doctor`. */
import { EXIT } from "../core/error.ts";
import { type Finding, type Outcome, type Verdict, verdictOf } from "../doctor/check.ts";
import { examine } from "../doctor/examine.ts";
import { defineCommand } from "./command.ts";
import { JSON_SWITCH } from "./contract/address.ts";
import { openDoctorWorld } from "./doctor-world.ts";

const STATUS: Readonly<Record<Verdict, number>> = { well: EXIT.ok, findings: EXIT.no, unknown: EXIT.unavailable };

const SUMMARY: Readonly<Record<Verdict, string>> = {
  well: "OK: all is well.",
  findings: "There are findings.",
  unknown: "Nothing is known to be wrong, and not everything could be told.",
};

const MARKS: Readonly<Record<Outcome, string>> = { ok: "ok", finding: "FINDING", unknown: "unknown", skipped: "-" };

export const command = defineCommand({
  meta: { name: "doctor", description: "Say what is set up and what works" },
  args: { ...JSON_SWITCH },
  examples: ["writ doctor", "writ doctor --json"],
  notes: [
    "It plays a short turn through the installed hook commands, in a data folder of its own that it removes again.",
    "Of what the settings of a project name, only this very writ is run; a user's own settings are the user's.",
  ],
  exits: { 0: "all is well", 1: "there are findings", 4: "something could not be told" },
  async run({ json, out }) {
    const findings = await examine(await openDoctorWorld());
    const verdict = verdictOf(findings);
    if (json)
      out.document({ ok: verdict === "well", status: verdict, findings: findings.map((each) => ({ ...each })) });
    else {
      for (const line of linesOf(findings)) out.line(line);
      out.line(SUMMARY[verdict]);
    }
    return STATUS[verdict];
  },
});

/** Columns of outcome, check and subject, the message behind them, and the hint on a line of its own. */
function linesOf(findings: readonly Finding[]): readonly string[] {
  const widthOf = (cells: readonly string[]) => Math.max(...cells.map((cell) => cell.length));
  const mark = widthOf(Object.values(MARKS));
  const check = widthOf(findings.map((finding) => finding.check));
  const indent = " ".repeat(mark + check + 4);
  return findings.flatMap((finding) => [
    `${MARKS[finding.outcome].padEnd(mark)}  ${finding.check.padEnd(check)}  ${oneLine(`${finding.subject}: ${finding.message}`)}`,
    ...(finding.hint === null || finding.outcome === "ok" ? [] : [indent + oneLine(finding.hint)]),
  ]);
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
