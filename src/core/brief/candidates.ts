/** Which of the files that a branch added are its specs and plans, and how they pair. */
import { plansDir } from "../tracker/settings.ts";

export type CandidateInput = {
  /** Relative to the toplevel, `/` between parts. */
  readonly specDirs: readonly string[];
  /** The Markdown files under spec and plans directories that were added after the base or are untracked. */
  readonly added: readonly string[];
  /** Whether a path was tracked at the base. */
  readonly isAtBase: (path: string) => boolean;
  /** Draft-marked files are never specs; ledgers are never plans. */
  readonly isDraft: (path: string) => boolean;
  readonly isLedger: (path: string) => boolean;
};

export type Candidates = {
  readonly specs: readonly string[];
  /** By spec: the plans that pair with it. */
  readonly plans: ReadonlyMap<string, readonly string[]>;
  /** Those of the added files under plans directories that are ledgers. */
  readonly ledgers: readonly string[];
};

/** Source: flow state, section 12.7 */
export function findCandidates({ specDirs, added, isAtBase, isDraft, isLedger }: CandidateInput): Candidates {
  const files = added.filter((path) => path.endsWith(".md") && !isDraft(path));
  const specs = new Set<string>();
  const plans = new Map<string, string[]>();
  const ledgers: string[] = [];
  for (const dir of specDirs) for (const path of files) if (nameUnder(path, dir) !== null) specs.add(path);
  for (const path of files) {
    const homes = specDirs.filter((dir) => nameUnder(path, plansDir(dir)) !== null);
    if (homes.length === 0 || specs.has(path)) continue;
    if (isLedger(path)) {
      ledgers.push(path);
      continue;
    }
    for (const dir of homes) {
      const spec = `${withoutSlash(dir)}/${nameUnder(path, plansDir(dir))}`;
      if (!specs.has(spec) && !(isAtBase(spec) && !isDraft(spec))) continue;
      specs.add(spec);
      const own = plans.get(spec);
      if (own === undefined) plans.set(spec, [path]);
      else if (!own.includes(path)) own.push(path);
    }
  }
  return { specs: [...specs].sort(), plans, ledgers };
}

/** The directories that hold candidates: every spec directory and its plans directory, each once. */
export function candidateDirs(specDirs: readonly string[]): readonly string[] {
  return [...new Set([...specDirs, ...specDirs.map(plansDir)].map(withoutSlash))];
}

/** Whether a path lies under a directory, at whatever depth; both relative. */
export function isUnder(path: string, dir: string): boolean {
  return nameUnder(path, dir) !== null;
}

function nameUnder(path: string, dir: string): string | null {
  const start = `${withoutSlash(dir)}/`;
  return path.startsWith(start) && path.length > start.length ? path.slice(start.length) : null;
}

function withoutSlash(dir: string): string {
  return dir.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
}
