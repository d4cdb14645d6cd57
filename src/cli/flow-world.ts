/** The real world of the flow commands: the checkout around a folder, its store, its settings. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TrackerWorld } from "../brief/track.ts";
import { stop } from "../core/brief/stop.ts";
import { readFlowSettings } from "../host/flow-settings.ts";
import { runGit, unreadableCheckout } from "../host/git.ts";
import { sha256 } from "../store/drafts.ts";
import { flowStore } from "../store/flow.ts";
import type { Output } from "./command.ts";

/** The largest plan or spec whose digest is taken, in bytes. */
const LARGEST = 64 * 1024 * 1024;

export const STORE_OPTION = {
  store: {
    type: "string",
    valueHint: "PATH",
    description: "The store of the flow (default: WRIT_STORE, else the worktree's own, in its git folder)",
  },
} as const;

/** Where a folder stands: the toplevel of its checkout, and its git folder; null outside of git. */
export type Checkout = { readonly folder: string; readonly toplevel: string | null; readonly gitDir: string | null };

/**
 * Outside of git is where no repository is: one that git cannot read is none to keep another flow beside.
 *
 * Errors: `git_missing`; `git` where a repository is there and git cannot read it, or its path holds a line feed
 */
export function checkoutAround(folder: string): Checkout {
  const { stdout, stderr } = runGit(folder, ["rev-parse", "--absolute-git-dir", "--show-toplevel"]);
  // A bare repository has a git folder and no toplevel: what is printed before the failure counts.
  const [gitDir = "", toplevel = "", ...further] = stdout.split("\n");
  if (further.length > 1) {
    throw stop("git", `the path of the checkout holds a line feed: ${JSON.stringify(folder)}`, {
      hint: "Move it to a path without one",
    });
  }
  const broken = gitDir === "" ? unreadableCheckout(folder) : null;
  if (broken !== null) {
    const said = stderr.split("\n").find((line) => line.trim() !== "") ?? "it said nothing";
    throw stop("git", `git rev-parse failed: ${said}`, {
      path: broken,
      details: [`${broken} is there, and git cannot read it`],
      hint: `Put it in order until git status works there, or move ${broken} away`,
    });
  }
  return { folder, toplevel: toplevel === "" ? null : toplevel, gitDir: gitDir === "" ? null : gitDir };
}

/** The store of a checkout: `--store`, else `WRIT_STORE`, else in its git folder, else beside it. */
export function storePath({ folder, gitDir }: Checkout, option: string | undefined): string {
  const given = option ?? process.env.WRIT_STORE ?? "";
  if (given.trim() !== "") return resolve(given);
  return gitDir === null ? join(folder, ".writ", "store.sqlite") : join(gitDir, "writ", "store.sqlite");
}

/** The trackers of the session checkout. What its settings warn of is said on standard error. */
export function trackerWorld(option: string | undefined, out: Output): TrackerWorld {
  const checkout = checkoutAround(process.cwd());
  const { settings, warning } = readFlowSettings(checkout.toplevel ?? checkout.folder);
  if (warning !== null) out.talk(warning);
  return { store: flowStore(storePath(checkout, option)), settings, digestOf };
}

/** The SHA-256 of a regular file; null when it cannot be read. */
export function digestOf(path: string): string | null {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= LARGEST ? sha256(readFileSync(path)) : null;
  } catch {
    return null; // gone, or not ours to read
  }
}
