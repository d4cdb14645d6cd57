/** What a brief says of the checkout that it was written in. */
import type { RepoFields, RepoState } from "../core/brief/brief.ts";
import { isObject, valueAt } from "../core/json/value.ts";
import { asked, headOf, linesOf, porcelainOf, remoteDefault, toplevelOf, worktreesOf } from "./git-facts.ts";
import type { BriefWorld } from "./world.ts";

/** What a field says that git did not answer. */
export const UNAVAILABLE = "unavailable";

/** Errors: `git_missing`. Source: flow state, section 10.3. */
export function readRepoState(world: BriefWorld, target: string): RepoState {
  if (asked(world, target, "rev-parse", "--git-dir") === null) {
    return { kind: "not-a-git-repo", reason: null, fields: null };
  }
  const toplevel = toplevelOf(world, target);
  const base = remoteDefault(world, target);
  const dirty = porcelainOf(world, target);
  return {
    kind: "fields",
    reason: null,
    fields: {
      toplevel: toplevel ?? UNAVAILABLE,
      worktree: worktreeField(world, target, toplevel),
      branch: branchField(world, target),
      head: headOf(world, target) ?? UNAVAILABLE,
      base: base ?? "unknown",
      dirty: dirty === null ? [UNAVAILABLE] : dirty.length === 0 ? ["clean"] : dirty,
      diff_stat: diffStat(world, target, base),
      test_cmd: toplevel === null ? UNAVAILABLE : testCommand(world, toplevel),
    },
  };
}

/** A linked worktree is in git's list, and not first in it. */
function worktreeField(world: BriefWorld, target: string, toplevel: string | null): RepoFields["worktree"] {
  if (toplevel === null) return { kind: UNAVAILABLE };
  const [, ...linked] = worktreesOf(world, target);
  return linked.some(({ path }) => path === toplevel) ? { kind: "yes", path: toplevel } : { kind: "no" };
}

function branchField(world: BriefWorld, target: string): string {
  const branch = asked(world, target, "branch", "--show-current");
  return branch === null ? UNAVAILABLE : branch === "" ? "detached" : branch;
}

function diffStat(world: BriefWorld, target: string, base: string | null): readonly string[] {
  const text = base === null ? null : asked(world, target, "diff", "--stat", `${base}...HEAD`);
  if (text === null) return [UNAVAILABLE];
  const lines = linesOf(text.trimEnd());
  return lines.length === 0 ? ["none"] : lines;
}

function testCommand(world: BriefWorld, toplevel: string): string {
  const manifest = world.parseJson(world.readFile(world.resolve(toplevel, "package.json"))?.text ?? "");
  const scripts = manifest !== null && isObject(manifest) ? valueAt(manifest, "scripts") : undefined;
  if (isObject(scripts) && typeof valueAt(scripts, "test") === "string") return "npm test";
  const agents = world.readFile(world.resolve(toplevel, "AGENTS.md"))?.text ?? "";
  for (const line of agents.split("\n")) {
    const command = /^Test(?:s| command)?: (.+)$/.exec(line.replace(/\r$/, ""))?.[1];
    if (command !== undefined) return command;
  }
  return UNAVAILABLE;
}
