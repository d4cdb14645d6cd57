/** The legs of a coordinated flow, as a producer records them: what their trees are, or what was last known of them. */
import type { Leg } from "../core/brief/brief.ts";
import { type Receipt, readReceipt, readSpecLegs, resolveHome, type SpecLeg } from "../core/brief/leg-files.ts";
import { plansDir } from "../core/tracker/settings.ts";
import { asked, branchOf, commonDir, headOf, porcelainOf } from "./git-facts.ts";
import type { BriefWorld } from "./world.ts";

export type Home = {
  /** The run home's toplevel. */
  readonly worktree: string;
  /** The home spec, absolute, and its text. */
  readonly specPath: string;
  readonly specText: string;
  readonly specDirs: readonly string[];
  readonly siblings: ReadonlyMap<string, string>;
};

/** The folder that holds the home's primary checkout: where its siblings lie. */
export function siblingFolder(world: BriefWorld, worktree: string): string {
  const common = commonDir(world, worktree) ?? worktree;
  return world.folderOf(world.folderOf(common));
}

/** Where a companion's declared primary lies; null where no clone URL is declared. Source: section 14.1. */
export function declaredPrimary(world: BriefWorld, { worktree, siblings }: Home, repo: string): string | null {
  const url = siblings.get(repo);
  if (url === undefined) return null;
  const name = url
    .replace(/\/+$/, "")
    .split(/[/:]/)
    .at(-1)
    ?.replace(/\.git$/, "");
  return name === undefined || name === "" ? null : world.resolve(siblingFolder(world, worktree), name);
}

/** Where the `home:` pattern of a companion leads; null where its block has none. */
export function companionTree(world: BriefWorld, { worktree }: Home, { home, branch }: SpecLeg) {
  if (home === null || branch === null) return null;
  const { path, name } = resolveHome(home, branch);
  return { pattern: home, name, path: world.resolve(siblingFolder(world, worktree), path) };
}

/** The delivery receipt of a companion: its path relative to the home worktree; null where there is none. */
export function findReceipt(world: BriefWorld, { worktree, specPath, specDirs }: Home, repo: string): string | null {
  const name = specPath.slice(specPath.lastIndexOf("/") + 1).replace(/\.md$/, "");
  const paths = specDirs.map((dir) => `${plansDir(dir)}/${name}.${repo}.receipt.json`);
  return paths.find((path) => world.kindOf(world.resolve(worktree, path)) === "file") ?? null;
}

export function openReceipt(world: BriefWorld, worktree: string, path: string): Receipt | null {
  const text = world.readFile(world.resolve(worktree, path))?.text;
  const value = text === undefined ? null : world.parseJson(text);
  return value === null ? null : readReceipt(value);
}

/**
 * The legs of a home spec as they are now; empty for a flow with one member.
 *
 * @returns the repository whose HEAD nobody knows, where there is one
 * Source: flow state, section 14
 */
export function recordLegs(world: BriefWorld, home: Home): readonly Leg[] | { readonly unknown: string } {
  const members = readSpecLegs(home.specText);
  if (members.length < 2) return [];
  const legs: Leg[] = [];
  for (const [place, member] of members.entries()) {
    const tree = place === 0 ? home.worktree : (companionTree(world, home, member)?.path ?? null);
    const receipt = place === 0 ? null : findReceipt(world, home, member.repo);
    const leg = tree === null ? null : liveLeg(world, tree, member, receipt);
    const recorded = leg ?? missingLeg(world, home, member, receipt);
    if (recorded === null) return { unknown: member.repo };
    legs.push(recorded);
  }
  return legs;
}

function liveLeg(world: BriefWorld, tree: string, { repo, branch }: SpecLeg, receipt: string | null): Leg | null {
  const path = world.kindOf(tree) === "folder" ? world.realPath(tree) : null;
  const head = path === null ? null : headOf(world, path);
  if (path === null || head === null) return null;
  const live = branchOf(world, path) ?? branch ?? "detached";
  return { repo, worktree: path, branch: live, head, dirty: dirtText(porcelainOf(world, path)), receipt };
}

function missingLeg(world: BriefWorld, home: Home, { repo, branch }: SpecLeg, receipt: string | null): Leg | null {
  const primary = declaredPrimary(world, home, repo);
  const kept = receipt === null ? null : openReceipt(world, home.worktree, receipt);
  const ref = `refs/heads/${branch}`;
  const inPrimary =
    primary === null || branch === null ? null : asked(world, primary, "rev-parse", "--verify", "--quiet", ref);
  const head = kept?.head ?? inPrimary;
  if (head === null || branch === null) return null;
  return { repo, worktree: "missing", branch, head, dirty: "unavailable", receipt };
}

/** `clean`, or porcelain lines in one. */
export function dirtText(lines: readonly string[] | null): string {
  if (lines === null) return "unavailable";
  return lines.length === 0 ? "clean" : lines.join("; ");
}
