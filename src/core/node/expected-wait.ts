/** How long a new job would wait at a node, by the walls of the last ones. */
import { toThousandths } from "../rounded.ts";

/** Null: nothing has run yet that could tell. */
export function expectedWaitSec(of: {
  readonly accepted: number;
  readonly running: number;
  /** Negative: no limit. */
  readonly maxRunning: number;
  readonly recentWallSec: number | null;
}): number | null {
  const { accepted, running, maxRunning, recentWallSec } = of;
  const ahead = maxRunning < 0 ? 0 : Math.max(0, running + accepted - maxRunning + 1);
  if (ahead === 0) return 0;
  return recentWallSec === null ? null : toThousandths((ahead * recentWallSec) / Math.max(1, maxRunning));
}
