/**
 * Repairs the citations of a plan - anchors, quoted literals, dead or renamed paths - and nothing else.
 *
 * Findings are classified, evidence first, and one without a row ends the repair. The edits of a round are computed from
 * the plan as it was at its start and made together; after three rounds what is left has survived. All of it happens on
 * texts: whoever calls writes the one text that passes, so that a repair that stops has written nothing.
 */
import type { Task } from "../tracker/task.ts";
import type { CheckReport } from "./check.ts";
import type { CoverageRow } from "./coverage.ts";
import { LineEdits } from "./edit.ts";
import type { Finding } from "./finding.ts";
import { type PlanFile, parsePlan, taskIndex } from "./plan-file.ts";
import { finderOf } from "./search.ts";
import { linesOf, type SpecFile, type SpecHeading } from "./spec-file.ts";
import type { PlanTask } from "./task-block.ts";
import { type Anchor, anchorText, isBlank, isTemplate, literalsOf, sameAnchor } from "./text.ts";

export const REPAIR_ROUNDS = 3;

/** What git and the file system say of a path, relative to the toplevel. */
export type RepairEvidence = {
  exists(path: string): boolean;
  /** Whether some commit deleted it. */
  wasDeleted(path: string): boolean;
  /** Where the newest rename of it led; null where there was none. */
  renamedTo(path: string): string | null;
};

export type RepairInput = {
  readonly plan: string;
  readonly spec: SpecFile;
  /** Read for evidence, never changed. */
  readonly tasks: readonly Task[];
  readonly evidence: RepairEvidence;
  /** Plan check on a text. */
  check(plan: string): CheckReport;
};

export type EditKind = "E1" | "E2" | "E3" | "E4" | "E5" | "E6";
/** `line` is that of the finding. */
export type RepairEdit = { readonly edit: EditKind; readonly task: number | null; readonly line: number };

export type Repair =
  | {
      readonly ok: true;
      readonly rounds: number;
      /** How many findings had an edit, over all rounds. */
      readonly repaired: number;
      readonly edits: readonly RepairEdit[];
      /** The text that passes; the given one when nothing had to be repaired. */
      readonly plan: string;
    }
  | {
      readonly ok: false;
      readonly kind: "no-row" | "survived" | "continuation";
      readonly rounds: number;
      /** The one line; null for a continuation, which `continuationLines` tells. */
      readonly stop: string | null;
      readonly findings: readonly Finding[];
    };

/**
 * Errors: none but those of `check` and `evidence`
 * Source: flow state, sections 13.2 to 13.6
 */
export function repairPlan(input: RepairInput): Repair {
  let { plan } = input;
  const edits: RepairEdit[] = [];
  for (let rounds = 0; ; rounds++) {
    const { findings } = input.check(plan);
    const [first] = findings;
    if (first === undefined) return { ok: true, rounds, repaired: edits.length, edits, plan };
    if (findings.some(isContinuation)) return { ok: false, kind: "continuation", rounds, stop: null, findings };
    if (rounds === REPAIR_ROUNDS) {
      const stop = `Repair stopped: ${first.check} - ${first.reason} survived ${REPAIR_ROUNDS} rounds. Edit the plan, then re-run /skill:gauntlet-resume.`;
      return { ok: false, kind: "survived", rounds, stop, findings };
    }
    const round = new Round(parsePlan(plan), findings, input);
    const offending = round.classify();
    if (offending !== null) {
      const stop = `Repair stopped: ${offending.check} - ${offending.reason} is outside citation repair; the plan file is unchanged. Edit the plan (task changes allowed), then re-run /skill:gauntlet-resume.`;
      return { ok: false, kind: "no-row", rounds, stop, findings };
    }
    edits.push(...round.edits);
    plan = round.text();
  }
}

/** Not a citation: the baseline has to be run anew, or a question answered. Source: flow state, section 13.2. */
export function isContinuation({ check }: Finding): boolean {
  return check === "baseline-line" || check === "open-questions";
}

