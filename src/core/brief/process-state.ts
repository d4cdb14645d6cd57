/**
 * Reads the process-state section of a brief: the two tracker outputs, the fields behind them, the gate-history line.
 *
 * The section is restored or refused as a whole, so nothing in it is guessed: each line is what its place allows, or a
 * stop with its number.
 */
import { PHASE_NAMES, type Phase, type PhaseStatus } from "../tracker/phase.ts";
import { NO_PLAN, PHASE_GLYPHS, planHeader, TASK_GLYPHS } from "../tracker/status-text.ts";
import type { TaskStatus } from "../tracker/task.ts";
import { GATE_LINE, type IndexedTask, type ProcessState, type PullRequest } from "./brief.ts";
import { type BriefIssue, type BriefIssueCode, briefIssue } from "./issue.ts";
import { belongsToLegs, readLegs } from "./leg-block.ts";
import { type BriefLine, isBlankLine } from "./line.ts";

const PLAN_HEADER = /^Plan: (\d+)\/(\d+) done(?: \((.+)\))?$/s;
const TASK_LINE = /^\s*([✓→✗⊘○]) \[(\d+)\] (.+)$/s;
const PHASE_LINE = /^[ \t]*([✓→⊘○]) ([a-z]+)(.*)$/s;
const PR_LINE = /^PR: ([^\s/#]+\/[^\s/#]+)#(\d{1,15})$/;
const HEAD_LINE = /^Pre-rework head: ([0-9a-f]{40})$/;
const BASE_LINE = /^Rework base: ([0-9a-f]{40})$/;

const PHASE_OF: ReadonlyMap<string, PhaseStatus> = inverse(PHASE_GLYPHS);
const TASK_OF: ReadonlyMap<string, TaskStatus> = inverse(TASK_GLYPHS);

function inverse<S extends string>(glyphs: Readonly<Record<S, string>>): ReadonlyMap<string, S> {
  return new Map((Object.entries(glyphs) as [S, string][]).map(([status, glyph]) => [glyph, status]));
}

/**
 * @param heading the line of `## Process state`
 * @param body    the lines behind it
 * @param issues  gets what is found, in the order of discovery
 * @returns       null where the section cannot be read; whatever comes back counts only when no stop was found
 * Source: flow state, sections 8.1 to 8.3
 */
export function parseProcess(heading: number, body: readonly BriefLine[], issues: BriefIssue[]): ProcessState | null {
  const cursor = new Cursor(body);
  const phases = readPhases(cursor, heading, issues);
  if (phases === null) return null;
  const plan = readPlan(cursor, heading, issues);
  if (plan === undefined) return null;
  const tail = new Tail(cursor, issues).read(heading);
  const tasks = plan?.tasks ?? [];
  const { active } = tail;
  if (active !== null && tail.ledger === null && tail.decision === null) checkActiveTask(active, tasks, issues);
  const current = phases.find(({ status }) => status === "in_progress");
  if (current === undefined || (active === null && tail.ledger === null)) return null;
  return {
    phases,
    active: current.name,
    substep: current.substep ?? null,
    plan,
    subject:
      active === null
        ? { kind: "ledger", path: tail.ledger?.text ?? "", last_decision: none(tail.decision?.text ?? "none") }
        : { kind: "task", active_task: none(active.text) },
    prs: tail.prs,
    rework_base: tail.base,
    legs: tail.legs ?? [],
  };
}

class Cursor {
  private at = 0;

  constructor(private readonly lines: readonly BriefLine[]) {}

  /** The next line, blank or not; null at the end. */
  peek(): BriefLine | null {
    return this.lines[this.at] ?? null;
  }

  take(): BriefLine | null {
    const line = this.peek();
    if (line !== null) this.at += 1;
    return line;
  }

  skipBlank(): void {
    for (let line = this.peek(); line !== null && isBlankLine(line.text); line = this.peek()) this.at += 1;
  }

  /** The lines up to the next blank one. */
  takeBlock(): readonly BriefLine[] {
    const block: BriefLine[] = [];
    for (let line = this.peek(); line !== null && !isBlankLine(line.text); line = this.peek()) {
      block.push(line);
      this.at += 1;
    }
    return block;
  }

  /** The number of the last line that is not blank, wherever the cursor is. */
  lastFilled(heading: number): number {
    return this.lines.findLast(({ text }) => !isBlankLine(text))?.number ?? heading;
  }
}

/** The phases that could be read; null when the rest of the section is not to be read. */
function readPhases(cursor: Cursor, heading: number, issues: BriefIssue[]): readonly Phase[] | null {
  cursor.skipBlank();
  const opening = cursor.take();
  if (opening?.text.trimEnd() !== "Phases:") {
    issues.push(briefIssue("phase-block", opening?.number ?? heading));
    return null;
  }
  const block = cursor.takeBlock();
  const good: { readonly phase: Phase; readonly number: number }[] = [];
  for (const { text, number } of block) {
    const phase = readPhase(text, PHASE_NAMES[good.length]);
    if (phase === null) issues.push(briefIssue("phase-line", number));
    else good.push({ phase, number });
  }
  const phases = good.map(({ phase }) => phase);
  if (good.length < block.length) return phases;
  if (good.length !== PHASE_NAMES.length) {
    issues.push(briefIssue("phase-block", block.at(-1)?.number ?? heading));
    return null;
  }
  const active = good.filter(({ phase }) => phase.status === "in_progress").map(({ number }) => number);
  const all = good.map(({ number }) => number);
  if (active.length > 1) issues.push({ ...briefIssue("phase-multiple", active[1] ?? 0), lines: active });
  else if (active.length === 0) {
    const code = phases.every(({ status }) => status === "pending") ? "phase-all-pending" : "phase-none-active";
    issues.push({ ...briefIssue(code, all[0] ?? 0), lines: all });
  }
  return phases;
}

function readPhase(text: string, expected: Phase["name"] | undefined): Phase | null {
  const [, glyph = "", name = "", rest = ""] = PHASE_LINE.exec(text) ?? [];
  const status = PHASE_OF.get(glyph);
  if (status === undefined || expected === undefined || name !== expected) return null;
  const phase = { name: expected, status };
  if (rest === "") return phase;
  if (!rest.endsWith(")")) return null;
  if (rest.startsWith("(") && status === "in_progress" && rest.length > 2) {
    return { ...phase, substep: rest.slice(1, -1) };
  }
  return rest.startsWith(" (") && rest.length > 3 ? { ...phase, reason: rest.slice(2, -1) } : null;
}

/** Null for "No plan active."; undefined when the rest of the section is not to be read. */
function readPlan(cursor: Cursor, heading: number, issues: BriefIssue[]): ProcessState["plan"] | undefined {
  cursor.skipBlank();
  const line = cursor.take();
  const text = line?.text.trimEnd() ?? "";
  if (line !== null && text === NO_PLAN) return null;
  const header = PLAN_HEADER.exec(text);
  if (line === null || header === null) {
    issues.push(briefIssue("plan-block", line?.number ?? cursor.lastFilled(heading)));
    return undefined;
  }
  cursor.skipBlank();
  const tasks: IndexedTask[] = [];
  for (const { text: row, number } of cursor.takeBlock()) {
    const [, glyph = "", index = "", name = ""] = TASK_LINE.exec(row) ?? [];
    const status = TASK_OF.get(glyph);
    if (status === undefined) {
      issues.push(briefIssue("task-line", number));
      continue;
    }
    if (Number(index) !== tasks.length)
      issues.push(briefIssue("task-index", number, `[${index}]`, `[${tasks.length}]`));
    tasks.push({ index: Number(index), name, status });
  }
  if (planHeader(tasks) !== text) issues.push(briefIssue("plan-counts", line.number));
  return { done: Number(header[1]), total: Number(header[2]), tasks };
}

type Found = { readonly text: string; readonly number: number };

/** What stands behind the plan block. */
class Tail {
  active: Found | null = null;
  ledger: Found | null = null;
  decision: Found | null = null;
  prs: PullRequest[] = [];
  base: string | null = null;
  legs: ProcessState["legs"] | null = null;
  /** A PR line whose head is still to come. */
  private pending: { readonly repo: string; readonly pr: number; readonly number: number } | null = null;
  private hasGate = false;

  constructor(
    private readonly cursor: Cursor,
    private readonly issues: BriefIssue[],
  ) {}

  read(heading: number): this {
    for (;;) {
      this.cursor.skipBlank();
      const line = this.cursor.take();
      if (line === null) break;
      if (this.hasGate) {
        this.report("after-gate", line.number);
        break;
      }
      this.readLine(line.text.trimEnd(), line.number);
    }
    this.dropPending();
    const last = this.cursor.lastFilled(heading);
    if (!this.hasGate) this.report("gate-missing", last);
    this.checkSubject(last);
    return this;
  }

  private readLine(text: string, number: number): void {
    if (this.pending !== null && !text.startsWith("Pre-rework head:")) this.dropPending();
    if (text.startsWith("Active task: ")) this.active = this.subject(this.active, text, number);
    else if (text.startsWith("Ledger: ")) this.ledger = this.subject(this.ledger, text, number);
    else if (text.startsWith("Last decision: ")) this.decision = this.subject(this.decision, text, number);
    else if (text.startsWith("PR:")) this.readPr(text, number);
    else if (text.startsWith("Pre-rework head:")) this.readHead(text, number);
    else if (text.startsWith("Rework base:")) this.readBase(text, number);
    else if (text === "legs:") this.readLegBlock(number);
    else if (text === GATE_LINE) this.hasGate = true;
    else this.report("tail-line", number);
  }

  private subject(before: Found | null, text: string, number: number): Found {
    const found = { text: text.slice(text.indexOf(": ") + 2), number };
    const isLate = this.prs.length > 0 || this.base !== null || this.legs !== null;
    if (before !== null || isLate) this.report("tail-order", number);
    return before ?? found;
  }

  private readPr(text: string, number: number): void {
    const isLate = this.base !== null || this.legs !== null;
    if (isLate) this.report("tail-order", number);
    const [, repo, pr] = PR_LINE.exec(text) ?? [];
    if (repo !== undefined && pr !== undefined) this.pending = { repo, pr: Number(pr), number };
    else if (!isLate) this.report("pr-pair", number);
  }

  private readHead(text: string, number: number): void {
    const [, sha] = HEAD_LINE.exec(text) ?? [];
    const { pending } = this;
    this.pending = null;
    if (sha === undefined || pending === null) this.report("pr-pair", number);
    else this.prs.push({ repo: pending.repo, number: pending.pr, pre_rework_head: sha });
  }

  private readBase(text: string, number: number): void {
    const [, sha] = BASE_LINE.exec(text) ?? [];
    const isMisplaced = this.base !== null || this.legs !== null || this.prs.length === 0;
    if (sha === undefined || isMisplaced) this.report("rework-base", number);
    else this.base = sha;
  }

  private readLegBlock(number: number): void {
    const block: BriefLine[] = [];
    for (let line = this.cursor.peek(); line !== null && belongsToLegs(line.text); line = this.cursor.peek()) {
      block.push(line);
      this.cursor.take();
    }
    if (this.legs !== null) {
      this.report("tail-order", number);
      return;
    }
    const read = readLegs(number, block);
    if (!read.ok) this.report("legs", read.line);
    this.legs = read.ok ? read.legs : [];
  }

  private dropPending(): void {
    if (this.pending !== null) this.report("pr-pair", this.pending.number);
    this.pending = null;
  }

  private checkSubject(last: number): void {
    const loop = [this.ledger, this.decision].filter((found) => found !== null);
    if (this.active !== null && loop.length > 0) {
      const lines = [this.active, ...loop].map(({ number }) => number).sort((left, right) => left - right);
      this.issues.push({ ...briefIssue("subject-mixed", lines[0] ?? last), lines });
    } else if (this.active === null && loop.length === 1) this.report("subject-partial", loop[0]?.number ?? last);
    else if (this.active === null && loop.length === 0) this.report("subject-missing", last);
  }

  private report(code: BriefIssueCode, line: number): void {
    this.issues.push(briefIssue(code, line));
  }
}

function checkActiveTask(active: Found, tasks: readonly IndexedTask[], issues: BriefIssue[]): void {
  const expected = tasks.find(({ status }) => status === "in_progress")?.name ?? "none";
  if (active.text !== expected.trimEnd()) issues.push(briefIssue("active-task", active.number, expected));
}

/** "none" says that there is none. */
function none(text: string): string | null {
  return text === "none" ? null : text;
}
