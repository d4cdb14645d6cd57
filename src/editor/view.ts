/** Reading one envelope: `view`, with its field, its past and its row. */
import { absentHint } from "../core/contract/hints.ts";
import { readPath, splitPath } from "../core/contract/path.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import { isClosed } from "../core/contract/state.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import { draftText, rebuild } from "./journal.ts";
import { adoptable, isReadable, loadDraft, parseDraft, recordNews, rowEnvelope } from "./load.ts";
import { type Address, noDraftFor, resolveTarget, type Target } from "./target.ts";
import type { ReadingWorld, World } from "./world.ts";
import { Publication } from "./write.ts";

export type View = {
  readonly draft_id: string;
  readonly envelope: JsonObject;
  /** The row, when the envelope came from it. */
  readonly row: HandoffRow | null;
};

/**
 * The envelope of a draft, or of a closed contract's row; a missing draft of an open row is made first.
 *
 * Errors: `no_draft`, `draft_unreadable`, `nothing_recoverable`, and those of the resolution.
 */
export function viewDraft(world: ReadingWorld, address: Address): View {
  const target = resolveTarget(world, address);
  const { store } = world;
  const file = world.drafts.read(target.draft_id);
  if (store === null) {
    if (file === null) throw noDraftFor(target.draft_id);
    return { draft_id: target.draft_id, envelope: parseDraft(target.draft_id, file), row: null };
  }
  const row = store.read((tables) => tables.handoffs.find(target.draft_id));
  if (file !== null) {
    const { envelope } = store.read((tables) => loadDraft(world, tables, { ...target, row }));
    return { draft_id: target.draft_id, envelope, row: null };
  }
  if (row !== null && (isClosed(row.agent_state) || !isReadable(row))) return ofRow(row);
  return { draft_id: target.draft_id, envelope: materialise({ ...world, store }, target), row: null };
}

/** The envelope as it stood after a change. Errors: `no_such_change`, and those of the resolution. */
export function viewAt(world: ReadingWorld, address: Address, changeId: number): View {
  const { draft_id } = resolveTarget(world, address);
  const journal = world.store?.read((tables) => tables.journal.list(draft_id)) ?? [];
  const until = journal.findIndex((change) => change.change_id === changeId);
  const envelope = until < 0 ? null : rebuild(journal.slice(0, until + 1));
  if (envelope === null) throw noSuchChange(draft_id, changeId);
  return { draft_id, envelope, row: null };
}

export type HarnessView = View & { readonly row: HandoffRow; readonly envelope_source: "draft" | "db_row" };

/**
 * The newest row that carries the harness's own run id, with its envelope: the draft's where that parses, else the
 * row's.
 *
 * Errors: `no_row`, `nothing_recoverable`.
 */
export function viewByHarness(world: ReadingWorld, harnessAgentId: string): HarnessView {
  const found = world.store?.read((tables) => {
    const row = tables.handoffs.findByHarness(harnessAgentId);
    return row === null ? null : { row, envelope: draftOf(world, tables, row) };
  });
  if (found === null || found === undefined) {
    throw new WritError("no_row", `No row carries the harness id "${harnessAgentId}"`, {
      hint: "See the rows with: writ contract list",
    });
  }
  const { row, envelope } = found;
  if (envelope === null) return { ...ofRow(row), envelope_source: "db_row" };
  return { draft_id: row.contract_id, envelope, row, envelope_source: "draft" };
}

/** The draft of a row as it stands; null when there is none that can be read. */
function draftOf(world: ReadingWorld, tables: Tables, row: HandoffRow): JsonObject | null {
  try {
    if (world.drafts.read(row.contract_id) === null) return null;
    return loadDraft(world, tables, { draft_id: row.contract_id, named: false, row }).envelope;
  } catch (error) {
    if (error instanceof WritError && error.code === "draft_unreadable") return null; // the row's own is the next best
    throw error;
  }
}

/** One field of an envelope. Errors: `no_such_field`, `empty_path`. */
export function fieldOf(envelope: JsonObject, field: string): JsonValue {
  const segments = splitPath(field);
  if (segments.length === 0)
    throw new WritError("empty_path", `The path "${field}" has no segment`, {
      hint: "Name a field, for example evidence_report.key_outputs",
    });
  const found = readPath(envelope, segments);
  if (found.found) return found.value;
  throw new WritError("no_such_field", found.message, {
    path: field,
    hint: absentHint(segments, found.segment, found.under),
  });
}

export function noSuchChange(draftId: string, changeId: number): WritError {
  return new WritError("no_such_change", `The journal of "${draftId}" has no change ${changeId}`, {
    hint: `See the changes with: writ contract log --draft-id ${draftId}`,
  });
}

function ofRow(row: HandoffRow): View & { readonly row: HandoffRow } {
  const envelope = rowEnvelope(row);
  if (envelope !== null) return { draft_id: row.contract_id, envelope, row };
  throw new WritError(
    "nothing_recoverable",
    `The row of "${row.contract_id}" holds no readable envelope, and there is no draft`,
    {
      hint: `Its history may: writ contract log --draft-id ${row.contract_id}`,
    },
  );
}

/** Makes the missing draft of an open row. Errors: `no_draft`. */
function materialise(world: World, target: Target): JsonObject {
  const publication = new Publication(world);
  try {
    const envelope = world.store.write((tables) => {
      publication.discard();
      const row = tables.handoffs.find(target.draft_id);
      if (target.named === false || adoptable(target.draft_id, row) === null) throw noDraftFor(target.draft_id);
      const loaded = loadDraft(world, tables, { ...target, row });
      recordNews(world, tables, target.draft_id, loaded);
      publication.stage(target.draft_id, draftText(loaded.envelope));
      return loaded.envelope;
    });
    publication.publish();
    return envelope;
  } catch (error) {
    publication.discard();
    throw error;
  }
}
