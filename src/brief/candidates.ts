/** The specs, plans and ledgers that a worktree's branch brings. */
import { type Candidates, candidateDirs, findCandidates } from "../core/brief/candidates.ts";
import { isDraft } from "../core/brief/spec-header.ts";
import { isLedger } from "../core/ledger/ledger-file.ts";
import { asked, fieldsOf, told } from "./git-facts.ts";
import type { BriefWorld } from "./world.ts";

/** The commit at which a branch left the default branch; null where none can be derived. Source: section 12.7. */
export function deriveBase(world: BriefWorld, worktree: string): string | null {
  for (const name of ["origin/HEAD", "main", "master"]) {
    const base = asked(world, worktree, "merge-base", "HEAD", name);
    if (base !== null && base !== "") return base;
  }
  return null;
}

/**
 * The candidates of a worktree, paths relative to its toplevel.
 *
 * Errors: `git`, `git_missing`
 * Source: flow state, section 12.7
 */
export function readCandidates(
  world: BriefWorld,
  {
    worktree,
    base,
    specDirs,
  }: { readonly worktree: string; readonly base: string; readonly specDirs: readonly string[] },
): Candidates {
  const dirs = candidateDirs(specDirs);
  const git = (...args: readonly string[]) =>
    fieldsOf(told(world, worktree, "--literal-pathspecs", ...args, "--", ...dirs));
  const added = [
    ...git("diff", "-z", "-M", "--diff-filter=A", "--name-only", `${base}..HEAD`),
    ...git("ls-files", "-z", "--others", "--exclude-standard"),
  ].filter((path) => world.kindOf(world.resolve(worktree, path)) === "file");
  const atBase = new Set(git("ls-tree", "-r", "-z", "--name-only", base));
  const text = (path: string) => world.readFile(world.resolve(worktree, path))?.text ?? "";
  return findCandidates({
    specDirs,
    added: [...new Set(added)].sort(),
    isAtBase: (path) => atBase.has(path) && world.kindOf(world.resolve(worktree, path)) === "file",
    isDraft: (path) => isDraft(text(path)),
    isLedger: (path) => isLedger(text(path)),
  });
}
