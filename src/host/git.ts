/** git, asked for facts of a checkout and told the few things that briefs do. */
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
