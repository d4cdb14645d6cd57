/**
 * The stop gate: a turn that stops before its contract is closed is sent back with what is missing, a bounded number of
 * times. The count is in the store, and committed before anybody is told: no lost field of a payload can make it loop.
 */

import { chainOf } from "../core/contract/links.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import { isRefusal, type Obstacle, sendBackReason } from "../core/contract/send-back.ts";
import { isClosed } from "../core/contract/state.ts";
import { WritError } from "../core/error.ts";
import { type CheckWorld, liveOf } from "./finalize.ts";
import { validateLink } from "./validate.ts";

export type GateRequest = {
  readonly contract_id: string;
  /** How often a turn may be sent back; 0 is never. */
  readonly limit: number;
  /** The harness says that the agent goes on already because a stop hook asked it to. */
  readonly stop_hook_active: boolean;
};

export type SentBack = { readonly contract_id: string; readonly count: number; readonly reason: string };

/**
 * Decides whether a turn that stops is sent back, and counts it.
 *
 * @returns null when it may stop: it is closed, nobody knows it, or it was sent back as often as it may be
 * Errors: `store_busy`, `store_failed`, and any defect; nothing was counted then
 */
export function gateStop(world: CheckWorld, request: GateRequest): SentBack | null {
  const { contract_id, limit, stop_hook_active } = request;
  if (limit <= 0) return null;
  return world.store.write((tables) => {
    const link = liveOf(tables, contract_id);
    const { draft_id, row } = link;
    if (row !== null ? isClosed(row.agent_state) : world.drafts.read(draft_id) === null) return null;
    const used = usedOf(tables, draft_id, row, stop_hook_active);
    if (used >= limit) return null;
    const obstacle = obstacleOf(world, tables, link);
    tables.sendBacks.add(draft_id, world.clock.now());
    const count = used + 1;
    return { contract_id: draft_id, count, reason: sendBackReason({ draft_id, obstacle, count, limit }) };
  });
}

/**
 * How often this turn was sent back. An agent that goes on because of a stop hook may have closed its contract and
 * opened the next one meanwhile: then the whole chain counts, and at least the once that the harness knows of.
 */
function usedOf(tables: Tables, draftId: string, row: HandoffRow | null, isActive: boolean): number {
  const own = tables.sendBacks.count(draftId);
  if (!isActive) return own;
  const links = row === null ? [] : chainOf(tables.handoffs, row);
  const all = links.reduce((sum, link) => sum + tables.sendBacks.count(link.contract_id), 0);
  return Math.max(own, all, 1);
}

/** The first refusal of `validate --close`; without one, what is left to do. Errors: those that are no refusal. */
function obstacleOf(
  world: CheckWorld,
  tables: Tables,
  link: { readonly draft_id: string; readonly row: HandoffRow | null },
): Obstacle {
  try {
    // Advice refuses nothing here, so nobody is asked which files have changed.
    const { would } = validateLink(world, tables, link, { strict: false, stale: { seq: null, paths: [], edits: [] } });
    return { kind: would === "finalize" ? "unfinalized" : "undeclared" };
  } catch (error) {
    if (error instanceof WritError && isRefusal(error)) return { kind: "refused", error };
    throw error;
  }
}
