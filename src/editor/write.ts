/**
 * The one way an open envelope is changed: load, repair, mutate, validate, canonicalise, journal, mirror, publish.
 *
 * All of it runs inside one write transaction, begun before the draft is read, so that of two writers both take
 * effect. The new draft is written beside its place before the commit and renamed after it: what was refused
 * changed nothing, and what was committed is brought into the file by the next load if the rename never came.
 */
import { bareBirth } from "../core/contract/birth.ts";
import { canonicalize } from "../core/contract/canonicalize.ts";
import { continuationSeed } from "../core/contract/continuation.ts";
import { crossCheck } from "../core/contract/crosscheck.ts";
import { agentPart, withBirthKeys } from "../core/contract/envelope.ts";
import { liveLink } from "../core/contract/links.ts";
import { validationError } from "../core/contract/rejection.ts";
import { repair } from "../core/contract/repair.ts";
import type { HandoffRow, StagedDraft, Tables } from "../core/contract/repository.ts";
import { isClosed } from "../core/contract/state.ts";
import { validate } from "../core/contract/validate.ts";
import { WritError } from "../core/error.ts";
import { compactJson, isObject, type JsonObject, type JsonValue, valueAt, withKey } from "../core/json/value.ts";
import type { Issue } from "../core/result.ts";
import { draftText, type JournalVerb, rebuild, recordChange } from "./journal.ts";
import { loadDraft, recordNews, rowEnvelope } from "./load.ts";
import type { Target } from "./target.ts";
import type { World } from "./world.ts";

export type Continuation = {
  readonly contract_id: string;
  readonly continues_contract_id: string;
  readonly handoff_id: number;
  readonly continues_handoff_id: number;
  /** True for the write that opened the link. */
  readonly created: boolean;
};

export type Written = {
  /** The contract that was addressed: another link than the one that was written, where it is closed. */
  readonly addressed: string;
  /** The draft that was written: the live link of the chain. */
  readonly draft_id: string;
  readonly mirrored: boolean;
  readonly mirror_skipped_reason: "no_row" | null;
  /** Null when nothing changed. */
  readonly change_id: number | null;
  readonly continuation: Continuation | null;
  readonly canonicalized: readonly string[];
  readonly sanitized: readonly string[];
  /** What went wrong after the commit; the write stands. */
  readonly warnings: readonly string[];
};

export type Edit = {
  readonly target: Target;
  readonly verb: JournalVerb;
  /** Undo works on the very contract it is given, and on the draft as it is. */
  readonly strict: boolean;
  /** The new envelope from the loaded one; throws what the verb refuses. */
  readonly change: (
    envelope: JsonObject,
    tables: Tables,
    draftId: string,
  ) => { readonly envelope: JsonObject; readonly undoes?: number };
};

/**
 * Changes one envelope.
 *
 * Errors: those of the load, of the verb, `validation`, `envelope_too_large`, `store_busy`, `store_failed`; after
 * each of them draft, row and chain are as they were.
 */
export function editDraft(world: World, edit: Edit): Written {
  const publication = new Publication(world);
  try {
    const written = world.store.write((tables) => editInside(world, tables, edit, publication));
    return { ...written, warnings: publication.publish() };
  } catch (error) {
    publication.discard();
    throw error;
  }
}

