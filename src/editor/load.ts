/**
 * The present state of a draft, wherever it lies.
 *
 * The journal holds every accepted state, and knows each by the digest of the draft file. So a file tells what it
 * is: the newest state; an older one, which a crash between commit and rename left behind; or one that the journal
 * never saw, which was edited by hand.
 */
import { agentPart, initialEnvelope, isAgentId } from "../core/contract/envelope.ts";
import type { DraftFile, HandoffRow, Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { parseJson } from "../core/json/parse.ts";
import { isObject, type JsonObject, type JsonValue, valueAt } from "../core/json/value.ts";
import { type JournalVerb, rebuild, recordChange } from "./journal.ts";
import { noDraftFor } from "./target.ts";
import type { World } from "./world.ts";

export type Loaded = {
  readonly envelope: JsonObject;
  /** Null: the file, or the journal where the file is a crash's leftover. Else how the state came to be. */
  readonly news: Extract<JournalVerb, "found" | "adopt"> | null;
  /** What the journal holds; null when it holds nothing, or when there is no news and it was not asked. */
  readonly journalled: JsonObject | null;
};

/**
 * Loads a draft inside a transaction. Touches nothing.
 *
 * Errors: `no_draft`, `draft_unreadable`.
 */
export function loadDraft(
  world: Pick<World, "drafts">,
  tables: Tables,
  target: { readonly draft_id: string; readonly named: boolean; readonly row: HandoffRow | null },
): Loaded {
  const { draft_id, row } = target;
  const file = world.drafts.read(draft_id);
  if (file === null) {
    const adopted = target.named || row !== null ? adoptable(draft_id, row) : null;
    if (adopted === null) throw noDraftFor(draft_id);
    return { envelope: adopted, news: "adopt", journalled: rebuild(tables.journal.list(draft_id)) };
  }
  const newest = tables.journal.newestDigest(draft_id);
  if (newest !== null && newest !== file.digest) {
    const journalled = rebuild(tables.journal.list(draft_id));
    if (journalled !== null && tables.journal.hasDigest(draft_id, file.digest)) {
      return { envelope: journalled, news: null, journalled };
    }
    return { envelope: parseDraft(draft_id, file), news: "found", journalled };
  }
  if (newest === null) return { envelope: parseDraft(draft_id, file), news: "found", journalled: null };
  // The digest says that writ wrote this text, from a value that the strict reader had passed.
  return { envelope: JSON.parse(file.text) as JsonObject, news: null, journalled: null };
}

/** Journals what the load brought to light: a hand edit, or a draft made anew from its row. */
export function recordNews(world: World, tables: Tables, draftId: string, loaded: Loaded): void {
  if (loaded.news === null) return;
  recordChange(world, tables, {
    draft_id: draftId,
    verb: loaded.news,
    before: loaded.journalled,
    after: loaded.envelope,
  });
}

/**
 * What a missing draft would hold: the envelope its row mirrors, else the initial one. Null when there is no row
 * of that id, or the id is of no agent: nothing is made from nothing.
 */
export function adoptable(draftId: string, row: HandoffRow | null): JsonObject | null {
  const agentId = agentPart(draftId);
  if (row === null || row.contract_id !== draftId || !isAgentId(agentId)) return null;
  return rowEnvelope(row) ?? initialEnvelope(agentId);
}

/** The envelope a row holds; null where it holds only a birth mark, or nothing readable. */
export function rowEnvelope(row: HandoffRow): JsonObject | null {
  const parsed = parseJson(row.raw_handoff_json);
  return parsed.ok && isObject(parsed.value) && valueAt(parsed.value, "evidence_report") !== undefined
    ? parsed.value
    : null;
}

/** Whether a row holds an object at all, be it a birth mark. */
export function isReadable(row: HandoffRow): boolean {
  const parsed = parseJson(row.raw_handoff_json);
  return parsed.ok && isObject(parsed.value);
}

/** Errors: `draft_unreadable`. */
export function parseDraft(draftId: string, file: DraftFile): JsonObject {
  const value = parseDraftValue(draftId, file);
  if (isObject(value)) return value;
  throw unreadable(draftId, "it is JSON, but no object");
}

/** Errors: `draft_unreadable`, when the text is no JSON at all. */
export function parseDraftValue(draftId: string, file: DraftFile): JsonValue {
  const parsed = parseJson(file.text);
  if (parsed.ok) return parsed.value;
  const { line, column, message } = parsed.fault;
  throw unreadable(draftId, `line ${line}, column ${column}: ${message}`);
}

function unreadable(draftId: string, why: string): WritError {
  return new WritError("draft_unreadable", `The draft of "${draftId}" cannot be read: ${why}`, {
    hint: `Nothing was changed. Mend the file, or move it away: the next write starts from what the store holds (writ contract log --draft-id ${draftId})`,
  });
}
