/** What every check of a plan looks at: the two documents, the files around them, and where findings go. */
import type { CoverageRow } from "../coverage.ts";
import { Effort } from "../effort.ts";
import { Findings } from "../finding.ts";
import { type PlanFile, taskIndex } from "../plan-file.ts";
import { finderOf } from "../search.ts";
import { isInBounds, linesOf, type SpecFile } from "../spec-file.ts";
import type { PlanTask } from "../task-block.ts";
import { isTemplate, literalsOf } from "../text.ts";

export type Expansion =
  | { readonly ok: true; readonly paths: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** The files of the checkout; paths are relative to its toplevel. */
export type PlanFiles = {
  /** Whether there is a file or folder. */
  exists(path: string): boolean;
  expand(pattern: string): Expansion;
};

export class CheckContext {
  readonly findings: Findings;
  readonly effort = new Effort();
  /** The first task of each number. */
  readonly tasks: ReadonlyMap<number, PlanTask>;
  /** The paths that tasks create. */
  readonly created: ReadonlySet<string>;
  /** The verification value without its backticks. */
  readonly verification: string;
  private readonly literals = new Map<string, readonly string[]>();
  private readonly contained = new Map<PlanTask, Map<string, boolean>>();
  private readonly expansions = new Map<string, Expansion>();
  private readonly known = new Map<string, boolean>();
  private readonly owners: readonly (PlanTask | undefined)[];

  constructor(
    readonly plan: PlanFile,
    readonly spec: SpecFile,
    private readonly files: PlanFiles,
  ) {
    this.findings = new Findings(plan.text.lines);
    this.tasks = taskIndex(plan.tasks);
    this.created = new Set(
      plan.tasks.flatMap((task) =>
        (task.files?.entries ?? []).filter(({ kind }) => kind === "Create").map(({ path }) => path),
      ),
    );
    this.verification = (plan.header.verification?.value ?? "").replaceAll("`", "");
    const owners: (PlanTask | undefined)[] = [];
    for (const task of plan.tasks) for (let line = task.start; line <= task.end; line++) owners[line] = task;
    this.owners = owners;
  }

  get rows(): readonly CoverageRow[] {
    return this.plan.coverage?.rows ?? [];
  }

  /** The task whose body holds a line. */
  taskAt(line: number): PlanTask | undefined {
    return this.owners[line];
  }

  /** The literals of the spec lines that a row cites, templates left out; none for a range that is not there. */
  literalsOf({ anchor }: CoverageRow): readonly string[] {
    if (anchor === null || !isInBounds(this.spec, anchor)) return [];
    const key = `${anchor.start}-${anchor.end}`;
    const known = this.literals.get(key);
    if (known !== undefined) return known;
    const text = linesOf(this.spec, anchor);
    // Taking literals out costs more than comparing.
    this.effort.spend(text.length * 8);
    const found = literalsOf(text).filter((literal) => !isTemplate(literal));
    this.literals.set(key, found);
    return found;
  }

  /** Those of them that a task which owns the row has to quote: the header's own value is never one. */
  requiredOf(row: CoverageRow): readonly string[] {
    const found = this.literalsOf(row);
    return this.verification === "" ? found : found.filter((literal) => literal !== this.verification);
  }

  /** Whether a task's body has a literal. */
  quotes(task: PlanTask, literal: string): boolean {
    this.effort.spend(0);
    let known = this.contained.get(task);
    if (known === undefined) {
      known = new Map();
      this.contained.set(task, known);
    }
    const before = known.get(literal);
    if (before !== undefined) return before;
    this.effort.spend(task.body.length);
    const found = finderOf(literal)(task.body) >= 0;
    known.set(literal, found);
    return found;
  }

  exists(path: string): boolean {
    const before = this.known.get(path);
    if (before !== undefined) return before;
    const found = this.files.exists(path);
    this.known.set(path, found);
    return found;
  }

  expand(pattern: string): Expansion {
    const before = this.expansions.get(pattern);
    if (before !== undefined) return before;
    const found = this.files.expand(pattern);
    this.expansions.set(pattern, found);
    return found;
  }
}