/** What is to be done about findings that are no citations, a line each. */
export function continuationLines(findings: readonly Finding[]): readonly string[] {
  const of = (name: string) =>
    findings.filter((finding) => finding.check === "open-questions" && finding.class === name);
  const lines: string[] = [];
  const failing = of("baseline-task");
  if (failing.length > 0 || findings.some(({ check }) => check === "baseline-line")) {
    lines.push(
      "Baseline: land the fix, then have the plan's author rerun the baseline (Findings: rerun baseline).",
      ...failing.flatMap(() => ["fix-first", "narrow", "amend", "Recommendation: fix-first"]),
    );
  }
  if (of("baseline-global").length > 0) {
    lines.push(
      "Baseline: restore the worktree (commit, discard or move the named paths), then have the plan's author rerun the baseline.",
    );
  }
  if (of("section-empty").length + of("section-contradictory").length + of("contract-question").length > 0) {
    lines.push("Open questions: answer the rows, then have the plan's author resolve them.");
  }
  return lines;
}

/** A finding as a stopped repair prints it: a dead `Modify:` row with its task. */
export function repairFindingText({ check, class: name, task, line, reason }: Finding): string {
  const owner = check === "paths-exist" && name === "modify-missing" && task !== null ? `Task ${task}: ` : "";
  return `${owner}${check} @ line ${line}: ${reason}`;
}

/** The status of a task of the plan in a tracker's list. Source: flow state, section 13.1. */
export function statusOf({ wave, title }: PlanTask, tasks: readonly Task[]): Task["status"] {
  const exact = tasks.find(({ name }) => name === `W${wave}: ${title}`);
  if (exact !== undefined) return exact.status;
  const [only, ...further] = tasks.filter(({ name }) => name === title || name.endsWith(`: ${title}`));
  return only !== undefined && further.length === 0 ? only.status : "pending";
}

/** "edited": the edit was noted. "left": for the next round. "no-row": outside of repair. */
type Verdict = "edited" | "left" | "no-row";

class Round {
  readonly edits: RepairEdit[] = [];
  private readonly changes = new LineEdits();
  private readonly tasks: ReadonlyMap<number, PlanTask>;
  private readonly rows: ReadonlyMap<number, CoverageRow>;
  private readonly ownedRows = new Map<number, CoverageRow[]>();
  /** The anchors that have a finding, by line and place. */
  private readonly broken: ReadonlySet<string>;
  /** The literals that are missing in the header, in order. */
  private readonly headerLiterals: string[] = [];

  constructor(
    private readonly plan: PlanFile,
    private readonly findings: readonly Finding[],
    private readonly input: RepairInput,
  ) {
    this.tasks = taskIndex(plan.tasks);
    const rows = plan.coverage?.rows ?? [];
    this.rows = new Map(rows.map((row) => [row.line, row]));
    for (const row of rows) {
      for (const number of row.owner.kind === "tasks" ? row.owner.tasks : []) {
        const own = this.ownedRows.get(number);
        if (own === undefined) this.ownedRows.set(number, [row]);
        else own.push(row);
      }
    }
    const anchors = findings.filter(({ check }) => check === "anchor-resolution");
    this.broken = new Set(anchors.map(({ line, column }) => placeOf(line, column - 1)));
  }

  /** Classifies every finding and notes its edit; the first that has no row, or null. */
  classify(): Finding | null {
    for (const finding of this.findings) {
      const [edit, verdict] = this.row(finding);
      if (verdict === "no-row") return finding;
      if (verdict === "edited") this.edits.push({ edit, task: finding.task, line: finding.line });
    }
    return null;
  }

  text(): string {
    this.editHeader();
    return this.changes.apply(this.plan.text.lines);
  }

  private row(finding: Finding): readonly [EditKind, Verdict] {
    switch (`${finding.check}/${finding.class}`) {
      case "anchor-resolution/range-outside-section":
      case "anchor-resolution/range-bounds":
        return ["E1", this.moveRange(finding)];
      case "quote-integrity/task-literal-missing":
        return ["E2", this.addLiteral(finding)];
      case "quote-integrity/verification-literal-missing":
        return ["E3", this.addHeaderLiteral(finding)];
      case "table-closure/anchor-not-in-task":
        return ["E4", this.moveRow(finding)];
      case "paths-exist/modify-missing":
        return ["E5", this.dropPath(finding)];
      case "tests-block/test-path-unknown":
        return ["E6", this.renameTest(finding)];
      case "tests-block/segment-unanchored":
        return ["E6", this.renameInSegment(finding)];
      default:
        return ["E1", "no-row"];
    }
  }

