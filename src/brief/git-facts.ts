/** Facts of a checkout, as git gives them. */
import { stop } from "../core/brief/stop.ts";
import type { BriefWorld } from "./world.ts";

type Git = Pick<BriefWorld, "git" | "realPath">;

/** What a call says; null when it fails. */
export function asked({ git }: Git, dir: string, ...args: readonly string[]): string | null {
  const { ok, stdout } = git(dir, args);
  return ok ? stdout.replace(/\n$/, "") : null;
}

/** What a call says. Errors: `git` with git's own first line. */
export function told({ git }: Git, dir: string, ...args: readonly string[]): string {
  const { ok, stdout, stderr } = git(dir, args);
  if (ok) return stdout.replace(/\n$/, "");
  const first = stderr.split("\n").find((line) => line.trim() !== "") ?? "it said nothing";
  throw stop("git", `git ${args.find((word) => !word.startsWith("-")) ?? ""} failed: ${first}`, { path: dir });
}

/** Lines of what a call says, each in full; a final line end is none. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

/** Fields that a call ends with NUL. */
export function fieldsOf(text: string): readonly string[] {
  return text.split("\0").filter((field) => field !== "");
}

export function toplevelOf(world: Git, dir: string): string | null {
  return asked(world, dir, "rev-parse", "--show-toplevel");
}

/** The canonical git folder that all worktrees of a repository share; null outside of git. */
export function commonDir(world: Git, dir: string): string | null {
  const found = asked(world, dir, "rev-parse", "--path-format=absolute", "--git-common-dir");
  return found === null || found === "" ? null : (world.realPath(found) ?? found);
}

/** Null for a detached HEAD. */
export function branchOf(world: Git, dir: string): string | null {
  const branch = asked(world, dir, "branch", "--show-current");
  return branch === "" ? null : branch;
}

export function headOf(world: Git, dir: string): string | null {
  return asked(world, dir, "rev-parse", "--verify", "--quiet", "HEAD");
}

/** The lines of `status --porcelain`, of the whole tree or of one path; null when it fails. */
export function porcelainOf(world: Git, dir: string, path?: string): readonly string[] | null {
  const only = path === undefined ? [] : ["--", path];
  const text = asked(world, dir, "--literal-pathspecs", "status", "--porcelain", ...only);
  return text === null ? null : linesOf(text);
}

export type Worktree = { readonly path: string; readonly branch: string | null };

/** The worktrees of a repository, the main one first; branches in full. */
export function worktreesOf(world: Git, dir: string): readonly Worktree[] {
  const blocks = (asked(world, dir, "worktree", "list", "--porcelain") ?? "").split("\n\n");
  return blocks.flatMap((block) => {
    const lines = block.split("\n");
    const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    const branch = lines.find((line) => line.startsWith("branch "))?.slice("branch ".length) ?? null;
    return path === undefined ? [] : [{ path, branch }];
  });
}

/** The short name of the remote's default branch: `origin/main`; null where no remote resolves. */
export function remoteDefault(world: Git, dir: string): string | null {
  const head = asked(world, dir, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD");
  for (const name of [head, "origin/main", "origin/master"]) {
    if (name !== null && asked(world, dir, "rev-parse", "--verify", "--quiet", `refs/remotes/${name}`) !== null) {
      return name;
    }
  }
  return null;
}
