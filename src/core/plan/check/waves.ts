/** Check 9: that no two tasks of a wave, which may run side by side, declare one file. */
import type { FileEntry, PlanTask } from "../task-block.ts";
import type { CheckContext, Expansion } from "./context.ts";

/** An entry, with its task and its place in it. */
type Declared = { readonly entry: FileEntry; readonly task: number; readonly place: number };
type Pair = { readonly left: Declared; readonly right: Declared; readonly error: string | null };

/**
 * Pairs are found by what they share, not by trying each: the work grows with the entries and with the pairs that
 * overlap, one task after the other.
 *
 * Source: flow state, section 6.6
 */
export function checkWaves(context: CheckContext): void {
  const byWave = new Map<number, PlanTask[]>();
  for (const task of context.plan.tasks) {
    const tasks = byWave.get(task.wave);
    if (tasks === undefined) byWave.set(task.wave, [task]);
    else tasks.push(task);
  }
  const sorted = new Map<number, Entries>();
  for (const wave of context.plan.waves) {
    // Waves of one number share their tasks: each tells of the same pairs.
    const tasks = byWave.get(wave.number) ?? [];
    if (tasks.length < 2) continue;
    const place = { line: wave.line };
    const entries = sorted.get(wave.number) ?? entriesOf(context, tasks);
    sorted.set(wave.number, entries);
    for (const { left, right, error } of overlaps(context, entries)) {
      if (error !== null) {
        context.findings.add("wave-file-disjointness", "glob-invalid", error, place);
        continue;
      }
      const [one, other] = [tasks[left.task]?.number ?? 0, tasks[right.task]?.number ?? 0];
      context.findings.add(
        "wave-file-disjointness",
        "overlap",
        `Task ${one} and Task ${other} in Wave ${wave.number} both declare "${left.entry.path}" / "${right.entry.path}"`,
        place,
      );
    }
  }
}

/** What the tasks of a number declare. */
type Entries = {
  /** By task, those that declare something. */
  readonly declared: readonly (readonly Declared[])[];
  /** Patterns that cannot be expanded. */
  readonly broken: readonly Declared[];
  /** By path: the entries that name it, or match it, in order. */
  readonly holders: ReadonlyMap<string, readonly Declared[]>;
};

function entriesOf(context: CheckContext, tasks: readonly PlanTask[]): Entries {
  const declared = tasks
    .map(({ files }, task) => (files?.entries ?? []).map((entry, place): Declared => ({ entry, task, place })))
    .filter((entries) => entries.length > 0);
  const broken: Declared[] = [];
  const holders = new Map<string, Declared[]>();
  for (const one of declared.flat()) {
    const paths = pathsOf(context, one.entry);
    if (paths === null) broken.push(one);
    for (const path of paths ?? []) {
      const same = holders.get(path);
      if (same === undefined) holders.set(path, [one]);
      else same.push(one);
    }
  }
  return { declared, broken, holders };
}

/** The pairs of entries of different tasks that overlap or cannot be compared, in the order of tasks and entries. */
function* overlaps(context: CheckContext, { declared, broken, holders }: Entries): Generator<Pair> {
  for (const [at, entries] of declared.entries()) {
    const pairs: Pair[] = [];
    for (const left of entries) {
      context.effort.spend(0);
      const { task } = left;
      const paths = pathsOf(context, left.entry);
      const others = paths === null ? declared.slice(at + 1).flat() : behind(broken, task);
      for (const right of others) {
        context.effort.spend(0);
        pairs.push({ left, right, error: errorOf(context, left, right) });
      }
      const seen = new Set<Declared>(others);
      for (const path of paths ?? []) {
        for (const right of behind(holders.get(path) ?? [], task)) {
          context.effort.spend(0);
          // Two patterns may share several paths.
          if (left.entry.isGlob && seen.has(right)) continue;
          if (left.entry.isGlob) seen.add(right);
          pairs.push({ left, right, error: null });
        }
      }
    }
    for (const pair of pairs.sort(inOrder)) {
      if (pair.left.entry.kind !== "Test" || pair.right.entry.kind !== "Test") yield pair;
    }
  }
}

/** What an entry names or matches; null for a pattern that cannot be expanded. */
function pathsOf(context: CheckContext, { path, isGlob }: FileEntry): readonly string[] | null {
  if (!isGlob) return [path];
  const expansion = context.expand(path);
  if (!expansion.ok) return null;
  context.effort.spend(expansion.paths.length * 64);
  return expansion.paths;
}

/** The entries of later tasks, of a list in the order of tasks. */
function behind(all: readonly Declared[], task: number): readonly Declared[] {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.task ?? 0) > task) high = middle;
    else low = middle + 1;
  }
  return all.slice(low);
}

/** Of two patterns that cannot be expanded, the first is named. */
function errorOf(context: CheckContext, left: Declared, right: Declared): string {
  for (const { path, isGlob } of [left.entry, right.entry]) {
    const expansion: Expansion = isGlob ? context.expand(path) : { ok: true, paths: [] };
    if (!expansion.ok) return `invalid glob pattern "${path}": ${expansion.error}`;
  }
  return "";
}

function inOrder(one: Pair, other: Pair): number {
  return one.right.task - other.right.task || one.left.place - other.left.place || one.right.place - other.right.place;
}