  private taskOf({ task }: Finding): PlanTask | undefined {
    return task === null ? undefined : this.tasks.get(task);
  }

  private isBroken(task: PlanTask, anchor: Anchor): boolean {
    return this.broken.has(placeOf(task.spec?.line ?? 0, anchor.at));
  }

  /** The one section of a heading; null where there is none, or more. */
  private sectionOf(heading: string): SpecHeading | null {
    const [section, ...further] = this.input.spec.headings.get(heading) ?? [];
    return section === undefined || further.length > 0 ? null : section;
  }

  private moveRange(finding: Finding): Verdict {
    // The finding names a task's number; of two tasks of one number it is the one with that line.
    const task = this.plan.tasks.find(({ spec }) => spec?.line === finding.line);
    const anchor = task?.spec?.anchors.find(({ at }) => at === finding.column - 1);
    const section = anchor === undefined ? null : this.sectionOf(anchor.heading);
    if (task === undefined || anchor === undefined || section === null) return "no-row";
    const range = this.rangeOf(task, section);
    this.writeRange(finding.line, anchor, range);
    for (const row of this.ownedRows.get(task.number) ?? []) {
      if (row.anchor === null || !sameAnchor(row.anchor, anchor)) continue;
      this.writeRange(row.line, row.anchor, range);
      for (const number of row.owner.kind === "tasks" ? row.owner.tasks : []) {
        const spec = this.tasks.get(number)?.spec;
        if (number === task.number || spec == null) continue;
        for (const same of spec.anchors) if (sameAnchor(same, anchor)) this.writeRange(spec.line, same, range);
      }
    }
    return "edited";
  }

  /** The lines of a section that share a literal with the task, from the first to the last; else the whole section. */
  private rangeOf(task: PlanTask, section: SpecHeading): { readonly start: number; readonly end: number } {
    const { spec } = this.input;
    let { end } = section;
    while (end > section.start && isBlank(spec.text.lines[end - 1] ?? "")) end -= 1;
    const own = task.body.split("\n");
    const body = own.filter((_, index) => task.start + index !== task.spec?.line).join("\n");
    const known = new Map<string, boolean>();
    const shared: number[] = [];
    for (let line = section.start; line <= end; line++) {
      const isShared = literalsOf(linesOf(spec, { start: line, end: line })).some((literal) => {
        if (isTemplate(literal)) return false;
        const found = known.get(literal) ?? finderOf(literal)(body) >= 0;
        known.set(literal, found);
        return found;
      });
      if (isShared) shared.push(line);
    }
    return { start: shared[0] ?? section.start, end: shared.at(-1) ?? end };
  }

  /** Only the range of an anchor: what stands before it stays. */
  private writeRange(line: number, anchor: Anchor, range: { readonly start: number; readonly end: number }): void {
    const text = (this.plan.text.lines[line - 1] ?? "").slice(anchor.at, anchor.at + anchor.length);
    const at = text.lastIndexOf('"') + 1;
    const blank = /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
    const from = at + blank;
    this.changes.replace(line, anchor.at + from, anchor.length - from, `L${range.start}-L${range.end}`);
  }

  private addLiteral(finding: Finding): Verdict {
    const task = this.taskOf(finding);
    const row = this.rows.get(finding.line);
    const literal = finding.about ?? "";
    if (task === undefined || row?.anchor == null || literal === "" || literal.includes("\n")) return "no-row";
    const { anchor } = row;
    const own = task.spec?.anchors.find((each) => sameAnchor(each, anchor));
    if (own === undefined || this.isBroken(task, own)) return "left";
    const lines = task.body.split("\n");
    const last = task.start + lines.findLastIndex((line) => !isBlank(line));
    const added = `Spec literal: \`${literal}\``;
    const before = this.changes.behind(last);
    if (before.length === 0) this.changes.insertBehind(last, "", added);
    else if (!before.includes(added)) this.changes.insertBehind(last, added);
    return "edited";
  }

