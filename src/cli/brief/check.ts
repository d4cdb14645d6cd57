/** `writ brief check`. */
import { BRIEF_ISSUE_CODES, type BriefIssue, briefIssueText } from "../../core/brief/issue.ts";
import { parseBrief } from "../../core/brief/parse.ts";
import { EXIT, WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { sarifLog } from "../../core/sarif/sarif.ts";
import { defineCommand, type Output } from "../command.ts";
import { releaseOf } from "../release.ts";
import { readBriefText } from "./read.ts";

export const command = defineCommand({
  meta: { name: "brief check", description: "Say everything that is wrong with a handoff brief" },
  args: {
    file: { type: "positional", required: true, valueHint: "FILE", description: "The brief; - is standard input" },
    sarif: { type: "boolean", description: "Print one SARIF log, for editors and forges" },
    json: { type: "boolean", description: "Print one JSON document" },
  },
  examples: ["writ brief check /tmp/pi-handoff/x.md", "writ brief check - --json < x.md"],
  notes: ["A stop is what resume stops at; a warning it passes over."],
  exits: { 0: "nothing is wrong", 1: "there is an issue", 3: "the file is not there, or cannot be read" },
  async run({ args, json, out }) {
    if (json && args.sarif) throw new WritError("usage", "--json and --sarif cannot be given together");
    const { issues } = parseBrief(await readBriefText(args.file));
    if (args.sarif) out.exact(JSON.stringify(sarifOf(args.file, issues, (await releaseOf()).version)));
    else if (json) out.document({ ok: issues.length === 0, issues: issues.map(issueDocument) });
    else printIssues(out, issues);
    return issues.length === 0 ? EXIT.ok : EXIT.no;
  },
});

function printIssues(out: Output, issues: readonly BriefIssue[]): void {
  if (issues.length === 0) {
    out.line("OK");
    return;
  }
  for (const { line, kind, code, message } of issues) out.line(`${line}: ${kind}: ${code}: ${message}`);
  out.line(`${issues.length} issues (${issues.filter(({ kind }) => kind === "stop").length} stops)`);
}

function issueDocument({ line, kind, code, message, lines }: BriefIssue): JsonObject {
  return { line, kind, code, message, ...(lines === undefined ? {} : { lines }) };
}

function sarifOf(file: string, issues: readonly BriefIssue[], version: string): JsonObject {
  return sarifLog({
    version,
    rules: BRIEF_ISSUE_CODES.map((code) => ({ id: code, text: briefIssueText(code) })),
    results: issues.map(({ line, kind, code, message }) => ({
      rule: code,
      level: kind === "stop" ? "error" : "warning",
      message,
      line,
      column: null,
    })),
    file,
    root: null,
  });
}