function editInside(world: World, tables: Tables, edit: Edit, publication: Publication): Omit<Written, "warnings"> {
  publication.discard(); // the store may run this again from the start
  const place = edit.strict ? placeOf(tables, edit.target.draft_id) : livePlace(world, tables, edit.target.draft_id);
  const draftId = place.draft_id;
  const loaded =
    place.seed === null
      ? loadDraft(world, tables, { draft_id: draftId, named: edit.target.named, row: place.row })
      : { envelope: place.seed, news: null, journalled: null };

  // Journalled first, so that the change sees the whole history; a refusal rolls all of it back.
  const continuation = place.seed === null ? place.continuation : openContinuation(world, tables, place);
  if (place.seed !== null) {
    recordChange(world, tables, { draft_id: draftId, verb: "continue", before: null, after: place.seed });
  } else recordNews(world, tables, draftId, loaded);
  const { envelope: sound, lines: sanitized } = edit.strict
    ? { envelope: loaded.envelope, lines: [] }
    : repair(loaded.envelope);
  recordChange(world, tables, { draft_id: draftId, verb: "repair", before: loaded.envelope, after: sound });

  const { envelope: changed, undoes } = edit.change(sound, tables, draftId);
  assertValid(changed, tables);
  const { envelope, changed: canonicalized } = canonicalize(changed);
  publication.stage(draftId, draftText(envelope));
  const change = { draft_id: draftId, verb: edit.verb, before: sound, after: envelope };
  const change_id = recordChange(world, tables, undoes === undefined ? change : { ...change, undoes });

  const row = tables.handoffs.find(draftId);
  if (row !== null) mirror(tables, row, envelope);
  return {
    addressed: edit.target.draft_id,
    draft_id: draftId,
    mirrored: row !== null,
    mirror_skipped_reason: row === null ? "no_row" : null,
    change_id,
    continuation,
    canonicalized,
    sanitized,
  };
}

/** Errors: `validation`, with every issue. */
export function assertValid(envelope: JsonObject, tables: Tables): void {
  const issues = checkEnvelope(envelope, tables);
  if (issues.length > 0) throw validationError(issues);
}

/** Form first; the cross-check only when the form has no issue. */
export function checkEnvelope(envelope: JsonObject, tables: Tables | null): readonly Issue[] {
  const issues = validate(envelope);
  if (issues.length > 0 || tables === null) return issues;
  return crossCheck(envelope, (id) => tables.approvals.statusOf(id));
}

/** The row's envelope: the draft's, with the birth mark kept. */
export function rowText(row: HandoffRow, envelope: JsonObject): string {
  return compactJson(withBirthMark(row, envelope));
}

/**
 * The envelope with the birth mark of the row's stored JSON, where it lacks it. The name is the row's own: what an
 * envelope said of it meanwhile does not outlive the envelope.
 */
export function withBirthMark(row: HandoffRow, envelope: JsonObject): JsonObject {
  try {
    const stored = JSON.parse(row.raw_handoff_json) as JsonValue;
    if (!isObject(stored)) return envelope;
    const isNamed = row.agent_name !== null && valueAt(stored, "agent_name") !== undefined;
    return withBirthKeys(envelope, isNamed ? withKey(stored, "agent_name", row.agent_name) : stored);
  } catch {
    return envelope; // a row edited by hand: it has no mark to keep
  }
}

function mirror(tables: Tables, row: HandoffRow, envelope: JsonObject): void {
  const text = rowText(row, envelope);
  if (text !== row.raw_handoff_json) tables.handoffs.mirror(row.id, text);
}

type Place = {
  readonly draft_id: string;
  readonly row: HandoffRow | null;
  /** The first envelope of a contract that this write opens; null when the place is there already. */
  readonly seed: JsonObject | null;
  /** The closed row that a new link continues. */
  readonly closed: HandoffRow | null;
  readonly continuation: Continuation | null;
};

/** Errors: `closed`. */
function placeOf(tables: Tables, draftId: string): Place {
  const row = tables.handoffs.find(draftId);
  if (row !== null && isClosed(row.agent_state)) {
    throw new WritError(
      "closed",
      `The contract "${draftId}" is closed (${row.agent_state}): its envelope does not change`,
      {
        hint: continuedHint(tables, row),
      },
    );
  }
  return { draft_id: draftId, row, seed: null, closed: null, continuation: null };
}

function continuedHint(tables: Tables, row: HandoffRow): string {
  const live = liveLink(tables.handoffs, row);
  return live.id === row.id
    ? "A write with set, add or fill opens a new contract that continues it"
    : `It is continued by ${live.contract_id}: name that one with --draft-id`;
}

