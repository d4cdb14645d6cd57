/**
 * The stop lane: what is kept of a turn that ended without closing itself. It never completes a turn that did not
 * declare it, and marks what it writes as captured and degraded.
 */
import { bareBirth } from "../core/contract/birth.ts";
import { agentPart, initialEnvelope } from "../core/contract/envelope.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import { isClosed } from "../core/contract/state.ts";
import { validate } from "../core/contract/validate.ts";
import { WritError } from "../core/error.ts";
import { compactJson, isArray, isObject, type JsonObject, valueAt, withKey } from "../core/json/value.ts";
import { recoverList } from "../core/record/stamp.ts";
import type { Transcript } from "../core/record/transcript.ts";
import { liveOf } from "./finalize.ts";
import { draftText, recordChange } from "./journal.ts";
import { type Loaded, loadDraft, recordNews, rowEnvelope } from "./load.ts";
import { noticesOf, refusalText, shapeRefusals } from "./updates.ts";
import type { World } from "./world.ts";
import { Publication, withBirthMark } from "./write.ts";

export type StopRequest = {
  readonly contract_id: string;
  /** Null when the harness named none, or it cannot be read. */
  readonly transcript: Transcript | null;
  /** Why the model stopped, from the event itself; null where it does not say. */
  readonly stop_reason: string | null;
  readonly session_id: string | null;
  readonly redactCommand: (text: string) => string;
};

const CUTS = ["reaped", "salvaged_truncation", "backstop_capture"] as const;
type Cut = (typeof CUTS)[number];

export type Stopped = {
  readonly contract_id: string;
  /** Null: the turn had closed itself and nothing was done. A turn that stops again keeps its first one. */
  readonly cut_reason: Cut | null;
  readonly warnings: readonly string[];
  /** What the orchestrator is told of the proposals of a turn that had closed itself. */
  readonly notices: readonly string[];
};

/** Converges the row of a turn that stopped. Errors: `no_row`, `store_busy`, `store_failed`. */
export function stopTurn(world: World, request: StopRequest): Stopped {
  const publication = new Publication(world);
  try {
    const stopped = world.store.write((tables) => stopInside(world, tables, request, publication));
    return { ...stopped, warnings: publication.publish() };
  } catch (error) {
    publication.discard();
    throw error;
  }
}

function stopInside(
  world: World,
  tables: Tables,
  request: StopRequest,
  publication: Publication,
): Omit<Stopped, "warnings"> {
  publication.discard();
  const { draft_id, row } = liveOf(tables, request.contract_id);
  if (row !== null && isClosed(row.agent_state))
    return { contract_id: draft_id, cut_reason: null, notices: noticesOf(tables, row) };
  const { loaded, isReadable } = loadAnything(world, tables, draft_id, row);

  const recovered = recover(loaded.envelope, request);
  const isTruncated = [request.stop_reason, request.transcript?.stop_reason].includes("max_tokens");
  const isSalvage = isTruncated && isReadable && validate(loaded.envelope).length === 0;
  const cut = row === null ? "backstop_capture" : (earlierCut(row) ?? (isSalvage ? "salvaged_truncation" : "reaped"));
  const mark = { backstop_capture: "backstop", salvaged_truncation: "salvaged", reaped: "reaped" }[cut];
  let marked = row === null ? recovered : withBirthMark(row, recovered);
  for (const key of ["degraded", "auto_captured", mark]) marked = withKey(marked, key, true);

  // A draft that cannot be read is never written over: the row says what is known.
  if (isReadable) publication.stage(draft_id, draftText(marked));
  const id = row?.id ?? backstopRow(world, tables, request, draft_id, marked);
  tables.handoffs.close(id, {
    agent_id: row?.agent_id ?? agentPart(draft_id),
    agent_state: "IN_PROGRESS",
    cut_reason: cut,
    raw_handoff_json: compactJson(marked),
    conclusion: null,
    content_checks: null,
    update_contracts_refused: refusalText(shapeRefusals(valueAt(marked, "update_contracts"))),
    record_head: null,
    record_count: null,
    closed_at: null,
    session_id: request.session_id,
    plan_task_id: null,
    brief_id: null,
  });
  if (isReadable) {
    recordNews(world, tables, draft_id, loaded);
    recordChange(world, tables, { draft_id, verb: "stop", before: loaded.envelope, after: marked });
  }
  return { contract_id: draft_id, cut_reason: cut, notices: [] };
}

/** How this lane cut the turn before; null for a row that is only born, or a checkpoint. */
function earlierCut(row: HandoffRow): Cut | null {
  return CUTS.find((cut) => cut === row.cut_reason) ?? null;
}

/** The draft; where it cannot be read, what its row holds. Errors: `no_row` for an id that is nobody's. */
function loadAnything(
  world: World,
  tables: Tables,
  draftId: string,
  row: HandoffRow | null,
): { readonly loaded: Loaded; readonly isReadable: boolean } {
  try {
    return { loaded: loadDraft(world, tables, { draft_id: draftId, named: true, row }), isReadable: true };
  } catch (error) {
    if (!(error instanceof WritError) || (error.code !== "no_draft" && error.code !== "draft_unreadable")) throw error;
    const envelope = row === null ? null : (rowEnvelope(row) ?? initialEnvelope(row.agent_id));
    if (envelope === null)
      throw new WritError("no_row", `There is neither a turn nor a readable draft of "${draftId}"`, { cause: error });
    return { loaded: { envelope, news: null, journalled: null }, isReadable: false };
  }
}

/** Fills the two lists that are still empty from the transcript. */
function recover(envelope: JsonObject, { transcript, redactCommand }: StopRequest): JsonObject {
  const report = valueAt(envelope, "evidence_report");
  if (transcript === null || !isObject(report)) return envelope;
  let filled = report;
  const lists = { commands_run: transcript.commands.map(redactCommand), files_checked: transcript.paths };
  for (const [name, texts] of Object.entries(lists)) {
    const list = valueAt(report, name);
    if (isArray(list)) filled = withKey(filled, name, recoverList(list, texts));
  }
  return withKey(envelope, "evidence_report", filled);
}

function backstopRow(
  world: World,
  tables: Tables,
  request: StopRequest,
  draftId: string,
  envelope: JsonObject,
): number {
  const workspace = world.workspace ?? "me";
  tables.workspaces.ensure(workspace, world.clock.now());
  const bare = bareBirth({
    contract_id: draftId,
    agent_id: agentPart(draftId),
    workspace,
    raw_handoff_json: compactJson(envelope),
    created_at: world.clock.now(),
  });
  return tables.handoffs.insertBirth({ ...bare, session_id: request.session_id }).id;
}
