/** git, asked for facts of a checkout and told the few things that briefs do. */
import { lstatSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { WritError } from "../core/error.ts";
import { GIT, gitEnvironment } from "./git-call.ts";

/** How long one call may take, in milliseconds, and how much it may say, in bytes. */
const GIT_MS = 120_000;
const GIT_BYTES = 64 * 1024 * 1024;

export type GitAnswer = {
  readonly ok: boolean;
  /** As UTF-8; what is none becomes U+FFFD. */
  readonly stdout: string;
  readonly stderr: string;
};

/**
 * Runs `git -C <dir> <args>` to its end.
 *
 * Programs that the folder's own configuration names are not run by asking; hooks are, by what writes (`commit`,
 * `worktree add`), as they would be by hand.
 *
 * Errors: `git_missing`
 */
export function runGit(dir: string, args: readonly string[]): GitAnswer {
  try {
    const { stdout, stderr, success } = Bun.spawnSync([...GIT, "-C", dir, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: GIT_MS,
      maxBuffer: GIT_BYTES,
      env: { ...gitEnvironment(dir, args), LC_ALL: "C" },
    });
    return { ok: success, stdout: stdout.toString(), stderr: stderr.toString() };
  } catch (error) {
    // A folder that is not there fails in git itself; only a missing program comes here.
    throw new WritError("git_missing", "git: command not found", {
      details: { code: "git" },
      hint: "Install git, or put it on PATH",
      cause: error,
    });
  }
}

/**
 * The `.git` around a folder in which git finds no repository: a file, or a folder with a part of one. Looked for as far
 * up as git looks: within the file system, and below what `GIT_CEILING_DIRECTORIES` names. Null where there is none.
 */
export function unreadableCheckout(dir: string): string | null {
  const ceilings = new Set((process.env.GIT_CEILING_DIRECTORIES ?? "").split(delimiter));
  try {
    let folder = realpathSync(dir);
    const { dev } = lstatSync(folder);
    for (;;) {
      const git = join(folder, ".git");
      const kind = lstatSync(git, { throwIfNoEntry: false });
      if (kind?.isFile() || (kind !== undefined && PARTS.some((part) => isThere(join(git, part))))) return git;
      const above = dirname(folder);
      if (above === folder || ceilings.has(above) || lstatSync(above).dev !== dev) return null;
      folder = above;
    }
  } catch {
    return null; // a folder that cannot be looked at
  }
}

/** An empty folder of that name is no repository: sandboxes make one. */
const PARTS = ["HEAD", "objects", "refs", "config"];

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
