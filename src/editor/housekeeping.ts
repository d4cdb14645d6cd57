/** Housekeeping: drafts and scratch files that nobody will come back to. The journal keeps what a draft held. */
import type { ScratchFolder } from "../core/contract/repository.ts";
import type { World } from "./world.ts";

const HOUR_MS = 60 * 60 * 1000;

export type SweepWorld = World & {
  /** How long a spent draft is kept untouched, and any draft at the longest. */
  readonly limits: { readonly graceHours: number; readonly maxDays: number };
  readonly scratch: ScratchFolder;
};

/**
 * Removes drafts that are spent and untouched for the grace time, or untouched for the longest time whatever their
 * state; scratch files of closed contracts go by the same rules. At most once an hour, and never an error.
 *
 * @returns one warning when it could not be done
 */
export function sweepDrafts(world: SweepWorld): readonly string[] {
  try {
    const now = world.clock.ms();
    if (!world.drafts.claimSweep(now)) return [];
    world.drafts.sweep(now);
    const drafts = world.drafts
      .list()
      .map((draft) => ({ ...draft, remove: () => world.drafts.remove(draft.draft_id) }));
    const scratch = world.scratch.list().map(({ name, modified_ms }) => ({
      draft_id: contractOf(name),
      modified_ms,
      remove: () => world.scratch.remove(name),
    }));
    const closed = closedAmong(
      world,
      [...drafts, ...scratch].map((one) => one.draft_id),
    );
    for (const one of drafts) if (isOver(world, one, closed, now)) one.remove();
    for (const one of scratch) if (closed.has(one.draft_id) && isOver(world, one, closed, now)) one.remove();
    return [];
  } catch (error) {
    return [`Housekeeping could not be done: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** `<agent>.<token>` with at most one ending behind it. */
function contractOf(name: string): string {
  return name.split(".").slice(0, 2).join(".");
}

function closedAmong(world: World, ids: readonly string[]): ReadonlySet<string> {
  try {
    return world.store.read((tables) => tables.handoffs.listClosed(ids));
  } catch {
    return new Set(); // a store that cannot be read: only the longest time counts
  }
}

function isOver(
  world: SweepWorld,
  one: { readonly draft_id: string; readonly modified_ms: number },
  closed: ReadonlySet<string>,
  now: number,
): boolean {
  const age = now - one.modified_ms;
  if (age > world.limits.maxDays * 24 * HOUR_MS) return true;
  return closed.has(one.draft_id) && age > world.limits.graceHours * HOUR_MS;
}
