/**
 * Walking a continuation chain: each closed contract may be continued by one other.
 *
 * A walk is bounded at 64 links and cut at a cycle: rows may have been edited by hand.
 */
import { MAX_LINKS } from "./chain.ts";
import type { HandoffRow, HandoffTable } from "./repository.ts";

/** From this row to the newest link of its chain; the row itself when nothing continues it. */
export function liveLink(handoffs: HandoffTable, row: HandoffRow): HandoffRow {
  return walk(row, (link) => handoffs.findContinuation(link.id)).at(-1) ?? row;
}

/** This row and what it continues, own first, back to the root. */
export function chainOf(handoffs: HandoffTable, row: HandoffRow): readonly HandoffRow[] {
  return walk(row, (link) =>
    link.continues_handoff_id === null ? null : handoffs.findById(link.continues_handoff_id),
  );
}

/** Every link of the chain that this row is in, oldest first. */
export function wholeChain(handoffs: HandoffTable, row: HandoffRow): readonly HandoffRow[] {
  const older = chainOf(handoffs, row).toReversed();
  const seen = new Set(older.map((link) => link.id)); // a circle has every link on both sides
  const newer = walk(row, (link) => handoffs.findContinuation(link.id)).filter((link) => !seen.has(link.id));
  return [...older, ...newer];
}

function walk(from: HandoffRow, next: (link: HandoffRow) => HandoffRow | null): readonly HandoffRow[] {
  const links = [from];
  const seen = new Set([from.id]);
  while (links.length < MAX_LINKS) {
    const link = next(links.at(-1) ?? from);
    if (link === null || seen.has(link.id)) break;
    seen.add(link.id);
    links.push(link);
  }
  return links;
}