/** The live link of the chain, or the plan of a new one where that link is closed. Errors: `continuation_raced`. */
function livePlace(world: World, tables: Tables, draftId: string): Place {
  const addressed = tables.handoffs.find(draftId);
  if (addressed === null) return { draft_id: draftId, row: null, seed: null, closed: null, continuation: null };
  const row = liveLink(tables.handoffs, addressed);
  if (isClosed(row.agent_state)) {
    if (tables.handoffs.findContinuation(row.id) !== null) throw continued(row.contract_id);
    const seed = continuationSeed(row.agent_id, row.contract_id, rowEnvelope(row) ?? {});
    const agent = agentPart(row.contract_id);
    return { draft_id: `${agent}.${world.mint.token()}`, row: null, seed, closed: row, continuation: null };
  }
  const before = row.continues_handoff_id === null ? null : tables.handoffs.findById(row.continues_handoff_id);
  const continuation =
    row.id === addressed.id || before === null
      ? null
      : {
          contract_id: row.contract_id,
          continues_contract_id: before.contract_id,
          handoff_id: row.id,
          continues_handoff_id: before.id,
          created: false,
        };
  return { draft_id: row.contract_id, row, seed: null, closed: null, continuation };
}

/** Where the walk to the live link ended early: at its bound, or in a circle that someone bent. */
function continued(contractId: string): WritError {
  return new WritError("continuation_raced", `The contract "${contractId}" is continued by another one already`, {
    hint: `See the links with: writ contract chain --contract-id ${contractId}, and name the newest`,
  });
}

/** The new row inherits what restricts the agent; not the goal, the brief or the project. */
function openContinuation(world: World, tables: Tables, place: Place): Continuation | null {
  const { closed, seed } = place;
  if (closed === null || seed === null) return null;
  const bare = bareBirth({
    contract_id: place.draft_id,
    agent_id: closed.agent_id,
    workspace: closed.workspace,
    raw_handoff_json: compactJson(seed),
    created_at: world.clock.now(),
  });
  const {
    agent_name,
    session_id,
    harness_agent_id,
    kind,
    plan_id,
    plan_task_id,
    parent_handoff_id,
    can_read,
    can_write,
  } = closed;
  const { id } = tables.handoffs.insertBirth({
    ...bare,
    agent_name,
    session_id,
    harness_agent_id,
    kind,
    plan_id,
    plan_task_id,
    parent_handoff_id,
    continues_handoff_id: closed.id,
    can_read,
    can_write,
  });
  return {
    contract_id: place.draft_id,
    continues_contract_id: closed.contract_id,
    handoff_id: id,
    continues_handoff_id: closed.id,
    created: true,
  };
}

/** How often a draft is renamed into place again because another writer's rename came in between. */
const PUBLISH_ROUNDS = 16;

/** A draft on its way into place: staged before the commit, published after it. */
export class Publication {
  private staged: { readonly draft_id: string; readonly draft: StagedDraft } | null = null;

  constructor(private readonly world: World) {}

  /** Errors: `store_failed`, `envelope_too_large`. */
  stage(draftId: string, text: string): void {
    this.discard();
    this.staged = { draft_id: draftId, draft: this.world.drafts.stage(draftId, text) };
  }

  discard(): void {
    this.staged?.draft.discard();
    this.staged = null;
  }

  /**
   * Renames the staged draft into place, and again with the newest state as long as another writer committed in
   * between: whoever renames last then renames what the store holds.
   *
   * @returns warnings; the commit stands, and the next load brings a stale file up to the store
   */
  publish(): readonly string[] {
    const { world, staged } = this;
    this.staged = null;
    if (staged === null) return [];
    let { draft } = staged;
    try {
      for (let round = 0; round < PUBLISH_ROUNDS; round++) {
        draft.publish();
        const newest = world.store.read((tables) => tables.journal.newestDigest(staged.draft_id));
        if (newest === null || newest === draft.digest) return [];
        const envelope = world.store.read((tables) => rebuild(tables.journal.list(staged.draft_id)));
        if (envelope === null) return [];
        draft = world.drafts.stage(staged.draft_id, draftText(envelope));
        if (draft.digest !== newest) {
          // A change that only a hand edit explains: the file is as it was accepted.
          draft.discard();
          return [];
        }
      }
      return [];
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      return [`The change is stored, but its draft file could not be replaced: ${error.message}`];
    }
  }
}
