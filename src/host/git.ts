/** git, asked for facts of a checkout and told the few things that briefs do. */
import { WritError } from "../core/error.ts";

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
 * A folder's own configuration may name a program that watches its files: asking must not run it. Within a hook of git
 * the environment names another tree than the folder's.
 *
 * Errors: `git_missing`
 */
export function runGit(dir: string, args: readonly string[]): GitAnswer {
  try {
    const { stdout, stderr, success } = Bun.spawnSync(["git", "-c", "core.fsmonitor=false", "-C", dir, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: GIT_MS,
      maxBuffer: GIT_BYTES,
      env: {
        ...process.env,
        LC_ALL: "C",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0",
        GIT_DIR: undefined,
        GIT_WORK_TREE: undefined,
        GIT_INDEX_FILE: undefined,
        GIT_COMMON_DIR: undefined,
        GIT_OBJECT_DIRECTORY: undefined,
        GIT_NAMESPACE: undefined,
        GIT_PREFIX: undefined,
        BUN_OPTIONS: undefined,
      },
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
