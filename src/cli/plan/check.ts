/** `writ plan check`. */
import { checkPlanFile, type PlanCheck, recordCheck } from "../../brief/check-plan.ts";
import { EXIT, WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { CHECKS, type Finding } from "../../core/plan/finding.ts";
import { sarifLog } from "../../core/sarif/sarif.ts";
import { defineCommand, type Output } from "../command.ts";
import { STORE_OPTION } from "../flow-world.ts";
import { errorDocument } from "../print.ts";
import { releaseOf } from "../release.ts";
import { planWorld, whyUnreadable } from "./world.ts";

export const SARIF_SWITCH = {
  sarif: { type: "boolean", description: "Print one SARIF log, for editors and forges" },
} as const;

export const command = defineCommand({
  meta: { name: "plan check", description: "Hold a plan against its spec and its checkout" },
  args: {
    plan: { type: "positional", required: true, valueHint: "PLAN.md", description: "The plan, or a ledger" },
    spec: { type: "string", valueHint: "SPEC.md", description: "The spec (default: what the plan's **Spec:** names)" },
    ...SARIF_SWITCH,
    ...STORE_OPTION,
    json: { type: "boolean", description: "Print one JSON document" },
  },
  examples: ["writ plan check doc/plans/cache.md", "writ plan check doc/plans/cache.md --sarif > plan.sarif"],
  notes: [
    "Nothing is run. In an armed flow a pass stamps plan and spec as they are now, which phase start implement asks for; findings take the stamp away.",
    "writ docs briefs tells what a plan looks like and what each check asks of it.",
  ],
  exits: {
    0: "PASS",
    1: "FAIL, with every finding",
    3: "git cannot read the repository",
    4: "the store is locked, or git is missing",
  },
  async run({ args, json, out }) {
    if (json && args.sarif) throw new WritError("usage", "--json and --sarif cannot be given together");
    const world = planWorld(args.store);
    const found = checkPlanFile(world, { cwd: process.cwd(), plan: args.plan, spec: args.spec ?? null });
    const isStamped = found.toplevel === null ? false : recordCheck(world.storeAt(found.toplevel), found);
    if (args.sarif) out.exact(JSON.stringify(sarifOf(found, (await releaseOf()).version)));
    else if (json) out.document(checkDocument(found, isStamped));
    else printCheck(out, found, isStamped);
    if (!json) for (const note of readingNotes(found)) out.talk(note);
    return found.report.count === 0 ? EXIT.ok : EXIT.no;
  },
});

function printCheck(out: Output, { report: { findings, count } }: PlanCheck, isStamped: boolean): void {
  if (count === 0) {
    out.line(isStamped ? "PASS — plan verified and stamped for implement-start" : "PASS (no flow to stamp)");
    return;
  }
  out.line(failText(count));
  for (const line of findingLines(findings)) out.line(line);
  if (count > findings.length) out.line(`and ${count - findings.length} more`);
}

/** What the findings themselves do not tell: why a file was not read, and that its line ends are the trouble. */
export function readingNotes({ planPath, plan, specPath, spec, report }: PlanCheck): readonly string[] {
  if (report.count === 0) return [];
  const files =
    plan === null || specPath === null
      ? [[planPath, plan] as const]
      : [[planPath, plan] as const, [specPath, spec] as const];
  return files.flatMap(([path, read]) => {
    if (read === null) return [`Cannot read ${path}: ${whyUnreadable(path)}`];
    return read.text.includes("\r\n")
      ? [`${path} has lines that end in CRLF, and each is judged with its CR: write it with LF`]
      : [];
  });
}

function failText(count: number): string {
  return `FAIL (${count} findings)`;
}

/** Two lines a finding: what is wrong, and the line that it is about. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ check, line, reason, evidence }) => [
    `${check} @ line ${line}: ${reason}`,
    `  ${evidence}`,
  ]);
}

function checkDocument(found: PlanCheck, isStamped: boolean) {
  const { planPath, specPath, report, plan, spec } = found;
  const notes = readingNotes(found);
  const { findings, count } = report;
  if (count === 0) {
    return {
      ok: true,
      status: "pass",
      stamped: isStamped,
      plan_path: planPath,
      plan_sha256: plan?.sha256 ?? null,
      spec_path: specPath,
      spec_sha256: spec?.sha256 ?? null,
    };
  }
  const error = new WritError("plan_findings", failText(count), {
    path: planPath,
    hint: notes.length === 0 ? null : notes.join("; "),
    details: {
      status: "fail",
      findings: findings.map(findingDocument),
      ...(count > findings.length ? { omitted: count - findings.length } : {}),
    },
  });
  return errorDocument(error);
}

export function findingDocument(finding: Finding): JsonObject {
  const { check, class: name, reason, task, line, column, evidence, expected, hint } = finding;
  return { check, class: name, reason, ...(task === null ? {} : { task }), line, column, evidence, expected, hint };
}

function sarifOf({ planPath, toplevel, report }: PlanCheck, version: string): JsonObject {
  const isInside = toplevel !== null && planPath.startsWith(`${toplevel}/`);
  return sarifLog({
    version,
    rules: Object.entries(CHECKS).flatMap(([check, classes]) =>
      Object.entries(classes).map(([name, [expected, hint]]) => ({
        id: `${check}/${name}`,
        text: `Expected: ${expected}`,
        help: hint,
      })),
    ),
    results: report.findings.map(({ check, class: name, reason, line, column, task, expected, hint }) => ({
      rule: `${check}/${name}`,
      level: "error",
      message: reason,
      line,
      column: line === 0 ? null : column,
      properties: { expected, hint, ...(task === null ? {} : { task }) },
    })),
    file: isInside ? planPath.slice(toplevel.length + 1) : planPath,
    root: isInside ? toplevel : null,
  });
}
