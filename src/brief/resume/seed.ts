/** Taking up a spec of the primary checkout in the worktree of its name. */
import { isDraft } from "../../core/brief/spec-header.ts";
import { stop } from "../../core/brief/stop.ts";
import { asked, commonDir, told, worktreesOf } from "../git-facts.ts";
import { checkIdle, checkRepository } from "./entry.ts";
import { choosePath } from "./question.ts";
import type { ResumeWorld } from "./world.ts";

export type Seed = { readonly worktree: string /** Relative to the worktree. */; readonly spec: string };

/**
 * @param path the canonical path of the spec, under the primary checkout
 * @param isDry nothing is made: a worktree that is missing stays so
 * Errors: `seed`, `not_idle`, `other_repository`, `answer_needed`, `git`
 * Source: flow state, section 12.15
 */
export function openSeed(world: ResumeWorld, path: string, primary: string, isDry: boolean): Seed {
  const own = asked(world, world.cwd, "rev-parse", "--absolute-git-dir");
  const isPrimary = own !== null && (world.realPath(own) ?? own) === commonDir(world, world.cwd);
  if (!isPrimary) throw stop("seed", "seed from the primary checkout", { path: primary });
  const relative = world.below(world.realPath(primary) ?? primary, path) ?? path;
  if (asked(world, primary, "--literal-pathspecs", "ls-files", "--error-unmatch", "--", relative) === null) {
    throw stop("seed", `not tracked: ${path} - commit it first`, { path });
  }
  if (isDraft(world.readFile(path)?.text ?? "")) {
    throw stop("seed", `context draft, not a spec: ${path} - finish brainstorming`, { path });
  }
  const worktree = findWorktree(world, primary, seedName(relative), isDry);
  checkIdle(world, worktree, null);
  checkRepository(world, worktree);
  const copy = world.resolve(worktree, relative);
  const text = world.readFile(copy)?.text ?? null;
  if (text === null || isDraft(text)) throw stop("seed", `spec copy missing or draft: ${copy}`, { path: copy });
  return { worktree, spec: relative };
}

/** The file's name without its extension and without a date in front. */
function seedName(relative: string): string {
  const name = relative.slice(relative.lastIndexOf("/") + 1).replace(/\.md$/, "");
  return name.replace(/^\d{4}-\d{2}-\d{2}-/, "");
}

function findWorktree(world: ResumeWorld, primary: string, name: string, isDry: boolean): string {
  const paths = worktreesOf(world, primary)
    .filter(({ branch }) => branch !== null && (branch === `refs/heads/${name}` || branch.endsWith(`/${name}`)))
    .map(({ path }) => path);
  const [only, ...further] = paths;
  if (only !== undefined && further.length === 0) return only;
  if (only !== undefined) {
    return choosePath(world, {
      name: "worktree",
      flag: "--worktree <path>",
      paths,
      given: world.answers.worktree,
      about: [],
    });
  }
  if (!world.answers.createWorktree || isDry) {
    throw stop("seed", `no worktree for ${name} - create one, or pass --create-worktree`);
  }
  told(world, primary, "worktree", "add", "-b", name, "--", `.worktrees/${name}`);
  return world.resolve(primary, `.worktrees/${name}`);
}
