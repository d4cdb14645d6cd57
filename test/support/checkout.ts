/** Real git checkouts for tests, in a folder of their own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Checkouts = {
  /** Canonical; holds every checkout of the test. */
  readonly folder: string;
  /** Makes a repository with one commit of these files, on branch main. */
  repository(name: string, files?: Readonly<Record<string, string>>): Checkout;
  [Symbol.dispose](): void;
};

export type Checkout = {
  readonly path: string;
  /** Runs git there; throws with what it said when it fails. */
  git(...args: readonly string[]): string;
  write(file: string, text: string): void;
  /** Commits everything; the new HEAD. */
  commit(message?: string): string;
  /** Adds a linked worktree on a new branch. */
  worktree(path: string, branch: string): Checkout;
};

const WHO = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"];

/** The same for a git that writ starts. */
export const GIT_IDENTITY = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@example.invalid",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@example.invalid",
};

export function openCheckouts(): Checkouts {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-git-")));
  return {
    folder,
    repository(name, files = { "README.md": "# R\n" }) {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true });
      const checkout = checkoutAt(path);
      checkout.git("init", "-q", "-b", "main");
      for (const [file, text] of Object.entries(files)) checkout.write(file, text);
      checkout.commit("first");
      return checkout;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function checkoutAt(path: string): Checkout {
  const git = (...args: readonly string[]) => {
    const { success, stdout, stderr } = Bun.spawnSync(["git", ...WHO, "-C", path, ...args], {
      env: { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_DIR: undefined },
    });
    if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.toString().replace(/\n$/, "");
  };
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  };
  return {
    path,
    git,
    write,
    commit(message = "change") {
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", message);
      return git("rev-parse", "HEAD");
    },
    worktree(place, branch) {
      git("worktree", "add", "-q", "-b", branch, place);
      return checkoutAt(place);
    },
  };
}
