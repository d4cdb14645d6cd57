/** The real world of the flow commands: the checkout around a folder, its store, its settings. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TrackerWorld } from "../brief/track.ts";
import { readFlowSettings } from "../host/flow-settings.ts";
import { runGit } from "../host/git.ts";
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

/** Errors: `git_missing` */
export function checkoutAround(folder: string): Checkout {
  const { stdout } = runGit(folder, ["rev-parse", "--absolute-git-dir", "--show-toplevel"]);
  // A bare repository has a git folder and no toplevel: what is printed before the failure counts.
  const [gitDir = "", toplevel = ""] = stdout.split("\n");
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
