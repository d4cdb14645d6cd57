/** Checks 2, 3 and 12: that rows and tasks belong together, and that tasks quote what their spec lines require. */
import type { CoverageRow } from "../coverage.ts";
import { finderOf } from "../search.ts";
import { type Anchor, anchorText, literalsOf, sameAnchor } from "../text.ts";
import type { CheckContext } from "./context.ts";

/** Source: flow state, section 6.3, check 2 */
export function checkTableClosure(context: CheckContext): void {
  const { plan, findings } = context;
  if (plan.coverage === null) {
    findings.add("table-closure", "no-table", "no '## Spec coverage' table found");
    return;
  }
  const covered = new Set<number>();
  const mechanical = new Set<number>();
  for (const row of context.rows) {
    checkRow(context, row);
    if (row.owner.kind !== "tasks") continue;
    for (const number of row.owner.tasks) {
      covered.add(number);
      if (row.isMechanical) mechanical.add(number);
    }
  }
  for (const { number, start, spec } of plan.tasks) {
    const place = { task: number, line: start };
    if (!covered.has(number)) {
      findings.add(
        "table-closure",
        "task-uncovered",
        `Task ${number} does not appear as an owner in any '## Spec coverage' row`,
        place,
      );
    } else if ((spec?.anchors.length ?? 0) === 0 && !mechanical.has(number)) {
      findings.add(
        "table-closure",
        "task-no-anchor",
        `Task ${number} has no **Spec:** anchor and no mechanical coverage row`,
        place,
      );
    }
  }
}

function checkRow(context: CheckContext, row: CoverageRow): void {
  const { findings } = context;
  const { owner, anchor, isMechanical, line } = row;
  if (owner.kind === "malformed") {
    findings.add(
      "table-closure",
      "owner-malformed",
      "owner cell is not a 'Task <n>' list, 'Verification', or 'waived: <reason>'",
      { line },
    );
  }
  if (isMechanical && owner.kind === "verification") {
    findings.add("table-closure", "mechanical-verification", "mechanical row owner must be a Task <n>", { line });
  }
  if (owner.kind !== "waived" && !isMechanical && anchor === null) {
    findings.add(
      "table-closure",
      "anchor-unparseable",
      'requirement row anchor is not a parseable § "heading" L<n>-L<n> anchor',
      { line },
    );
  }
  if (owner.kind === "verification" && anchor !== null && context.literalsOf(row).length === 0) {
    findings.add(
      "table-closure",
      "verification-no-literal",
      "Verification row has no backtick literal to check against the header",
      { line, at: anchor.at },
    );
  }
  if (owner.kind !== "tasks") return;
  for (const number of owner.tasks) checkOwner(context, row, number, anchor);
}

function checkOwner(context: CheckContext, row: CoverageRow, number: number, anchor: Anchor | null): void {
  const { findings, tasks, effort } = context;
  const task = tasks.get(number);
  if (task === undefined) {
    findings.add("table-closure", "unknown-task", `row references Task ${number} but no such task exists`, {
      task: number,
      line: row.line,
    });
    return;
  }
  if (row.isMechanical || anchor === null) return;
  const anchors = task.spec?.anchors ?? [];
  effort.spend(anchors.length * 64);
  if (anchors.some((own) => sameAnchor(own, anchor))) return;
  findings.add(
    "table-closure",
    "anchor-not-in-task",
    `row anchor ${anchorText(anchor)} is not in Task ${number}'s **Spec:** anchor set`,
    { task: number, line: row.line, at: anchor.at },
  );
}

/** Source: flow state, section 6.3, check 3 */
export function checkQuotes(context: CheckContext): void {
  const { findings, tasks, verification } = context;
  if (context.plan.coverage === null) return;
  for (const row of context.rows) {
    const { owner, line } = row;
    const at = row.anchor?.at ?? 0;
    if (owner.kind === "verification") {
      for (const literal of context.literalsOf(row)) {
        context.effort.spend(verification.length);
        if (finderOf(literal)(verification) >= 0) continue;
        findings.add(
          "quote-integrity",
          "verification-literal-missing",
          `verification header does not contain the required verbatim literal \`${literal}\``,
          { line, at, about: literal },
        );
      }
    }
    if (owner.kind !== "tasks") continue;
    const required = context.requiredOf(row);
    for (const number of owner.tasks) {
      const task = tasks.get(number);
      if (task === undefined) continue;
      for (const literal of required) {
        if (context.quotes(task, literal)) continue;
        findings.add(
          "quote-integrity",
          "task-literal-missing",
          `Task ${number} body does not contain the required verbatim literal \`${literal}\` from its anchored spec lines`,
          { task: number, line, at, about: literal },
        );
      }
    }
  }
}

/** Source: flow state, section 6.3, check 12 */
export function checkWaivers(context: CheckContext): void {
  for (const { owner, requirement, line } of context.rows) {
    if (owner.kind !== "waived" || literalsOf(requirement).length === 0) continue;
    const text = context.plan.text.lines[line - 1] ?? "";
    context.findings.add(
      "waiver-literal",
      "waived-literal",
      "waived row names a code literal; waive only requirements that exclude work",
      { line, at: Math.max(text.indexOf("`"), 0) },
    );
  }
}