  private addHeaderLiteral(finding: Finding): Verdict {
    const row = this.rows.get(finding.line);
    const literal = finding.about ?? "";
    if (row?.anchor == null || this.plan.header.verification === null) return "no-row";
    const section = this.sectionOf(row.anchor.heading);
    if (section === null || literal === "" || literal.includes("\n")) return "no-row";
    if (row.anchor.start < section.start || row.anchor.end > section.end) return "no-row";
    if (!this.headerLiterals.includes(literal)) this.headerLiterals.push(literal);
    return "edited";
  }

  /** The value in backticks, and behind it the missing literals. */
  private editHeader(): void {
    const field = this.plan.header.verification;
    if (field === null || this.headerLiterals.length === 0) return;
    const { line, value } = field;
    const key = "**Verification:**";
    const text = this.plan.text.lines[line - 1] ?? "";
    const added = this.headerLiterals.map((literal) => `\`${literal}\``).join(", ");
    const shown = value.includes("`") ? value : `\`${value}\``;
    if (value === "") this.changes.replace(line, key.length, 0, ` ${added}`);
    else this.changes.replace(line, text.indexOf(value, key.length), value.length, `${shown}, ${added}`);
  }

  private moveRow(finding: Finding): Verdict {
    const task = this.taskOf(finding);
    const row = this.rows.get(finding.line);
    if (task === undefined || row?.anchor == null) return "no-row";
    const { anchor } = row;
    const [own, ...further] = (task.spec?.anchors ?? []).filter(({ heading }) => heading === anchor.heading);
    if (own === undefined || further.length > 0) return "no-row";
    const required = literalsOf(row.requirement).filter((literal) => !isTemplate(literal));
    if (!required.every((literal) => finderOf(literal)(task.body) >= 0)) return "no-row";
    if (this.isBroken(task, own)) return "left";
    this.changes.replace(row.line, anchor.at, anchor.length, anchorText(own));
    return "edited";
  }

  private dropPath(finding: Finding): Verdict {
    const task = this.taskOf(finding);
    if (task === undefined || finding.about === null) return "no-row";
    const status = statusOf(task, this.input.tasks);
    if (status !== "complete" && status !== "skipped") return "no-row";
    if (!this.input.evidence.wasDeleted(finding.about)) return "no-row";
    this.changes.drop(finding.line);
    return "edited";
  }

  private renameTest(finding: Finding): Verdict {
    const task = this.taskOf(finding);
    return task !== undefined && finding.about !== null && this.rename(task, finding.about) ? "edited" : "no-row";
  }

  private renameInSegment(finding: Finding): Verdict {
    const task = this.taskOf(finding);
    if (task === undefined || finding.about === null) return "no-row";
    const tests = (task.files?.entries ?? []).filter(({ kind }) => kind === "Test").map(({ path }) => path);
    const named = finding.about.split(" ").flatMap((token) => [token, token.split(/[:#]/, 1)[0] ?? ""]);
    const candidates = [
      ...named.filter((path) => path !== "" && !tests.includes(path)),
      ...tests.filter((path) => !this.input.evidence.exists(path)),
    ];
    return candidates.some((path) => this.rename(task, path)) ? "edited" : "no-row";
  }

  /** Puts the new path in the place of a renamed one; false when it was not renamed, or led nowhere. */
  private rename(task: PlanTask, old: string): boolean {
    const to = this.input.evidence.renamedTo(old);
    if (to === null || !this.input.evidence.exists(to)) return false;
    const entries = (task.files?.entries ?? []).filter(({ kind, path }) => kind === "Test" && path === old);
    const commands = (task.tests?.bullets ?? []).filter(({ kind }) => kind === "command");
    for (const { line } of [...entries, ...commands]) {
      const text = this.plan.text.lines[line - 1] ?? "";
      for (const at of boundedPlaces(text, old)) this.changes.replace(line, at, old.length, to);
    }
    return true;
  }
}

function placeOf(line: number, at: number): string {
  return `${line}:${at}`;
}

/** Where a path stands by itself: between white space, backticks and the ends of the line, or before `:` or `#`. */
function boundedPlaces(text: string, path: string): readonly number[] {
  const places: number[] = [];
  const find = finderOf(path);
  for (let at = find(text); at >= 0; at = find(text, at + 1)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + path.length);
    if ((before === "" || /[\s`]/.test(before)) && (after === "" || /[\s`:#]/.test(after))) places.push(at);
  }
  return places;
}
