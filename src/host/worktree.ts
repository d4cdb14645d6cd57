/** The git work tree around a folder: which of its files changed after an instant. */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { GIT, gitEnvironment } from "./git-call.ts";

/** A tree with more files is not asked. */
const FILE_LIMIT = 20_000;
/** How long git may take, in milliseconds, and how much it may say, in bytes. */
const GIT_MS = 10_000;
const GIT_BYTES = 16 * 1024 * 1024;
/** How many paths are worth naming. */
const NAMED = 5;

/**
 * Files that git tracks or would track, modified after the instant; the five that changed last at most, by path from the tree's root.
 * Empty when there is no git, no work tree, or too many files.
 *
 * An instant has whole seconds: what changed within that second counts as before, since the run itself may have
 * written it.
 *
 * @param except a folder whose files do not count
 */
export function changedAfter(cwd: string, instant: string, options: { readonly except: string }): readonly string[] {
  const after = Date.parse(instant) + 1000;
  const root = git(cwd, ["rev-parse", "--show-toplevel"])?.replace(/\n$/, "");
  if (root === undefined || root === "" || Number.isNaN(after)) return [];
  const listing = git(root, ["ls-files", "-z", "-co", "--exclude-standard"]);
  if (listing === null) return [];
  const names = listing.split("\0").filter((name) => name !== "");
  if (names.length > FILE_LIMIT) return [];
  const except = `${realPath(options.except)}${sep}`;
  const changed: { readonly name: string; readonly at: number }[] = [];
  for (const name of names) {
    const path = join(root, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory() || stat.mtimeMs < after) continue;
    if (`${realPath(root)}${sep}${name}`.startsWith(except)) continue;
    changed.push({ name, at: stat.mtimeMs });
  }
  const newest = changed.toSorted((one, other) => other.at - one.at);
  return newest.slice(0, NAMED).map((one) => one.name);
}

/** What git prints; null when it fails, is missing, or takes too long. */
function git(cwd: string, args: readonly string[]): string | null {
  try {
    const { stdout, success } = Bun.spawnSync([...GIT, "-C", cwd, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: GIT_MS,
      maxBuffer: GIT_BYTES,
      env: gitEnvironment(cwd, args),
    });
    return success ? stdout.toString() : null;
  } catch {
    return null; // there is no git
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not there yet
  }
}

/** The nearest folder around `cwd`, itself included, that has a `.git`; null where there is none. */
export function findWorkTree(cwd: string): string | null {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    if (lstatSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined) return folder;
    if (dirname(folder) === folder) return null;
  }
}
