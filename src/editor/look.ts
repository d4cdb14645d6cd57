/** Looking at rows and at history: `list`, `show`, `chain`, `log`, `diff`. All of it reads and nothing writes. */

import type { ProposalRow } from "../core/context/repository.ts";
import { type Change, findChanges, overlaps } from "../core/contract/changes.ts";
import { liveLink, wholeChain } from "../core/contract/links.ts";
import { splitPath } from "../core/contract/path.ts";
import type { HandoffFilter, HandoffRow, JournalChange } from "../core/contract/repository.ts";
import { isClosed } from "../core/contract/state.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject } from "../core/json/value.ts";
import type { ToolRecord } from "../core/record/tool-record.ts";
import { rebuild } from "./journal.ts";
import { rowEnvelope } from "./load.ts";
import { type Address, noDraftFor, resolveTarget } from "./target.ts";
import { noticesOf } from "./updates.ts";
import { noSuchChange } from "./view.ts";
import type { ReadingWorld } from "./world.ts";

/** Newest first. Empty when nothing matches, also when there is no store yet. */
export function listHandoffs(world: ReadingWorld, filter: HandoffFilter): readonly HandoffRow[] {
  return world.store?.read((tables) => tables.handoffs.list(filter)) ?? [];
}

/** Newest first; null: any. Empty also when there is no store yet. */
export function listProposals(
  world: ReadingWorld,
  filter: { readonly contract_id: string | null; readonly status: string | null },
): readonly ProposalRow[] {
  return world.store?.read((tables) => tables.proposals.list(filter)) ?? [];
}

/** How many there are, whatever the limit. */
export function countHandoffs(world: ReadingWorld, filter: HandoffFilter): number {
  return world.store?.read((tables) => tables.handoffs.count(filter)) ?? 0;
}

export type Shown = {
  readonly row: HandoffRow;
  /** What the orchestrator is told of the turn's proposals. */
  readonly notices: readonly string[];
  readonly proposals: readonly ProposalRow[];
  /** Null when the row holds only its birth mark, or nothing readable. */
  readonly envelope: JsonObject | null;
  readonly bound: boolean;
  readonly record: readonly ToolRecord[];
};

/** One row whole, by contract id or by handoff id. Errors: `no_row`. */
export function showHandoff(world: ReadingWorld, id: string): Shown {
  const shown = world.store?.read((tables): Shown | null => {
    const row = tables.handoffs.find(id) ?? (/^[1-9]\d{0,14}$/.test(id) ? tables.handoffs.findById(Number(id)) : null);
    if (row === null) return null;
    return {
      row,
      notices: noticesOf(tables, row),
      proposals: tables.proposals.listOf(row.contract_id),
      envelope: rowEnvelope(row),
      bound: tables.records.isBound([row.contract_id]),
      record: tables.records.list(row.contract_id),
    };
  });
  if (shown === null || shown === undefined) throw noRow(id);
  return shown;
}

/** Every link of a chain, oldest first, from any of its links. Errors: `no_row`. */
export function listChain(world: ReadingWorld, contractId: string): readonly HandoffRow[] {
  const links = world.store?.read((tables) => {
    const row = tables.handoffs.find(contractId);
    return row === null ? null : wholeChain(tables.handoffs, row);
  });
  if (links === null || links === undefined) throw noRow(contractId);
  return links;
}

/** The live link of a closed contract that is continued; null for any other. */
export function continuedBy(world: ReadingWorld, contractId: string): string | null {
  const live = world.store?.read((tables) => {
    const row = tables.handoffs.find(contractId);
    return row === null || !isClosed(row.agent_state) ? null : liveLink(tables.handoffs, row).contract_id;
  });
  return live === undefined || live === contractId ? null : live;
}

/**
 * Changes of one contract, newest first.
 *
 * @param path only what touched this path or something under it; null: all
 * @returns    at most `limit` of `total`
 */
export function listChanges(
  world: ReadingWorld,
  address: Address,
  path: string | null,
  limit: number,
): { readonly draft_id: string; readonly changes: readonly JournalChange[]; readonly total: number } {
  const { draft_id } = resolveTarget(world, address);
  const journal = journalOf(world, draft_id);
  const wanted = path === null ? null : splitPath(path).join(".");
  const changes = wanted === null ? journal : journal.flatMap((change) => touching(change, wanted));
  return { draft_id, changes: changes.toReversed().slice(0, limit), total: changes.length };
}

/**
 * The net change between the states after two changes; without `from`, what the one change did.
 *
 * Errors: `no_such_change`.
 */
export function compareChanges(
  world: ReadingWorld,
  address: Address,
  range: { readonly from: number | null; readonly to: number | null },
): {
  readonly draft_id: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly changes: readonly Change[];
} {
  const { draft_id } = resolveTarget(world, address);
  const journal = journalOf(world, draft_id);
  const to = range.to ?? journal.at(-1)?.change_id ?? null;
  if (to === null) return { draft_id, from: null, to: null, changes: [] };
  const end = journal.findIndex((change) => change.change_id === to);
  if (end < 0) throw noSuchChange(draft_id, to);
  const start = range.from === null ? end - 1 : journal.findIndex((change) => change.change_id === range.from);
  if (range.from !== null && start < 0) throw noSuchChange(draft_id, range.from);
  const before = rebuild(journal.slice(0, start + 1));
  const after = rebuild(journal.slice(0, end + 1)) ?? {};
  return { draft_id, from: range.from, to, changes: findChanges(before, after) };
}

/** Errors: `no_draft` when nothing was ever known of the id. */
function journalOf(world: ReadingWorld, draftId: string): readonly JournalChange[] {
  const known = world.store?.read((tables) => ({
    journal: tables.journal.list(draftId),
    row: tables.handoffs.find(draftId),
  }));
  if (known !== undefined && (known.journal.length > 0 || known.row !== null)) return known.journal;
  if (world.drafts.read(draftId) === null) throw noDraftFor(draftId);
  return [];
}

/** The change with those of its paths that lie at or under the wanted one, or that replaced something around it. */
function touching(change: JournalChange, wanted: string): readonly JournalChange[] {
  const changes = change.changes.filter((one) => overlaps(one.path, wanted));
  return changes.length === 0 ? [] : [{ ...change, changes }];
}

function noRow(id: string): WritError {
  return new WritError("no_row", `There is no contract or row "${id}"`, {
    hint: "See the rows with: writ contract list",
  });
}
